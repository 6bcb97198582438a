//! The fingerprints of a segment: search within k bits, and the documents of each fingerprint.

use std::ops::Range;

use super::attributes::Attributes;
use super::look_up::{LookUpBuffers, MANY, NearGroup};
use super::sections::{GROUPS, MEMBERS};
use super::tables::Tables;
use crate::Result;
use crate::io::{BlockFile, Source};
use crate::nearest::{Admit, Nearest};
use crate::permutation::Value;
use crate::sketch::Score;

/// Fingerprints that are checked at a time.
const PIECE: u32 = 1 << 14;

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

    /// Offers every query the documents near it that `admit` does not refuse: by look-ups, or for many queries by one scan of
    /// the segment against tables of the queries, whichever costs less. The result is the same.
    pub fn search(
        &self,
        file: &BlockFile,
        queries: &[F],
        admit: &Admit<'_>,
        buffers: &mut LookUpBuffers<F>,
        out: &mut [Nearest],
    ) -> Result<()> {
        let tables = &self.tables;
        let mut offer = |near: &[NearGroup]| self.offer(file, near, admit, out);
        if tables.should_scan(queries.len()) {
            tables.scan(file, queries, &mut offer)
        } else {
            tables.look_up(file, queries, buffers, &mut offer)
        }
    }

    /// Offers the documents of groups, and prefetches further groups.
    fn offer(
        &self,
        file: &BlockFile,
        near: &[NearGroup],
        admit: &Admit<'_>,
        out: &mut [Nearest],
    ) -> Result<()> {
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
                let most = out[near.query as usize].limit() as u64;
                file.prefetch::<u32>(MEMBERS, start..end.min(start + most), source);
            }
            if let Some(near) = ahead.checked_sub(steps).map(|now| &near[now]) {
                offer(file, near, admit, &mut out[near.query as usize])?;
            }
        }
        Ok(())
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

/// Offers the documents of a group until as many as the limit are admitted, since later ones cannot
/// be in the answer.
fn offer(
    file: &BlockFile,
    near: &NearGroup,
    admit: &Admit<'_>,
    nearest: &mut Nearest,
) -> Result<()> {
    let Range { start: mut at, end } = members(file, near.group)?;
    let mut left = nearest.limit();
    while at < end && left > 0 {
        let next = end.min(at + 256);
        for number in file.values::<u32>(MEMBERS, at..next)? {
            if left == 0 {
                break;
            }
            let verification = admit(near.query as usize, *number)?;
            if nearest.push(Score::Distance(near.distance), *number, verification) {
                left -= 1;
            }
        }
        at = next;
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
