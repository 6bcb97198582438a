//! Documents that have a near one.

use arrow_array::RecordBatch;
use simtool::sketch::Method;
use simtool::{Error, ErrorKind, Result};

use super::batch::{Columns, ROWS};
use super::keys::{Alone, Keyed, LONGEST, WithPrint};
use super::packed::Unpacker;
use super::settings::{Settings, carries_sketch};
use super::stage::Stage;

/// The step `near`: the records of `keys`. Gives those whose key a near document shares. If the
/// sketches do not travel, these are all whose key another document shares.
///
/// # Errors
/// Those of the settings.
pub fn near(settings: &Settings) -> Result<Box<dyn Stage>> {
    let method = settings.build()?;
    Ok(match carries_sketch(&*method) {
        true => Box::new(Near::<WithPrint>::new(method)?),
        false => Box::new(Near::<Alone>::new(method)?),
    })
}

struct Near<R> {
    method: Box<dyn Method>,
    /// The bytes of a fingerprint that travels.
    width: usize,
    records: Unpacker<R>,
    group: Group,
    made: Rows,
}

/// The documents of a key.
#[derive(Default)]
struct Group {
    key: Option<i64>,
    /// The first one.
    first: i64,
    /// How many there were; without sketches, the others are not held.
    count: usize,
    /// Ranks, fingerprints, and whether a near document was found.
    members: Vec<(i64, [u8; LONGEST], bool)>,
    /// Those without a near document so far.
    alone: Vec<usize>,
}

#[derive(Default)]
struct Rows {
    keys: Vec<i64>,
    ranks: Vec<i64>,
    sketches: Vec<Option<Vec<u8>>>,
}

impl Rows {
    fn push(&mut self, key: i64, rank: i64, sketch: Option<Vec<u8>>) {
        self.keys.push(key);
        self.ranks.push(rank);
        self.sketches.push(sketch);
    }
}

impl<R: Keyed> Near<R> {
    fn new(method: Box<dyn Method>) -> Result<Near<R>> {
        let width = method.sketch_bytes().unwrap_or_default();
        if width > LONGEST && carries_sketch(&*method) {
            let message = "the fingerprints of this method are too long for a cluster";
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        Ok(Near {
            method,
            width,
            records: Unpacker::new(),
            group: Group::default(),
            made: Rows::default(),
        })
    }

    /// Adds a document of the current key.
    fn add(&mut self, key: i64, rank: i64, print: Option<[u8; LONGEST]>) {
        let group = &mut self.group;
        group.count += 1;
        let Some(print) = print else {
            match group.count {
                1 => group.first = rank,
                count => {
                    if count == 2 {
                        self.made.push(key, group.first, None);
                    }
                    self.made.push(key, rank, None);
                }
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
                let sketch = print[..self.width].to_vec();
                self.made.push(key, rank, Some(sketch));
            }
        }
        group.alone.clear();
        group.count = 0;
    }
}

impl<R: Keyed> Stage for Near<R> {
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
            .longs("rank", rows.ranks);
        if carries {
            columns = columns.bytes("sketch", &rows.sketches);
        }
        columns.batch().map(Some)
    }
}
