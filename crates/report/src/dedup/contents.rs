//! The contents of a page.

use std::ops::{AddAssign, SubAssign};

use simtool_evaluate::Proportion;

use super::similarities::Similarities;
use super::sizes::Sizes;
use crate::places::Places;

/// The contents of the page of a deduplication.
pub struct DedupPage {
    /// Settings and inputs, by name.
    pub facts: Vec<(String, String)>,
    /// Documents and bytes of the input.
    pub totals: Totals,
    /// Skipped documents by reason, the most frequent first.
    pub skipped: Vec<(String, u64)>,
    /// Dropped documents by method.
    pub methods: Vec<MethodRow>,
    /// The files with the most dropped documents, or the directories of small files.
    pub sources: Places<Totals>,
    /// The sites with the most dropped documents; `None` if no document has a URL with a host.
    pub sites: Option<ShownSites>,
    /// The sizes of all clusters.
    pub sizes: Sizes,
    /// The largest clusters.
    pub clusters: Vec<Cluster>,
    /// Whether a document of each cluster is kept.
    pub keeps_a_copy: bool,
    /// Whether a similarity is the share of the later document's shingles that the earlier one has,
    /// and not the share of all shingles of both.
    pub is_containment: bool,
    /// The similarities of dropped documents to the kept ones.
    pub similarities: Similarities,
    /// The dropped documents that are the least similar to the kept ones.
    pub least_similar: Vec<ComparedPair>,
    /// The proposed pairs that verification refused; `None` if nothing is verified.
    pub refused: Option<Refused>,
    /// What lower thresholds would drop; `None` if they were not looked at.
    pub lower: Option<LowerThresholds>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Documents of the input and bytes of their texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Documents of the input, skipped ones too.
    pub seen: u64,
    /// Dropped documents.
    pub dropped: u64,
    /// Documents that could not be read.
    pub skipped: u64,
    /// Bytes of all texts.
    pub text_bytes: u64,
    /// Bytes of the texts of dropped documents.
    pub dropped_bytes: u64,
}

impl Totals {
    /// Counts a document that could be read.
    pub fn add_document(&mut self, text_bytes: u64, is_dropped: bool) {
        let (dropped, dropped_bytes) = if is_dropped { (1, text_bytes) } else { (0, 0) };
        *self += Totals {
            seen: 1,
            dropped,
            skipped: 0,
            text_bytes,
            dropped_bytes,
        };
    }

    fn fields(&mut self) -> [&mut u64; 5] {
        [
            &mut self.seen,
            &mut self.dropped,
            &mut self.skipped,
            &mut self.text_bytes,
            &mut self.dropped_bytes,
        ]
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, mut other: Totals) {
        let pairs = self.fields().into_iter().zip(other.fields());
        pairs.for_each(|(sum, more)| *sum += *more);
    }
}

impl SubAssign for Totals {
    fn sub_assign(&mut self, mut part: Totals) {
        let pairs = self.fields().into_iter().zip(part.fields());
        pairs.for_each(|(sum, less)| *sum -= *less);
    }
}

/// The documents that were dropped by one method.
pub struct MethodRow {
    /// Its name in the reports.
    pub name: String,
    /// How it compares.
    pub note: &'static str,
    /// Dropped documents.
    pub documents: u64,
    /// Bytes of their texts.
    pub bytes: u64,
}

/// The sites with the most dropped documents.
pub struct ShownSites {
    /// Those with the most dropped documents, and the others together.
    pub places: Places<Totals>,
    /// Documents without a site.
    pub without: Totals,
}

/// A cluster with some of its documents.
pub struct Cluster {
    /// The number of its documents.
    pub size: u64,
    /// Of the others, those with the same text as the first.
    pub same_text: u64,
    /// Of the others, those with another text, but the same words in the same order.
    pub same_words: u64,
    /// Of the others, those that a newer document with the same URL replaces.
    pub same_url: u64,
    /// The rest of the others.
    pub near: u64,
    /// The least similarity of these to the first, as a fraction; `None` if none was compared.
    pub least: Option<[u32; 2]>,
    /// The first in keep order, then some others.
    pub members: Vec<ClusterMember>,
}

/// A document of a cluster.
pub struct ClusterMember {
    /// Its position among the documents of the cluster, from 1.
    pub position: u64,
    /// Whether it is kept.
    pub is_kept: bool,
    /// The document.
    pub document: ShownDocument,
}

/// Two documents that were compared.
pub struct ComparedPair {
    /// The earlier one in keep order.
    pub kept: ShownDocument,
    /// The later one.
    pub document: ShownDocument,
    /// Shared shingles and the number that they are compared with, or an estimate of their share as a
    /// fraction.
    pub verified: [u32; 2],
    /// Whether it is an estimate from the signatures of an index.
    pub is_estimated: bool,
    /// The method and its score, in words.
    pub found: String,
}

/// The pairs that verification refused.
pub struct Refused {
    /// All of them.
    pub count: u64,
    /// Listed pairs; `None` if the job lists none.
    pub listed: Option<u64>,
    /// The most similar of the listed ones.
    pub nearest: Vec<ComparedPair>,
}

/// A document with its text.
#[derive(Clone, Debug)]
pub struct ShownDocument {
    /// Its id, which may be invalid UTF-8.
    pub id: Vec<u8>,
    /// Its URL; empty if it has none.
    pub url: Vec<u8>,
    /// The file and the place in it; `None` if only an index knows the document.
    pub place: Option<Vec<u8>>,
    /// The text.
    pub text: ShownText,
}

/// The text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShownText {
    /// The text or its beginning.
    Known(Vec<u8>),
    /// Not available, and why.
    Unknown(&'static str),
}

/// What lower thresholds would remove, besides what the run removed.
pub struct LowerThresholds {
    /// The number of documents in the sample.
    pub sampled: u64,
    /// The number of documents from which it was taken.
    pub of: u64,
    /// The thresholds, the highest first.
    pub thresholds: Vec<LowerThreshold>,
}

/// A lower threshold.
pub struct LowerThreshold {
    /// The threshold, in thousandths.
    pub thousandths: u32,
    /// How many kept documents of the sample it would remove, at most.
    pub removed: u64,
    /// The least similar pairs that it accepts and the next higher threshold does not.
    pub pairs: Vec<ComparedPair>,
}

impl LowerThresholds {
    /// Whether the sample has all documents.
    pub fn is_whole(&self) -> bool {
        self.sampled >= self.of
    }

    /// The estimated number of documents that a threshold would remove, at most.
    pub fn documents(&self, threshold: &LowerThreshold) -> u64 {
        self.of_all(threshold.removed as f64)
    }

    /// A 95 % interval of that number, by Wilson's score.
    pub fn interval(&self, threshold: &LowerThreshold) -> [u64; 2] {
        let found = Proportion::new(threshold.removed, self.sampled).interval();
        found.map_or([0, self.of], |at| {
            [at.low, at.high].map(|share| self.of_all(share * self.sampled as f64))
        })
    }

    fn of_all(&self, removed: f64) -> u64 {
        (removed * self.of as f64 / self.sampled.max(1) as f64).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_the_sample_stand_for_all_documents() {
        let threshold = |removed| LowerThreshold {
            thousandths: 700,
            removed,
            pairs: Vec::new(),
        };
        let lower = LowerThresholds {
            sampled: 2000,
            of: 10_000,
            thresholds: Vec::new(),
        };
        assert_eq!(lower.documents(&threshold(100)), 500);
        assert_eq!(lower.interval(&threshold(100)), [413, 604]);
        assert_eq!(lower.interval(&threshold(0)), [0, 19]);
    }
}
