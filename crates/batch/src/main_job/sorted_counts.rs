//! Exact counts of any number of suspects, sorted in temporary files.
//!
//! ```text
//! text ─► suspect words ─► a sorter for each thread ─► merged counts of each word ─► ranking
//! ```
//!
//! Reads the text once more, except units whose words were kept and have at most 25 letters.
//! Temporary space is at most linear in the occurrences of suspects. A word of more than 25 letters
//! is stored as a hash, its first 25 letters and a place in the text. So ties among such words need
//! no further reading.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::Path;

use bytemuck::{Pod, Zeroable};

use super::count::{Recount, UnitCount, WordCounts};
use super::units::Unit;
use crate::{Error, ErrorKind, Result};
use simtool_core::text::{Window, Windows};
use simtool_core::vocabulary::{Lookup, RankedWord, Ranking, Suspects, Term};
use simtool_corpus::form_feed::pages;
use simtool_engine::Progress;
use simtool_files::{Sorted, Sorter};

/// The most memory for the sorters of a thread. More would not make sorting faster.
const MOST_SORTER_BYTES: usize = 256 << 20;
/// Candidates that are added to the ranking at a time.
const BATCH: usize = 4096;
/// Records that are merged between checks for interruption.
const CHECK_RECORDS: u64 = 1 << 16;

/// Counts all suspects and offers those that may enter the ranking. Each thread takes at most
/// `share` bytes of memory.
///
/// # Errors
/// [`ErrorKind::Write`] with an estimate of the necessary space, if writing to `temporary` fails;
/// [`ErrorKind::Interrupted`]; those of reading temporary files.
pub(super) fn rank<'a>(
    recount: &Recount<'a>,
    counts: &WordCounts<'_>,
    suspects: &Suspects,
    share: usize,
    temporary: &Path,
    ranking: &mut Ranking<'a>,
) -> Result<()> {
    let offsets = UnitOffsets::of(recount.units);
    let collected = collect(recount, counts, suspects, &offsets, share, temporary);
    let (short, long) = collected.map_err(|error| match error.kind() {
        ErrorKind::Write => no_space(suspects, &error),
        _ => error,
    })?;
    let mut offers = RankingOffers::new(recount, ranking);
    for_each_word(recount.progress, short, |word: Short| {
        let term = Term::join(word.term);
        offers.offer(term, term, word.count, || None);
    })?;
    for_each_word(recount.progress, long, |word: Long| {
        let letters = || Some(offsets.letters(word.place));
        offers.offer(
            Term::join(word.term),
            Term::join(word.prefix),
            word.count,
            letters,
        );
    })?;
    offers.finish();
    Ok(())
}

/// A word of at most 25 letters with its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Short {
    term: [u64; 2],
    count: u64,
}

/// A longer word with its count and one of its places in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Long {
    term: [u64; 2],
    prefix: [u64; 2],
    place: u64,
    count: u64,
}

/// The bytes of temporary files for each occurrence, which the documentation names.
const _: () = assert!(size_of::<Short>() == 24 && size_of::<Long>() == 48);

/// A record that can be added to another one of the same word.
trait WordRecord: Pod + Ord {
    fn term(&self) -> [u64; 2];
    fn count(&mut self) -> &mut u64;

    /// Adds `other` if it is of the same word; returns whether it is.
    fn absorb(&mut self, mut other: Self) -> bool {
        let same = self.term() == other.term();
        if same {
            *self.count() += *other.count();
        }
        same
    }
}

impl WordRecord for Short {
    fn term(&self) -> [u64; 2] {
        self.term
    }

    fn count(&mut self) -> &mut u64 {
        &mut self.count
    }
}

impl WordRecord for Long {
    fn term(&self) -> [u64; 2] {
        self.term
    }

    fn count(&mut self) -> &mut u64 {
        &mut self.count
    }
}

/// Combines adjacent records of equal words.
fn combine<R: WordRecord>(records: &mut Vec<R>) {
    records.dedup_by(|later, first| first.absorb(*later));
}

/// The suspects that one thread found.
struct SuspectCollector<'a> {
    suspects: &'a Suspects,
    short: Sorter<Short>,
    long: Sorter<Long>,
}

/// The suspects of all threads, each sorted.
type Collected<R> = Vec<Sorted<R>>;

fn collect(
    recount: &Recount<'_>,
    counts: &WordCounts<'_>,
    suspects: &Suspects,
    offsets: &UnitOffsets<'_>,
    share: usize,
    temporary: &Path,
) -> Result<(Collected<Short>, Collected<Long>)> {
    let bytes = share.min(MOST_SORTER_BYTES);
    let start = || {
        let collector = SuspectCollector {
            suspects,
            short: Sorter::new(temporary, bytes / 4 * 3).combining(combine),
            long: Sorter::new(temporary, bytes / 4).combining(combine),
        };
        (collector, Windows::new(recount.level), Lookup::default())
    };
    let work = |(collector, windows, lookup): &mut (SuspectCollector<'_>, Windows, Lookup),
                number: usize,
                (unit, count): (&Unit<'_>, &UnitCount)| {
        // Kept words have no places.
        let kept = counts.missed(recount.guess, count);
        let kept = kept.filter(|(_, terms)| !terms.iter().any(|term| term.is_hashed()));
        if let Some((keys, terms)) = kept {
            return collector.add_short(keys, terms);
        }
        let mut added = Ok(());
        for page in pages(unit.bytes) {
            // A page without text has no window.
            let text = page.text.as_ptr().addr();
            let text = text.wrapping_sub(unit.bytes.as_ptr().addr()) as u64;
            windows.for_each(page.text, |window| {
                if added.is_ok() {
                    recount.guess.lexicon.look_up(window, lookup);
                    let place = offsets.starts[number].wrapping_add(text);
                    added = collector.add_window(window, lookup, place);
                }
            });
        }
        added
    };
    let units = recount.units.iter().zip(&counts.units).collect();
    let states = recount
        .workers
        .for_each(recount.progress, units, start, work)?;
    let (mut short, mut long) = (Vec::new(), Vec::new());
    for (collector, ..) in states {
        short.push(collector.short.finish()?);
        long.push(collector.long.finish()?);
    }
    Ok((short, long))
}

impl SuspectCollector<'_> {
    /// Adds the words of a window that were looked up. The page's text starts at `text`.
    fn add_window(&mut self, window: Window<'_>, lookup: &Lookup, text: u64) -> Result<()> {
        self.add_short(lookup.missed_keys(), lookup.missed_terms())?;
        if !lookup.missed_terms().iter().any(|term| term.is_hashed()) {
            return Ok(());
        }
        for ordinal in window.long_words() {
            let letters = window.long_word(ordinal);
            let term = Term::from_letters(letters);
            if term.is_hashed() && self.suspects.contains(term) {
                self.long.push(Long {
                    term: term.split(),
                    prefix: Term::from_letters(&letters[..Term::LETTERS]).split(),
                    place: text + window.long_word_range(ordinal).start as u64,
                    count: 1,
                })?;
            }
        }
        Ok(())
    }

    /// Adds the words of at most 25 letters.
    fn add_short(&mut self, keys: &[u64], terms: &[Term]) -> Result<()> {
        let suspects = self.suspects;
        let keys = keys.iter().filter(|&&key| suspects.contains_key(key));
        let terms = terms.iter().filter(|term| !term.is_hashed());
        let terms = terms.filter(|&&term| suspects.contains(term));
        let mut all = keys.map(|&key| Term::from_key(key)).chain(terms.copied());
        all.try_for_each(|term| {
            self.short.push(Short {
                term: term.split(),
                count: 1,
            })
        })
    }
}

/// Calls `visit` once for each word, with the sum of its counts, in the order of the records.
fn for_each_word<R: WordRecord>(
    progress: &Progress,
    mut collected: Collected<R>,
    mut visit: impl FnMut(R),
) -> Result<()> {
    let mut heads = BinaryHeap::with_capacity(collected.len());
    for (number, records) in collected.iter_mut().enumerate() {
        if let Some(record) = records.next().transpose()? {
            heads.push(Reverse((record, number)));
        }
    }
    let mut word: Option<R> = None;
    let mut merged = 0_u64;
    while let Some(mut head) = heads.peek_mut() {
        merged += 1;
        if merged.is_multiple_of(CHECK_RECORDS) {
            progress.check()?;
        }
        let Reverse((record, number)) = *head;
        match collected[number].next().transpose()? {
            Some(next) => head.0.0 = next,
            None => drop(PeekMut::pop(head)),
        }
        if !word.as_mut().is_some_and(|word| word.absorb(record)) {
            word.replace(record).into_iter().for_each(&mut visit);
        }
    }
    word.into_iter().for_each(visit);
    Ok(())
}

/// Offers words to the ranking if they may enter it.
struct RankingOffers<'r, 'a> {
    recount: &'r Recount<'a>,
    ranking: &'r mut Ranking<'a>,
    /// Count and first letters of the last word of the full ranking.
    last: Option<(u64, Term)>,
    candidates: Vec<RankedWord<'a>>,
}

impl<'r, 'a> RankingOffers<'r, 'a> {
    fn new(recount: &'r Recount<'a>, ranking: &'r mut Ranking<'a>) -> RankingOffers<'r, 'a> {
        RankingOffers {
            last: ranking.last(),
            recount,
            ranking,
            candidates: Vec::with_capacity(BATCH),
        }
    }

    /// Offers a word that begins with the letters of `prefix`.
    fn offer(
        &mut self,
        term: Term,
        prefix: Term,
        count: u64,
        letters: impl Fn() -> Option<&'a [u8]>,
    ) {
        let is_behind =
            |(least, last): (u64, Term)| count < least || count == least && prefix > last;
        if self.last.is_some_and(is_behind) || self.recount.stop_words.contains(&term) {
            return;
        }
        self.candidates.push(RankedWord {
            term,
            count,
            letters: letters(),
        });
        if self.candidates.len() == BATCH {
            self.finish();
        }
    }

    fn finish(&mut self) {
        self.ranking.offer(self.candidates.drain(..));
        self.last = self.ranking.last();
    }
}

/// The positions of units in the concatenation of all units.
struct UnitOffsets<'a> {
    units: &'a [Unit<'a>],
    starts: Vec<u64>,
}

impl<'a> UnitOffsets<'a> {
    fn of(units: &'a [Unit<'a>]) -> UnitOffsets<'a> {
        let starts = units.iter().scan(0, |next, unit| {
            let start = *next;
            *next += unit.bytes.len() as u64;
            Some(start)
        });
        UnitOffsets {
            units,
            starts: starts.collect(),
        }
    }

    /// The word that begins at `place`.
    fn letters(&self, place: u64) -> &'a [u8] {
        let unit = self.starts.partition_point(|&start| start <= place) - 1;
        let bytes = &self.units[unit].bytes[(place - self.starts[unit]) as usize..];
        let letters = bytes.iter().take_while(|byte| byte.is_ascii_alphabetic());
        &bytes[..letters.count()]
    }
}

fn no_space(suspects: &Suspects, error: &Error) -> Error {
    let words = suspects.occurrences();
    let message = format!(
        "about {} MB of temporary files are needed to count {words} rare words exactly (free space, \
         choose another directory or allow more memory): {error}",
        (words * size_of::<Short>() as u64).div_ceil(1_000_000),
    );
    Error::new(ErrorKind::Write, message)
}
