//! The least similarity of duplicates, by the shingles that two documents share.
//!
//! Source: Broder, "On the Resemblance and Containment of Documents", SEQUENCES 1997.

use std::fmt;

use super::shingles::{jaccard, overlap, overlap_of_at_least};

/// What the shared shingles of two documents are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// All shingles of both: |A ∩ B| / |A ∪ B|.
    #[default]
    Resemblance,
    /// The shingles of the second one: |A ∩ B| / |B|, the share of B that A contains.
    Containment,
}

impl Measure {
    /// The name, as parameters and reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Resemblance => "resemblance",
            Measure::Containment => "containment",
        }
    }

    /// The similarity of two sets: the number of shared elements, and the number with which it is
    /// compared. O(sum of the sizes).
    pub fn similarity(self, a: &[u64], b: &[u64]) -> (u64, u64) {
        match self {
            Measure::Resemblance => jaccard(a, b),
            Measure::Containment => (overlap(a, b) as u64, b.len() as u64),
        }
    }

    /// The number with which `shared` elements of sets of these sizes are compared.
    fn whole(self, shared: u64, (a, b): (u64, u64)) -> u64 {
        match self {
            Measure::Resemblance => a + b - shared,
            Measure::Containment => b,
        }
    }
}

/// The least similarity of duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastSimilarity {
    /// What is measured.
    pub measure: Measure,
    /// The least share, in thousandths; at most 1000.
    pub thousandths: u32,
}

impl LeastSimilarity {
    /// A least share of all shingles of both documents.
    pub fn resemblance(thousandths: u32) -> LeastSimilarity {
        LeastSimilarity {
            measure: Measure::Resemblance,
            thousandths,
        }
    }

    /// A least share of the shingles of the second document.
    pub fn containment(thousandths: u32) -> LeastSimilarity {
        LeastSimilarity {
            measure: Measure::Containment,
            thousandths,
        }
    }

    /// Whether containment is measured.
    pub fn is_containment(self) -> bool {
        self.measure == Measure::Containment
    }

    /// The share as a decimal number, without zeros at the end.
    pub fn share(self) -> String {
        let decimals = format!("{}.{:03}", self.thousandths / 1000, self.thousandths % 1000);
        let decimals = decimals.trim_end_matches('0').trim_end_matches('.');
        decimals.to_owned()
    }

    /// The [similarity](Measure::similarity) of two sets if it is reached, else `None`; usually
    /// stops early if it is out of reach. `None` if the whole is empty.
    pub fn reached(self, a: &[u64], b: &[u64]) -> Option<(u64, u64)> {
        let thousandths = self.thousandths as usize;
        // The least number of shared elements with shared * 1000 >= whole * thousandths.
        let least = match self.measure {
            Measure::Resemblance => {
                ((a.len() + b.len()) * thousandths).div_ceil(1000 + thousandths)
            }
            Measure::Containment => (b.len() * thousandths).div_ceil(1000),
        };
        let shared = overlap_of_at_least(a, b, least)? as u64;
        let sizes = (a.len() as u64, b.len() as u64);
        let whole = self.measure.whole(shared, sizes);
        (whole > 0).then_some((shared, whole))
    }

    /// Whether two sets of these sizes may reach it if at least `apart` elements are in only one of
    /// them. Sizes of `u32::MAX` are unknown, so the answer is yes.
    pub(crate) fn may_be_reached(self, (a, b): (u32, u32), apart: u32) -> bool {
        if a == u32::MAX || b == u32::MAX {
            return true;
        }
        let sizes = (u64::from(a), u64::from(b));
        let apart = u64::from(apart.max(a.abs_diff(b)));
        let shared = (sizes.0 + sizes.1 - apart) / 2;
        shared * 1000 >= self.measure.whole(shared, sizes) * u64::from(self.thousandths)
    }
}

/// As flags have it: a share, or `containment:` and a share.
impl fmt::Display for LeastSimilarity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.is_containment() {
            "containment:"
        } else {
            ""
        };
        write!(out, "{prefix}{}", self.share())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::shingles::sort_to_set;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const MEASURES: [Measure; 2] = [Measure::Resemblance, Measure::Containment];

    #[test]
    fn shares_are_decimal_numbers() {
        for (thousandths, share) in [(1, "0.001"), (50, "0.05"), (800, "0.8"), (1000, "1")] {
            assert_eq!(LeastSimilarity::resemblance(thousandths).to_string(), share);
            let contained = LeastSimilarity::containment(thousandths).to_string();
            assert_eq!(contained, format!("containment:{share}"));
        }
    }

    proptest! {
        /// Promise (Deduplication): By containment, the dropped documents are …
        #[test]
        fn similarities_are_the_definition(
            common in prop::collection::vec(any::<u64>(), 0..150),
            own in prop::collection::vec((any::<u64>(), any::<bool>()), 0..150),
            small in 0..200usize,
        ) {
            let of = |side: bool| own.iter().filter(move |own| own.1 == side).map(|own| own.0);
            let mut sets = [false, true].map(|side| common.iter().copied().chain(of(side)).collect());
            sets.iter_mut().for_each(sort_to_set);
            let [a, mut b]: [Vec<u64>; 2] = sets;
            b.truncate(small);
            for (a, b) in [(&a, &b), (&b, &a), (&a, &a)] {
                let sets = [a, b].map(|set| set.iter().collect::<BTreeSet<_>>());
                let shared = sets[0].intersection(&sets[1]).count() as u64;
                for measure in MEASURES {
                    let whole = match measure {
                        Measure::Resemblance => sets[0].union(&sets[1]).count(),
                        Measure::Containment => sets[1].len(),
                    } as u64;
                    prop_assert_eq!(measure.similarity(a, b), (shared, whole));
                    let at = (1000 * shared).checked_div(whole).unwrap_or(0) as u32;
                    let around = [at.saturating_sub(1), at, at + 1, 1, 500, 800, 1000];
                    for thousandths in around.map(|least| least.clamp(1, 1000)) {
                        let least = LeastSimilarity { measure, thousandths };
                        let is_reached = whole > 0 && shared * 1000 >= whole * u64::from(thousandths);
                        let expected = is_reached.then_some((shared, whole));
                        prop_assert_eq!(least.reached(a, b), expected);
                    }
                }
            }
        }

        /// Promise (Deduplication): By containment, the dropped documents are …
        #[test]
        fn bounds_are_sound(shared in 0..2000u32, a in 0..2000u32, b in 0..2000u32, part in 0..=100u32) {
            let apart = (a + b) * part / 100;
            for measure in MEASURES {
                let whole = match measure {
                    Measure::Resemblance => shared + a + b,
                    Measure::Containment => shared + b,
                };
                for thousandths in [1, 50, 500, 666, 667, 750, 799, 800, 801, 1000] {
                    let least = LeastSimilarity { measure, thousandths };
                    let reaches = 1000 * shared >= thousandths * whole;
                    let may = least.may_be_reached((shared + a, shared + b), apart);
                    prop_assert!(!reaches || may);
                    // And the bound is as tight as the differences allow.
                    if apart == a + b {
                        prop_assert_eq!(may, reaches);
                    }
                }
            }
        }
    }
}
