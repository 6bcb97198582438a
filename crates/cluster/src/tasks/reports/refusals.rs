//! Pairs that the method proposes and verification refuses, the first ones of each document.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_core::Result;
use simtool_core::dedup::MAX_REFUSALS;

use crate::candidates::{Alone, First, Keyed, WithPrint};
use crate::context::Context;
use crate::decisions::RefusalSearch;
use crate::numbers::mixed;
use crate::records::{HomeRow, Label, Pair, home_of, rank_of};
use crate::settings::has_fingerprints;
use crate::tasks::pairs::near::BUCKETS;
use crate::tasks::pairs::proposed::ComparedPairs;
use crate::tasks::pairs::rounds::{labels as labels_of, last_round};
use crate::tasks::pairs::spread::{KeyMaker, sketched};
use crate::tasks::reading::home::{ROWS, SKETCHES};
use crate::tasks::reading::set_store::SetStore;
use crate::work::{Facts, Outbox, Stream};

/// [`Label`], by the parts of the documents' keys.
const LABELS: Stream = Stream(0);
/// Sketches, if a shared key is not enough to be near, by the parts of the keys: messages of the rank
/// and the sketch.
const SHARED: Stream = Stream(1);
/// [`Pair`], by the homes of the members.
const PAIRS: Stream = Stream(0);

/// Sends what was decided about the documents of a home to where their keys are.
///
/// # Errors
/// Errors of reading and writing.
pub fn labels(context: &Context<'_>, task: usize) -> Result<Facts> {
    let tasks = context.tasks();
    let mut out = Outbox::create(context.work, "labels", task, &[tasks, tasks])?;
    let (Some(method), Some(last)) = (context.signed_method()?, last_round(context)?) else {
        return out.finish();
    };
    let plain = method.plain();
    let needs_sketch = !plain.is_near_by_key() && !has_fingerprints(plain);
    let mut keys = KeyMaker::new(method, sketched(context)?);
    let labels = labels_of(context, last, task)?;
    let store = SetStore::of(context, task)?;
    let home = context.inbox(context.homes()).file(task)?;
    let mut masks: Vec<u64> = Vec::new();
    home.records(ROWS, 0, |row: HomeRow| {
        masks.push(row.mask);
        Ok(())
    })?;
    let mut marked = store.heads().iter().map(|head| head.rank).peekable();
    let (mut row, mut parts) = (0, Vec::new());
    home.messages(SKETCHES, 0, |sketch| {
        let (rank, mask) = (rank_of(task, row), masks[row]);
        row += 1;
        if marked.next_if_eq(&rank).is_none() {
            return Ok(());
        }
        let label = labels.get(&rank);
        if label.is_none() && !needs_sketch {
            return Ok(());
        }
        let sketch = keys.plain(sketch);
        parts.clear();
        parts.extend(keys.keys(sketch, mask)?.map(|key| context.part(mixed(key))));
        parts.sort_unstable();
        parts.dedup();
        for part in &parts {
            if let Some(label) = label {
                let label = Label {
                    rank,
                    label: *label,
                };
                out.record(LABELS, *part, &label)?;
            }
            if needs_sketch {
                out.message(SHARED, *part, &[bytemuck::bytes_of(&rank), sketch])?;
            }
        }
        Ok(())
    })?;
    out.finish()
}

/// Lists the refused pairs of the keys of a part.
///
/// # Errors
/// Errors of reading and writing.
pub fn run(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut out = Outbox::create(context.work, "refusals", task, &[context.tasks()])?;
    let Some(method) = context.method()? else {
        return out.finish();
    };
    let decided = context.inbox("labels");
    let mut labels: HashMap<i64, i64, RandomState> = HashMap::default();
    decided.records(LABELS, task, |label: Label| {
        labels.insert(label.rank, label.label);
        Ok(())
    })?;
    let mut sketches: HashMap<i64, Vec<u8>, RandomState> = HashMap::default();
    decided.messages(SHARED, task, |_, message| {
        if let Some((rank, sketch)) = message.split_first_chunk() {
            sketches.insert(i64::from_le_bytes(*rank), sketch.to_vec());
        }
        Ok(())
    })?;
    let width = method.sketch_bytes().unwrap_or_default();
    let carries = has_fingerprints(&*method);
    let mut search = RefusalSearch::new(context, method);
    let buckets = context.inbox("near").file(task)?;
    let mut document = |place: (i64, i64), sketch: &[u8]| {
        let label = labels.get(&place.1).copied();
        search.push(place, label, sketch, |member, earlier| {
            let pair = Pair {
                member,
                earlier,
                cut: 0,
            };
            out.record(PAIRS, home_of(member), &pair)
        })
    };
    match carries {
        true => buckets.records(BUCKETS, 0, |found: WithPrint| {
            let print = found.print().unwrap_or_default();
            document(found.place(), &print[..width.min(print.len())])
        })?,
        false => buckets.records(BUCKETS, 0, |found: Alone| {
            let place = found.place();
            let sketch = sketches.get(&place.1).map_or(&[][..], Vec::as_slice);
            document(place, sketch)
        })?,
    }
    out.finish()
}

/// The first refused pairs of each document of a home.
///
/// # Errors
/// Errors of reading and writing.
pub fn refused(context: &Context<'_>, stage: &str, task: usize) -> Result<Facts> {
    let mut out = ComparedPairs::create(context, stage, task)?;
    let mut sorter = context.sorter::<Pair>();
    context
        .inbox("refusals")
        .records(PAIRS, task, |pair: Pair| sorter.push(pair))?;
    let mut first = First::new(MAX_REFUSALS as usize);
    for pair in sorter.finish()? {
        if let Some(pair) = first.push(pair?) {
            out.push(&pair)?;
        }
    }
    if let Some(pair) = first.end() {
        out.push(&pair)?;
    }
    out.finish()
}
