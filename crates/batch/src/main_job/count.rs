//! The first reading of the articles. It counts the words of the lexicon exactly, all others by
//! bucket.

use ahash::AHashSet;

use super::guess::Guess;
use super::kept::{KeptWords, StoredWords, Words};
use super::units::{Unit, total_bytes};
use crate::Result;
use simtool_core::kernel::Level;
use simtool_core::text::Windows;
use simtool_core::vocabulary::{Buckets, Counter, Lookup, Term};
use simtool_corpus::form_feed::{FORM_FEED, behind, first_page};
use simtool_engine::{Arena, Budget, Progress, Stage, Workers};

/// The results of the first reading.
pub(super) struct WordCounts<'a> {
    /// The count of each slot of the lexicon.
    pub(super) slots: Vec<u64>,
    /// Bounds for the words outside the lexicon.
    pub(super) buckets: Buckets,
    /// The counts of each unit, in order.
    pub(super) units: Vec<UnitCount>,
    /// The memory of kept words.
    pub(super) arenas: Vec<Arena<'a>>,
}

/// The results of the first reading for one unit.
#[derive(Clone, Copy, Default)]
pub(super) struct UnitCount {
    pub(super) pages: usize,
    pub(super) id_bytes: usize,
    /// The unit's words and the number of their arena, if they were kept.
    kept: Option<(usize, StoredWords)>,
}

impl UnitCount {
    /// The unit's words, if they were kept.
    pub(super) fn words<'a>(&self, arenas: &'a [Arena<'_>]) -> Option<KeptWords<'a>> {
        self.kept.map(|(arena, kept)| kept.words(&arenas[arena]))
    }
}

impl WordCounts<'_> {
    /// The words of a unit that the lexicon missed, if they were kept.
    pub(super) fn missed(&self, guess: &Guess, unit: &UnitCount) -> Option<(&[u64], &[Term])> {
        let words = unit.words(&self.arenas).filter(|_| guess.keep_missed);
        words.map(KeptWords::missed)
    }

    /// The same counts without kept words.
    pub(super) fn forget_words(mut self) -> Self {
        self.units.iter_mut().for_each(|unit| unit.kept = None);
        self.arenas.clear();
        self
    }
}

/// Everything that a recount needs.
pub(super) struct Recount<'a> {
    pub(super) workers: &'a Workers,
    pub(super) progress: &'a Progress,
    pub(super) units: &'a [Unit<'a>],
    pub(super) guess: &'a Guess,
    pub(super) stop_words: &'a AHashSet<Term>,
    pub(super) level: Level,
}

/// Counts the words of all units, and keeps them as long as at least `leave` bytes of `budget` stay
/// free.
pub(super) fn count<'a>(
    workers: &Workers,
    progress: &Progress,
    units: &[Unit<'_>],
    guess: &Guess,
    budget: &'a Budget,
    leave: u64,
    level: Level,
) -> Result<WordCounts<'a>> {
    progress.begin(Stage::Count, total_bytes(units));
    let start = || CountingThread {
        windows: Windows::new(level),
        lookup: Lookup::default(),
        counter: Counter::new(&guess.lexicon, guess.bucket_bits),
        words: Words::default(),
        arena: Arena::new(budget, leave),
        found: Vec::new(),
    };
    let readers = workers.for_each(progress, units.to_vec(), start, |reader, number, unit| {
        let found = reader.read(unit, guess);
        let keep = unit.bytes.len() <= Words::MOST_UNIT_BYTES;
        let kept = keep.then(|| reader.words.keep(&mut reader.arena)).flatten();
        reader.found.push((number, found, kept));
        progress.advance(unit.bytes.len() as u64);
        Ok(())
    })?;
    let mut counters = Vec::with_capacity(readers.len());
    let mut units = vec![UnitCount::default(); units.len()];
    let mut arenas = Vec::with_capacity(readers.len());
    for reader in readers {
        counters.push(reader.counter);
        for (number, found, kept) in reader.found {
            let kept = kept.map(|kept| (arenas.len(), kept));
            units[number] = UnitCount { kept, ..found };
        }
        arenas.push(reader.arena);
    }
    let (slots, buckets) = Counter::merge(counters);
    Ok(WordCounts {
        slots,
        buckets,
        units,
        arenas,
    })
}

/// The state of a thread of the first reading.
struct CountingThread<'a> {
    windows: Windows,
    lookup: Lookup,
    counter: Counter,
    words: Words,
    arena: Arena<'a>,
    found: Vec<(usize, UnitCount, Option<StoredWords>)>,
}

impl CountingThread<'_> {
    fn read(&mut self, unit: Unit<'_>, guess: &Guess) -> UnitCount {
        let keep = unit.bytes.len() <= Words::MOST_UNIT_BYTES;
        let mut found = UnitCount::default();
        self.words.clear();
        let mut rest = unit.bytes;
        while let Some((id, from_text)) = first_page(rest) {
            let end = Some(FORM_FEED);
            let text_bytes = self.windows.for_each_until(from_text, end, |window| {
                guess.lexicon.look_up(window, &mut self.lookup);
                self.counter.add(&self.lookup);
                if keep {
                    self.words.add(&self.lookup, guess.keep_missed);
                }
            });
            if keep {
                self.words.end_page(id);
            }
            found.pages += 1;
            found.id_bytes += id.len();
            rest = behind(from_text, text_bytes);
        }
        found
    }
}
