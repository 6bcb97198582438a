//! Pairs that the method proposes and verification refuses, the first of each document.
//!
//! When all stars are known, they need no verification: a document that stays, or one before the kept
//! one of a document, would have removed it if the pair had verified.

use std::collections::{HashMap, VecDeque};

use arrow_array::{Array, RecordBatch};
use simtool_core::Result;
use simtool_core::dedup::MAX_REFUSALS;
use simtool_core::sketch::Method;

use crate::columns::{Order, PairRows, ROWS, bytes, longs, optional_longs};
use crate::settings::Settings;
use crate::step::Step;

const MOST: usize = MAX_REFUSALS as usize;

/// The step `refusals`: keys and ranks, by key, then by rank.
///
/// Stars: `label` is the rank of the kept document, or null for one that stays. Components: the first
/// document of the component, or null for one that is alone. `sketch` is needed only if a shared key
/// is not enough to be near.
pub struct Refusals {
    method: Box<dyn Method>,
    by_key: bool,
    components: bool,
    against_only: bool,
    references: i64,
    order: Order<(i64, i64)>,
    key: Option<i64>,
    /// Documents that may refuse later ones: stars that stay; of components, the first of each.
    earlier: Vec<Earlier>,
    /// Of components: how many are in `earlier`.
    counts: HashMap<i64, usize>,
    made: PairRows,
    /// Batches of earlier rows.
    ready: VecDeque<RecordBatch>,
}

struct Earlier {
    rank: i64,
    component: i64,
    sketch: Vec<u8>,
}

impl Refusals {
    /// The step.
    ///
    /// # Errors
    /// Errors of the settings.
    pub fn new(settings: Settings) -> Result<Refusals> {
        let method = settings.build()?;
        Ok(Refusals {
            by_key: method.is_near_by_key(),
            method,
            components: settings.components,
            against_only: settings.against_only,
            references: settings.references,
            order: Order::default(),
            key: None,
            earlier: Vec::new(),
            counts: HashMap::new(),
            made: PairRows::default(),
            ready: VecDeque::new(),
        })
    }

    fn document(&mut self, rank: i64, label: Option<i64>, sketch: &[u8]) -> Result<()> {
        let component = label.unwrap_or(rank);
        let is_reference = rank < self.references;
        if self.components || !is_reference {
            let end = match self.components {
                true => rank,
                false => component,
            };
            let candidates = self
                .earlier
                .iter()
                .take_while(|earlier| earlier.rank < end)
                .filter(|earlier| !self.components || earlier.component != component)
                .filter(|earlier| {
                    let score = || self.method.score(&earlier.sketch, sketch);
                    self.by_key || self.method.accepts(&score())
                });
            for earlier in candidates.take(MOST) {
                self.made.push(rank, earlier.rank, false);
            }
        }
        let may_refuse = match self.components {
            true => {
                let count = self.counts.entry(component).or_default();
                *count += 1;
                // Behind these, further documents of a component are never among the first. If all
                // are near, nothing is behind the first ones of two components.
                !self.by_key || *count <= MOST && self.earlier.len() < 2 * MOST
            }
            false => {
                let stays = label.is_none() && (!self.against_only || is_reference);
                stays && (!self.by_key || self.earlier.len() < MOST)
            }
        };
        if may_refuse {
            self.earlier.push(Earlier {
                rank,
                component,
                sketch: sketch.to_vec(),
            });
        }
        if self.made.len() >= ROWS {
            self.ready.extend(self.made.take()?);
        }
        Ok(())
    }
}

impl Step for Refusals {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let (keys, ranks) = (longs(batch, "key")?, longs(batch, "rank")?);
        let labels = optional_longs(batch, "label")?;
        let sketches = match self.by_key {
            true => None,
            false => Some(bytes(batch, "sketch")?),
        };
        for row in 0..batch.num_rows() {
            self.order.next((keys[row], ranks[row]))?;
            if self.key != Some(keys[row]) {
                self.key = Some(keys[row]);
                self.earlier.clear();
                self.counts.clear();
            }
            let label = labels.is_valid(row).then(|| labels.value(row));
            let sketch = sketches.as_ref().and_then(|sketches| sketches.get(row));
            self.document(ranks[row], label, sketch.unwrap_or_default())?;
        }
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        match self.ready.pop_front() {
            Some(batch) => Ok(Some(batch)),
            None => self.made.take(),
        }
    }
}
