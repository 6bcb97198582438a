//! Search keys of sketches.

use arrow_array::RecordBatch;
use bytemuck::{Pod, Zeroable};
use simtool_core::Result;
use simtool_core::sketch::{Method, Shape};

use super::bits::BitKeys;
use crate::columns::{Packer, bytes, damaged, longs, optional, present};
use crate::numbers::mixed;
use crate::settings::{Settings, carries_sketch};
use crate::step::Step;

/// The bytes of the longest fingerprint that travels with its keys.
pub const LONGEST: usize = 16;

/// A document of a key.
pub trait Keyed: Pod + Ord + Send {
    /// Of these; the fingerprint has at most [`LONGEST`] bytes.
    fn of(key: i64, rank: i64, print: &[u8]) -> Self;
    /// The key and the rank.
    fn place(&self) -> (i64, i64);
    /// The fingerprint, if it travels; the bytes after it are zero.
    fn print(&self) -> Option<[u8; LONGEST]>;
}

/// One without its sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Alone {
    key: i64,
    rank: i64,
}

/// One with its fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct WithPrint {
    key: i64,
    rank: i64,
    print: [u8; LONGEST],
}

impl Keyed for Alone {
    fn of(key: i64, rank: i64, _: &[u8]) -> Alone {
        Alone { key, rank }
    }

    fn place(&self) -> (i64, i64) {
        (self.key, self.rank)
    }

    fn print(&self) -> Option<[u8; LONGEST]> {
        None
    }
}

impl Keyed for WithPrint {
    fn of(key: i64, rank: i64, sketch: &[u8]) -> WithPrint {
        let mut print = [0; LONGEST];
        print[..sketch.len()].copy_from_slice(sketch);
        WithPrint { key, rank, print }
    }

    fn place(&self) -> (i64, i64) {
        (self.key, self.rank)
    }

    fn print(&self) -> Option<[u8; LONGEST]> {
        Some(self.print)
    }
}

/// The step `keys`: ranks, sketches, and perhaps masks of groups, to keys and ranks in `parts` parts;
/// fingerprints travel along.
pub struct Keys {
    method: Box<dyn Method>,
    bits: Option<BitKeys>,
    carries: bool,
    made: Packer,
}

impl Keys {
    /// The step.
    ///
    /// # Errors
    /// Errors of the settings.
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
            made: Packer::new(settings.parts),
        })
    }
}

impl Step for Keys {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let ranks = longs(batch, "rank")?;
        let sketches = bytes(batch, "sketch")?;
        let masks = optional(batch, "mask")?;
        let mut own: Vec<u64> = Vec::new();
        for (row, rank) in ranks.iter().enumerate() {
            let sketch = present(&sketches, row, "sketch")?;
            if self.carries && sketch.len() > LONGEST {
                return Err(damaged("a fingerprint is too long"));
            }
            own.clear();
            match &self.bits {
                Some(bits) => bits.emit(sketch, |key| own.push(key)),
                None => self.method.keys(sketch, &mut |key| own.push(key)),
            }
            own.sort_unstable();
            own.dedup();
            let mask = masks.map_or(0, |masks| masks[row]);
            for key in &own {
                let key = key.cast_signed() ^ mask;
                let hash = mixed(key.cast_unsigned());
                match self.carries {
                    true => self.made.add(hash, &WithPrint::of(key, *rank, sketch)),
                    false => self.made.add(hash, &Alone::of(key, *rank, sketch)),
                }
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.made.end();
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        self.made.take()
    }
}
