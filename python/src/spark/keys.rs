//! Search keys of sketches.

use arrow_array::RecordBatch;
use simtool::Result;
use simtool::sketch::{Method, Shape};

use super::batch::{Columns, bytes, longs, present};
use super::bits::BitKeys;
use super::settings::{Settings, carries_sketch};
use super::stage::Stage;

/// The step `keys`: ranks, sketches, and perhaps masks of groups, to keys and ranks; short fingerprints
/// travel along.
pub struct Keys {
    method: Box<dyn Method>,
    bits: Option<BitKeys>,
    carries: bool,
    made: Option<RecordBatch>,
}

impl Keys {
    /// The step.
    ///
    /// # Errors
    /// Those of the settings.
    pub fn new(settings: Settings) -> Result<Keys> {
        let method = settings.build()?;
        let bits = match method.shape() {
            Shape::Bits { width, distance } => {
                let count = u64::try_from(settings.leaders).unwrap_or_default();
                Some(BitKeys::new(width, distance, count))
            }
            Shape::Keys => None,
        };
        Ok(Keys {
            carries: carries_sketch(&*method),
            method,
            bits,
            made: None,
        })
    }
}

impl Stage for Keys {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let ranks = longs(batch, "rank")?;
        let sketches = bytes(batch, "sketch")?;
        let masks = match batch.column_by_name("mask") {
            Some(_) => Some(longs(batch, "mask")?),
            None => None,
        };
        let (mut keys, mut of) = (Vec::new(), Vec::new());
        let mut carried: Vec<Option<Vec<u8>>> = Vec::new();
        let mut own: Vec<u64> = Vec::new();
        for (row, rank) in ranks.iter().enumerate() {
            let sketch = present(&sketches, row, "sketch")?;
            own.clear();
            match &self.bits {
                Some(bits) => bits.emit(sketch, |key| own.push(key)),
                None => self.method.keys(sketch, &mut |key| own.push(key)),
            }
            own.sort_unstable();
            own.dedup();
            let mask = masks.map_or(0, |masks| masks[row]);
            for key in &own {
                keys.push(key.cast_signed() ^ mask);
                of.push(*rank);
                if self.carries {
                    carried.push(Some(sketch.to_vec()));
                }
            }
        }
        let mut columns = Columns::default().longs("key", keys).longs("rank", of);
        if self.carries {
            columns = columns.bytes("sketch", &carried);
        }
        self.made = Some(columns.batch()?);
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.made.take())
    }
}
