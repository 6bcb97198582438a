//! Sets of 64-bit hashes of shingles in nearly as few bytes as possible, exactly.
//!
//! Hashes are uniform, so the gaps between the ascending hashes of a set of n have a geometric
//! distribution with a mean of 2⁶⁴ / n. They are stored as Rice codes: the gap divided by 2ᵏ as
//! that many zero bits and a one, and the remainder in k bits, where k is 64 − ⌈log₂ n⌉. That takes
//! some 65.6 − log₂ n bits for a hash; the quotients of a set add up to less than 2 n, so that no set takes
//! more than 67 − ⌈log₂ n⌉ bits for each. Source: Rice, Plaunt, *Adaptive variable-length coding for
//! efficient compression of spacecraft television data*, IEEE Transactions on Communication
//! Technology, 1971.
//!
//! | bytes | |
//! |---|---|
//! | 0 to 3 | the number of hashes, little-endian |
//! | then | the codes of the gaps, the lowest bit of a byte first, and zero bits up to a whole byte |
//!
//! The first gap is the least hash itself; a later one is the difference of two hashes, less one. A
//! set has one list only, which is checked when it is read.

/// The bytes before the codes.
const HEAD: usize = 4;

/// Appends the list of the set of these hashes to `out`.
///
/// # Panics
/// If the hashes are not ascending and distinct, or more than a `u32` can count.
pub fn append(set: &[u64], out: &mut Vec<u8>) {
    assert!(set.is_sorted_by(|a, b| a < b), "an ascending set");
    let count = u32::try_from(set.len()).expect("a set of fewer than 2^32 hashes");
    out.extend(count.to_le_bytes());
    let width = remainder_bits(count);
    let mut bits = BitWriter::default();
    let mut next = 0;
    for &hash in set {
        let gap = u128::from(hash) - next;
        bits.unary((gap >> width) as u64, out);
        bits.number(gap & mask(width), width, out);
        next = u128::from(hash) + 1;
    }
    bits.finish(out);
}

/// The number of hashes of a list; `None` if `bytes` are too short for that number.
pub fn count(bytes: &[u8]) -> Option<usize> {
    let (head, codes) = bytes.split_first_chunk::<HEAD>()?;
    let count = u32::from_le_bytes(*head);
    let least = u64::from(count) * u64::from(remainder_bits(count) + 1);
    (least <= 8 * codes.len() as u64).then_some(count as usize)
}

/// Replaces the content of `set` by the hashes of a list, ascending.
///
/// Returns `false` if `bytes` are no list; `set` then has any content. Its memory is at most twice that
/// of `bytes`, whatever number they claim.
pub fn read(bytes: &[u8], set: &mut Vec<u64>) -> bool {
    set.clear();
    let Some(count) = count(bytes) else {
        return false;
    };
    set.reserve(count);
    let width = remainder_bits(count as u32);
    let mut bits = BitReader::new(&bytes[HEAD..]);
    let mut next = 0;
    for _ in 0..count {
        let Some((quotient, remainder)) = bits.unary().zip(bits.number(width)) else {
            return false;
        };
        let Ok(hash) = u64::try_from(next + (u128::from(quotient) << width) + remainder) else {
            return false;
        };
        set.push(hash);
        next = u128::from(hash) + 1;
    }
    bits.is_finished()
}

/// The bits of a remainder, for a set of `count` hashes: at most 64, as for a single one.
fn remainder_bits(count: u32) -> u32 {
    64 - u64::from(count.max(1)).next_power_of_two().trailing_zeros()
}

/// The lowest `width` bits, of which there are at most 64.
fn mask(width: u32) -> u128 {
    (1 << width) - 1
}

/// Appends bits to bytes; fewer than eight wait for more.
#[derive(Default)]
struct BitWriter {
    waiting: u128,
    count: u32,
}

impl BitWriter {
    /// Appends `zeros` zero bits and a one bit.
    fn unary(&mut self, mut zeros: u64, out: &mut Vec<u8>) {
        while zeros >= 64 {
            self.number(0, 64, out);
            zeros -= 64;
        }
        self.number(1 << zeros, zeros as u32 + 1, out);
    }

    /// Appends a number of `width` bits, of which there are at most 64, the lowest first.
    fn number(&mut self, number: u128, width: u32, out: &mut Vec<u8>) {
        self.waiting |= number << self.count;
        self.count += width;
        let whole = self.count as usize / 8;
        out.extend(&self.waiting.to_le_bytes()[..whole]);
        self.waiting >>= 8 * whole;
        self.count %= 8;
    }

    /// Appends the last bits, with zeros up to a whole byte.
    fn finish(self, out: &mut Vec<u8>) {
        if self.count > 0 {
            out.push(self.waiting as u8);
        }
    }
}

/// Reads the bits of bytes.
struct BitReader<'a> {
    bytes: &'a [u8],
    /// The next bits; those beyond the first `count` are zeros.
    next: u128,
    count: u32,
}

impl<'a> BitReader<'a> {
    fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader {
            bytes,
            next: 0,
            count: 0,
        }
    }

    /// The number of zero bits before the next one; `None` if there is no one.
    fn unary(&mut self) -> Option<u64> {
        let mut zeros = 0;
        loop {
            self.fill();
            let here = self.next.trailing_zeros();
            if here < self.count {
                self.next = self.next >> here >> 1;
                self.count -= here + 1;
                return Some(zeros + u64::from(here));
            }
            if self.count == 0 {
                return None;
            }
            zeros += u64::from(self.count);
            self.count = 0;
        }
    }

    /// A number of `width` bits, of which there are at most 64; `None` if fewer bits are left.
    fn number(&mut self, width: u32) -> Option<u128> {
        self.fill();
        self.count = self.count.checked_sub(width)?;
        let number = self.next & mask(width);
        self.next >>= width;
        Some(number)
    }

    /// Whether only zero bits are left, and less than a byte of them.
    fn is_finished(&mut self) -> bool {
        self.fill();
        self.count < 8 && self.next == 0
    }

    /// Takes bytes until at least 64 bits are there, or no byte is left.
    fn fill(&mut self) {
        if self.count >= 64 {
            return;
        }
        if let Some((word, rest)) = self.bytes.split_first_chunk::<8>() {
            self.next |= u128::from(u64::from_le_bytes(*word)) << self.count;
            (self.bytes, self.count) = (rest, self.count + 64);
            return;
        }
        for byte in std::mem::take(&mut self.bytes) {
            self.next |= u128::from(*byte) << self.count;
            self.count += 8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::shingles::sort_to_set;
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    /// The list by its definition, bit by bit.
    fn expected(set: &[u64]) -> Vec<u8> {
        let width = (0..=64)
            .rev()
            .find(|width| set.len() as u128 <= 1 << (64 - width));
        let width = width.unwrap();
        let mut bits = Vec::new();
        for (place, hash) in set.iter().enumerate() {
            let gap = match place {
                0 => *hash,
                _ => hash - set[place - 1] - 1,
            };
            let gap = u128::from(gap);
            bits.extend((0..gap >> width).map(|_| false));
            bits.push(true);
            bits.extend((0..width).map(|place| gap >> place & 1 == 1));
        }
        let byte = |bits: &[bool]| {
            let places = bits.iter().enumerate();
            places
                .map(|(place, bit)| u8::from(*bit) << place)
                .sum::<u8>()
        };
        let mut out = (set.len() as u32).to_le_bytes().to_vec();
        out.extend(bits.chunks(8).map(byte));
        out
    }

    fn list(set: &[u64]) -> Vec<u8> {
        let mut out = Vec::new();
        append(set, &mut out);
        out
    }

    fn hashes(count: u64) -> Vec<u64> {
        let mut set: Vec<u64> = (0..count).map(|n| xxh3_64(&n.to_le_bytes())).collect();
        sort_to_set(&mut set);
        set
    }

    #[test]
    fn lists_take_the_stated_bytes() {
        // Of a text of 60 words, of one of 500, and of a long one, by shingles of five.
        for (count, most) in [(0, 4), (1, 13), (56, 428), (496, 3540), (99_996, 613_000)] {
            let set = hashes(count);
            let bytes = list(&set);
            assert!(bytes.len() <= most, "{count}: {} bytes", bytes.len());
            let mut read_back = Vec::new();
            assert!(read(&bytes, &mut read_back));
            assert_eq!(read_back, set);
        }
    }

    #[test]
    fn a_list_that_claims_too_much_takes_no_memory() {
        let bytes = [[0xFF; 4].as_slice(), &[0; 100]].concat();
        let mut set = Vec::new();
        assert!(!read(&bytes, &mut set));
        assert!(set.capacity() < 1000);
    }

    fn sets() -> impl Strategy<Value = Vec<u64>> {
        let near = prop_oneof![
            0..70u64,
            (u64::MAX - 70)..=u64::MAX,
            (1u64 << 63)..(1u64 << 63) + 9
        ];
        let hash = prop_oneof![3 => any::<u64>(), 2 => near];
        prop::collection::btree_set(hash, 0..300).prop_map(|set| set.into_iter().collect())
    }

    proptest! {
        #[test]
        fn lists_are_the_definition_and_are_read_back(set in sets(), old in sets()) {
            let bytes = list(&set);
            prop_assert_eq!(&bytes, &expected(&set));
            prop_assert_eq!(count(&bytes), Some(set.len()));
            let most = set.len() * (remainder_bits(set.len() as u32) as usize + 3);
            prop_assert!(bytes.len() <= HEAD + most.div_ceil(8));
            let mut read_back = old;
            prop_assert!(read(&bytes, &mut read_back));
            prop_assert_eq!(read_back, set);
        }

        #[test]
        fn other_bytes_are_no_panic_and_no_second_list(
            set in sets(),
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            number in 0..9u32,
            (place, bit, end) in any::<(prop::sample::Index, u8, prop::sample::Index)>(),
        ) {
            let small = [&number.to_le_bytes(), &*bytes].concat();
            let mut flipped = list(&set);
            let place = place.index(flipped.len());
            flipped[place] ^= 1 << (bit % 8);
            let whole = list(&set);
            let cut = whole[..end.index(whole.len())].to_vec();
            let longer = [whole, vec![0]].concat();
            for bytes in [bytes, small, flipped, cut, longer] {
                let mut read_back = Vec::new();
                if read(&bytes, &mut read_back) {
                    prop_assert!(read_back.is_sorted_by(|a, b| a < b));
                    prop_assert_eq!(list(&read_back), bytes);
                }
            }
        }
    }
}
