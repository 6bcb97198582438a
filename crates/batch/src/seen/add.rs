//! Addition of the documents of inputs to an index.

use std::path::Path;

use super::lines::AnswerLines;
use super::open_index::{Seen, build};
use super::part::{LineSink, Part, read};
use super::payload::Payload;
use super::settings::IndexSettings;
use super::text_sketcher::TextSketcher;
use crate::Result;
use simtool_engine::collection::Inputs;
use simtool_engine::doubts::Doubts;
use simtool_engine::{Stage, Workers};
use simtool_index::{Answer, Entry, Index, Options, Verdict};

/// A commit is made as soon as it has this many documents: those of a segment.
pub const GROUP_DOCUMENTS: usize = 1 << 16;
/// The same for the matches that a group may have, as the id of each is in memory.
const MOST_MATCHES: u64 = 1 << 20;
/// Bytes of documents, likewise.
pub const GROUP_BYTES: usize = 64 << 20;

/// Counts of added documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddCounts {
    /// Documents with a new id, and without a known document near them.
    pub new: u64,
    /// Documents that are copies of a known one.
    pub duplicate: u64,
    /// Documents that the index already had.
    pub unchanged: u64,
    /// Documents whose id had another text before.
    pub changed: u64,
    /// Documents without words; stored, and never matched.
    pub empty: u64,
    /// Documents that could not be read, or with a part that is too long for an index.
    pub skipped: u64,
    /// Documents whose characters may be wrong.
    pub doubts: Doubts,
}

/// Where a line for each added document is written.
pub struct Listing<'a> {
    /// The most matches in a line.
    pub limit: usize,
    /// Receives the lines when their documents are durable.
    pub take: LineSink<'a>,
}

impl Seen {
    /// Adds all documents of `inputs`, in order, to the dump with the label `dump`; each is searched
    /// for first. A JSON line for each is passed to `listing`: its id and place, the verdict, whether
    /// it is kept and was added, and its matches. Lines of skipped documents are passed to `skipped`.
    ///
    /// The id of a document without an own one is its place. Adding the same inputs to the same dump
    /// again finds them unchanged.
    ///
    /// Many thousand documents share a commit. After an interruption or an error, committed
    /// documents stay in the index, and adding the same inputs again adds the rest.
    ///
    /// # Errors
    /// Errors of reading, of [`Index::add`](simtool_index::Index::add), and of writing lines.
    pub fn add_inputs(
        &self,
        inputs: Inputs<'_>,
        (payload, dump): (Payload, &str),
        mut listing: Option<Listing<'_>>,
        skipped: LineSink<'_>,
    ) -> Result<AddCounts> {
        let addition = Addition {
            index: &self.index,
            texts: &|| self.texts(),
            payload,
            dump,
            limit: listing.as_ref().map_or(1, |listing| listing.limit),
        };
        addition.add(inputs, skipped, |parts, answers| match &mut listing {
            Some(listing) => AnswerLines::new(self, parts, answers, true).write(listing.take),
            None => Ok(()),
        })
    }

    /// Makes an index of all documents of `inputs`, which exists when all are added: as
    /// [`add_inputs`](Self::add_inputs) to an empty index. Lines of skipped documents are passed to
    /// `skipped`.
    ///
    /// # Errors
    /// Errors of reading, of [`Build`](simtool_index::Build), and of writing lines.
    pub fn build_inputs(
        directory: &Path,
        settings: IndexSettings,
        options: &Options,
        inputs: Inputs<'_>,
        (payload, dump): (Payload, &str),
        skipped: LineSink<'_>,
    ) -> Result<(Seen, AddCounts)> {
        let level = inputs.resources.level;
        let method = settings.method(level)?;
        let build = build(directory, &settings, level, options)?;
        let addition = Addition {
            index: build.index(),
            texts: &|| TextSketcher::new(&method, &settings, level),
            payload,
            dump,
            limit: 1,
        };
        let added = addition.add(inputs, skipped, |_, _| Ok(()))?;
        Ok((Seen::with(build.finish()?, settings, level)?, added))
    }
}

/// The addition of inputs to an index.
struct Addition<'a> {
    index: &'a Index,
    texts: &'a (dyn Fn() -> TextSketcher<'a> + Sync),
    payload: Payload,
    dump: &'a str,
    /// The most matches of an answer.
    limit: usize,
}

impl Addition<'_> {
    /// Adds the documents in groups; passes each group and its answers to `answered` when it is
    /// durable.
    fn add(
        &self,
        inputs: Inputs<'_>,
        skipped: LineSink<'_>,
        mut answered: impl FnMut(&[Part], Vec<Answer>) -> Result<()>,
    ) -> Result<AddCounts> {
        let workers = Workers::new(inputs.resources.threads)?;
        let mut added = AddCounts::default();
        let (mut group, mut documents, mut bytes) = (Vec::new(), 0, 0);
        let mut commit = |group: &mut Vec<Part>| -> Result<()> {
            let entries: Vec<Entry<'_>> = group.iter().flat_map(Part::entries).collect();
            let answers = workers.install(|| self.index.add(&entries, self.dump, self.limit))?;
            for answer in &answers {
                added.count(&answer.verdict);
            }
            answered(group, answers)?;
            for part in group.iter() {
                added.skipped += part.skipped;
                added.doubts.add(&part.doubts);
            }
            group.clear();
            Ok(())
        };
        let (stage, payload) = (Stage::Sketch, Some(self.payload));
        read(inputs, stage, payload, self.texts, skipped, |part| {
            documents += part.len();
            bytes += part.bytes();
            group.push(part);
            let matches = (documents as u64).saturating_mul(self.limit as u64);
            let is_small = bytes < GROUP_BYTES && matches < MOST_MATCHES;
            if documents < GROUP_DOCUMENTS && is_small {
                return Ok(());
            }
            (documents, bytes) = (0, 0);
            commit(&mut group)
        })?;
        commit(&mut group)?;
        Ok(added)
    }
}

impl AddCounts {
    fn count(&mut self, verdict: &Verdict) {
        let count = match verdict {
            Verdict::New => &mut self.new,
            Verdict::Duplicate => &mut self.duplicate,
            Verdict::Unchanged => &mut self.unchanged,
            Verdict::Changed(_) => &mut self.changed,
            Verdict::Empty => &mut self.empty,
        };
        *count += 1;
    }

    /// Documents that were read.
    pub fn documents(&self) -> u64 {
        self.new + self.duplicate + self.unchanged + self.changed + self.empty
    }
}
