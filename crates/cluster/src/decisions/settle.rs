//! Stars, one document after another.
//!
//! A document whose earlier neighbours are all removed stays; the others are removed. A document with
//! a cut needs more candidates before it may stay.

use std::collections::HashMap;

use arrow_array::{Array, RecordBatch};
use simtool_core::Result;

use crate::columns::{Columns, Order, flags, longs};
use crate::step::Step;

/// The step `settle`, of one task: verified pairs by member, then by `earlier`; a cut is a row with
/// `cut` at the last document that is known. Gives the members that are removed, and those that need
/// more candidates, with their frontiers.
///
/// Holds some bytes for each member that does not stay.
#[derive(Default)]
pub struct Settle {
    order: Order<(i64, i64)>,
    states: HashMap<i64, State>,
    current: Option<Current>,
    made: (Vec<i64>, Vec<Option<i64>>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Removed,
    Undecided,
}

struct Current {
    member: i64,
    outcome: Outcome,
    frontier: Option<i64>,
}

#[derive(PartialEq, Eq)]
enum Outcome {
    /// All earlier neighbours so far are removed.
    Stays,
    Removed,
    Waits,
}

impl Settle {
    fn finish(&mut self) {
        let Some(current) = self.current.take() else {
            return;
        };
        match (current.outcome, current.frontier) {
            (Outcome::Removed, _) => {
                self.states.insert(current.member, State::Removed);
                self.made.0.push(current.member);
                self.made.1.push(None);
            }
            (Outcome::Waits, _) => {
                self.states.insert(current.member, State::Undecided);
            }
            (Outcome::Stays, Some(frontier)) => {
                self.states.insert(current.member, State::Undecided);
                self.made.0.push(current.member);
                self.made.1.push(Some(frontier));
            }
            (Outcome::Stays, None) => {}
        }
    }
}

impl Step for Settle {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let (members, earlier) = (longs(batch, "member")?, longs(batch, "earlier")?);
        let cuts = flags(batch, "cut")?;
        for row in 0..batch.num_rows() {
            let member = members[row];
            self.order.next((member, earlier[row]))?;
            if self
                .current
                .as_ref()
                .is_none_or(|current| current.member != member)
            {
                self.finish();
                self.current = Some(Current {
                    member,
                    outcome: Outcome::Stays,
                    frontier: None,
                });
            }
            let Some(current) = &mut self.current else {
                continue;
            };
            if cuts.is_valid(row) && cuts.value(row) {
                current.frontier = Some(earlier[row]);
            } else if current.outcome == Outcome::Stays {
                current.outcome = match self.states.get(&earlier[row]) {
                    None => Outcome::Removed,
                    Some(State::Undecided) => Outcome::Waits,
                    Some(State::Removed) => Outcome::Stays,
                };
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.finish();
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        if self.made.0.is_empty() {
            return Ok(None);
        }
        let (members, frontiers) = std::mem::take(&mut self.made);
        let batch = Columns::default()
            .longs("member", members)
            .optional_longs("frontier", frontiers)
            .batch()?;
        Ok(Some(batch))
    }
}
