//! From counts to the first N words: proven, or counted again until they are.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ahash::{AHashMap, AHashSet};

use super::count::{Counts, UnitCount};
use super::guess::Guess;
use super::sorted_counts;
use super::units::Unit;
use crate::Result;
use crate::corpus::form_feed::pages;
use crate::kernel::Level;
use crate::run::{Budget, Progress, Workers};
use crate::text::Windows;
use crate::vocabulary::{ExactCounter, Lookup, Ranked, Ranking, Suspects, Term};

/// Everything that a second reading works with.
pub(super) struct Reading<'a> {
    pub(super) workers: &'a Workers,
    pub(super) progress: &'a Progress,
    pub(super) units: &'a [Unit<'a>],
    pub(super) guess: &'a Guess,
    pub(super) stop_words: &'a AHashSet<Term>,
    pub(super) level: Level,
}

/// How the ranking was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Buckets of words that had to be counted exactly; none: the first reading was proof enough.
    pub suspect_buckets: usize,
    /// How often the suspects were gone through.
    pub passes: usize,
    /// Bytes of text that were read again for it.
    pub bytes_read_again: u64,
}

/// Memory that a thread has for suspects, however little is left: what it took for the words of a
/// unit in the first reading.
const LEAST_SHARE: usize = 8 << 20;

/// The first `limit` words of the units. Exact, whatever the lexicon holds.
pub(super) fn rank(
    reading: &Reading<'_>,
    counts: &Counts<'_>,
    limit: usize,
    budget: &Budget,
    temporary: &Path,
) -> Result<(Vec<Term>, Evidence)> {
    let mut ranking = Ranking::new(limit);
    let likely = reading
        .guess
        .lexicon
        .slots()
        .iter()
        .map(|&(term, slot)| Ranked {
            term,
            count: counts.slots[usize::from(slot)],
            letters: None,
        });
    ranking.offer(likely.filter(|word| word.count > 0));
    let suspects = ranking.suspects(&counts.buckets);
    let mut evidence = Evidence {
        suspect_buckets: suspects.len(),
        ..Evidence::default()
    };
    if !suspects.is_empty() {
        let again = reading.units.iter().zip(&counts.units);
        let again = again.filter(|(_, unit)| counts.missed(reading.guess, unit).is_none());
        let bytes_again: u64 = again.map(|(unit, _)| unit.bytes.len() as u64).sum();
        let share = (budget.free() as usize / reading.workers.threads()).max(LEAST_SHARE);
        evidence.passes = 1;
        match count_in_memory(reading, counts, &suspects, share)? {
            Some(counted) => offer(reading, counted, &mut ranking)?,
            None => {
                evidence.passes += 1;
                sorted_counts::rank(reading, counts, &suspects, share, temporary, &mut ranking)?;
            }
        }
        evidence.bytes_read_again = bytes_again * evidence.passes as u64;
    }
    Ok((
        ranking.words().iter().map(|word| word.term).collect(),
        evidence,
    ))
}

/// Exact counts of the suspects, if each thread has room for those that it finds in `share` bytes,
/// and for the letters of long ones.
fn count_in_memory(
    reading: &Reading<'_>,
    counts: &Counts<'_>,
    suspects: &Suspects,
    share: usize,
) -> Result<Option<AHashMap<Term, u64>>> {
    let most_words = share / ExactCounter::WORD_BYTES;
    let units = reading.units.iter().zip(&counts.units).collect();
    let too_many = AtomicBool::new(false);
    let start = || {
        let counter = ExactCounter::new(suspects, most_words);
        (counter, Windows::new(reading.level), Lookup::default())
    };
    let work = |(counter, windows, lookup): &mut (ExactCounter<'_>, Windows, Lookup),
                _,
                (unit, count): (&Unit<'_>, &UnitCount)| {
        if too_many.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut fits = true;
        if let Some((keys, terms)) = counts.missed(reading.guess, count) {
            fits = counter.add(keys, terms);
        } else {
            for page in pages(unit.bytes) {
                windows.for_each(page.text, |window| {
                    if fits {
                        reading.guess.lexicon.look_up(window, lookup);
                        fits = counter.add(lookup.missed_keys(), lookup.missed_terms());
                    }
                });
            }
        }
        too_many.fetch_or(!fits, Ordering::Relaxed);
        Ok(())
    };
    let states = reading
        .workers
        .for_each(reading.progress, units, start, work)?;
    if too_many.into_inner() {
        return Ok(None);
    }
    let counters = states.into_iter().map(|(counter, ..)| counter).collect();
    let counted = ExactCounter::merge(counters);
    // The letters of long words take about as much again, in each thread.
    let least = suspects.threshold();
    let long = counted.iter();
    let long = long.filter(|(term, count)| term.is_hashed() && **count >= least);
    Ok((long.count() <= most_words / 2).then_some(counted))
}

/// Offers counted words to the ranking; only those that could enter have their letters found.
fn offer<'a>(
    reading: &Reading<'a>,
    mut wanted: AHashMap<Term, u64>,
    ranking: &mut Ranking<'a>,
) -> Result<()> {
    let least = ranking.threshold();
    wanted.retain(|term, count| *count >= least && !reading.stop_words.contains(term));
    let spelled = wanted.iter().filter(|(term, _)| !term.is_hashed());
    ranking.offer(spelled.map(|(&term, &count)| Ranked {
        term,
        count,
        letters: None,
    }));
    let least = ranking.threshold();
    wanted.retain(|term, count| *count >= least && term.is_hashed());
    let letters = if wanted.is_empty() {
        AHashMap::new()
    } else {
        find_letters(reading, &wanted)?
    };
    ranking.offer(wanted.into_iter().map(|(term, count)| Ranked {
        term,
        count,
        letters: letters.get(&term).copied(),
    }));
    Ok(())
}

/// Where the letters of hashed words stand.
fn find_letters<'a>(
    reading: &Reading<'a>,
    wanted: &AHashMap<Term, u64>,
) -> Result<AHashMap<Term, &'a [u8]>> {
    let start = || (Windows::new(reading.level), AHashMap::new());
    let work = |(windows, letters): &mut (Windows, AHashMap<Term, &'a [u8]>), _, unit: Unit<'a>| {
        for page in pages(unit.bytes) {
            windows.for_each(page.text, |window| {
                for ordinal in window.long_words() {
                    let place = window.long_word_range(ordinal);
                    let term = Term::from_letters(&page.text[place.clone()]);
                    if wanted.contains_key(&term) {
                        letters.insert(term, &page.text[place]);
                    }
                }
            });
        }
        Ok(())
    };
    let units = reading.units.to_vec();
    let states = reading
        .workers
        .for_each(reading.progress, units, start, work)?;
    Ok(states
        .into_iter()
        .flat_map(|(_, letters)| letters)
        .collect())
}
