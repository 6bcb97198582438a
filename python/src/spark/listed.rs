//! Pairs of documents that share a key with few others.

use arrow_array::RecordBatch;
use simtool::Result;

use super::batch::{Columns, bytes, damaged, longs, optional};
use super::pairs::Wanted;
use super::settings::Settings;
use super::stage::Stage;

/// The step `listed`: rows of `near` with `others`, to a pair with each of these. With `frontier`, only
/// with those after that rank.
pub struct Listed {
    wanted: Wanted,
    made: (Vec<i64>, Vec<i64>),
}

impl Listed {
    /// The step.
    pub fn new(settings: &Settings) -> Listed {
        Listed {
            wanted: Wanted::new(settings),
            made: Default::default(),
        }
    }
}

impl Stage for Listed {
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
                    self.made.0.push(*rank);
                    self.made.1.push(other);
                }
            }
        }
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        if self.made.0.is_empty() {
            return Ok(None);
        }
        let (members, earlier) = std::mem::take(&mut self.made);
        let cuts = vec![false; members.len()];
        let columns = Columns::default()
            .longs("member", members)
            .longs("earlier", earlier)
            .flags("cut", cuts);
        columns.batch().map(Some)
    }
}

/// Ranks as the step reads them.
pub fn to_bytes(ranks: &[i64]) -> Vec<u8> {
    ranks.iter().flat_map(|rank| rank.to_le_bytes()).collect()
}
