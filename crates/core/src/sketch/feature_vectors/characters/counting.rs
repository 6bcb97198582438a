//! Counts of characters.

use encoding_rs::mem::convert_utf8_to_utf16;
use xxhash_rust::xxh3::xxh3_64;

use super::component::VectorComponent;
use super::positions::{IGNORED, Positions, feature};
use crate::sketch::features::weights::Idf;

/// The number of bytes of a text converted at a time.
const PART_BYTES: usize = 2048;
/// The number of counters: one for each rank and one for ignored characters, rounded up to a power
/// of two.
const COUNTERS: usize = 4096;

const _: () = assert!((IGNORED as usize) < COUNTERS);

/// Counts characters by the rank of their position.
#[derive(Debug)]
pub(super) struct Counting {
    positions: Positions,
    /// The weight of one occurrence of each UTF-16 unit; empty if all weigh 1.
    weights: Box<[u32]>,
}

impl Counting {
    /// Counts occurrences, weighted by inverse document frequency if given.
    ///
    /// A surrogate weighs like a character that occurs in one document.
    pub(super) fn new(positions: Positions, idf: Option<&Idf>) -> Counting {
        let weights = idf.map(|idf| {
            // The hash of no bytes is that of no character, so it has the weight of an uncounted
            // one.
            let nothing = xxh3_64(b"");
            let feature = |unit: u16| char::from_u32(unit.into()).map_or(nothing, feature);
            (0..=u16::MAX)
                .map(|unit| idf.weight(feature(unit)) as u32)
                .collect()
        });
        Counting {
            positions,
            weights: weights.unwrap_or_default(),
        }
    }

    /// Appends the components of a text to `out`, ascending by rank.
    ///
    /// `counters` is a buffer: empty before the first call, then reused.
    pub(super) fn components(&self, text: &[u8], counters: &mut Vec<u64>, out: &mut Vec<u8>) {
        counters.resize(COUNTERS, 0);
        let Ok(counts) = <&mut [u64; COUNTERS]>::try_from(&mut counters[..]) else {
            unreachable!("the buffer has COUNTERS counters")
        };
        match &self.weights[..] {
            [] => self.count(text, counts, |_| 1),
            weights => self.count(text, counts, |unit| weights[usize::from(unit)].into()),
        }
        counts[usize::from(IGNORED)] = 0;
        let (eights, _) = counts.as_chunks_mut::<8>();
        for (eight, first) in eights.iter_mut().zip((0..).step_by(8)) {
            if eight.iter().fold(0, |any, count| any | count) == 0 {
                continue;
            }
            // Branch-free compaction: every component is written, and the next one overwrites one
            // of weight zero.
            let mut packed = [[0; 8]; 8];
            let mut length = 0;
            for (weight, rank) in std::mem::take(eight).into_iter().zip(first..) {
                packed[length % 8] = VectorComponent { rank, weight }.to_bytes();
                length += usize::from(weight > 0);
            }
            let end = out.len() + length * 8;
            out.extend_from_slice(packed.as_flattened());
            out.truncate(end);
        }
    }

    #[inline(always)]
    fn count(&self, text: &[u8], counts: &mut [u64; COUNTERS], weight: impl Fn(u16) -> u64) {
        let mut units = [0; PART_BYTES + 1];
        let mut rest = text;
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(part(rest));
            rest = behind;
            let converted = convert_utf8_to_utf16(part, &mut units);
            for &unit in &units[..converted] {
                let counter = &mut counts[usize::from(self.positions.rank(unit)) % COUNTERS];
                *counter = counter.wrapping_add(weight(unit));
            }
        }
    }
}

/// The length of the first part of a text, which ends between characters.
fn part(text: &[u8]) -> usize {
    if text.len() <= PART_BYTES {
        return text.len();
    }
    // A character has at most three continuation bytes, so one of the last four bytes starts one,
    // unless the text is invalid.
    let starts = |place: &usize| text[*place] & 0xc0 != 0x80;
    let mut places = (PART_BYTES - 3..=PART_BYTES).rev();
    places.find(starts).unwrap_or(PART_BYTES)
}
