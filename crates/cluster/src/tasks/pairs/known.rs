//! Documents that are copies of those of an index.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_batch::{Asked, CopyEvidence, KnownCopy, KnownDocuments};
use simtool_core::{Error, ErrorKind, Result};
use xxhash_rust::xxh3::xxh3_64;

use crate::context::Context;
use crate::name::Name;
use crate::records::{Drop, EXACT, NEAR, NORMALIZED, Verified, home_of, known_rank};
use crate::work::{Facts, Outbox, Stream};

/// Copies, by the ids of the documents of the index: messages of [`Drop`] and the id, of the stage
/// `spread`.
pub const COPIES: Stream = Stream(3);
/// Removed documents: [`Drop`], by their homes.
const REMOVED: Stream = Stream(0);
/// The [ranks](known_rank) of documents of the index, by their homes: messages of the rank and the name.
const NAMES: Stream = Stream(1);

/// The most bytes of ids in an answer.
const MOST_ID_BYTES: usize = 8 << 20;
/// Documents that wait for an answer, and bytes of their sketches.
const WAITING: usize = 1 << 13;
const WAITING_BYTES: usize = 8 << 20;

/// A document that is looked up in an index.
pub struct Waiting {
    /// Its rank.
    pub rank: i64,
    /// The digest of its words.
    pub words: u128,
    /// The digest of its text.
    pub text: u64,
    /// What its group adds to keys.
    pub mask: u64,
    /// Its sketch, with the signature.
    pub sketch: Vec<u8>,
}

/// Documents that are looked up together.
#[derive(Default)]
pub struct Lookup {
    waiting: Vec<Waiting>,
    bytes: usize,
}

impl Lookup {
    /// Takes a document. Whether there are enough for a call.
    pub fn push(&mut self, waiting: Waiting) -> bool {
        self.bytes += waiting.sketch.len();
        self.waiting.push(waiting);
        self.waiting.len() >= WAITING || self.bytes >= WAITING_BYTES
    }

    /// Looks the documents up, and writes those that are copies. Gives the others.
    ///
    /// # Errors
    /// Errors of the index and of writing.
    pub fn answered(
        &mut self,
        context: &Context<'_>,
        (known, has_distances): (&dyn KnownDocuments, bool),
        out: &mut Outbox,
    ) -> Result<Vec<Waiting>> {
        context.progress.check()?;
        self.bytes = 0;
        let mut rest = std::mem::take(&mut self.waiting);
        let mut others = Vec::new();
        while !rest.is_empty() {
            let asked = rest.iter().map(|waiting| Asked {
                words: waiting.words,
                text: waiting.text,
                sketch: &waiting.sketch,
            });
            let asked: Vec<Asked<'_>> = asked.collect();
            let answers = known.copied(&asked, MOST_ID_BYTES)?;
            if answers.is_empty() {
                let message = "the index gave no answer";
                return Err(Error::new(ErrorKind::Content, message));
            }
            // Answers may end early: the others are looked up again.
            let later = rest.split_off(answers.len().min(rest.len()));
            for (waiting, answer) in rest.into_iter().zip(answers) {
                match answer {
                    Some(copy) => write(context, waiting.rank, &copy, has_distances, out)?,
                    None => others.push(waiting),
                }
            }
            rest = later;
        }
        Ok(others)
    }
}

fn write(
    context: &Context<'_>,
    rank: i64,
    copy: &KnownCopy,
    has_distances: bool,
    out: &mut Outbox,
) -> Result<()> {
    let (pair, method) = match copy.evidence {
        CopyEvidence::Text => (Verified::equal(rank, 0, has_distances), EXACT),
        CopyEvidence::Words => (Verified::equal(rank, 0, has_distances), NORMALIZED),
        CopyEvidence::Near { score, similarity } => {
            let [shared, shingles] = similarity.unwrap_or_default();
            let pair = Verified {
                shared,
                shingles,
                ..Verified::not_compared(rank, 0)
            };
            (pair.with_score(score), NEAR)
        }
    };
    let part = context.part(xxh3_64(&copy.id));
    let drop = Drop { pair, method };
    out.message(COPIES, part, &[bytemuck::bytes_of(&drop), &copy.id])
}

/// Numbers the documents of the index for which others are dropped.
///
/// # Errors
/// Errors of reading and writing.
pub fn run(context: &Context<'_>, task: usize) -> Result<Facts> {
    let tasks = context.tasks();
    let mut out = Outbox::create(context.work, "known", task, &[tasks, tasks])?;
    let mut copies: HashMap<Vec<u8>, Vec<Drop>, RandomState> = HashMap::default();
    let spread = context.inbox("spread");
    spread.headed(COPIES, task, |drop: Drop, id| {
        copies.entry(id.to_vec()).or_default().push(drop);
        Ok(())
    })?;
    let (mut copies, mut name): (Vec<_>, _) = (copies.into_iter().collect(), Vec::new());
    copies.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    for (id, drops) in copies {
        let Some(first) = drops.iter().map(|drop| drop.pair.member).min() else {
            continue;
        };
        let earlier = known_rank(first);
        Name { id: &id, key: None }.write(&mut name);
        out.message(
            NAMES,
            home_of(earlier),
            &[bytemuck::bytes_of(&earlier), &name],
        )?;
        for Drop { pair, method } in drops {
            let pair = Verified { earlier, ..pair };
            out.record(REMOVED, home_of(pair.member), &Drop { pair, method })?;
        }
    }
    out.finish()
}

/// The documents of a home that are removed for those of an index.
///
/// # Errors
/// Errors of reading.
pub fn removed(context: &Context<'_>, home: usize) -> Result<Vec<Drop>> {
    match context.known {
        Some(_) => context.inbox("known").all(REMOVED, home),
        None => Ok(Vec::new()),
    }
}

/// The names of the documents of an index that are in a home, by their ranks.
///
/// # Errors
/// Errors of reading.
pub fn names(context: &Context<'_>, home: usize) -> Result<HashMap<i64, Vec<u8>, RandomState>> {
    let mut names = HashMap::default();
    if context.known.is_some() {
        context
            .inbox("known")
            .headed(NAMES, home, |rank: i64, name| {
                names.insert(rank, name.to_vec());
                Ok(())
            })?;
    }
    Ok(names)
}
