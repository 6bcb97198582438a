//! An estimate of the most frequent words from a sample of the articles, before the first reading.
//!
//! Nothing here affects the result. A bad guess costs time: words outside the lexicon are bounded
//! instead of counted. If a bound does not prove the ranking, they are counted after all.

use super::units::{Unit, total_bytes};
use crate::Result;
use simtool_core::kernel::Level;
use simtool_core::text::Windows;
use simtool_core::vocabulary::{Lexicon, SampleCounter, Term};
use simtool_engine::{Progress, Stage, Workers};

/// The largest size of the table of likely words. With its counters, it fits into a second-level
/// cache.
const TABLE_BYTES: usize = 256 << 10;
/// The size of a smaller table for each word, so that few lines are full.
const TABLE_BYTES_PER_WORD: usize = 32;
/// Words considered for the table, slightly more than fit.
const MOST_LIKELY_WORDS: usize = 40_000;
/// The size of the sample's pieces, which are spread over the input.
const PIECE_BYTES: usize = 8 << 10;
/// Sampled text per feature, so that a likely word occurs in it a few times.
const BYTES_PER_FEATURE: usize = 2 << 10;
/// The most sampled text.
const MOST_BYTES: usize = 8 << 20;
/// The most memory per sampled byte, if all words were different.
const MEMORY_PER_BYTE: u64 = 32;
/// At most one part in this number is sampled, but at least one piece.
const PART: usize = 16;
/// The least and most bits of a bucket number: few buckets fit into a cache.
const BUCKET_BITS: (u32, u32) = (12, 17);
/// Below this count, chance may decide which words the sample has.
const LEAST_COUNT: u64 = 12;
/// The factor by which a bucket's expected count should be below that which makes it suspect.
const MARGIN: u64 = 12;

/// The settings of the first reading.
pub(super) struct Guess {
    /// Likely words.
    pub(super) lexicon: Lexicon,
    /// The base-2 logarithm of the number of buckets for all other words.
    pub(super) bucket_bits: u32,
    /// Whether words outside the lexicon will probably be counted exactly, so that they are worth
    /// keeping.
    pub(super) keep_missed: bool,
}

/// Counts a sample spread over the units.
pub(super) fn guess(
    workers: &Workers,
    progress: &Progress,
    units: &[Unit<'_>],
    features: usize,
    is_stop: impl Fn(Term) -> bool,
    memory_bytes: u64,
    level: Level,
) -> Result<Guess> {
    let total = total_bytes(units) as usize;
    let wanted = (features * BYTES_PER_FEATURE).min(MOST_BYTES);
    let wanted = wanted.min((memory_bytes / MEMORY_PER_BYTE) as usize);
    let pieces = sample(units, (wanted.min(total / PART) / PIECE_BYTES).max(1));
    let sampled: u64 = pieces.iter().map(|piece| piece.len() as u64).sum();
    progress.begin(Stage::Sample, sampled);
    let start = || (Windows::new(level), SampleCounter::default());
    let states = workers.for_each(progress, pieces, start, |(windows, counter), _, piece| {
        windows.for_each(piece, |window| counter.add(window));
        progress.advance(piece.len() as u64);
        Ok(())
    })?;
    let mut counters = states.into_iter().map(|(_, counter)| counter);
    let mut counter = counters.next().unwrap_or_default();
    counters.for_each(|other| counter.merge(other));

    let mut missed = counter.total();
    let mut likely = Vec::new();
    let words = counter.most_frequent(MOST_LIKELY_WORDS);
    let table_bytes = (words.len() * TABLE_BYTES_PER_WORD).min(TABLE_BYTES);
    let mut lexicon = Lexicon::likely(table_bytes, level);
    for (term, count) in words {
        let reported = !is_stop(term);
        if !term.is_hashed() && lexicon.insert(term, reported) {
            missed -= u64::from(count);
            likely.extend(reported.then_some(u64::from(count)));
        }
    }
    let threshold = likely.get(features - 1).copied().unwrap_or(0);
    // Both counts are of the same sample, so their ratio is that of the whole input.
    let buckets = MARGIN * missed / threshold.max(1);
    let bits = buckets.checked_ilog2().unwrap_or(0) + 1;
    let (least_bits, most_bits) = BUCKET_BITS;
    // A small input has few words to distinguish.
    let missed_in_all = missed * total as u64 / sampled.max(1);
    let most_bits = (missed_in_all / 4)
        .max(1)
        .ilog2()
        .clamp(least_bits, most_bits);
    let certain = threshold >= LEAST_COUNT;
    Ok(Guess {
        lexicon,
        bucket_bits: if certain {
            bits.clamp(least_bits, most_bits)
        } else {
            most_bits
        },
        keep_missed: !certain || bits > most_bits,
    })
}

/// About `pieces` pieces of text at even distances.
fn sample<'a>(units: &[Unit<'a>], pieces: usize) -> Vec<&'a [u8]> {
    let distance = (total_bytes(units) as usize / pieces).max(PIECE_BYTES);
    let (mut sample, mut skip) = (Vec::new(), 0);
    for unit in units {
        while skip < unit.bytes.len() {
            let piece = &unit.bytes[skip..];
            sample.push(&piece[..piece.len().min(PIECE_BYTES)]);
            skip += distance;
        }
        skip -= unit.bytes.len();
    }
    sample
}
