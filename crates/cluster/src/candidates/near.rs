//! Documents that have a near one.

use std::path::Path;

use arrow_array::RecordBatch;
use simtool_core::sketch::Method;
use simtool_core::{Error, ErrorKind, Result};

use super::keys::{Alone, Keyed, LONGEST, WithPrint};
use crate::columns::{Columns, ROWS, Unpacker};
use crate::numbers::to_bytes;
use crate::settings::{Settings, carries_sketch};
use crate::step::Step;

/// The maximum number of documents of a key whose pairs are all listed.
const FEW: usize = 4;

/// The step `near`: the records of `keys`. Gives those whose key a near document shares. If the
/// sketches do not travel, these are all whose key another document shares.
///
/// Of a key that few documents share, each row has the `others` that precede it, as the step `listed`
/// reads them. Of other keys, `others` is null. Records that do not fit into memory are in files in
/// `temporary`.
///
/// # Errors
/// Errors of the settings.
pub fn near(settings: &Settings, temporary: &Path) -> Result<Box<dyn Step>> {
    let method = settings.build()?;
    Ok(match carries_sketch(&*method) {
        true => Box::new(Near::<WithPrint>::new(method, temporary)?),
        false => Box::new(Near::<Alone>::new(method, temporary)?),
    })
}

struct Near<R> {
    method: Box<dyn Method>,
    /// The bytes of a fingerprint that travels.
    width: usize,
    records: Unpacker<R>,
    group: KeyGroup,
    made: NearRows,
}

/// The documents of a key.
#[derive(Default)]
struct KeyGroup {
    key: Option<i64>,
    /// Without sketches: the ranks, until they are more than a few.
    few: Vec<i64>,
    /// Without sketches: whether there were more than a few, which are not held.
    is_large: bool,
    /// Ranks, fingerprints, and whether a near document was found.
    members: Vec<(i64, [u8; LONGEST], bool)>,
    /// Those without a near document so far.
    alone: Vec<usize>,
}

#[derive(Default)]
struct NearRows {
    keys: Vec<i64>,
    ranks: Vec<i64>,
    sketches: Vec<Option<Vec<u8>>>,
    others: Vec<Option<Vec<u8>>>,
}

impl NearRows {
    /// Adds a document of a key that more than a few share.
    fn push(&mut self, key: i64, rank: i64) {
        self.keys.push(key);
        self.ranks.push(rank);
        self.others.push(None);
    }

    /// Adds all documents of a key.
    fn push_all(&mut self, key: i64, ranks: &[i64]) {
        for (number, rank) in ranks.iter().enumerate() {
            self.push(key, *rank);
            if ranks.len() <= FEW
                && let Some(others) = self.others.last_mut()
            {
                *others = Some(to_bytes(
                    ranks[..number].iter().map(|rank| rank.cast_unsigned()),
                ));
            }
        }
    }
}

impl<R: Keyed> Near<R> {
    fn new(method: Box<dyn Method>, temporary: &Path) -> Result<Near<R>> {
        let width = method.sketch_bytes().unwrap_or_default();
        if width > LONGEST && carries_sketch(&*method) {
            let message = "the fingerprints of this method are too long for a cluster";
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        Ok(Near {
            method,
            width,
            records: Unpacker::new(temporary),
            group: KeyGroup::default(),
            made: NearRows::default(),
        })
    }

    /// Adds a document of the current key.
    fn add(&mut self, key: i64, rank: i64, print: Option<[u8; LONGEST]>) {
        let group = &mut self.group;
        let Some(print) = print else {
            if group.is_large {
                self.made.push(key, rank);
                return;
            }
            group.few.push(rank);
            if group.few.len() > FEW {
                self.made.push_all(key, &group.few);
                group.few.clear();
                group.is_large = true;
            }
            return;
        };
        let width = self.width;
        let mut is_near = false;
        let scorer = self.method.scorer(&print[..width]);
        group.alone.retain(|place| {
            let (_, other, other_is_near) = &mut group.members[*place];
            *other_is_near = scorer(&other[..width]).is_some();
            is_near |= *other_is_near;
            !*other_is_near
        });
        if !is_near {
            let mut others = group.members.iter().rev();
            is_near =
                others.any(|(_, other, has_near)| *has_near && scorer(&other[..width]).is_some());
        }
        if !is_near {
            group.alone.push(group.members.len());
        }
        group.members.push((rank, print, is_near));
    }

    fn finish(&mut self) {
        let group = &mut self.group;
        let Some(key) = group.key.take() else {
            return;
        };
        for (rank, print, is_near) in group.members.drain(..) {
            if is_near {
                group.few.push(rank);
                let sketch = print[..self.width].to_vec();
                self.made.sketches.push(Some(sketch));
            }
        }
        if group.few.len() > 1 {
            self.made.push_all(key, &group.few);
        }
        group.few.clear();
        group.alone.clear();
        group.is_large = false;
    }
}

impl<R: Keyed> Step for Near<R> {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        self.records.push(batch)
    }

    fn end(&mut self) -> Result<()> {
        self.records.end()
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        while self.made.keys.len() < ROWS {
            let Some(record) = self.records.next()? else {
                self.finish();
                break;
            };
            let (key, rank) = record.place();
            if self.group.key != Some(key) {
                self.finish();
                self.group.key = Some(key);
            }
            self.add(key, rank, record.print());
        }
        if self.made.keys.is_empty() {
            return Ok(None);
        }
        let rows = std::mem::take(&mut self.made);
        let carries = carries_sketch(&*self.method);
        let mut columns = Columns::default()
            .longs("key", rows.keys)
            .longs("rank", rows.ranks)
            .bytes("others", &rows.others);
        if carries {
            columns = columns.bytes("sketch", &rows.sketches);
        }
        columns.batch().map(Some)
    }
}
