//! The sizes of all clusters, and some documents of the largest.

use crate::dedup::decisions::clusters::LargeCluster;
use simtool_report::dedup::Sizes;

/// Sizes and samples of clusters.
pub struct ClusterSamples {
    /// The sizes of all clusters.
    pub sizes: Sizes,
    /// The largest ones, in the order of the summary.
    pub samples: Vec<ClusterSample>,
}

/// Some documents of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterSample {
    /// The cluster.
    pub cluster: LargeCluster,
    /// Positions in the cluster, from 1, and documents: the kept one, the first, a middle one and
    /// the last of the others.
    pub members: Vec<(u64, u32)>,
}

impl ClusterSamples {
    /// No documents so far, of the clusters `largest`.
    pub fn new(largest: &[LargeCluster]) -> ClusterSamples {
        let samples = largest.iter().map(|cluster| ClusterSample {
            cluster: *cluster,
            members: Vec::new(),
        });
        ClusterSamples {
            sizes: Sizes::default(),
            samples: samples.collect(),
        }
    }

    /// Counts a cluster: the kept document, then the others in input order.
    pub fn add(&mut self, members: &[u32]) {
        self.sizes.add(members.len() as u64);
        let mut samples = self.samples.iter_mut();
        let sample = samples.find(|sample| members.first() == Some(&sample.cluster.kept));
        let Some(sample) = sample else {
            return;
        };
        let mut positions = vec![0, 1, members.len() / 2, members.len() - 1];
        positions.dedup();
        let members = positions
            .into_iter()
            .filter_map(|position| Some((position as u64 + 1, *members.get(position)?)));
        sample.members = members.collect();
    }

    /// The documents of the samples.
    pub fn documents(&self) -> impl Iterator<Item = u32> {
        let members = self.samples.iter().flat_map(|sample| &sample.members);
        members.map(|(_, document)| *document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions of the shown documents of a cluster of `size`.
    fn positions(size: u32) -> Vec<u64> {
        let cluster = LargeCluster {
            kept: 100,
            size: size.into(),
            ..LargeCluster::default()
        };
        let mut samples = ClusterSamples::new(&[cluster]);
        samples.add(&[7, 8, 9]);
        samples.add(&(100..100 + size).collect::<Vec<u32>>());
        assert_eq!(
            samples.sizes.bins().iter().map(|bin| bin[0]).sum::<u64>(),
            2
        );
        let members = &samples.samples[0].members;
        assert!(
            members
                .iter()
                .all(|&(at, document)| at + 99 == u64::from(document))
        );
        members.iter().map(|member| member.0).collect()
    }

    /// Promise (Methods and their evaluation): The HTML page of a deduplication has …
    #[test]
    fn samples_are_the_ends_and_the_middle() {
        assert_eq!(positions(24), [1, 2, 13, 24]);
        for (size, expected) in [(2, vec![1, 2]), (3, vec![1, 2, 3]), (4, vec![1, 2, 3, 4])] {
            assert_eq!(positions(size), expected);
        }
    }
}
