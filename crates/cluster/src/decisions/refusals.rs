//! Pairs that the method proposes and verification refuses, the first of each document.
//!
//! When all stars are known, these pairs need no verification: a kept document that comes before the one
//! for which a document was removed would have removed it if the pair had been verified.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_core::Result;
use simtool_core::dedup::MAX_REFUSALS;
use simtool_core::sketch::Method;

use crate::context::Context;

const MOST: usize = MAX_REFUSALS as usize;

/// Lists refused pairs of documents that come by key, then by rank.
pub struct RefusalSearch {
    method: Box<dyn Method>,
    by_key: bool,
    components: bool,
    against_only: bool,
    references: i64,
    key: Option<i64>,
    /// Documents that may refuse later ones: stars that stay; of components, the first of each.
    earlier: Vec<Earlier>,
    /// Of components: how many are in `earlier`.
    counts: HashMap<i64, usize, RandomState>,
}

struct Earlier {
    rank: i64,
    component: i64,
    sketch: Vec<u8>,
}

impl RefusalSearch {
    /// For the method of a job.
    pub fn new(context: &Context<'_>, method: Box<dyn Method>) -> RefusalSearch {
        RefusalSearch {
            by_key: method.is_near_by_key(),
            method,
            components: context.has_components(),
            against_only: context.job.against_only,
            references: context.references(),
            key: None,
            earlier: Vec::new(),
            counts: HashMap::default(),
        }
    }

    /// Takes a document of a key; emits the first refused pairs with it.
    ///
    /// With stars, `label` is the rank of the document for which this one is removed, or `None` if it is
    /// kept. With components, it is the rank of the first document of the component, or `None` without a
    /// component. `sketch` is needed only if a shared key is not enough to be near.
    ///
    /// # Errors
    /// Errors of `emit`.
    pub fn push(
        &mut self,
        (key, rank): (i64, i64),
        label: Option<i64>,
        sketch: &[u8],
        mut emit: impl FnMut(i64, i64) -> Result<()>,
    ) -> Result<()> {
        if self.key != Some(key) {
            self.key = Some(key);
            self.earlier.clear();
            self.counts.clear();
        }
        let component = label.unwrap_or(rank);
        let is_reference = rank < self.references;
        if self.components || !is_reference {
            let end = match self.components {
                true => rank,
                false => component,
            };
            let mut candidates = self
                .earlier
                .iter()
                .take_while(|earlier| earlier.rank < end)
                .filter(|earlier| !self.components || earlier.component != component)
                .filter(|earlier| {
                    let score = || self.method.score(&earlier.sketch, sketch);
                    self.by_key || self.method.accepts(&score())
                })
                .take(MOST);
            candidates.try_for_each(|earlier| emit(rank, earlier.rank))?;
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
        Ok(())
    }
}
