//! Pairs without repetitions: the first of each document.

use arrow_array::RecordBatch;
use simtool_core::Result;

use crate::columns::{Order, PairRows, flags, longs};
use crate::step::Step;

/// The step `first`: pairs by member, then by the earlier document. Gives each pair once, of each
/// member those up to the first cut, and at most a number of them (0: all).
pub struct First {
    most: usize,
    order: Order<(i64, i64)>,
    last: Option<(i64, i64, bool)>,
    member: Option<i64>,
    count: usize,
    is_cut: bool,
    made: PairRows,
}

impl First {
    /// The step.
    pub fn new(most: usize) -> First {
        First {
            most: if most == 0 { usize::MAX } else { most },
            order: Order::default(),
            last: None,
            member: None,
            count: 0,
            is_cut: false,
            made: PairRows::default(),
        }
    }

    /// Gives the pair whose repetitions have all been seen.
    fn finish(&mut self) {
        let Some((member, earlier, cut)) = self.last.take() else {
            return;
        };
        if self.member != Some(member) {
            self.member = Some(member);
            self.count = 0;
            self.is_cut = false;
        }
        if self.is_cut || self.count == self.most {
            return;
        }
        self.count += 1;
        self.is_cut = cut;
        self.made.push(member, earlier, cut);
    }
}

impl Step for First {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let (members, earlier) = (longs(batch, "member")?, longs(batch, "earlier")?);
        let cuts = flags(batch, "cut")?;
        for row in 0..batch.num_rows() {
            let pair = (members[row], earlier[row]);
            self.order.next(pair)?;
            match &mut self.last {
                Some((member, earlier, cut)) if (*member, *earlier) == pair => {
                    *cut |= cuts.value(row);
                }
                _ => {
                    self.finish();
                    self.last = Some((pair.0, pair.1, cuts.value(row)));
                }
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.finish();
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        self.made.take()
    }
}
