//! Shorter sketches of MinHash: fewer bits of each minimum, packed.
//!
//! Documents that share a key of [`MinHash`](super::MinHash) share one here, too: their minima agree in fewer bits.
//! A band has 45 bits at least, so that of 10^9 unrelated documents less than one in a thousand
//! shares a band with another one by accident.

use super::shingle_minima::minima;
use crate::sketch::Bands;
use crate::sketch::method::{Compare, Method, Needs, Score, SketchScratch, TokenizedDocument};

/// The least bits of a band.
const LEAST_BAND_BITS: usize = 45;
/// The most, so that they are in eight bytes wherever they begin.
const MOST_BAND_BITS: usize = 57;
/// The least bits of a minimum: different ones are equal in these too often otherwise.
const LEAST_BITS: usize = 4;
/// The most that are worth it.
const MOST_BITS: usize = 6;
/// Minima that are packed together, from a byte each.
const GROUP: usize = 8;
/// The multiplier of the number of a band in a key; odd, with random bits.
const MULTIPLIER: u64 = 0x9fb2_1c65_1e98_df25;

/// MinHash with fewer bits.
#[derive(Clone, Debug)]
pub(super) struct CoarseMinHash {
    name: &'static str,
    parameters: Vec<(&'static str, String)>,
    least_words: usize,
    shingle: usize,
    division: Bands,
    /// The bits of each minimum.
    bits: usize,
    packing: FieldPacking,
}

impl CoarseMinHash {
    /// The shorter sketches of `method`, which has a byte of each minimum; `None` if they would not be
    /// much shorter.
    pub(super) fn of(method: &dyn Method, bands: Bands, shingle: usize) -> Option<CoarseMinHash> {
        let rows = bands.rows();
        let bits = LEAST_BAND_BITS.div_ceil(rows).max(LEAST_BITS);
        let mut parameters = method.parameters();
        let of_bits = parameters.iter_mut().filter(|(name, _)| *name == "bits");
        of_bits.for_each(|(_, value)| *value = bits.to_string());
        (bits <= MOST_BITS && bits * rows <= MOST_BAND_BITS).then(|| CoarseMinHash {
            name: method.name(),
            parameters,
            least_words: method.least_words(),
            shingle,
            division: bands,
            bits,
            packing: FieldPacking::new(bits),
        })
    }

    fn groups(&self) -> usize {
        self.division.permutations().div_ceil(GROUP)
    }

    fn bytes(&self) -> usize {
        self.groups() * self.bits
    }

    fn keys_of<'s>(&self, sketch: &'s [u8]) -> impl Iterator<Item = u64> + 's {
        let bands = (1u64..).zip(self.bands(sketch));
        bands.map(|(number, band)| band ^ number.wrapping_mul(MULTIPLIER))
    }

    /// The bits of each band.
    fn bands<'s>(&self, sketch: &'s [u8]) -> impl Iterator<Item = u64> + 's {
        assert_eq!(sketch.len(), self.bytes(), "bytes of a sketch");
        let count = self.division.rows() * self.bits;
        (0..self.division.bands()).map(move |band| {
            word_at(sketch, band * count / 8) >> (band * count % 8) & ((1 << count) - 1)
        })
    }
}

impl Compare for CoarseMinHash {
    fn name(&self) -> &'static str {
        self.name
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.parameters.clone()
    }

    fn sketch_bytes(&self) -> Option<usize> {
        Some(self.bytes())
    }

    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        self.keys_of(sketch).for_each(emit);
    }

    fn append_keys(&self, sketch: &[u8], keys: &mut Vec<u64>) {
        keys.extend(self.keys_of(sketch));
    }

    fn is_near_by_key(&self) -> bool {
        true
    }

    /// The proportion of bands that agree.
    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        let equal = self.bands(a).zip(self.bands(b)).filter(|(a, b)| a == b);
        Score::Fraction(equal.count() as u64, self.division.bands() as u64)
    }

    fn accepts(&self, score: &Score) -> bool {
        matches!(*score, Score::Fraction(equal, _) if equal > 0)
    }

    fn minima<'s>(&self, sketch: &'s [u8], buffer: &'s mut Vec<u8>) -> Option<&'s [u8]> {
        buffer.resize(self.groups() * GROUP, 0);
        let (groups, _) = buffer.as_chunks_mut::<GROUP>();
        for (number, group) in groups.iter_mut().enumerate() {
            let packed = word_at(sketch, number * self.bits);
            *group = self.packing.unpacked(packed).to_le_bytes();
        }
        Some(&buffer[..self.division.permutations()])
    }

    fn minima_bits(&self) -> u32 {
        self.bits as u32
    }
}

impl Method for CoarseMinHash {
    fn least_words(&self) -> usize {
        self.least_words
    }

    fn needs(&self) -> Needs {
        Needs::HASHES
    }

    fn sketch(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool {
        if document.short.is_empty() {
            out.resize(out.len() + self.bytes(), 0);
            return false;
        }
        let count = self.division.permutations();
        let minima = minima(count, document.short, self.shingle, scratch);
        // Each group is written with zeros after it, where the next one begins.
        let begin = out.len();
        out.resize(begin + self.bytes() + GROUP, 0);
        let mut at = begin;
        for group in minima.chunks(GROUP) {
            let bytes = match group.first_chunk::<GROUP>() {
                Some(group) => group.map(|minimum| minimum as u8),
                None => std::array::from_fn(|at| group.get(at).map_or(0, |minimum| *minimum as u8)),
            };
            let packed = self.packing.packed(u64::from_le_bytes(bytes));
            out[at..at + GROUP].copy_from_slice(&packed.to_le_bytes());
            at += self.bits;
        }
        out.truncate(begin + self.bytes());
        true
    }
}

/// Packs eight numbers of a byte each, and unpacks them.
#[derive(Clone, Copy, Debug)]
struct FieldPacking {
    /// The bits of a number.
    bits: usize,
    /// The lowest fields of a pair, in all pairs: of one, two and four numbers.
    low: [u64; 3],
}

impl FieldPacking {
    fn new(bits: usize) -> FieldPacking {
        let low = [0, 1, 2].map(|step| {
            let (width, pair) = (bits << step, 16 << step);
            let fields = (0..64 / pair).map(|field| ((1 << width) - 1) << (field * pair));
            fields.sum()
        });
        FieldPacking { bits, low }
    }

    /// The lowest bits of eight bytes, end to end.
    fn packed(self, bytes: u64) -> u64 {
        self.low.iter().zip(0..).fold(bytes, |number, (low, step)| {
            let (width, lane) = (self.bits << step, 8 << step);
            number & low | number >> (lane - width) & low << width
        })
    }

    /// Eight numbers, which are end to end, as bytes. Further bits have no effect.
    fn unpacked(self, packed: u64) -> u64 {
        let steps = self.low.iter().zip(0..3usize).rev();
        steps.fold(packed, |number, (low, step)| {
            let (width, lane) = (self.bits << step, 8 << step);
            number & low | number << (lane - width) & low << lane
        })
    }
}

/// The eight bytes from `at` on, little-endian, with zeros after the end.
fn word_at(bytes: &[u8], at: usize) -> u64 {
    let rest = &bytes[at..];
    u64::from_le_bytes(match rest.first_chunk::<8>() {
        Some(bytes) => *bytes,
        None => std::array::from_fn(|at| rest.get(at).copied().unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::minhash::{MinHash, MinHashSettings};
    use crate::sketch::testing;
    use proptest::prelude::*;

    fn method(bands: usize, rows: usize) -> MinHash {
        let settings = MinHashSettings {
            shingle: 5,
            bands: Bands::new(bands, rows).unwrap(),
            least_words: None,
        };
        settings.method().unwrap()
    }

    fn coarse_of(method: &MinHash) -> CoarseMinHash {
        CoarseMinHash::of(method, method.bands(), 5).unwrap()
    }

    #[test]
    fn the_default_takes_six_bits() {
        let settings = MinHashSettings::for_similarity(0.8, 0.99).unwrap();
        let coarse = settings.method().unwrap().coarse().unwrap();
        assert_eq!(coarse.sketch_bytes(), Some(156));
        assert!(coarse.parameters().contains(&("bits", "6".to_owned())));
        for rows in [1, 2, 4, 7, 15, 100] {
            assert!(method(1, rows).coarse().is_none());
        }
    }

    proptest! {
        #[test]
        fn bits_are_packed_and_unpacked(bytes in any::<[u8; 8]>(), bits in 4usize..=6) {
            let low = bytes.map(|byte| byte & ((1 << bits) - 1));
            let packing = FieldPacking::new(bits);
            let packed = packing.packed(u64::from_le_bytes(bytes));
            let number = low.iter().rev().fold(0, |number, low| number << bits | u64::from(*low));
            prop_assert_eq!(packed, number);
            let more = packed | u64::MAX << (8 * bits);
            prop_assert_eq!(packing.unpacked(more).to_le_bytes(), low);
        }

        #[test]
        fn sketches_are_those_of_minhash_with_fewer_bits(
            words in prop::collection::vec(0u64..40, 1..80),
            bands in 1usize..12,
            rows in 8usize..15,
        ) {
            let method = method(bands, rows);
            let coarse = coarse_of(&method);
            let [whole, packed] = [&method as &dyn Method, &coarse]
                .map(|method| testing::sketch(method, testing::of_words(&words)).unwrap());
            let low: Vec<u8> = whole.iter().map(|byte| byte & ((1 << coarse.bits) - 1)).collect();
            let mut buffer = Vec::new();
            prop_assert_eq!(coarse.minima(&packed, &mut buffer), Some(&low[..]));
            let number = |band: &[u8]| {
                band.iter().rev().fold(0, |number, low| number << coarse.bits | u64::from(*low))
            };
            let expected: Vec<u64> = low.chunks_exact(rows).map(number).collect();
            prop_assert_eq!(coarse.bands(&packed).collect::<Vec<_>>(), expected);
            let (mut keys, mut others) = (Vec::new(), Vec::new());
            coarse.keys(&packed, &mut |key| keys.push(key));
            coarse.append_keys(&packed, &mut others);
            prop_assert_eq!(keys.len(), bands);
            prop_assert_eq!(keys, others);
        }

        /// Promise (Deduplication): Shorter stored sketches find all that MinHash does
        #[test]
        fn what_shares_a_key_of_minhash_shares_one_here(
            words in prop::collection::vec(any::<u64>(), 30..60),
            places in prop::collection::vec(0usize..30, 1..4),
        ) {
            let method = method(26, 8);
            let coarse = coarse_of(&method);
            let mut edited = words.clone();
            places.into_iter().for_each(|place| edited[place] ^= 1);
            let scores = [&method as &dyn Method, &coarse].map(|method| {
                let [a, b] = [&words, &edited]
                    .map(|words| testing::sketch(method, testing::of_words(words)).unwrap());
                let [c, d] = [&a, &b].map(|sketch| testing::keys(method, sketch));
                let score = method.score(&a, &b);
                let shared = c.intersection(&d).count() as u64;
                assert_eq!(score, Score::Fraction(shared, 26));
                assert_eq!(method.accepts(&score), shared > 0);
                shared
            });
            prop_assert!(scores[0] <= scores[1]);
        }
    }
}
