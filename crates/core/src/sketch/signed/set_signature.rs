//! Signatures of sets of shingles, of [`BYTES`] bytes: they tell how similar two sets are.
//!
//! A set of at most [`MAX_EXACT`] shingles is stored exactly, as 32 bits of each hash. A larger set
//! is stored as bitmaps in which each hash flips one bit. The number of bits in which two bitmaps
//! differ gives the number of hashes that only one of the sets has, and so their Jaccard
//! similarity. Similar sets differ in few hashes, few of which flip the same bit, so the estimate is
//! the more exact, the more similar the sets are. Source: Mitzenmacher, Pagh, Pham, *Efficient
//! estimation for high similarities using odd sketches*, WWW 2014.
//!
//! Of a set of more than [`MAX_SAMPLED`] shingles, a sample is stored: the hashes below 2³² / 2ˡ,
//! for the smallest *level* l with no more hashes than that. A sample has two bitmaps: one of the
//! lower half of that range, and one of the upper half. So it can be compared with one of the same
//! level, by both bitmaps, and with one of the next level: that is the lower half, and the
//! exclusive or of its own two bitmaps. Sets whose levels differ more are less than half alike.
//!
//! The standard error of the similarity of two sets of n shingles, as a test measures it:
//!
//! | n | at 0.8 | at 0.5 |
//! |---|---|---|
//! | up to 31 | 0 | 0 |
//! | 60 | 0.01 | 0.02 |
//! | 100 to 1000 | 0.01 | 0.03 |
//! | more | 0.02 | 0.04 |
//! | more, of two levels | 0.03 | 0.05 |
//!
//! | words of 32 bits, little-endian | |
//! |---|---|
//! | 0 | the number of shingles, if it is at most 31; otherwise 32 and the level |
//! | 1 to 31, of at most 31 shingles | their hashes, ascending, and zeros |
//! | 1, otherwise | the number of hashes in each half of the range, 16 bits each, the lower first |
//! | 2 to 31 | the bitmaps of the halves, 480 bits each |

use std::borrow::Cow;
use std::sync::OnceLock;

/// The length of a signature.
pub const BYTES: usize = 4 * WORDS;
/// A set with at most this many shingles is stored exactly.
pub const MAX_EXACT: usize = WORDS - 1;
/// The maximum number of hashes of a sample.
pub const MAX_SAMPLED: usize = 1024;

/// The number of 32-bit words of a signature.
const WORDS: usize = 32;
/// The number of 32-bit words of a bitmap.
const BITMAP_WORDS: usize = 15;
/// The number of bits of a bitmap.
const BITS: usize = 32 * BITMAP_WORDS;
/// The highest level: only two hashes are below its bound.
const MAX_LEVEL: u32 = 31;
/// Hashes are sorted when there are this many.
const SORTED: usize = 4 * MAX_SAMPLED;

type Bitmap = [u32; BITMAP_WORDS];

/// Appends the signature of the set of these hashes of shingles, in any order, to `out`.
///
/// Hashes have 64 uniform bits. Repeated ones count once. O(n log n) for n hashes.
pub fn append(shingles: &[u64], out: &mut Vec<u8>) {
    let mut sampler = Sampler::default();
    shingles
        .iter()
        .for_each(|hash| sampler.push((hash >> 32) as u32));
    sampler.reduce();
    let Sampler { level, hashes } = sampler;
    let mut words = [0; WORDS];
    if level == 0 && hashes.len() <= MAX_EXACT {
        words[0] = hashes.len() as u32;
        words[1..=hashes.len()].copy_from_slice(&hashes);
    } else {
        let LevelSample {
            counts, bitmaps, ..
        } = LevelSample::of(level, &hashes);
        words[0] = MAX_EXACT as u32 + 1 + level;
        words[1] = counts[0] | counts[1] << 16;
        words[2..].copy_from_slice(bitmaps.as_flattened());
    }
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// Whether `bytes` can be a signature; no other function panics then.
pub fn is_signature(bytes: &[u8]) -> bool {
    if bytes.len() != BYTES {
        return false;
    }
    let (words, _) = bytes.as_chunks::<4>();
    let word = |place: usize| u32::from_le_bytes(words[place]);
    match word(0) {
        count if count as usize <= MAX_EXACT => {
            (2..=count as usize).all(|place| word(place - 1) < word(place))
        }
        first if first <= MAX_EXACT as u32 + 1 + MAX_LEVEL => {
            (word(1) & 0xFFFF) + (word(1) >> 16) <= MAX_SAMPLED as u32
        }
        _ => false,
    }
}

/// Selects the hashes of a sample.
#[derive(Default)]
struct Sampler {
    level: u32,
    hashes: Vec<u32>,
}

impl Sampler {
    fn push(&mut self, hash: u32) {
        if u64::from(hash) < end(self.level) {
            self.hashes.push(hash);
            if self.hashes.len() >= SORTED {
                self.reduce();
            }
        }
    }

    /// Sorts the hashes, removes repeated ones, and raises the level until they are not too many.
    fn reduce(&mut self) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        while self.hashes.len() > MAX_SAMPLED {
            self.level += 1;
            let end = end(self.level);
            let below = self.hashes.partition_point(|hash| u64::from(*hash) < end);
            self.hashes.truncate(below);
        }
    }
}

/// Hashes of a level are below this number.
fn end(level: u32) -> u64 {
    1 << (32 - level)
}

/// The content of a signature.
pub struct SetSignature(Content);

enum Content {
    Exact(Vec<u32>),
    Sampled(LevelSample),
}

/// The hashes of a level, or of a set that is stored exactly, as bitmaps.
#[derive(Clone, Default)]
struct LevelSample {
    level: u32,
    /// The number of hashes in the lower and the upper half of the range.
    counts: [u32; 2],
    bitmaps: [Bitmap; 2],
}

impl SetSignature {
    /// Reads a signature.
    ///
    /// # Panics
    /// If `bytes` are no [signature](is_signature).
    pub fn read(bytes: &[u8]) -> SetSignature {
        assert!(is_signature(bytes), "no signature");
        let (bytes, _) = bytes.as_chunks::<4>();
        let mut words = bytes.iter().map(|word| u32::from_le_bytes(*word));
        let mut next = || words.next().unwrap_or_default();
        let first = next();
        SetSignature(match first.checked_sub(MAX_EXACT as u32 + 1) {
            None => Content::Exact((0..first).map(|_| next()).collect()),
            Some(level) => {
                let counts = next();
                Content::Sampled(LevelSample {
                    level,
                    counts: [counts & 0xFFFF, counts >> 16],
                    bitmaps: [(); 2].map(|()| std::array::from_fn(|_| next())),
                })
            }
        })
    }

    /// The Jaccard similarity of the two sets in thousandths, rounded down; of two empty sets, 0.
    /// Exact if both have at most [`MAX_EXACT`] shingles.
    pub fn resemblance(&self, other: &SetSignature) -> u16 {
        if let (Content::Exact(a), Content::Exact(b)) = (&self.0, &other.0) {
            let shared = a.iter().filter(|hash| b.binary_search(hash).is_ok());
            let shared = shared.count();
            let all = a.len() + b.len() - shared;
            return (1000 * shared / all.max(1)) as u16;
        }
        let (a, b) = (self.sample(), other.sample());
        let (sparse, dense) = match a.level > b.level {
            true => (a, b),
            false => (b, a),
        };
        let (both, apart) = match sparse.level - dense.level {
            0 => {
                let apart = |half: usize| apart(&sparse.bitmaps[half], &dense.bitmaps[half]);
                (sparse.count() + dense.count(), apart(0) + apart(1))
            }
            1 => {
                let [lower, _] = &dense.bitmaps;
                let both = sparse.count() + dense.counts[0];
                (both, apart(&sparse.folded(), lower))
            }
            _ => return 0,
        };
        let both = f64::from(both);
        (1000.0 * ((both - apart) / (both + apart)).max(0.0)) as u16
    }

    fn sample(&self) -> Cow<'_, LevelSample> {
        match &self.0 {
            Content::Exact(hashes) => Cow::Owned(LevelSample::of(0, hashes)),
            Content::Sampled(sample) => Cow::Borrowed(sample),
        }
    }
}

impl LevelSample {
    fn of(level: u32, hashes: &[u32]) -> LevelSample {
        let mut sample = LevelSample {
            level,
            ..LevelSample::default()
        };
        for hash in hashes {
            let half = usize::from(u64::from(*hash) >= end(level) / 2);
            // The bit must not depend on the half: the finalizer of MurmurHash3 mixes all bits.
            let mut mixed = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
            mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
            mixed ^= mixed >> 16;
            let bit = (u64::from(mixed) * BITS as u64) >> 32;
            sample.counts[half] += 1;
            sample.bitmaps[half][bit as usize / 32] ^= 1 << (bit % 32);
        }
        sample
    }

    fn count(&self) -> u32 {
        self.counts[0] + self.counts[1]
    }

    /// The bitmap of all hashes.
    fn folded(&self) -> Bitmap {
        let [lower, upper] = &self.bitmaps;
        std::array::from_fn(|place| lower[place] ^ upper[place])
    }
}

/// The most likely number of hashes that only one of two bitmaps has.
fn apart(a: &Bitmap, b: &Bitmap) -> f64 {
    let differing = a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones());
    likely_count()[differing.sum::<u32>() as usize]
}

/// For each number of flipped bits, the most likely number of hashes. Computed by additions,
/// multiplications and divisions only, so that every machine has the same numbers.
fn likely_count() -> &'static [f64; BITS + 1] {
    static COUNTS: OnceLock<[f64; BITS + 1]> = OnceLock::new();
    COUNTS.get_or_init(|| {
        let most = 2.0 * MAX_SAMPLED as f64;
        let mut counts = [most; BITS + 1];
        // `count` hashes are expected to leave `bits` bits flipped.
        let (mut count, mut bits) = (0.0, 0.0);
        let step = |bits: f64| 1.0 - 2.0 * bits / BITS as f64;
        for (flipped, likely) in (0u32..).map(f64::from).zip(&mut counts) {
            while count < most && bits + step(bits) <= flipped {
                bits += step(bits);
                count += 1.0;
            }
            if count >= most {
                break;
            }
            *likely = count + (flipped - bits) / step(bits);
        }
        counts
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::shingles::{jaccard, sort_to_set};
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn resemblance(a: &[u8], b: &[u8]) -> u16 {
        let (a, b) = (SetSignature::read(a), SetSignature::read(b));
        let found = a.resemblance(&b);
        assert_eq!(found, b.resemblance(&a));
        found
    }

    fn signature(set: &[u64]) -> Vec<u8> {
        let mut out = Vec::new();
        append(set, &mut out);
        out
    }

    fn hashes(numbers: std::ops::Range<u64>, seed: u64) -> Vec<u64> {
        numbers
            .map(|number| xxh3_64(&[number.to_le_bytes(), seed.to_le_bytes()].concat()))
            .collect()
    }

    /// Two sets of `size` elements in all, `share` of which are in both.
    fn pair(size: u64, share: f64, seed: u64) -> [Vec<u64>; 2] {
        let own = ((1.0 - share) * size as f64 / 2.0).round() as u64;
        [hashes(0..size - own, seed), hashes(own..size, seed)]
    }

    /// The root of the mean square error of the estimate, in thousandths.
    fn error(size: u64, share: f64) -> f64 {
        let square = |seed| {
            let [mut a, mut b] = pair(size, share, seed);
            let found = f64::from(resemblance(&signature(&a), &signature(&b)));
            sort_to_set(&mut a);
            sort_to_set(&mut b);
            let (shared, all) = jaccard(&a, &b);
            (found - 1000.0 * shared as f64 / all as f64).powi(2)
        };
        let times = (400_000 / size).clamp(60, 400);
        ((0..times).map(square).sum::<f64>() / times as f64).sqrt()
    }

    /// Promise (The index): Matches of an index are verified: … (the error)
    #[test]
    fn the_error_is_as_stated() {
        for (size, share, most) in [
            (30, 0.8, 1.0),
            (60, 0.8, 12.0),
            (100, 0.8, 12.0),
            (1000, 0.8, 12.0),
            (4000, 0.8, 22.0),
            (20_000, 0.8, 22.0),
            // On the border of two levels.
            (1180, 0.8, 30.0),
            (9000, 0.8, 30.0),
            (60, 0.5, 25.0),
            (1000, 0.5, 35.0),
            (9000, 0.5, 50.0),
            (9000, 0.95, 15.0),
        ] {
            let found = error(size, share);
            assert!(
                found <= most,
                "{size} shingles, similarity {share}: {found:.1}"
            );
        }
    }

    #[test]
    fn sets_without_common_shingles_are_never_similar() {
        for size in [1, 2, 5, 16, 31, 32, 40, 100, 500, 1000, 1100, 20_000] {
            for seed in 0..(20_000 / size).clamp(5, 100) {
                let (a, b) = (hashes(0..size, seed), hashes(size..2 * size, seed));
                let found = resemblance(&signature(&a), &signature(&b));
                assert!(found <= 300, "{size} {seed}: {found}");
            }
        }
    }

    #[test]
    fn order_and_repetition_do_not_matter() {
        for size in [0, 1, 31, 32, 33, 500, 1024, 1025, 9000] {
            let set = hashes(0..size, 1);
            let mut other = set.clone();
            other.reverse();
            other.extend_from_slice(&set);
            assert_eq!(signature(&set), signature(&other));
        }
    }

    #[test]
    fn signatures_stay_as_they_are() {
        let sum = |size| xxh3_64(&signature(&hashes(0..size, 0)));
        assert_eq!(
            [3, 31, 32, 900, 9000].map(sum),
            [
                13118301888058865531,
                9707791440758156366,
                12839492309041337965,
                17653698996425175364,
                6293975173037920076,
            ]
        );
    }

    proptest! {
        #[test]
        fn small_sets_are_exact(
            common in prop::collection::vec(any::<u64>(), 0..16),
            own in prop::collection::vec(any::<(u64, bool)>(), 0..15),
        ) {
            let of = |side| own.iter().filter(move |own| own.1 == side).map(|own| own.0);
            let set = |side| {
                let mut set: Vec<u64> = common.iter().copied().chain(of(side)).collect();
                sort_to_set(&mut set);
                set
            };
            let (a, b) = (set(false), set(true));
            let (shared, all) = jaccard(&a, &b);
            let found = resemblance(&signature(&a), &signature(&b));
            prop_assert_eq!(u64::from(found), 1000 * shared / all.max(1));
        }

        #[test]
        fn hostile_hashes_and_bytes_are_no_panic(
            shingles in prop::collection::vec(prop_oneof![any::<u64>(), Just(u64::MAX), 0..9u64], 0..200),
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            (first, counts) in (0..70u32, any::<u32>()),
        ) {
            let made = signature(&shingles);
            prop_assert!(is_signature(&made));
            let own = resemblance(&made, &made);
            prop_assert_eq!(own, if shingles.is_empty() { 0 } else { 1000 });
            let mut bytes = bytes;
            bytes.resize(BYTES, 0);
            bytes[..4].copy_from_slice(&first.to_le_bytes());
            bytes[4..8].copy_from_slice(&(counts & 0x01FF_01FF).to_le_bytes());
            if first > MAX_EXACT as u32 {
                prop_assert_eq!(is_signature(&bytes), first < 64);
            }
            if is_signature(&bytes) {
                prop_assert!(resemblance(&made, &bytes) <= 1000);
                prop_assert!(resemblance(&bytes, &bytes) <= 1000);
            }
            prop_assert!(!is_signature(&bytes[1..]));
        }
    }
}
