//! The fingerprints of a segment: search within k bits, and the documents of each fingerprint.

use std::ops::Range;

use super::attributes::Attributes;
use super::look_up::{LookUpBuffers, MANY, NearGroup};
use super::sections::{GROUPS, MEMBERS};
use super::tables::Tables;
use crate::Result;
use crate::found::Offer;
use crate::io::{BlockFile, Source};
use crate::permutation::Value;
use crate::sketch::Score;

/// Fingerprints that are checked at a time.
const PIECE: u32 = 1 << 14;
/// Documents of a fingerprint that are read at a time.
const STEP: u64 = 256;

pub struct Fingerprints<F: Value> {
    tables: Tables<F>,
}

impl<F: Value> Fingerprints<F> {
    /// The fingerprints that the attributes describe; `None` if these are invalid.
    pub fn of(attributes: &Attributes) -> Option<Fingerprints<F>> {
        Some(Fingerprints {
            tables: Tables::new(attributes)?,
        })
    }

    /// Offers every query the documents near it: by look-ups, or for many queries by one scan of the
    /// segment against tables of the queries, whichever costs less. The documents are the same; those
    /// of one fingerprint come in order.
    pub fn search(
        &self,
        file: &BlockFile,
        queries: &[F],
        buffers: &mut LookUpBuffers<F>,
        offer: &mut Offer<'_>,
    ) -> Result<()> {
        let tables = &self.tables;
        let mut take = |near: &[NearGroup]| take(file, near, offer);
        if tables.should_scan(queries.len()) {
            tables.scan(file, queries, &mut take)
        } else {
            tables.look_up(file, queries, buffers, &mut take)
        }
    }

    /// Checks that the tables are sorted and that the groups hold each of the `documents` that have
    /// a sketch.
    pub fn verify<'a>(
        &self,
        file: &BlockFile,
        documents: u64,
        sketch: &dyn Fn(u32) -> Result<&'a [u8]>,
    ) -> Result<()> {
        let alone = file.len::<u32>(GROUPS) == 0;
        if file.len::<u32>(MEMBERS) != documents || alone && documents != self.tables.distinct {
            return Err(file.damaged("not every document is listed under its fingerprint"));
        }
        self.tables.verify(file)?;
        let mut listed = 0;
        self.tables.for_each_piece(file, PIECE, |first, values| {
            for (value, group) in values.iter().zip(first..) {
                let mut last = None;
                let members = members(file, group)?;
                if members.start != listed || members.is_empty() {
                    return Err(file.damaged("a group does not begin where the one before ends"));
                }
                listed = members.end;
                for at in members {
                    let number = file.values::<u32>(MEMBERS, at..at + 1)?[0];
                    let own = self
                        .tables
                        .first_order(F::of_sketch(sketch(number)?, self.tables.width));
                    if own != *value || last >= Some(number) {
                        return Err(file.damaged("a document is listed under another fingerprint"));
                    }
                    last = Some(number);
                }
            }
            Ok(())
        })?;
        match listed == documents {
            true => Ok(()),
            false => Err(file.damaged("not every document is listed under its fingerprint")),
        }
    }
}

/// Offers the documents of groups, and prefetches further groups.
fn take(file: &BlockFile, near: &[NearGroup], offer: &mut Offer<'_>) -> Result<()> {
    let source = match near.len() < MANY {
        true => Source::Memory,
        false => file.source(MEMBERS),
    };
    let steps = source.steps();
    for ahead in 0..near.len() + steps {
        if let Some(near) = near.get(ahead) {
            let group = u64::from(near.group);
            file.prefetch::<u32>(GROUPS, group..group + 1, source);
        }
        if let Some(near) = near.get(ahead.wrapping_sub(steps / 2)) {
            let Range { start, end } = members(file, near.group)?;
            file.prefetch::<u32>(MEMBERS, start..end.min(start + STEP), source);
        }
        if let Some(near) = ahead.checked_sub(steps).map(|now| &near[now]) {
            take_group(file, near, offer)?;
        }
    }
    Ok(())
}

/// Offers the documents of a group until the query wants no more.
fn take_group(file: &BlockFile, near: &NearGroup, offer: &mut Offer<'_>) -> Result<()> {
    let Range { start, end } = members(file, near.group)?;
    let score = Score::Distance(near.distance);
    for at in (start..end).step_by(STEP as usize) {
        for number in file.values::<u32>(MEMBERS, at..end.min(at + STEP))? {
            if !offer(near.query as usize, *number, score)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The places of the documents of a group in their list.
fn members(file: &BlockFile, group: u32) -> Result<Range<u64>> {
    let group = u64::from(group);
    if file.len::<u32>(GROUPS) == 0 {
        return Ok(group..group + 1);
    }
    let ends = file.values::<u32>(GROUPS, group..group + 2)?;
    Ok(ends[0].into()..ends[1].into())
}
