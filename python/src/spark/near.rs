//! Documents that have a near one.

use arrow_array::RecordBatch;
use simtool::Result;
use simtool::sketch::Method;

use super::batch::{Columns, Order, bytes, longs, present};
use super::settings::{Settings, carries_sketch};
use super::stage::Stage;

/// The step `near`: keys and ranks, by key, then by rank. Gives those whose key a near document
/// shares. If the sketches do not travel, these are all whose key another document shares.
pub struct Near {
    method: Box<dyn Method>,
    carries: bool,
    order: Order<(i64, i64)>,
    group: Group,
    made: Rows,
}

/// The documents of a key.
#[derive(Default)]
struct Group {
    key: Option<i64>,
    /// Ranks, sketches, and whether a near document was found.
    members: Vec<(i64, Vec<u8>, bool)>,
    /// Those without a near document so far.
    alone: Vec<usize>,
    /// How many there were; without sketches only the first is held.
    count: usize,
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

impl Near {
    /// The step.
    ///
    /// # Errors
    /// Those of the settings.
    pub fn new(settings: Settings) -> Result<Near> {
        let method = settings.build()?;
        Ok(Near {
            carries: carries_sketch(&*method),
            method,
            order: Order::default(),
            group: Group::default(),
            made: Rows::default(),
        })
    }

    /// Adds a document of the current key.
    fn add(&mut self, key: i64, rank: i64, sketch: Option<&[u8]>) {
        let group = &mut self.group;
        group.count += 1;
        let Some(sketch) = sketch else {
            match group.members.first() {
                None => group.members.push((rank, Vec::new(), false)),
                Some((first, ..)) => {
                    if group.count == 2 {
                        self.made.push(key, *first, None);
                    }
                    self.made.push(key, rank, None);
                }
            }
            return;
        };
        let mut is_near = false;
        let scorer = self.method.scorer(sketch);
        group.alone.retain(|place| {
            let (_, other, other_is_near) = &mut group.members[*place];
            *other_is_near = scorer(other).is_some();
            is_near |= *other_is_near;
            !*other_is_near
        });
        if !is_near {
            let mut others = group.members.iter().rev();
            is_near = others.any(|(_, other, has_near)| *has_near && scorer(other).is_some());
        }
        if !is_near {
            group.alone.push(group.members.len());
        }
        group.members.push((rank, sketch.to_vec(), is_near));
    }

    fn finish(&mut self) {
        let Group { key, members, .. } = std::mem::take(&mut self.group);
        let Some(key) = key.filter(|_| self.carries) else {
            return;
        };
        for (rank, sketch, is_near) in members {
            if is_near {
                self.made.push(key, rank, Some(sketch));
            }
        }
    }
}

impl Stage for Near {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let (keys, ranks) = (longs(batch, "key")?, longs(batch, "rank")?);
        let sketches = match self.carries {
            true => Some(bytes(batch, "sketch")?),
            false => None,
        };
        for (row, (key, rank)) in keys.iter().zip(ranks).enumerate() {
            self.order.next((*key, *rank))?;
            if self.group.key != Some(*key) {
                self.finish();
                self.group.key = Some(*key);
            }
            let sketch = match &sketches {
                Some(sketches) => Some(present(sketches, row, "sketch")?),
                None => None,
            };
            self.add(*key, *rank, sketch);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.finish();
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        if self.made.keys.is_empty() {
            return Ok(None);
        }
        let rows = std::mem::take(&mut self.made);
        let mut columns = Columns::default()
            .longs("key", rows.keys)
            .longs("rank", rows.ranks);
        if self.carries {
            columns = columns.bytes("sketch", &rows.sketches);
        }
        columns.batch().map(Some)
    }
}
