//! Sets of numbers, one bit each.

use std::ops::Range;

/// A set of the numbers of documents, or of their ranks.
#[derive(Clone, Debug)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// The empty set, for numbers below `count`.
    pub fn none_of(count: u64) -> Bits {
        Bits(vec![0; count.div_ceil(64) as usize])
    }

    /// Adds a number, unless it is at least `count` rounded up to a multiple of 64.
    pub fn insert(&mut self, number: u32) {
        if let Some(word) = self.0.get_mut(number as usize / 64) {
            *word |= 1 << (number % 64);
        }
    }

    /// Whether the number is in the set.
    pub fn contains(&self, number: u32) -> bool {
        let word = self.0.get(number as usize / 64);
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// The least number of the set that is at least `number`.
    pub fn next(&self, number: u32) -> Option<u32> {
        let first = number as usize / 64;
        let words = self.0.iter().enumerate().skip(first);
        let masks = std::iter::once(u64::MAX << (number % 64)).chain(std::iter::repeat(u64::MAX));
        let mut rest = words
            .zip(masks)
            .map(|((place, word), mask)| (place, word & mask));
        let (place, word) = rest.find(|(_, word)| *word != 0)?;
        Some(place as u32 * 64 + word.trailing_zeros())
    }

    /// Whether the set has any of the `count` numbers from `first` on.
    pub fn any_of(&self, first: u32, count: u32) -> bool {
        self.within(first..first.saturating_add(count))
            .next()
            .is_some()
    }

    /// The numbers of the set within `range`, in order.
    pub fn within(&self, range: Range<u32>) -> impl Iterator<Item = u32> {
        let words = range.start / 64..range.end.div_ceil(64);
        let set = words.flat_map(move |place| {
            let mut word = self.0.get(place as usize).copied().unwrap_or(0);
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                word &= word.wrapping_sub(1);
                (bit < 64).then_some(place * 64 + bit)
            })
        });
        set.skip_while(move |number| *number < range.start)
            .take_while(move |number| *number < range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_below_the_bound_are_stored() {
        let mut dropped = Bits::none_of(130);
        for document in [0, 63, 64, 129, 200] {
            dropped.insert(document);
        }
        let found: Vec<u32> = (0..300)
            .filter(|&number| dropped.contains(number))
            .collect();
        assert_eq!(found, [0, 63, 64, 129]);
        for start in 0..200 {
            let next = found.iter().find(|number| **number >= start);
            assert_eq!(dropped.next(start), next.copied(), "{start}");
        }
        for start in 0..200 {
            for end in start..210 {
                let within = found.iter().filter(|number| (start..end).contains(*number));
                assert!(
                    dropped.within(start..end).eq(within.copied()),
                    "{start} {end}"
                );
            }
        }
        assert!(dropped.any_of(60, 4) && !dropped.any_of(65, 64) && !dropped.any_of(130, 9));
    }
}
