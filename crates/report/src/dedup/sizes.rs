//! A histogram of the sizes of clusters.

/// The clusters and their documents, by size: 2, 3, 4, then 5 to 9, 10 to 19, 20 to 49, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    bins: Vec<[u64; 2]>,
}

/// The least size of a bin that has several.
const FIRST_SHARED: u64 = 5;

impl Sizes {
    /// Counts a cluster of `size` documents, two or more.
    pub fn add(&mut self, size: u64) {
        let bin = (0..).find(|&bin| size < Sizes::start(bin + 1)).unwrap_or(0);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, [0, 0]);
        }
        self.bins[bin][0] += 1;
        self.bins[bin][1] += size;
    }

    /// The numbers of clusters and of their documents in each bin, up to the last with any.
    pub fn bins(&self) -> &[[u64; 2]] {
        &self.bins
    }

    /// The least size of a bin.
    pub fn start(bin: usize) -> u64 {
        match bin {
            0..=2 => bin as u64 + 2,
            // 5, 10, 20, 50, 100, ...
            _ => {
                let (place, power) = ((bin - 3) % 3, (bin - 3) / 3);
                [FIRST_SHARED, 10, 20][place].saturating_mul(10u64.saturating_pow(power as u32))
            }
        }
    }

    /// The least and the largest size of a bin.
    pub fn range(bin: usize) -> (u64, u64) {
        (Sizes::start(bin), Sizes::start(bin + 1) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_one_bin() {
        let starts: Vec<u64> = (0..12).map(Sizes::start).collect();
        assert_eq!(starts, [2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]);
        for size in (2..3000).chain([u64::from(u32::MAX)]) {
            let mut sizes = Sizes::default();
            sizes.add(size);
            let bin = sizes.bins().len() - 1;
            let (from, to) = Sizes::range(bin);
            assert!((from..=to).contains(&size), "{size}");
            assert_eq!(sizes.bins()[bin], [1, size]);
            assert!(sizes.bins()[..bin].iter().all(|counts| *counts == [0, 0]));
        }
    }
}
