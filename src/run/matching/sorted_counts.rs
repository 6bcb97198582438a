//! Exact counts of any number of suspects: sorted in temporary files, by one reading of the text.
//!
//! ```text
//! text ─► suspect words ─► a sorter for each thread ─► merged: a word's counts side by side ─► ranking
//! ```
//!
//! Time and temporary space are linear in the occurrences of suspects. A word of more than 25
//! letters carries its first 25 letters and a place where it stands, so that ties among such words
//! are settled without another reading.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::Path;

use bytemuck::{Pod, Zeroable};

use super::count::{Counts, UnitCount};
use super::rank::Reading;
use super::units::Unit;
use crate::corpus::form_feed::pages;
use crate::io::{Sorted, Sorter};
use crate::run::Progress;
use crate::text::{Window, Windows};
use crate::vocabulary::{Lookup, Ranked, Ranking, Suspects, Term};
use crate::{Error, ErrorKind, Result};

/// More memory makes no sort faster.
const MOST_SORTER_BYTES: usize = 256 << 20;
/// Candidates that are put into the ranking at a time.
const BATCH: usize = 4096;
/// Records that are merged before an interruption is heard.
const CHECK_RECORDS: u64 = 1 << 16;

/// Counts all suspects and offers those that could enter the ranking. Each thread takes at most
/// `share` bytes of memory.
///
/// # Errors
/// [`ErrorKind::Write`] with the space that it takes, if `temporary` has less.
pub(super) fn rank<'a>(
    reading: &Reading<'a>,
    counts: &Counts<'_>,
    suspects: &Suspects,
    share: usize,
    temporary: &Path,
    ranking: &mut Ranking<'a>,
) -> Result<()> {
    let places = Places::of(reading.units);
    let collected = collect(reading, counts, suspects, &places, share, temporary);
    let (short, long) = collected.map_err(|error| match error.kind() {
        ErrorKind::Write => no_space(suspects, &error),
        _ => error,
    })?;
    let mut entry = Entry::new(reading, ranking);
    for_each_word(reading.progress, short, |word: Short| {
        let term = Term::join(word.term);
        entry.offer(term, term, word.count, || None);
    })?;
    for_each_word(reading.progress, long, |word: Long| {
        let letters = || Some(places.letters(word.place));
        entry.offer(
            Term::join(word.term),
            Term::join(word.prefix),
            word.count,
            letters,
        );
    })?;
    entry.finish();
    Ok(())
}

/// A word of at most 25 letters, and how often it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Short {
    term: [u64; 2],
    count: u64,
}

/// A longer word, how often it was seen, and one of the places where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Long {
    term: [u64; 2],
    prefix: [u64; 2],
    place: u64,
    count: u64,
}

/// A record that takes up another one of the same word.
trait Counted: Pod + Ord {
    fn term(&self) -> [u64; 2];
    fn count(&mut self) -> &mut u64;

    /// Whether `other` was of the same word, and was added.
    fn absorb(&mut self, mut other: Self) -> bool {
        let same = self.term() == other.term();
        if same {
            *self.count() += *other.count();
        }
        same
    }
}

impl Counted for Short {
    fn term(&self) -> [u64; 2] {
        self.term
    }

    fn count(&mut self) -> &mut u64 {
        &mut self.count
    }
}

impl Counted for Long {
    fn term(&self) -> [u64; 2] {
        self.term
    }

    fn count(&mut self) -> &mut u64 {
        &mut self.count
    }
}

/// Puts the records of equal words together, where they are side by side.
fn combine<R: Counted>(records: &mut Vec<R>) {
    records.dedup_by(|later, first| first.absorb(*later));
}

/// One thread's suspects.
struct Collector<'a> {
    suspects: &'a Suspects,
    short: Sorter<Short>,
    long: Sorter<Long>,
}

/// The suspects of all threads, each sorted.
type Collected<R> = Vec<Sorted<R>>;

fn collect(
    reading: &Reading<'_>,
    counts: &Counts<'_>,
    suspects: &Suspects,
    places: &Places<'_>,
    share: usize,
    temporary: &Path,
) -> Result<(Collected<Short>, Collected<Long>)> {
    let bytes = share.min(MOST_SORTER_BYTES);
    let start = || {
        let collector = Collector {
            suspects,
            short: Sorter::new(temporary, bytes / 4 * 3).combining(combine),
            long: Sorter::new(temporary, bytes / 4).combining(combine),
        };
        (collector, Windows::new(reading.level), Lookup::default())
    };
    let work = |(collector, windows, lookup): &mut (Collector<'_>, Windows, Lookup),
                number: usize,
                (unit, count): (&Unit<'_>, &UnitCount)| {
        // Kept words have no places.
        let kept = counts.missed(reading.guess, count);
        let kept = kept.filter(|(_, terms)| !terms.iter().any(|term| term.is_hashed()));
        if let Some((keys, terms)) = kept {
            return collector.add_short(keys, terms);
        }
        let mut added = Ok(());
        for page in pages(unit.bytes) {
            // Of a page without text there is no window.
            let text = page.text.as_ptr().addr();
            let text = text.wrapping_sub(unit.bytes.as_ptr().addr()) as u64;
            windows.for_each(page.text, |window| {
                if added.is_ok() {
                    reading.guess.lexicon.look_up(window, lookup);
                    let place = places.starts[number].wrapping_add(text);
                    added = collector.add_window(window, lookup, place);
                }
            });
        }
        added
    };
    let units = reading.units.iter().zip(&counts.units).collect();
    let states = reading
        .workers
        .for_each(reading.progress, units, start, work)?;
    let (mut short, mut long) = (Vec::new(), Vec::new());
    for (collector, ..) in states {
        short.push(collector.short.finish()?);
        long.push(collector.long.finish()?);
    }
    Ok((short, long))
}

impl Collector<'_> {
    /// Adds the words of a window that were looked up; its page's text starts at `text`.
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

    /// Adds the words that are terms themselves.
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

/// Calls `visit` once for each word, with all its counts added up, in the order of the records.
fn for_each_word<R: Counted>(
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

/// The way into the ranking, for words that could get in.
struct Entry<'r, 'a> {
    reading: &'r Reading<'a>,
    ranking: &'r mut Ranking<'a>,
    /// The last word of the full ranking, whose place is at stake: its count and first letters.
    last: Option<(u64, Term)>,
    candidates: Vec<Ranked<'a>>,
}

impl<'r, 'a> Entry<'r, 'a> {
    fn new(reading: &'r Reading<'a>, ranking: &'r mut Ranking<'a>) -> Entry<'r, 'a> {
        Entry {
            last: ranking.last(),
            reading,
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
        if self.last.is_some_and(is_behind) || self.reading.stop_words.contains(&term) {
            return;
        }
        self.candidates.push(Ranked {
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

/// Where units lie if one follows the other.
struct Places<'a> {
    units: &'a [Unit<'a>],
    starts: Vec<u64>,
}

impl<'a> Places<'a> {
    fn of(units: &'a [Unit<'a>]) -> Places<'a> {
        let starts = units.iter().scan(0, |next, unit| {
            let start = *next;
            *next += unit.bytes.len() as u64;
            Some(start)
        });
        Places {
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
         choose another place or allow more memory): {error}",
        (words * size_of::<Short>() as u64).div_ceil(1_000_000),
    );
    Error::new(ErrorKind::Write, message)
}
