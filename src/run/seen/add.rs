//! Documents of inputs into an index.

use std::path::Path;

use super::{Seen, Settings, Texts, build};
use crate::corpus::{Chunk, Document, Parsed, Parser, Source};
use crate::index::{Built, Entry, Options, Verdict};
use crate::run::Stage;
use crate::run::collection::Inputs;
use crate::run::naming::name;
use crate::run::pipeline::Event;
use crate::run::sketcher::Sketcher;
use crate::{Error, ErrorKind, Result};

/// So many documents, or bytes of them, share a commit.
const GROUP_DOCUMENTS: usize = 1 << 14;
const GROUP_BYTES: usize = 16 << 20;
/// The longest id that an index takes.
const MOST_ID_BYTES: usize = u16::MAX as usize;

/// What is kept with a document, and comes back with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// Nothing.
    #[default]
    None,
    /// Its URL.
    Url,
    /// Its date.
    Date,
}

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
    /// Documents that could not be read, or whose id is too long.
    pub skipped: u64,
}

/// Documents on their way, end to end.
#[derive(Default)]
pub(super) struct Group {
    bytes: Vec<u8>,
    /// Where id, sketch and payload of each end.
    ends: Vec<[usize; 3]>,
    /// Documents that could not be read.
    skipped: u64,
}

impl Group {
    fn push(&mut self, id: &[u8], sketch: &[u8], payload: &[u8]) {
        let part = |bytes: &mut Vec<u8>, part: &[u8]| {
            bytes.extend_from_slice(part);
            bytes.len()
        };
        let ends = [id, sketch, payload].map(|bytes| part(&mut self.bytes, bytes));
        self.ends.push(ends);
    }

    fn append(&mut self, next: &Group) {
        let before = self.bytes.len();
        self.bytes.extend_from_slice(&next.bytes);
        let moved = next.ends.iter().map(|ends| ends.map(|end| before + end));
        self.ends.extend(moved);
        self.skipped += next.skipped;
    }

    fn is_full(&self) -> bool {
        self.ends.len() >= GROUP_DOCUMENTS || self.bytes.len() >= GROUP_BYTES
    }

    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|ends| ends[2]));
        starts
            .zip(&self.ends)
            .map(|(start, &[id, sketch, payload])| Entry {
                id: &self.bytes[start..id],
                sketch: &self.bytes[id..sketch],
                payload: &self.bytes[sketch..payload],
            })
    }
}

impl Payload {
    fn of<'a>(self, document: &Document<'a>) -> &'a [u8] {
        match self {
            Payload::None => &[],
            Payload::Url => document.url,
            Payload::Date => document.date,
        }
    }
}

impl Seen {
    /// Adds all documents of `inputs`, in their order; each is looked for first.
    ///
    /// Some thousand documents share a commit: what was committed before an interruption or an
    /// error stays, and adding the same inputs again adds the rest.
    ///
    /// # Errors
    /// Those of reading and of [`Index::add`](crate::index::Index::add).
    pub fn add_inputs(&self, inputs: Inputs<'_>, payload: Payload) -> Result<Added> {
        let mut added = Added::default();
        let mut group = Group::default();
        let commit = |group: &mut Group, added: &mut Added| -> Result<()> {
            let entries: Vec<Entry<'_>> = group.entries().collect();
            for answer in self.index().add(&entries, 1)? {
                added.count(&answer.verdict);
            }
            added.skipped += group.skipped;
            *group = Group::default();
            Ok(())
        };
        let texts = || self.texts();
        read(inputs, payload, texts, |part| {
            group.append(&part);
            match group.is_full() {
                true => commit(&mut group, &mut added),
                false => Ok(()),
            }
        })?;
        commit(&mut group, &mut added)?;
        Ok(added)
    }

    /// Makes an index of all documents of `inputs` at once, which is faster than adding them; of
    /// several documents of an id the last stays, counted as changed ones are.
    ///
    /// # Errors
    /// Those of reading and of [`Build`](crate::index::Build).
    pub fn build_inputs(
        directory: &Path,
        settings: Settings,
        options: &Options,
        inputs: Inputs<'_>,
        payload: Payload,
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
        read(inputs, payload, texts, |part| {
            for entry in part.entries() {
                build.push(&entry)?;
                match entry.sketch.is_empty() {
                    true => added.empty += 1,
                    false => added.new += 1,
                }
            }
            added.skipped += part.skipped;
            Ok(())
        })?;
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

/// Hands the documents of `inputs` to `take`, chunk by chunk, in input order.
fn read<'a>(
    inputs: Inputs<'_>,
    payload: Payload,
    texts: impl Fn() -> Texts<'a> + Sync,
    mut take: impl FnMut(Group) -> Result<()>,
) -> Result<()> {
    inputs.progress.begin(Stage::Sketch, inputs.bytes());
    let start = || (Parser::new(&inputs.manner.reading), texts());
    let work = |(parser, texts): &mut (Parser, Texts<'a>), chunk: &Chunk| {
        let source = inputs.pipeline().source(chunk.source)?;
        Ok(group(source, chunk, parser, texts, payload))
    };
    // One behind another, so that the order of what is added is that of the inputs.
    for unit in inputs.units() {
        inputs
            .pipeline()
            .run(&[unit], start, work, |_, event| match event {
                Event::Chunk { result, .. } => take(result),
                Event::End => Ok(()),
            })?;
    }
    inputs.progress.end(inputs.bytes());
    Ok(())
}

fn group(
    source: &Source,
    chunk: &Chunk,
    parser: &mut Parser,
    texts: &mut Texts<'_>,
    payload: Payload,
) -> Group {
    let mut group = Group::default();
    parser.for_each(
        source.format,
        chunk,
        &|_| true,
        &mut |_, parsed| match parsed {
            Parsed::Document(document) => {
                let id = name(source, document.id, document.place);
                match id.len() <= MOST_ID_BYTES {
                    true => {
                        let sketch = texts.sketch(document.text).unwrap_or_default();
                        group.push(&id, sketch, payload.of(&document));
                    }
                    false => group.skipped += 1,
                }
            }
            Parsed::Skipped(_) => group.skipped += 1,
            Parsed::Unwanted => {}
        },
    );
    group
}

impl std::str::FromStr for Payload {
    type Err = Error;

    /// `none`, `url` or `date`.
    fn from_str(name: &str) -> Result<Payload> {
        match name {
            "none" => Ok(Payload::None),
            "url" => Ok(Payload::Url),
            "date" => Ok(Payload::Date),
            _ => {
                let message = "expected none, url or date";
                Err(Error::new(ErrorKind::Parameter, message))
            }
        }
    }
}
