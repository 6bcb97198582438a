//! The ranking of the first N words, proven by bounds or by further counting.
//!
//! *Suspects* are the words of buckets whose counts are high enough for the ranking.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ahash::AHashMap;

use super::count::{Recount, UnitCount, WordCounts};
use super::sorted_counts;
use super::units::Unit;
use crate::Result;
use simtool_core::text::Windows;
use simtool_core::vocabulary::{ExactCounter, Lookup, RankedWord, Ranking, Suspects, Term};
use simtool_corpus::form_feed::pages;
use simtool_engine::Budget;

/// How the ranking was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankingEvidence {
    /// Buckets whose words had to be counted exactly; zero if the first reading proved the ranking.
    pub suspect_buckets: usize,
    /// How often the suspects were counted: twice if they did not fit in memory.
    pub passes: usize,
    /// Bytes of text that were read again to count suspects: in each pass, the units without kept
    /// words. Further reading for words of more than 25 letters is not included.
    pub bytes_read_again: u64,
}

/// The least memory of a thread for suspects: that for the words of a unit in the first reading.
const LEAST_SHARE: usize = 8 << 20;

/// The first `limit` words of the units. Exact for any lexicon.
pub(super) fn rank(
    recount: &Recount<'_>,
    counts: &WordCounts<'_>,
    limit: usize,
    budget: &Budget,
    temporary: &Path,
) -> Result<(Vec<Term>, RankingEvidence)> {
    let mut ranking = Ranking::new(limit);
    let likely = recount
        .guess
        .lexicon
        .slots()
        .iter()
        .map(|&(term, slot)| RankedWord {
            term,
            count: counts.slots[usize::from(slot)],
            letters: None,
        });
    ranking.offer(likely.filter(|word| word.count > 0));
    let suspects = ranking.suspects(&counts.buckets);
    let mut evidence = RankingEvidence {
        suspect_buckets: suspects.len(),
        ..RankingEvidence::default()
    };
    if !suspects.is_empty() {
        let again = recount.units.iter().zip(&counts.units);
        let again = again.filter(|(_, unit)| counts.missed(recount.guess, unit).is_none());
        let bytes_again: u64 = again.map(|(unit, _)| unit.bytes.len() as u64).sum();
        let share = (budget.free() as usize / recount.workers.threads()).max(LEAST_SHARE);
        evidence.passes = 1;
        match count_in_memory(recount, counts, &suspects, share)? {
            Some(counted) => offer(recount, counted, &mut ranking)?,
            None => {
                evidence.passes += 1;
                sorted_counts::rank(recount, counts, &suspects, share, temporary, &mut ranking)?;
            }
        }
        evidence.bytes_read_again = bytes_again * evidence.passes as u64;
    }
    Ok((
        ranking.words().iter().map(|word| word.term).collect(),
        evidence,
    ))
}

/// Exact counts of the suspects; `None` if those of a thread, with the letters of long words, do
/// not fit into `share` bytes.
fn count_in_memory(
    recount: &Recount<'_>,
    counts: &WordCounts<'_>,
    suspects: &Suspects,
    share: usize,
) -> Result<Option<AHashMap<Term, u64>>> {
    let most_words = share / ExactCounter::WORD_BYTES;
    let units = recount.units.iter().zip(&counts.units).collect();
    let too_many = AtomicBool::new(false);
    let start = || {
        let counter = ExactCounter::new(suspects, most_words);
        (counter, Windows::new(recount.level), Lookup::default())
    };
    let work = |(counter, windows, lookup): &mut (ExactCounter<'_>, Windows, Lookup),
                _,
                (unit, count): (&Unit<'_>, &UnitCount)| {
        if too_many.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut fits = true;
        if let Some((keys, terms)) = counts.missed(recount.guess, count) {
            fits = counter.add(keys, terms);
        } else {
            for page in pages(unit.bytes) {
                windows.for_each(page.text, |window| {
                    if fits {
                        recount.guess.lexicon.look_up(window, lookup);
                        fits = counter.add(lookup.missed_keys(), lookup.missed_terms());
                    }
                });
            }
        }
        too_many.fetch_or(!fits, Ordering::Relaxed);
        Ok(())
    };
    let states = recount
        .workers
        .for_each(recount.progress, units, start, work)?;
    if too_many.into_inner() {
        return Ok(None);
    }
    let counters = states.into_iter().map(|(counter, ..)| counter).collect();
    let counted = ExactCounter::merge(counters);
    // The letters of long words take about the same memory again in each thread.
    let least = suspects.threshold();
    let long = counted.iter();
    let long = long.filter(|(term, count)| term.is_hashed() && **count >= least);
    Ok((long.count() <= most_words / 2).then_some(counted))
}

/// Offers counted words to the ranking; finds the letters of those that may enter it.
fn offer<'a>(
    recount: &Recount<'a>,
    mut wanted: AHashMap<Term, u64>,
    ranking: &mut Ranking<'a>,
) -> Result<()> {
    let least = ranking.threshold();
    wanted.retain(|term, count| *count >= least && !recount.stop_words.contains(term));
    let spelled = wanted.iter().filter(|(term, _)| !term.is_hashed());
    ranking.offer(spelled.map(|(&term, &count)| RankedWord {
        term,
        count,
        letters: None,
    }));
    let least = ranking.threshold();
    wanted.retain(|term, count| *count >= least && term.is_hashed());
    let letters = if wanted.is_empty() {
        AHashMap::new()
    } else {
        find_letters(recount, &wanted)?
    };
    ranking.offer(wanted.into_iter().map(|(term, count)| RankedWord {
        term,
        count,
        letters: letters.get(&term).copied(),
    }));
    Ok(())
}

/// The letters of the `wanted` hashed words, found in the text.
fn find_letters<'a>(
    recount: &Recount<'a>,
    wanted: &AHashMap<Term, u64>,
) -> Result<AHashMap<Term, &'a [u8]>> {
    let start = || (Windows::new(recount.level), AHashMap::new());
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
    let units = recount.units.to_vec();
    let states = recount
        .workers
        .for_each(recount.progress, units, start, work)?;
    Ok(states
        .into_iter()
        .flat_map(|(_, letters)| letters)
        .collect())
}
