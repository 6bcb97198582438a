//! Documents of inputs into an index.

use std::path::Path;

use super::lines::Lines;
use super::part::{Part, read};
use super::{Payload, Seen, Settings, Take, Texts, build};
use crate::Result;
use crate::index::{Built, Entry, Options, Verdict};
use crate::run::Stage;
use crate::run::collection::Inputs;
use crate::run::doubts::Doubts;
use crate::run::sketcher::Sketcher;

/// So many documents, or bytes of them, share a commit.
const GROUP_DOCUMENTS: usize = 1 << 14;
const GROUP_BYTES: usize = 16 << 20;

/// Counts of what was added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Documents of which nothing near was known.
    pub new: u64,
    /// Documents of which something near was known, and that were added.
    pub duplicate: u64,
    /// Documents that were there.
    pub unchanged: u64,
    /// Documents whose id was there with another sketch, which was replaced.
    pub changed: u64,
    /// Documents without anything to compare; kept, and never matched.
    pub empty: u64,
    /// Documents that could not be read, or of which something is too long for an index.
    pub skipped: u64,
    /// Documents whose characters may be wrong.
    pub doubts: Doubts,
}

/// Who hears of each document that is added.
pub struct Listing<'a> {
    /// At most so many matches of each.
    pub limit: usize,
    /// Takes a line for each, when it is durable.
    pub take: Take<'a>,
}

impl Seen {
    /// Adds all documents of `inputs`, in their order; each is looked for first. A JSON line for
    /// each goes to `listing`: its id and place, the verdict, whether it was added, and its
    /// matches. Lines of skipped documents go to `skipped`.
    ///
    /// The id of a document without an own one is its place. If the index has another text of that
    /// id, it stays, and the id of the new one ends with a digest of its text: adding the same
    /// inputs again finds both unchanged.
    ///
    /// Some thousand documents share a commit: what was committed before an interruption or an
    /// error stays, and adding the same inputs again adds the rest.
    ///
    /// # Errors
    /// Those of reading, of [`Index::add`](crate::index::Index::add), and of writing lines.
    pub fn add_inputs(
        &self,
        inputs: Inputs<'_>,
        payload: Payload,
        mut listing: Option<Listing<'_>>,
        skipped: Take<'_>,
    ) -> Result<Added> {
        let mut added = Added::default();
        let (mut group, mut documents, mut bytes) = (Vec::new(), 0, 0);
        let limit = listing.as_ref().map_or(1, |listing| listing.limit);
        let mut commit = |group: &mut Vec<Part>| -> Result<()> {
            for part in group.iter_mut() {
                part.settle_ids(self.index())?;
            }
            let entries: Vec<Entry<'_>> = group.iter().flat_map(Part::entries).collect();
            let answers = self.index().add(&entries, limit)?;
            for answer in &answers {
                added.count(&answer.verdict);
            }
            if let Some(listing) = &mut listing {
                Lines::new(self, group, answers, true).write(listing.take)?;
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

    /// Makes an index of all documents of `inputs` at once, which is faster than adding them; of
    /// several documents of an id the last stays, counted as changed ones are. Lines of skipped
    /// documents go to `skipped`.
    ///
    /// # Errors
    /// Those of reading, of [`Build`](crate::index::Build), and of writing lines.
    pub fn build_inputs(
        directory: &Path,
        settings: Settings,
        options: &Options,
        inputs: Inputs<'_>,
        payload: Payload,
        skipped: Take<'_>,
    ) -> Result<(Seen, Added)> {
        let level = inputs.resources.level;
        let methods = vec![settings.method(level)?];
        let mut build = build(directory, &settings, level, options)?;
        let mut added = Added::default();
        let texts = || {
            let sketcher = Sketcher::new(&methods, settings.common(level));
            Texts {
                made: sketcher.nothing(),
                sketcher,
                method: &*methods[0],
            }
        };
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

impl Added {
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
