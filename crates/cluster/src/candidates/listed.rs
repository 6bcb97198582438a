//! Pairs of documents that share a key with few others.

use arrow_array::RecordBatch;
use simtool_core::Result;

use super::pair_filter::PairFilter;
use crate::columns::{PairRows, bytes, damaged, longs, optional};
use crate::settings::Settings;
use crate::step::Step;

/// The step `listed`: rows of `near` with `others`, to a pair with each of these. With `frontier`, only
/// with those after that rank.
pub struct Listed {
    wanted: PairFilter,
    made: PairRows,
}

impl Listed {
    /// The step.
    pub fn new(settings: &Settings) -> Listed {
        Listed {
            wanted: PairFilter::new(settings),
            made: PairRows::default(),
        }
    }
}

impl Step for Listed {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let (ranks, lists) = (longs(batch, "rank")?, bytes(batch, "others")?);
        let frontiers = optional(batch, "frontier")?;
        for (row, rank) in ranks.iter().enumerate() {
            let (others, rest) = lists.get(row).unwrap_or_default().as_chunks::<8>();
            if !rest.is_empty() {
                return Err(damaged("a list of documents is cut off"));
            }
            let frontier = frontiers.map_or(-1, |frontiers| frontiers[row]);
            for other in others.iter().map(|rank| i64::from_le_bytes(*rank)) {
                if other > frontier && self.wanted.has(*rank, other) {
                    self.made.push(*rank, other, false);
                }
            }
        }
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        self.made.take()
    }
}
