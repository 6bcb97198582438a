//! Inputs that are written again, with some records removed or replaced.

use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::corpus::{Body, Chunk, Compression, Format, Source};
use crate::engine::documents::source_of;
use crate::engine::pipeline::{Event, Pipeline, Unit};
use crate::io::AtomicFile;
use crate::io::directory::create_all;
use crate::{Error, ErrorKind, Result};

use super::copying;
use super::job::DumpSettings;
use super::packing::{LongMember, Packing, Piece};
use super::related::RelatedCounts;
use super::stamp::Stamp;
use super::targets;
use super::work::Outputs;

/// The range of a record in its chunk, and its replacement, if it has one.
pub type Replaced = (Range<usize>, Option<Vec<u8>>);

/// What changes in the files.
pub trait Changes: Sync {
    /// Whether nothing changes in a source.
    fn is_unchanged(&self, number: u32, source: &Source) -> bool;

    /// Whether a source has no file.
    fn is_left_out(&self, _number: u32) -> bool {
        false
    }

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
    Packed(Vec<u8>, RelatedCounts),
    /// A part of a long record, not compressed yet.
    Part { bytes: Vec<u8>, is_last: bool },
}

impl RewrittenFiles<'_> {
    /// Writes a file for each source that has none yet, is no table and is not left out; a source
    /// without changes is copied byte for byte. Returns the sources that are complete, tables only if they are copied.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if a source changed; those of reading and writing.
    pub fn write(
        &self,
        units: &[Unit],
        pipeline: &Pipeline<'_>,
        changes: &impl Changes,
    ) -> Result<HashSet<u32>> {
        let sources = (0..).zip(self.sources).skip(self.references as usize);
        let mut finished = HashSet::new();
        for (number, source) in sources {
            if changes.is_left_out(number) {
                pipeline.progress.advance(source.bytes.unwrap_or_default());
                finished.insert(number);
                continue;
            }
            let target = self.target(number)?;
            if self.outputs.is_written(&target) {
                pipeline.progress.advance(source.bytes.unwrap_or_default());
                finished.insert(number);
            } else if self.is_copied(number, source, changes) {
                self.copy(number, source, pipeline)?;
                finished.insert(number);
            }
        }
        let units = &self.without(units, |number, source| {
            source.format == Format::Parquet || finished.contains(&number)
        });
        let mut open: Vec<Option<OpenFile<'_>>> = units.iter().map(|_| None).collect();
        let work = |chunk: &Chunk| self.changed_chunk(chunk, changes);
        pipeline.run_in_parts(units, work, |unit, event| match event {
            Event::Chunk { source, result, .. } => {
                let open = &mut open[unit];
                if open.as_ref().is_none_or(|open| open.number != source) {
                    self.finish(open.take(), changes)?;
                    *open = Some(self.open(source)?);
                }
                open.as_mut().map_or(Ok(()), |open| open.write(result))
            }
            Event::End => self.finish(open[unit].take(), changes),
        })?;
        Ok(finished)
    }

    /// Copies the file of a source.
    ///
    /// # Errors
    /// Those of [`copying::copy`].
    pub fn copy(&self, number: u32, source: &Source, pipeline: &Pipeline<'_>) -> Result<()> {
        let stamp = self.stamps.get(number as usize);
        let output = self.outputs.create(&self.target(number)?)?;
        copying::copy(source, stamp, output, pipeline.progress)
    }

    /// The output file of a source; creates its directories and refuses links.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn target(&self, source: u32) -> Result<PathBuf> {
        let place = source.checked_sub(self.references);
        let name = place.and_then(|place| self.targets.get(place as usize));
        let name = name.ok_or_else(|| {
            Error::new(ErrorKind::Content, format!("no target of source {source}"))
        })?;
        targets::check(self.out, std::slice::from_ref(name))?;
        let target = self.out.join(name);
        let parent = target.parent().unwrap_or(self.out);
        create_all(parent)?;
        Ok(target)
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
            file: self.outputs.create(&self.target(number)?)?,
            is_empty: true,
            long: None,
            counts: RelatedCounts::default(),
        })
    }

    fn finish(&self, open: Option<OpenFile<'_>>, changes: &impl Changes) -> Result<()> {
        let Some(mut open) = open else {
            return Ok(());
        };
        open.end_long()?;
        if open.is_empty {
            let mut member = Vec::new();
            open.packing.member(&[], &mut member)?;
            open.put(&member)?;
        }
        changes.end(open.number, open.counts)?;
        open.file.publish()
    }

    fn packing<'s>(&self, source: &'s Source) -> Packing<'s> {
        Packing {
            source,
            level: self.settings.compression_level,
        }
    }

    fn changed_chunk(&self, chunk: &Chunk, changes: &impl Changes) -> Result<Written> {
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
        let packed = self.packing(source).pack(chunk, pieces)?;
        Ok(Written::Packed(packed, counts))
    }
}

/// A file that is being written.
struct OpenFile<'a> {
    number: u32,
    packing: Packing<'a>,
    file: AtomicFile,
    is_empty: bool,
    /// The unfinished member of a long record.
    long: Option<LongMember>,
    counts: RelatedCounts,
}

impl OpenFile<'_> {
    fn write(&mut self, written: Written) -> Result<()> {
        match written {
            Written::Packed(bytes, counts) => {
                self.counts
                    .iter_mut()
                    .zip(counts)
                    .for_each(|(sum, more)| *sum += more);
                self.put(&bytes)
            }
            Written::Part { bytes, is_last } => {
                if !bytes.is_empty() {
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
