//! From counts to the first N words: proven, or counted again until they are.

use ahash::{AHashMap, AHashSet};

use super::count::{Counts, UnitCount};
use super::guess::Guess;
use super::units::Unit;
use crate::Result;
use crate::corpus::form_feed::pages;
use crate::kernel::Level;
use crate::run::{Budget, Progress, Workers};
use crate::text::Windows;
use crate::vocabulary::{ExactCounter, KeyRange, Lookup, Ranked, Ranking, Suspects, Term};

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

/// Words that a second counting holds at least, however little memory is left.
const LEAST_WORDS: usize = 1 << 12;

/// The first `limit` words of the units. Exact, whatever the lexicon holds.
pub(super) fn rank(
    reading: &Reading<'_>,
    counts: &Counts<'_>,
    limit: usize,
    budget: &Budget,
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
    let mut range = (!suspects.is_empty()).then(KeyRange::all);
    while let Some(current) = range {
        let counted = count_suspects(reading, counts, &suspects, &current, budget)?;
        offer(reading, counted, &mut ranking)?;
        let again = reading.units.iter().zip(&counts.units);
        let again = again.filter(|(_, unit)| counts.missed(reading.guess, unit).is_none());
        evidence.bytes_read_again += again.map(|(unit, _)| unit.bytes.len() as u64).sum::<u64>();
        evidence.passes += 1;
        range = current.next();
    }
    Ok((
        ranking.words().iter().map(|word| word.term).collect(),
        evidence,
    ))
}

/// Exact counts of the suspects within `range`, which narrows where memory is short.
fn count_suspects(
    reading: &Reading<'_>,
    counts: &Counts<'_>,
    suspects: &Suspects,
    range: &KeyRange,
    budget: &Budget,
) -> Result<AHashMap<Term, u64>> {
    let share = budget.free() as usize / reading.workers.threads();
    let most_words = (share / ExactCounter::WORD_BYTES).max(LEAST_WORDS);
    let units = reading.units.iter().zip(&counts.units).collect();
    let start = || {
        let counter = ExactCounter::new(suspects, range, most_words);
        (counter, Windows::new(reading.level), Lookup::default())
    };
    let work = |(counter, windows, lookup): &mut (ExactCounter<'_>, Windows, Lookup),
                _,
                (unit, count): (&Unit<'_>, &UnitCount)| {
        if let Some((keys, terms)) = counts.missed(reading.guess, count) {
            counter.add(keys, terms);
            return Ok(());
        }
        for page in pages(unit.bytes) {
            windows.for_each(page.text, |window| {
                reading.guess.lexicon.look_up(window, lookup);
                counter.add(lookup.missed_keys(), lookup.missed_terms());
            });
        }
        Ok(())
    };
    let states = reading
        .workers
        .for_each(reading.progress, units, start, work)?;
    Ok(ExactCounter::merge(
        states.into_iter().map(|(counter, ..)| counter).collect(),
    ))
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
