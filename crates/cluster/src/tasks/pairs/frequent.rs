//! The shingles that many documents have, and how many of them have each.
//!
//! They are behind all others in the order by which similar sets are found (see
//! [`prefix`](crate::candidates)).

use simtool_core::Result;

use super::shared_elements::{self, ELEMENTS};
use crate::candidates::Prefixes;
use crate::context::Context;
use crate::numbers::mixed;
use crate::plan::Plan;
use crate::records::{Head, row_of};
use crate::tasks::reading::set_store::SetStore;
use crate::work::{Facts, Inbox, Outbox, Stream};

/// [`Count`].
const COUNTS: Stream = Stream(0);
/// Sets whose elements are counted, at the least.
const SAMPLE: u64 = 1 << 17;
/// At most this many sets for each one that is counted.
const MAX_SPARSE: u64 = 64;
/// An element is frequent if the counted sets have it this often.
const LEAST: u64 = 8;
/// Frequent elements that every task knows.
const MOST: usize = 1 << 17;
/// Documents with one rare shingle that one task searches; more are divided over several.
const MOST_DOCUMENTS: u64 = 1_000_000;

/// How often an element was found, and the element.
type Count = [u64; 2];

/// Whether a document shares a key with more than a few.
pub fn is_crowded(head: &Head) -> bool {
    head.crowded != 0
}

/// Samples the sets of a home.
///
/// # Errors
/// Errors of reading and writing.
pub fn elements(context: &Context<'_>, task: usize) -> Result<Facts> {
    let crowded = context.facts("sets")?.count("crowded");
    let every = match context.has_containment() {
        true => 1,
        false => (crowded / SAMPLE).clamp(1, MAX_SPARSE),
    };
    let mut out = Outbox::create(context.work, "elements", task, &[context.tasks()])?;
    let mut store = SetStore::of(context, task)?;
    let is_counted =
        |head: &&Head| is_crowded(head) && (row_of(head.rank) as u64).is_multiple_of(every);
    let heads: Vec<Head> = store.heads().iter().filter(is_counted).copied().collect();
    for head in heads {
        for element in store.read(&head)?.set {
            out.record(ELEMENTS, context.part(mixed(element)), &element)?;
        }
    }
    out.finish()
}

/// Counts the elements of a part.
///
/// # Errors
/// Errors of reading and writing.
pub fn frequent(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut sorter = context.sorter::<u64>();
    let elements = context.inbox("elements");
    elements.records(ELEMENTS, task, |element: u64| sorter.push(element))?;
    let (mut counts, mut shared): (Vec<Count>, Vec<u64>) = (Vec::new(), Vec::new());
    let mut last: Option<Count> = None;
    let mut add = |count: Option<Count>| {
        let all = count.filter(|[count, _]| *count > 1 && context.has_containment());
        shared.extend(all.map(|[_, element]| element));
        counts.extend(count.filter(|[count, _]| *count >= LEAST));
    };
    for element in sorter.finish()? {
        let element = element?;
        match &mut last {
            Some([count, of]) if *of == element => *count += 1,
            last => add(last.replace([1, element])),
        }
    }
    add(last);
    let parts = [1, context.tasks()];
    let mut out = Outbox::create(context.work, "frequent", task, &parts)?;
    for count in &most_frequent(counts) {
        out.record(COUNTS, 0, count)?;
    }
    if context.has_containment() {
        shared_elements::tell(context, task, &shared, &mut out)?;
    }
    out.finish()
}

/// The elements that every task knows.
///
/// # Errors
/// Errors of reading and writing.
pub fn common(context: &Context<'_>, task: usize) -> Result<Facts> {
    let counts = context.inbox("frequent");
    let mut all: Vec<Count> = Vec::new();
    for task in 0..context.tasks() {
        counts.file(task)?.records(COUNTS, 0, |count| {
            all.push(count);
            Ok(())
        })?;
        if all.len() > 4 * MOST {
            all = most_frequent(all);
        }
    }
    write(context, "common", task, most_frequent(all))
}

/// The most frequent ones, and of equally frequent ones the smallest; sorted by their counts.
fn most_frequent(mut counts: Vec<Count>) -> Vec<Count> {
    counts.sort_unstable_by_key(|[count, element]| (std::cmp::Reverse(*count), *element));
    counts.truncate(MOST);
    counts.sort_unstable();
    counts
}

fn write(context: &Context<'_>, stage: &str, task: usize, counts: Vec<Count>) -> Result<Facts> {
    let mut out = Outbox::create(context.work, stage, task, &[1])?;
    for count in &counts {
        out.record(COUNTS, 0, count)?;
    }
    out.finish()
}

/// The prefixes of sets of a job.
///
/// # Errors
/// Errors of reading.
pub fn prefixes(context: &Context<'_>) -> Result<Prefixes> {
    let common = Inbox::new(context.work, "common", 1).all::<Count>(COUNTS, 0)?;
    let elements: Vec<u64> = common.into_iter().map(|[_, element]| element).collect();
    Ok(Prefixes::new(context.job.verification.least, &elements))
}

/// Counts how many prefixes of a home have each frequent element.
///
/// # Errors
/// Errors of reading and writing.
pub fn hot(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut prefixes = prefixes(context)?;
    let mut counts = std::collections::BTreeMap::<u64, u64>::new();
    let mut store = SetStore::of(context, task)?;
    for head in store.heads().to_vec() {
        if is_crowded(&head) {
            for (place, element) in prefixes.of(&store.read(&head)?.set) {
                if *place > 0 {
                    *counts.entry(*element).or_default() += 1;
                }
            }
        }
    }
    let counts = counts.into_iter().map(|(element, count)| [count, element]);
    write(context, "hot", task, counts.collect())
}

/// Whether elements may be in more prefixes than one task searches; `sets` as of the stage of this
/// name.
pub fn may_be_hot(plan: &Plan, sets: &Facts) -> bool {
    sets.count("crowded") > most_documents(plan)
}

fn most_documents(plan: &Plan) -> u64 {
    plan.most_documents.unwrap_or(MOST_DOCUMENTS).max(1)
}

/// Elements that very many prefixes have, and over how many tasks their documents are divided.
///
/// # Errors
/// Errors of reading.
pub fn tiles(context: &Context<'_>) -> Result<Vec<(i64, i64)>> {
    if !may_be_hot(context.plan, &context.facts("sets")?) {
        return Ok(Vec::new());
    }
    let mut sums = std::collections::BTreeMap::<u64, u64>::new();
    context
        .inbox("hot")
        .records(COUNTS, 0, |[count, element]: Count| {
            *sums.entry(element).or_default() += count;
            Ok(())
        })?;
    let most = most_documents(context.plan);
    let hot = sums.into_iter().filter(|(_, count)| *count > most);
    Ok(hot
        .map(|(element, count)| (element.cast_signed(), count.div_ceil(most).cast_signed()))
        .collect())
}
