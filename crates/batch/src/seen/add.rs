//! Addition of the documents of inputs to an index.

use std::path::Path;

use super::lines::AnswerLines;
use super::open_index::{Seen, build};
use super::part::{LineSink, Part, read};
use super::payload::Payload;
use super::settings::IndexSettings;
use super::text_sketcher::TextSketcher;
use crate::Result;
use simtool_engine::Stage;
use simtool_engine::collection::Inputs;
use simtool_engine::doubts::Doubts;
use simtool_index::{Built, Entry, Options, Verdict};

/// A commit is made as soon as it has this many documents.
pub const GROUP_DOCUMENTS: usize = 1 << 13;
/// Bytes of documents, likewise.
pub const GROUP_BYTES: usize = 16 << 20;

/// Counts of added documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddCounts {
    /// Documents with a new id, and without a known document near them.
    pub new: u64,
    /// Documents with a known document near them, but a new id.
    pub duplicate: u64,
    /// Documents that the index already had.
    pub unchanged: u64,
    /// Documents whose id had another sketch, which was replaced.
    pub changed: u64,
    /// Documents without features; stored, and never matched.
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
    /// Adds all documents of `inputs`, in order; each is searched for first. A JSON line for each
    /// is passed to `listing`: its id and place, the verdict, whether it was added, and its
    /// matches. Lines of skipped documents are passed to `skipped`.
    ///
    /// The id of a document without an own one is its place. If the index has another text with
    /// that id, that text is kept, and a digest of the new text is appended to the new id. So
    /// adding the same inputs again finds both unchanged.
    ///
    /// Several thousand documents share a commit. After an interruption or an error, committed
    /// documents stay in the index, and adding the same inputs again adds the rest.
    ///
    /// # Errors
    /// Errors of reading, of [`Index::add`](simtool_index::Index::add), and of writing lines.
    pub fn add_inputs(
        &self,
        inputs: Inputs<'_>,
        payload: Payload,
        mut listing: Option<Listing<'_>>,
        skipped: LineSink<'_>,
    ) -> Result<AddCounts> {
        let mut added = AddCounts::default();
        let (mut group, mut documents, mut bytes) = (Vec::new(), 0, 0);
        let limit = listing.as_ref().map_or(1, |listing| listing.limit);
        let mut commit = |group: &mut Vec<Part>| -> Result<()> {
            for part in group.iter_mut() {
                part.make_ids_unique(self.index())?;
            }
            let entries: Vec<Entry<'_>> = group.iter().flat_map(Part::entries).collect();
            let answers = self.index().add(&entries, limit)?;
            for answer in &answers {
                added.count(&answer.verdict);
            }
            if let Some(listing) = &mut listing {
                AnswerLines::new(self, group, answers, true).write(listing.take)?;
            }
            for part in group.iter() {
                added.skipped += part.skipped;
                added.doubts.add(&part.doubts);
            }
            group.clear();
            Ok(())
        };
        let texts = || self.texts();
        read(
            inputs,
            Stage::Sketch,
            Some(payload),
            texts,
            skipped,
            |part| {
                documents += part.len();
                bytes += part.bytes();
                group.push(part);
                if documents < GROUP_DOCUMENTS && bytes < GROUP_BYTES {
                    return Ok(());
                }
                (documents, bytes) = (0, 0);
                commit(&mut group)
            },
        )?;
        commit(&mut group)?;
        Ok(added)
    }

    /// Makes an index of all documents of `inputs` at once, which is faster than adding them. It
    /// does not search for near documents, so that none count as duplicates. Of documents with the
    /// same id the last is kept; the others count as changed. Lines of skipped documents are passed
    /// to `skipped`.
    ///
    /// # Errors
    /// Errors of reading, of [`Build`](simtool_index::Build), and of writing lines.
    pub fn build_inputs(
        directory: &Path,
        settings: IndexSettings,
        options: &Options,
        inputs: Inputs<'_>,
        payload: Payload,
        skipped: LineSink<'_>,
    ) -> Result<(Seen, AddCounts)> {
        let level = inputs.resources.level;
        let method = settings.method(level)?;
        let mut build = build(directory, &settings, level, options)?;
        let mut added = AddCounts::default();
        let texts = || TextSketcher::new(&method, settings.common(level));
        read(
            inputs,
            Stage::Sketch,
            Some(payload),
            texts,
            skipped,
            |part| {
                for entry in part.entries() {
                    build.push(&entry)?;
                    match entry.sketch.is_empty() {
                        true => added.empty += 1,
                        false => added.new += 1,
                    }
                }
                added.skipped += part.skipped;
                added.doubts.add(&part.doubts);
                Ok(())
            },
        )?;
        inputs.progress.begin(Stage::Write, 0);
        let Built { index, replaced } = build.finish()?;
        inputs.progress.end(0);
        added.new = added.new.saturating_sub(replaced);
        added.changed = replaced;
        Ok((Seen::with(index, settings, level)?, added))
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
