//! The sizes of all clusters, and some documents of the largest.

use crate::report::dedup::Sizes;

/// The number of clusters that are shown.
const CLUSTERS: usize = 10;

/// Sizes and samples of clusters.
#[derive(Default)]
pub struct LargestClusters {
    /// The sizes of all clusters.
    pub sizes: Sizes,
    /// The largest ones: the largest first, equal ones in the order of the kept documents.
    pub samples: Vec<ClusterSample>,
}

/// Some documents of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterSample {
    /// The number of its documents.
    pub size: u64,
    /// Positions in the cluster, from 1, and documents: the kept one, the first, a middle one and
    /// the last of the others.
    pub members: Vec<(u64, u32)>,
}

impl LargestClusters {
    /// Counts a cluster: the kept document, then the others in input order. Clusters come in the
    /// order of their kept documents.
    pub fn add(&mut self, members: &[u32]) {
        let size = members.len() as u64;
        self.sizes.add(size);
        let place = self.samples.partition_point(|sample| sample.size >= size);
        if place == CLUSTERS {
            return;
        }
        let mut positions = vec![0, 1, members.len() / 2, members.len() - 1];
        positions.dedup();
        let members = positions
            .into_iter()
            .filter_map(|position| Some((position as u64 + 1, *members.get(position)?)));
        let sample = ClusterSample {
            size,
            members: members.collect(),
        };
        self.samples.insert(place, sample);
        self.samples.truncate(CLUSTERS);
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

    #[test]
    fn the_largest_clusters_are_kept_in_order() {
        let mut largest = LargestClusters::default();
        let sizes: Vec<u32> = (0..60).map(|number| 2 + number * 7 % 23).collect();
        for (number, size) in (0..).zip(&sizes) {
            let members: Vec<u32> = (0..*size).map(|member| 100 * number + member).collect();
            largest.add(&members);
        }
        let mut expected: Vec<(u32, u32)> = (0..).zip(sizes).map(|(n, size)| (size, n)).collect();
        expected.sort_by_key(|(size, number)| (std::cmp::Reverse(*size), *number));
        let found = largest.samples.iter();
        let found: Vec<(u32, u32)> = found
            .map(|sample| (sample.size as u32, sample.members[0].1 / 100))
            .collect();
        assert_eq!(found, expected[..CLUSTERS]);
        let first = &largest.samples[0];
        assert_eq!(first.size, 24);
        let positions: Vec<u64> = first.members.iter().map(|member| member.0).collect();
        assert_eq!(positions, [1, 2, 13, 24]);
    }

    #[test]
    fn small_clusters_are_shown_whole() {
        for (size, expected) in [(2, vec![1, 2]), (3, vec![1, 2, 3]), (4, vec![1, 2, 3, 4])] {
            let mut largest = LargestClusters::default();
            largest.add(&(0..size).collect::<Vec<u32>>());
            let positions = largest.samples[0].members.iter().map(|member| member.0);
            assert_eq!(positions.collect::<Vec<_>>(), expected);
        }
    }
}
