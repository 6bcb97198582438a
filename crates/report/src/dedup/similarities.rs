//! A histogram of similarities.

/// The bins of similarities from 0 to 1.
const BINS: usize = 100;
/// The maximum number of bins that are drawn; more are joined.
const MAX_DRAWN: usize = 40;

/// The similarities of dropped documents to the kept ones, in hundredths, rounded down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Similarities {
    bins: [u64; BINS],
    /// Documents with the same text or the same words.
    pub equal: u64,
    /// Documents that a newer one with the same URL replaces.
    pub same_url: u64,
    /// Documents in bins whose similarity is an estimate from the signatures of an index.
    pub estimated: u64,
    /// Documents that were not compared.
    pub unknown: u64,
    /// Dropped documents that would be kept if the job kept a copy.
    pub alone: u64,
    /// Dropped documents that would be kept if their clusters came from more sources.
    pub few_sources: u64,
    /// The least similarity of duplicates, in thousandths; `None` if nothing is verified.
    pub threshold: Option<u32>,
}

/// The drawn part of a histogram.
pub struct Drawn {
    /// The first hundredth.
    pub from: usize,
    /// Hundredths in each bin.
    pub width: usize,
    /// The counts.
    pub bins: Vec<u64>,
}

impl Similarities {
    /// No documents.
    pub fn new(threshold: Option<u32>) -> Similarities {
        Similarities {
            bins: [0; BINS],
            equal: 0,
            same_url: 0,
            estimated: 0,
            unknown: 0,
            alone: 0,
            few_sources: 0,
            threshold,
        }
    }

    /// Counts a document that shares `shared` of `all` shingles with the kept one, or about this
    /// part of them; 1 is in the last bin.
    pub fn add(&mut self, [shared, all]: [u32; 2], is_estimated: bool) {
        match (BINS as u64 * u64::from(shared)).checked_div(u64::from(all)) {
            Some(bin) => {
                self.bins[(bin as usize).min(BINS - 1)] += 1;
                self.estimated += u64::from(is_estimated);
            }
            None => self.unknown += 1,
        }
    }

    /// The documents in bins.
    pub fn compared(&self) -> u64 {
        self.bins.iter().sum()
    }

    /// The bins from a twentieth below the threshold, or below the least similarity, up to 1.
    pub fn drawn(&self) -> Drawn {
        let least = self.bins.iter().position(|&count| count > 0);
        let threshold = self.threshold.map(|thousandths| thousandths as usize / 10);
        let least = least.into_iter().chain(threshold).min().unwrap_or(0);
        let from = (least / 5 * 5).saturating_sub(5);
        let width = [1, 2, 5].into_iter().find(|width| {
            let count = BINS - from;
            count.is_multiple_of(*width) && count / width <= MAX_DRAWN
        });
        let width = width.unwrap_or(5);
        let bins = self.bins[from..].chunks(width);
        Drawn {
            from,
            width,
            bins: bins.map(|bins| bins.iter().sum()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_similarity_is_drawn() {
        for shared in 0..=1000 {
            let mut similarities = Similarities::new(Some(800));
            similarities.add([shared, 1000], false);
            let Drawn { from, width, bins } = similarities.drawn();
            assert_eq!(from + width * bins.len(), BINS);
            assert!(bins.len() <= MAX_DRAWN);
            let bin = bins.iter().position(|&count| count > 0).unwrap();
            let hundredth = (shared as usize / 10).min(BINS - 1);
            assert_eq!((hundredth - from) / width, bin);
            assert!(from < 80 && from <= hundredth);
        }
    }

    #[test]
    fn documents_without_shingles_are_not_compared() {
        let mut similarities = Similarities::new(None);
        similarities.add([0, 0], true);
        assert_eq!((similarities.unknown, similarities.compared()), (1, 0));
        assert_eq!(similarities.estimated, 0);
    }
}
