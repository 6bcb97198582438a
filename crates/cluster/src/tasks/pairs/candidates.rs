//! The pairs of crowded documents that share a rare shingle.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_core::Result;

use super::frequent::{is_crowded, prefixes, tiles};
use super::near::PAIRS;
use super::rounds::{frontiers, labels};
use super::shared_elements::SharedElements;
use crate::candidates::{Entry, NONE, PairSearch};
use crate::context::Context;
use crate::numbers::mixed;
use crate::records::{Pair, home_of};
use crate::tasks::reading::set_store::SetStore;
use crate::work::{Facts, Outbox, Stream};

/// Elements of prefixes, by themselves: [`Entry`].
const ENTRIES: Stream = Stream(0);
/// Candidates of each document and shingle in the first round, and the factor of each further one.
const FIRST: usize = 2;
const FACTOR: usize = 8;

/// Sends the prefixes of a home.
///
/// # Errors
/// Errors of reading and writing.
pub fn prefix(context: &Context<'_>, task: usize, round: usize) -> Result<Facts> {
    let stage = format!("prefix-{round}");
    let mut out = Outbox::create(context.work, &stage, task, &[context.tasks()])?;
    let mut prefixes = prefixes(context)?;
    let hot: HashMap<i64, i64, RandomState> = tiles(context)?.into_iter().collect();
    let (labels, frontiers) = match round.checked_sub(1) {
        Some(before) => (
            labels(context, before, task)?,
            Some(frontiers(context, before, task)?),
        ),
        None => (HashMap::default(), None),
    };
    let mut shared_elements = SharedElements::of(context, task)?;
    let mut store = SetStore::of(context, task)?;
    for head in store.heads().to_vec() {
        let rank = head.rank;
        let label = labels.get(&rank).copied();
        // A document that is removed is no candidate, and needs none.
        let is_removed = !context.has_components() && label.is_some();
        if !is_crowded(&head) || is_removed && shared_elements.is_none() {
            continue;
        }
        let set = store.read(&head)?.set;
        let shared = shared_elements.as_mut().map(|all| all.next(&set));
        if is_removed {
            continue;
        }
        let frontier = match &frontiers {
            Some(frontiers) => frontiers.get(&rank).copied().unwrap_or(NONE),
            None => -1,
        };
        let finding = prefixes.finding(set.len()) as u32;
        for (place, (_, element)) in (0..).zip(prefixes.of(&set)) {
            if shared
                .as_ref()
                .is_some_and(|shared| shared.binary_search(element).is_err())
            {
                continue;
            }
            let mut entry = Entry {
                element: element.cast_signed(),
                tile: 0,
                rank,
                label: label.unwrap_or(NONE),
                frontier: if place < finding { frontier } else { NONE },
                size: u32::try_from(set.len()).unwrap_or(u32::MAX),
                place,
            };
            let hash = mixed(*element);
            let Some(tiles) = hot.get(&entry.element) else {
                out.record(ENTRIES, context.part(hash), &entry)?;
                continue;
            };
            // Each tile has all documents, and each document searches in one.
            let searching = entry.frontier;
            for tile in 0..*tiles {
                entry.tile = tile;
                entry.frontier = match tile == rank % tiles {
                    true => searching,
                    false => NONE,
                };
                let part = context.part(mixed(hash ^ tile.cast_unsigned()));
                out.record(ENTRIES, part, &entry)?;
            }
        }
    }
    out.finish()
}

/// Proposes the pairs of the elements of a part.
///
/// # Errors
/// Errors of reading and writing.
pub fn pairs(context: &Context<'_>, task: usize, round: usize) -> Result<Facts> {
    let (stage, before) = (format!("pairs-{round}"), format!("prefix-{round}"));
    // The stream has the number that it has of the stage `near`.
    let mut out = Outbox::create(context.work, &stage, task, &[1, 1, context.tasks()])?;
    let mut sorter = context.sorter::<Entry>();
    let entries = context.inbox(&before);
    entries.records(ENTRIES, task, |entry: Entry| sorter.push(entry))?;
    let most = FIRST * FACTOR.saturating_pow(round as u32);
    let mut search = PairSearch::new(context, most);
    let mut emit = |pair: &Pair| out.record(PAIRS, home_of(pair.member), pair);
    for entry in sorter.finish()? {
        search.push(&entry?, &mut emit)?;
    }
    search.end(&mut emit)?;
    out.finish()
}
