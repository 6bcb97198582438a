//! Prefixes of sets: what two sets of a least resemblance θ share, at the least.
//!
//! All elements are sorted by one order. The *prefix* of a set has its first elements: enough that
//! the rest has less than a share of θ. Similar sets x and y share at least θ|x| and at least θ|y|
//! elements, so the first of these is in both prefixes. Rare elements come first, so few sets share
//! one.
//!
//! In all, x and y share at least θ (|x| + |y|) / (1 + θ) elements. Less than θ max(|x|, |y|) of them
//! are outside of a prefix, as they follow the end of the one that ends first. So sets of about equal
//! size share several elements of both prefixes.
//!
//! Sources: Chaudhuri, Ganti and Kaushik, "A Primitive Operator for Similarity Joins in Data
//! Cleaning", ICDE 2006; Bayardo, Ma and Srikant, "Scaling Up All Pairs Similarity Search", WWW
//! 2007; Xiao, Wang, Lin and Yu, "Efficient Similarity Joins for Near Duplicate Detection", WWW
//! 2008.

use std::ops::Range;

use crate::search::join::Rarity;
use crate::text::LeastSimilarity;

/// The first elements of a set, by rarity, then by value.
#[derive(Default)]
pub(super) struct Prefix(Vec<(u16, u64)>);

impl Prefix {
    /// The prefix of a set, in no particular order.
    pub fn of(
        &mut self,
        set: &[u64],
        least: LeastSimilarity,
        rarity: &Rarity,
    ) -> impl Iterator<Item = u64> {
        let shared = (set.len() as u128 * u128::from(least.thousandths)).div_ceil(1000) as usize;
        let length = match set.len() {
            0 => 0,
            all => all + 1 - shared.clamp(1, all),
        };
        self.0.clear();
        let ranked = set.iter().map(|element| (rarity.of(*element), *element));
        self.0.extend(ranked);
        if (1..self.0.len()).contains(&length) {
            self.0.select_nth_unstable(length - 1);
        }
        self.0.truncate(length);
        self.0.iter().map(|(_, element)| *element)
    }
}

/// Bounds on the sizes of sets that are similar to one of `size` elements.
#[derive(Clone, Copy)]
pub(super) struct SizeBounds {
    pub size: u64,
    /// The least resemblance.
    pub thousandths: u64,
}

impl SizeBounds {
    /// The sizes of similar sets.
    pub fn similar(self) -> Range<u64> {
        let least = (self.size * self.thousandths).div_ceil(1000);
        least..self.size * 1000 / self.thousandths.max(1) + 1
    }

    /// The sizes of sets that share more than `count` elements of both prefixes if they are similar.
    /// `None` if there are none, not even sets of the same size.
    pub fn sharing_more_than(self, count: u64) -> Option<Range<u64>> {
        let [size, least, count] = [self.size, self.thousandths, count].map(i128::from);
        if least == 0 {
            return None;
        }
        // θ (|x| + |y|) / (1 + θ) - θ max(|x|, |y|) >= count, solved for the size of the other set,
        // as the smaller one and as the larger one.
        let above = (1000 * count + least * size) * (1000 + least);
        let first = (above + 1000 * least - 1) / (1000 * least) - size;
        let last = (least * size - count * (1000 + least)) * 1000 / (least * least);
        let sizes = u64::try_from(first.max(0)).ok()?..u64::try_from(last + 1).ok()?;
        sizes.contains(&self.size).then_some(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Ranks of elements are their values here. Similar sets are compared with the bounds.
        #[test]
        fn similar_sets_share_as_many_elements_as_stated(
            common in 0..60u64,
            own in prop::collection::vec((0..200u64, any::<bool>()), 0..60),
            thousandths in prop_oneof![1..=1000u32, Just(800), Just(500)],
        ) {
            // Own elements are odd, so they are before, between and after the common ones.
            let set = |side: bool| {
                let own = own.iter().filter(|own| own.1 == side);
                let own = own.map(|own| 4 * own.0 + 1 + 2 * u64::from(side));
                let mut set: Vec<u64> = own.chain((0..common).map(|number| 8 * number)).collect();
                set.sort();
                set.dedup();
                set
            };
            let (x, y) = (set(false), set(true));
            let least = LeastSimilarity::resemblance(thousandths);
            prop_assume!(least.reached(&x, &y).is_some());
            let rarity = Rarity::new(2);
            let prefix = |set: &[u64]| {
                let mut prefix: Vec<u64> = Prefix::default().of(set, least, &rarity).collect();
                prefix.sort();
                assert_eq!(prefix, set[..prefix.len()]);
                prefix
            };
            let (of_x, of_y) = (prefix(&x), prefix(&y));
            let shared = of_x.iter().filter(|element| of_y.contains(element)).count() as u64;
            prop_assert!(shared > 0);
            let bounds = SizeBounds { size: x.len() as u64, thousandths: thousandths.into() };
            prop_assert!(bounds.similar().contains(&(y.len() as u64)));
            for count in 0..x.len() as u64 {
                let sizes = bounds.sharing_more_than(count);
                let is_stated = sizes.is_some_and(|sizes| sizes.contains(&(y.len() as u64)));
                prop_assert!(!is_stated || shared > count, "{shared} of more than {count}");
            }
        }
    }

    #[test]
    fn sets_of_one_size_share_several_elements() {
        let bounds = SizeBounds {
            size: 112,
            thousandths: 800,
        };
        // 0.8 * 224 / 1.8 - 0.8 * 112 = 9.96
        assert!(bounds.sharing_more_than(9).unwrap().contains(&112));
        assert_eq!(bounds.sharing_more_than(10), None);
        assert_eq!(bounds.similar(), 90..141);
    }
}
