//! The first reading: all words of the articles are counted.

use super::kept::{Kept, KeptWords, Words};
use super::units::{Unit, total_bytes};
use crate::Result;
use crate::corpus::form_feed::pages;
use crate::kernel::Level;
use crate::run::{Arena, Budget, Progress, Stage, Workers};
use crate::text::Windows;
use crate::vocabulary::{Buckets, Counter, Lexicon, Lookup, SampleCounter, Term};

/// The table of likely words; with the counters beside it, it stays in a second-level cache.
const TABLE_BYTES: usize = 256 << 10;
/// Words considered for the table, somewhat more than fit.
const MOST_LIKELY_WORDS: usize = 40_000;
/// A sample is read in pieces of this size, spread over the input.
const SAMPLE_PIECE_BYTES: usize = 32 << 10;
/// Text sampled for each feature wanted.
const SAMPLE_BYTES_PER_FEATURE: usize = 2 << 10;
/// At most this part of the input is sampled.
const SAMPLE_PART: usize = 32;

/// What the first reading found out.
pub(super) struct Counts<'a> {
    /// The count of each slot of the lexicon.
    pub(super) slots: Vec<u64>,
    /// Bounds for the words outside the lexicon.
    pub(super) buckets: Buckets,
    /// What is known of each unit, in the order of the units.
    pub(super) units: Vec<UnitCount>,
    /// Where kept words are.
    pub(super) arenas: Vec<Arena<'a>>,
}

/// What the first reading found out about one unit.
#[derive(Clone, Copy, Default)]
pub(super) struct UnitCount {
    pub(super) pages: usize,
    pub(super) id_bytes: usize,
    /// Its words and the number of their arena, if there was memory for them.
    kept: Option<(usize, Kept)>,
}

impl UnitCount {
    /// The unit's words, if they were kept.
    pub(super) fn words<'a>(&self, arenas: &'a [Arena<'_>]) -> Option<KeptWords<'a>> {
        self.kept.map(|(arena, kept)| kept.words(&arenas[arena]))
    }
}

/// Likely words, from a sample spread over the units. Only speed depends on the choice.
pub(super) fn likely_words(
    workers: &Workers,
    progress: &Progress,
    units: &[Unit<'_>],
    features: usize,
    is_stop: impl Fn(Term) -> bool + Sync,
    level: Level,
) -> Result<Lexicon> {
    let total = total_bytes(units) as usize;
    let wanted = (features * SAMPLE_BYTES_PER_FEATURE).max(SAMPLE_PIECE_BYTES);
    let pieces = (wanted.min(total / SAMPLE_PART) / SAMPLE_PIECE_BYTES).max(1);
    let pieces = sample(units, pieces);
    progress.begin(
        Stage::Sample,
        pieces.iter().map(|piece| piece.len() as u64).sum(),
    );
    let start = || (Windows::new(level), SampleCounter::default());
    let states = workers.for_each(progress, pieces, start, |(windows, counter), _, piece| {
        windows.for_each(piece, |window| counter.add(window));
        progress.advance(piece.len() as u64);
        Ok(())
    })?;
    let mut counters = states.into_iter().map(|(_, counter)| counter);
    let mut counter = counters.next().unwrap_or_default();
    counters.for_each(|other| counter.merge(other));
    let words = counter
        .most_frequent(MOST_LIKELY_WORDS)
        .into_iter()
        .filter(|term| !term.is_hashed());
    let words = words.map(|term| (term, !is_stop(term)));
    Ok(Lexicon::likely(words, TABLE_BYTES, level))
}

/// About `pieces` pieces of text at even distances.
fn sample<'a>(units: &[Unit<'a>], pieces: usize) -> Vec<&'a [u8]> {
    let distance = (total_bytes(units) as usize / pieces).max(SAMPLE_PIECE_BYTES);
    let (mut sample, mut skip) = (Vec::new(), 0);
    for unit in units {
        while skip < unit.bytes.len() {
            let piece = &unit.bytes[skip..];
            sample.push(&piece[..piece.len().min(SAMPLE_PIECE_BYTES)]);
            skip += distance;
        }
        skip -= unit.bytes.len();
    }
    sample
}

/// Counts all words of all units. Words are kept while `budget` has more than `leave` bytes.
pub(super) fn count<'a>(
    workers: &Workers,
    progress: &Progress,
    units: &[Unit<'_>],
    lexicon: &Lexicon,
    budget: &'a Budget,
    leave: u64,
    level: Level,
) -> Result<Counts<'a>> {
    progress.begin(Stage::Count, total_bytes(units));
    let start = || Reader {
        windows: Windows::new(level),
        lookup: Lookup::default(),
        counter: Counter::new(lexicon),
        words: Words::default(),
        arena: Arena::new(budget, leave),
        found: Vec::new(),
    };
    let readers = workers.for_each(progress, units.to_vec(), start, |reader, number, unit| {
        let found = reader.read(unit, lexicon);
        let keep = unit.bytes.len() <= Words::MOST_UNIT_BYTES;
        let kept = keep.then(|| reader.words.keep(&mut reader.arena)).flatten();
        reader.found.push((number, found, kept));
        progress.advance(unit.bytes.len() as u64);
        Ok(())
    })?;
    let mut counter = Counter::new(lexicon);
    let mut units = vec![UnitCount::default(); units.len()];
    let mut arenas = Vec::with_capacity(readers.len());
    for reader in readers {
        counter.merge(reader.counter);
        for (number, found, kept) in reader.found {
            let kept = kept.map(|kept| (arenas.len(), kept));
            units[number] = UnitCount { kept, ..found };
        }
        arenas.push(reader.arena);
    }
    let (slots, buckets) = counter.finish();
    Ok(Counts {
        slots,
        buckets,
        units,
        arenas,
    })
}

/// One thread of the first reading.
struct Reader<'a> {
    windows: Windows,
    lookup: Lookup,
    counter: Counter,
    words: Words,
    arena: Arena<'a>,
    found: Vec<(usize, UnitCount, Option<Kept>)>,
}

impl Reader<'_> {
    fn read(&mut self, unit: Unit<'_>, lexicon: &Lexicon) -> UnitCount {
        let keep = unit.bytes.len() <= Words::MOST_UNIT_BYTES;
        let mut found = UnitCount::default();
        self.words.clear();
        for page in pages(unit.bytes) {
            self.windows.for_each(page.text, |window| {
                lexicon.look_up(window, &mut self.lookup);
                self.counter.add(&self.lookup);
                if keep {
                    self.words.add(&self.lookup);
                }
            });
            if keep {
                self.words.end_page(page.id);
            }
            found.pages += 1;
            found.id_bytes += page.id.len();
        }
        found
    }
}
