//! Document frequencies or total counts of features.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64;

use crate::text::shingles::little_endian;

/// Counts of the most frequent features of a collection.
///
/// Features are identified by 64-bit hashes; two with one hash count as one. A lookup is O(log n).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frequencies {
    documents: u64,
    /// Ascending.
    features: Vec<u64>,
    counts: Vec<u64>,
}

impl Frequencies {
    /// The counts of features in a collection of `documents` documents, in any order. If a feature
    /// occurs twice, the first count is used.
    pub fn new(documents: u64, counts: impl IntoIterator<Item = (u64, u64)>) -> Frequencies {
        let mut entries: Vec<(u64, u64)> = counts.into_iter().collect();
        entries.sort_by_key(|&(feature, _)| feature);
        entries.dedup_by_key(|&mut (feature, _)| feature);
        let (features, counts) = entries.into_iter().unzip();
        Frequencies {
            documents,
            features,
            counts,
        }
    }

    /// The number of documents of the collection.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The count of a feature; `None` if it was not counted.
    pub fn get(&self, feature: u64) -> Option<u64> {
        let place = self.features.binary_search(&feature).ok()?;
        Some(self.counts[place])
    }

    /// The features with their counts, ascending by feature.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let features = self.features.iter().copied();
        features.zip(self.counts.iter().copied())
    }

    /// The features, ascending.
    pub fn features(&self) -> &[u64] {
        &self.features
    }
}

impl fmt::Display for Frequencies {
    /// The numbers of features and documents, and a hash of all counts, by which jobs are compared.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash = xxh3_64(&little_endian(&[
            self.documents,
            xxh3_64(&little_endian(&self.features)),
            xxh3_64(&little_endian(&self.counts)),
        ]));
        let (count, documents) = (self.features.len(), self.documents);
        write!(
            out,
            "{count} of {documents} documents with hash {hash:016x}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_by_feature() {
        let counts = Frequencies::new(10, [(7, 3), (u64::MAX, 1), (0, 9), (7, 5)]);
        assert_eq!(counts.documents(), 10);
        assert_eq!(counts.features(), [0, 7, u64::MAX]);
        let found = [0, 7, u64::MAX, 8].map(|feature| counts.get(feature));
        assert_eq!(found, [Some(9), Some(3), Some(1), None]);
    }

    #[test]
    fn what_a_job_compares() {
        let text = |documents, count| Frequencies::new(documents, [(7, count)]).to_string();
        assert_eq!(text(1, 1), text(1, 1));
        assert_ne!(text(1, 1), text(2, 1));
        assert_ne!(text(1, 1), text(1, 2));
    }
}
