//! Inputs that are written again, with some records removed or replaced.

use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::{Error, ErrorKind, Result};
use simtool_corpus::{Body, Chunk, Compression, Format, Source};
use simtool_engine::Progress;
use simtool_engine::documents::source_of;
use simtool_engine::pipeline::{Event, Pipeline, Unit};
use simtool_files::AtomicFile;

use super::related::{RelatedCounts, has_records};
use crate::table::stamp::Stamp;
use crate::workdir::{OutputGroup, Outputs};
use crate::write::copying;
use crate::write::packing::{LongMember, Packing, Piece};
use crate::write::settings::DumpSettings;
use crate::write::targets;

/// The range of a record in its chunk, and its replacement, if it has one.
pub type Replaced = (Range<usize>, Option<Vec<u8>>);

/// What changes in the files.
pub trait Changes: Sync {
    /// Whether nothing changes in a source.
    fn is_unchanged(&self, number: u32, source: &Source) -> bool;

    /// What of a source is in its file.
    ///
    /// # Errors
    /// Errors of reading what the job stored.
    fn content(&self, number: u32, source: &Source) -> Result<Content>;

    /// The changed records of a chunk, in order, and how many related records are among them.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if the chunk is not as it was; those of reading.
    fn of_chunk(&self, source: &Source, chunk: &Chunk) -> Result<(Vec<Replaced>, RelatedCounts)>;

    /// Notes the number of related records of a source, before its file is published.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    fn end(&self, number: u32, counts: RelatedCounts) -> Result<()>;
}

/// What of a source is in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Documents; or the source has none.
    Documents,
    /// No document, but possibly other records.
    OtherRecords,
    /// Nothing.
    Nothing,
}

impl Content {
    /// Of a source with or without documents in its file, and whose documents are all its records or
    /// not.
    pub fn new(has_documents: bool, source: &Source) -> Content {
        match source.format {
            _ if has_documents => Content::Documents,
            Format::Warc => Content::OtherRecords,
            _ => Content::Nothing,
        }
    }
}

/// The sources that have been dealt with.
#[derive(Default)]
pub struct Finished {
    /// Their numbers.
    pub sources: HashSet<u32>,
    /// How many sources have no file, as nothing of them is left.
    pub unwritten: u64,
}

/// The files of the inputs and of what is written for them.
#[derive(Clone, Copy)]
pub struct RewrittenFiles<'a> {
    /// All sources.
    pub sources: &'a [Source],
    /// How many of them, the first ones, are not written.
    pub references: u32,
    /// The sources' files as they were when the run began.
    pub stamps: &'a [Stamp],
    /// For each source that is written, its file below the output directory.
    pub targets: &'a [PathBuf],
    /// The output directory.
    pub out: &'a Path,
    /// Creates output files and records them.
    pub outputs: &'a Outputs,
    /// How files are written.
    pub settings: DumpSettings,
}

/// The output for a chunk.
enum Written {
    /// Bytes that are ready for the file.
    Packed {
        bytes: Vec<u8>,
        counts: RelatedCounts,
        /// Whether records are among them, or it is not known.
        has_records: bool,
    },
    /// A part of a long record, not compressed yet.
    Part { bytes: Vec<u8>, is_last: bool },
}

impl RewrittenFiles<'_> {
    /// Writes a file for each source that has none yet and is no table; a source without changes is
    /// copied byte for byte. A source of which nothing is left has no file, unless the settings want
    /// empty ones. The last files are in `group` then, not published yet. Returns the sources that are
    /// complete, tables only if they are copied or left out.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if a source changed; those of reading and writing.
    pub fn write(
        &self,
        units: &[Unit],
        pipeline: &Pipeline<'_>,
        changes: &impl Changes,
        group: &mut OutputGroup<'_>,
    ) -> Result<Finished> {
        let sources = (0..).zip(self.sources).skip(self.references as usize);
        let mut finished = Finished::default();
        let mut without_documents = HashSet::new();
        for (number, source) in sources {
            pipeline.progress.check()?;
            let content = match self.settings.empty_files {
                true => Content::Documents,
                false => changes.content(number, source)?,
            };
            let is_finished = match content {
                Content::Nothing => {
                    finished.unwritten += 1;
                    true
                }
                _ => self.outputs.is_written(&self.target(number)?),
            };
            if is_finished {
                pipeline.progress.advance(source.bytes.unwrap_or_default());
                finished.sources.insert(number);
            } else if content == Content::OtherRecords {
                without_documents.insert(number);
            } else if self.is_copied(number, source, changes) {
                self.copy(number, source, pipeline.progress, group)?;
                finished.sources.insert(number);
            }
        }
        let units = &self.without(units, |number, source| {
            source.format == Format::Parquet || finished.sources.contains(&number)
        });
        let mut open: Vec<Option<OpenFile<'_>>> = units.iter().map(|_| None).collect();
        let mut unwritten = 0;
        let mut finish = |open: Option<OpenFile<'_>>| match open {
            Some(open) if without_documents.contains(&open.number) && !open.has_records => {
                unwritten += 1;
                changes.end(open.number, open.counts)
            }
            Some(open) => self.finish(open, changes, group),
            None => Ok(()),
        };
        let work = |chunk: &Chunk| {
            let has_documents = !without_documents.contains(&chunk.source);
            self.changed_chunk(chunk, changes, has_documents)
        };
        pipeline.run_in_parts(units, work, |unit, event| match event {
            Event::Chunk { source, result, .. } => {
                let open = &mut open[unit];
                if open.as_ref().is_none_or(|open| open.number != source) {
                    finish(open.take())?;
                    *open = Some(self.open(source)?);
                }
                open.as_mut().map_or(Ok(()), |open| open.write(result))
            }
            Event::End => finish(open[unit].take()),
        })?;
        finished.unwritten += unwritten;
        Ok(finished)
    }

    /// Copies the file of a source.
    ///
    /// # Errors
    /// Errors of [`copying::copy`] and of [`OutputGroup::add`].
    pub fn copy(
        &self,
        number: u32,
        source: &Source,
        progress: &Progress,
        group: &mut OutputGroup<'_>,
    ) -> Result<()> {
        let stamp = self.stamps.get(number as usize);
        group.add(copying::copy(
            source,
            stamp,
            self.create(number)?,
            progress,
        )?)
    }

    /// The output of a source, for a group.
    ///
    /// # Errors
    /// Errors of [`target`](Self::target).
    pub fn create(&self, source: u32) -> Result<AtomicFile> {
        Ok(self.outputs.create_later(&self.target(source)?))
    }

    /// The output file of a source; refuses links.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    fn target(&self, source: u32) -> Result<PathBuf> {
        let place = source.checked_sub(self.references);
        let name = place.and_then(|place| self.targets.get(place as usize));
        let name = name.ok_or_else(|| {
            Error::new(ErrorKind::Content, format!("no target of source {source}"))
        })?;
        targets::check(self.out, std::slice::from_ref(name))?;
        Ok(self.out.join(name))
    }

    /// Whether a source is copied byte for byte.
    fn is_copied(&self, number: u32, source: &Source, changes: &impl Changes) -> bool {
        let same_level =
            self.settings.compression_level.is_none() || source.compression == Compression::None;
        same_level && changes.is_unchanged(number, source)
    }

    /// The units without the sources for which `is_left_out` holds.
    fn without(&self, units: &[Unit], is_left_out: impl Fn(u32, &Source) -> bool) -> Vec<Unit> {
        let is_left_out = |number: &u32| {
            let source = self.sources.get(*number as usize);
            source.is_some_and(|source| is_left_out(*number, source))
        };
        let mut rest = Vec::new();
        for unit in units {
            let mut begin = unit.sources.start;
            for number in unit.sources.clone().filter(is_left_out) {
                rest.push(begin..number);
                begin = number + 1;
            }
            rest.push(begin..unit.sources.end);
        }
        rest.retain(|sources| !sources.is_empty());
        rest.into_iter().map(Unit::whole).collect()
    }

    fn open(&self, number: u32) -> Result<OpenFile<'_>> {
        let source = source_of(self.sources, number)?;
        Ok(OpenFile {
            number,
            packing: self.packing(source),
            file: self.create(number)?,
            is_empty: true,
            has_records: false,
            long: None,
            counts: RelatedCounts::default(),
        })
    }

    fn finish(
        &self,
        mut open: OpenFile<'_>,
        changes: &impl Changes,
        group: &mut OutputGroup<'_>,
    ) -> Result<()> {
        open.end_long()?;
        if open.is_empty {
            let mut member = Vec::new();
            open.packing.member(&[], &mut member)?;
            open.put(&member)?;
        }
        changes.end(open.number, open.counts)?;
        group.add(open.file)
    }

    fn packing<'s>(&self, source: &'s Source) -> Packing<'s> {
        Packing {
            source,
            level: self.settings.compression_level,
        }
    }

    fn changed_chunk(
        &self,
        chunk: &Chunk,
        changes: &impl Changes,
        has_documents: bool,
    ) -> Result<Written> {
        let source = source_of(self.sources, chunk.source)?;
        if let Body::Part {
            bytes,
            is_document,
            is_last,
        } = &chunk.body
        {
            let goes = *is_document && self.settings.drops_skipped();
            return Ok(Written::Part {
                bytes: if goes { Vec::new() } else { bytes.clone() },
                is_last: *is_last,
            });
        }
        let (changed, counts) = changes.of_chunk(source, chunk)?;
        let (mut pieces, mut copied) = (Vec::new(), 0);
        for (range, new) in changed {
            if copied < range.start {
                pieces.push(Piece::Same(copied..range.start));
            }
            copied = range.end.max(copied);
            pieces.extend(new.map(Piece::New));
        }
        pieces.push(Piece::Same(copied..chunk.bytes().len()));
        let has_records = has_documents
            || pieces.iter().any(|piece| match piece {
                Piece::Same(range) => has_records(&chunk.bytes()[range.clone()]),
                Piece::New(_) => true,
            });
        Ok(Written::Packed {
            bytes: self.packing(source).pack(chunk, pieces)?,
            counts,
            has_records,
        })
    }
}

/// A file that is being written.
struct OpenFile<'a> {
    number: u32,
    packing: Packing<'a>,
    file: AtomicFile,
    is_empty: bool,
    /// Whether it has records; known only of sources without documents in their file.
    has_records: bool,
    /// The unfinished member of a long record.
    long: Option<LongMember>,
    counts: RelatedCounts,
}

impl OpenFile<'_> {
    fn write(&mut self, written: Written) -> Result<()> {
        match written {
            Written::Packed {
                bytes,
                counts,
                has_records,
            } => {
                self.has_records |= has_records;
                self.counts
                    .iter_mut()
                    .zip(counts)
                    .for_each(|(sum, more)| *sum += more);
                self.put(&bytes)
            }
            Written::Part { bytes, is_last } => {
                if !bytes.is_empty() {
                    self.has_records = true;
                    let mut long = match self.long.take() {
                        Some(long) => long,
                        None => self.packing.long_member()?,
                    };
                    let packed = long.part(&bytes).map_err(|cause| self.file.error(cause))?;
                    self.long = Some(long);
                    self.put(&packed)?;
                }
                if is_last { self.end_long() } else { Ok(()) }
            }
        }
    }

    fn end_long(&mut self) -> Result<()> {
        let Some(long) = self.long.take() else {
            return Ok(());
        };
        let rest = long.end().map_err(|cause| self.file.error(cause))?;
        self.put(&rest)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.is_empty &= bytes.is_empty();
        self.file
            .write_all(bytes)
            .map_err(|cause| self.file.error(cause))
    }
}
