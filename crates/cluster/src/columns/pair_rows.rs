//! Rows of results that are pairs of documents.

use arrow_array::RecordBatch;
use simtool_core::Result;

use super::batch::Columns;

/// Pairs of a document, the `member`, and an `earlier` one, by ranks. A pair with a `cut` is the last
/// one that is known of its member: there may be more.
#[derive(Default)]
pub struct PairRows {
    members: Vec<i64>,
    earlier: Vec<i64>,
    cuts: Vec<bool>,
}

impl PairRows {
    /// Adds a pair.
    pub fn push(&mut self, member: i64, earlier: i64, cut: bool) {
        self.members.push(member);
        self.earlier.push(earlier);
        self.cuts.push(cut);
    }

    /// Marks the last pair as a cut.
    pub fn cut_last(&mut self) {
        if let Some(cut) = self.cuts.last_mut() {
            *cut = true;
        }
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// All pairs, which are removed: the columns `member`, `earlier` and `cut`. `None` without any.
    ///
    /// # Errors
    /// None that is expected.
    pub fn take(&mut self) -> Result<Option<RecordBatch>> {
        if self.members.is_empty() {
            return Ok(None);
        }
        let rows = std::mem::take(self);
        let columns = Columns::default()
            .longs("member", rows.members)
            .longs("earlier", rows.earlier)
            .flags("cut", rows.cuts);
        columns.batch().map(Some)
    }
}
