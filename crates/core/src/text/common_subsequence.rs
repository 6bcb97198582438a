//! The longest common subsequence of two sequences of words or characters, by its length.
//!
//! Source: Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004.

use std::ops::Range;

use ahash::AHashMap;

/// The places of one element in a sequence, as bits of a word.
struct Bits {
    word: usize,
    mask: u64,
}

/// The length of the longest sequence whose elements are in both `a` and `b` in order, with gaps.
///
/// Exact. O(|a|·|b| / 64) time at most, less for elements that are rare; O(|a| + |b|) memory.
pub fn common_subsequence(a: &[u64], b: &[u64]) -> usize {
    let equal = |(a, b): &(&u64, &u64)| a == b;
    let before = a.iter().zip(b).take_while(equal).count();
    let (a, b) = (&a[before..], &b[before..]);
    let after = a.iter().rev().zip(b.iter().rev()).take_while(equal).count();
    let (a, b) = (&a[..a.len() - after], &b[..b.len() - after]);
    let (columns, rows) = if a.len() < b.len() { (b, a) } else { (a, b) };
    before + after + of_rows(columns, rows)
}

/// The length for `columns`, each of which has a bit, and `rows`, which change the bits in turn.
///
/// A bit is zero if the subsequence of the rows so far grows at its column, so their number is the
/// length. A row adds, for each zero bit, the first of its columns since the zero bit before it:
/// the addition carries a bit over the ones up to the next zero.
fn of_rows(columns: &[u64], rows: &[u64]) -> usize {
    let (bits, places) = places(columns);
    let mut states = vec![u64::MAX; columns.len().div_ceil(64)];
    for row in rows {
        let (mut next, mut carry) = (0, false);
        for Bits { word, mask } in &bits[places.get(row).cloned().unwrap_or_default()] {
            carry = carry_over(&mut states[next..*word], carry);
            let state = states[*word];
            let matched = state & mask;
            let (sum, first) = state.overflowing_add(matched);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            states[*word] = sum | (state & !mask);
            (next, carry) = (word + 1, first || second);
        }
        carry_over(&mut states[next..], carry);
    }
    if let Some(last) = states.last_mut()
        && !columns.len().is_multiple_of(64)
    {
        *last |= u64::MAX << (columns.len() % 64);
    }
    states
        .iter()
        .map(|state| state.count_zeros() as usize)
        .sum()
}

/// Adds a carried bit to words without a place of the row; returns whether it passes all of them.
fn carry_over(states: &mut [u64], mut carry: bool) -> bool {
    for state in states {
        if !carry {
            break;
        }
        let (sum, passes) = state.overflowing_add(1);
        *state |= sum;
        carry = passes;
    }
    carry
}

/// The bits of each element, and where they are in the list.
fn places(sequence: &[u64]) -> (Vec<Bits>, AHashMap<u64, Range<usize>>) {
    let mut sorted: Vec<(u64, usize)> = sequence.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let mut bits: Vec<Bits> = Vec::new();
    let mut places: AHashMap<u64, Range<usize>> = AHashMap::new();
    for (element, place) in sorted {
        let (word, bit) = (place / 64, 1 << (place % 64));
        let range = places.entry(element).or_insert(bits.len()..bits.len());
        match bits[range.clone()].last_mut() {
            Some(last) if last.word == word => last.mask |= bit,
            _ => {
                bits.push(Bits { word, mask: bit });
                range.end += 1;
            }
        }
    }
    (bits, places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By all prefixes of both.
    fn naive(a: &[u64], b: &[u64]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (place, y) in b.iter().enumerate() {
                let above = row[place + 1];
                row[place + 1] = match x == y {
                    true => diagonal + 1,
                    false => row[place].max(above),
                };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    proptest! {
        #[test]
        fn the_length_by_all_prefixes(
            symbols in 1..40u64,
            a in prop::collection::vec(any::<u64>(), 0..400),
            b in prop::collection::vec(any::<u64>(), 0..400),
        ) {
            let of = |list: &[u64]| list.iter().map(|x| x % symbols).collect::<Vec<u64>>();
            let (a, b) = (of(&a), of(&b));
            prop_assert_eq!(common_subsequence(&a, &b), naive(&a, &b));
            let edited: Vec<u64> = a.iter().copied().filter(|x| *x != 0).collect();
            prop_assert_eq!(common_subsequence(&a, &edited), naive(&a, &edited));
        }
    }

    #[test]
    fn a_carry_passes_words_without_a_place() {
        for count in [63, 64, 65, 128, 200, 1000] {
            let a: Vec<u64> = (0..count).map(|place| u64::from(place == 0)).collect();
            let far: Vec<u64> = (0..count)
                .map(|place| 2 * u64::from(place == count - 1))
                .collect();
            for [a, b] in [[&a, &far], [&far, &a], [&a, &a]] {
                assert_eq!(common_subsequence(a, b), naive(a, b));
            }
            let [one, rest]: [Vec<u64>; 2] = [vec![7, 1], (0..count).chain([7, 1]).collect()];
            assert_eq!(common_subsequence(&one, &rest), naive(&one, &rest));
        }
    }
}
