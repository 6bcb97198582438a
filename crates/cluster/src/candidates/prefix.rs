//! Prefixes of sets: the shingles by which similar sets are found.
//!
//! The elements of all sets are sorted by one order, rare ones first. Sets x and y with a
//! resemblance of at least θ share at least θ (|x| + |y|) / (1 + θ) elements. If y is the smaller
//! one, at least 2θ |y| / (1 + θ) of these, so one is among the first |y| - ⌈2θ |y| / (1 + θ)⌉ + 1 of
//! y; it is also among the first |x| - ⌈θ |x|⌉ + 1 of x. So y is *found* by fewer elements than it
//! *finds* larger ones with. Pages of one template, each with some text of its own, are not found by
//! elements of the template: these are behind their own ones.
//!
//! If y is contained in x, at least θ |y| elements are shared, so one is among the first
//! |y| - ⌈θ |y|⌉ + 1 of y. In x, it may be anywhere. So y finds x by its first elements, and x is found by
//! any of its elements. Source: Bayardo, Ma and Srikant,
//! "Scaling Up All Pairs Similarity Search", WWW 2007; Xiao, Wang, Lin and Yu, "Efficient Similarity
//! Joins for Near Duplicate Detection", WWW 2008.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_core::text::LeastSimilarity;

/// Computes the prefixes of sets.
pub struct Prefixes {
    thousandths: u64,
    is_containment: bool,
    /// The place of each frequent element in the order, behind all others.
    frequent: HashMap<u64, u32, RandomState>,
    /// The prefix: the places and the elements.
    sorted: Vec<(u32, u64)>,
}

impl Prefixes {
    /// For a least similarity, and the frequent elements, the most frequent one last.
    pub fn new(least: LeastSimilarity, frequent: &[u64]) -> Prefixes {
        Prefixes {
            thousandths: least.thousandths.into(),
            is_containment: least.is_containment(),
            frequent: frequent.iter().copied().zip(1..).collect(),
            sorted: Vec::new(),
        }
    }

    /// The number of elements by which a set of this size finds others.
    pub fn finding(&self, size: usize) -> usize {
        let size = size as u64;
        let shared = (size * self.thousandths).div_ceil(1000).max(1);
        (size + 1).saturating_sub(shared) as usize
    }

    /// The elements by which a set finds others or is found by them, in order: the places among the
    /// frequent ones, from 1 on, or 0, and the elements.
    pub fn of(&mut self, set: &[u64]) -> &[(u32, u64)] {
        let length = match self.is_containment {
            true => set.len(),
            false => self.finding(set.len()),
        };
        let place = |element: &u64| self.frequent.get(element).copied().unwrap_or(0);
        let sorted = &mut self.sorted;
        sorted.clear();
        sorted.extend(set.iter().map(|element| (place(element), *element)));
        if (1..sorted.len()).contains(&length) {
            sorted.select_nth_unstable(length - 1);
            sorted.truncate(length);
        }
        sorted.sort_unstable();
        sorted
    }
}
