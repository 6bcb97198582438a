//! Edited items: clusters of n-grams that are shorter than those of `--min`.
//!
//! In a short item, one replaced word leaves no run of 13 words. Runs of 5 words remain, but one of
//! them alone says little, so they count in clusters.

use super::clusters::{Cluster, ClusterFinder};
use super::counts::ItemCounts;
use super::grams::ItemCountPool;
use super::stretches::{CoveredStretch, count_clusters, join_clusters};
use super::tables::EditedTables;
use crate::passages::decontaminate::index::{Index, NgramHit};
use crate::passages::decontaminate::job::EditedRule;

/// Finds edited items; one for each thread.
pub struct EditedFinder<'a> {
    tables: &'a EditedTables,
    clusters: ClusterFinder,
    /// The places of the current document that pass the filter of the index.
    passed: Vec<u64>,
    found: Vec<Cluster>,
    /// The stretches of the current document that clusters cover.
    pub stretches: Vec<CoveredStretch>,
    /// What documents have of the items of which they have no n-gram.
    pub counts: ItemCounts,
}

impl<'a> EditedFinder<'a> {
    /// A finder of edited items, which counts with those of the finders of `pool`.
    pub fn new(
        rule: EditedRule,
        tables: &'a EditedTables,
        pool: &ItemCountPool,
    ) -> EditedFinder<'a> {
        EditedFinder {
            tables,
            clusters: ClusterFinder::new(rule.clusters, &tables.index),
            passed: Vec::new(),
            found: Vec::new(),
            stretches: Vec::new(),
            counts: pool.take(tables.index.items.items.len()),
        }
    }

    /// Replaces the stretches by those of a document with these words, and `hits` by its n-grams of
    /// `ngrams`.
    pub fn find(&mut self, words: &[u64], ngrams: &Index, hits: &mut Vec<NgramHit>) {
        let EditedTables {
            index,
            weights,
            covers,
        } = self.tables;
        index.find_and_mark(words, hits, &mut self.passed);
        let tables = (index, weights);
        self.clusters.find(tables, words, hits, &mut self.found);
        join_clusters(index, &self.found, hits, &mut self.stretches);
        for stretch in &mut self.stretches {
            stretch.is_edited = true;
        }
        match covers {
            true => ngrams.find_among(words, &self.passed, hits),
            false => ngrams.find_all(words, hits),
        }
    }

    /// Counts the edited items of the current document, which has these `stretches` of n-grams and
    /// clusters together. Items of which `counted` has an n-gram in this document do not count again.
    pub fn count(&mut self, stretches: &[CoveredStretch], counted: (&ItemCounts, &Index)) {
        let (counts, index) = counted;
        self.found
            .retain(|cluster| !counts.has(index, cluster.item));
        count_clusters(&self.found, stretches, &mut self.counts);
    }
}
