//! What all threads look up: the n-grams of the reference, and weights if clusters are searched.

use std::sync::Arc;

use super::clusters::Weights;
use crate::passages::decontaminate::index::{Index, words_of_gram};
use crate::passages::decontaminate::items::Items;
use crate::passages::decontaminate::job::DecontaminateJob;

/// What all threads look up.
pub struct ReferenceTables {
    /// The n-grams.
    pub index: Index,
    /// Their weights, if the job searches clusters of them.
    pub weights: Option<Weights>,
    /// What finds edited items, if the job does.
    pub edited: Option<EditedTables>,
}

/// The n-grams by which edited items are found.
pub struct EditedTables {
    /// The n-grams.
    pub index: Index,
    /// Their weights.
    pub weights: Weights,
    /// Whether the filter of this index has the places of the other one, too.
    pub covers: bool,
}

impl ReferenceTables {
    /// The tables of a job with these items. Uses the current rayon pool.
    pub fn new(job: &DecontaminateJob, items: Items) -> ReferenceTables {
        let items = Arc::new(items);
        let index = || {
            let index = Index::new(Arc::clone(&items), |items, item| {
                let words = items.words_of(item).len();
                words_of_gram(words, job.least.0, job.least_item.0)
            });
            let weights = job.clusters.map(|rule| Weights::new(rule, &index));
            (index, weights)
        };
        let edited = || {
            let rule = job.edited?;
            let least_item = rule.least_item.max(rule.least).0;
            let index = Index::new(Arc::clone(&items), |items, item| {
                let is_long = items.words_of(item).len() >= least_item;
                let is_spaced = !items.items[item].has_unspaced_scripts;
                (is_long && is_spaced).then_some(rule.least.0 as u32)
            });
            Some(EditedTables {
                weights: Weights::new(rule.clusters, &index),
                index,
                covers: false,
            })
        };
        let ((index, weights), mut edited) = rayon::join(index, edited);
        if let Some(edited) = &mut edited {
            edited.covers = edited.index.cover(&index);
        }
        ReferenceTables {
            index,
            weights,
            edited,
        }
    }
}
