//! The third reading: writes the inputs without dropped documents, or with a mark on each.
//!
//! Records that could not be read are kept, unless the settings drop them. A file without dropped
//! documents is copied byte for byte, unless duplicates are marked or a compression level applies
//! to it. Other tables are written without damaged rows.

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

use super::bits::Bits;
use super::copying;
use super::gathered::Gathered;
use super::job::DumpSettings;
use super::mark;
use super::marks::Marks;
use super::numbering::Numbering;
use super::packing::{LongMember, Packing, Piece, levels};
use super::related::{self, OpenRelatedIds, RelatedCounts, RelatedIds};
use super::row::Flags;
use super::sketching::RunInputs;
use super::stamp::{Stamp, changed};
use super::targets;
use super::work::{Outputs, Work};

/// What happens to duplicates in the dump.
#[derive(Clone, Copy)]
pub enum Change<'a> {
    /// They are removed.
    Remove,
    /// They and their kept documents get a mark.
    Mark(&'a Marks<'a>),
}

/// Everything that is needed to write the dump.
pub struct Dump<'a> {
    /// The inputs.
    pub inputs: RunInputs<'a>,
    /// How the inputs are read.
    #[cfg(feature = "parquet")]
    pub reading: &'a crate::corpus::Reading,
    /// The inputs' files as they were when the run began.
    pub stamps: &'a [Stamp],
    /// The numbers of documents.
    pub numbering: &'a Numbering<'a>,
    /// Their rows and labels.
    pub gathered: &'a Gathered,
    /// Documents to remove: duplicates unless they get a mark, and records that could not be read
    /// if the settings drop them.
    pub dropped: &'a Bits,
    /// Creates output files and records them.
    pub outputs: &'a Outputs,
    /// What happens to duplicates.
    pub change: Change<'a>,
    /// How files are written.
    pub settings: DumpSettings,
    /// The output directory.
    pub out: &'a Path,
    /// For each source of the input, its file below the output directory.
    pub targets: &'a [PathBuf],
    /// The work directory, which stores the counts of related records.
    pub work: &'a Work,
    /// The ids of dropped records, for the files that are being written.
    pub related: OpenRelatedIds,
}

/// Refuses formats and compression levels that cannot be written, before anything is read.
///
/// # Errors
/// [`ErrorKind::Parameter`] for marks in a format that has no place for them, and for a level that
/// a compression does not have.
pub fn check(sources: &[Source], marks: bool, settings: DumpSettings) -> Result<()> {
    let refuse = |source: &Source, message: String| {
        Err(Error::new(ErrorKind::Parameter, message).in_file(&source.path))
    };
    for source in sources.iter().filter(|source| !source.is_stream()) {
        let has_place = match source.format {
            Format::FormFeed | Format::WholeFile | Format::Html | Format::Arc => false,
            Format::Jsonl | Format::Warc | Format::Parquet => true,
        };
        if marks && !has_place {
            let message = format!(
                "{} has no place for a mark (choose --write kept or ids)",
                source.format.name()
            );
            return refuse(source, message);
        }
        let levels = levels(source.compression);
        if let (Some(level), Some(levels)) = (settings.compression_level, levels)
            && !levels.contains(&level)
        {
            let message = format!(
                "is compressed with {}, which has no compression level {level}: choose {} to {}",
                source.compression.name(),
                levels.start,
                levels.end - 1
            );
            return refuse(source, message);
        }
    }
    Ok(())
}

/// The range of a record in its chunk, and its replacement, if it has one.
type Replaced = (Range<usize>, Option<Vec<u8>>);

/// The output for a chunk.
enum Written {
    /// Bytes that are ready for the file.
    Packed(Vec<u8>, RelatedCounts),
    /// A part of a long record, not compressed yet.
    Part { bytes: Vec<u8>, is_last: bool },
}

impl Dump<'_> {
    /// Writes a file for each source of the input that has none yet; returns how many related
    /// records were dropped.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if a source changed; those of reading and writing.
    pub fn write(&self, units: &[Unit], pipeline: &Pipeline<'_>) -> Result<RelatedCounts> {
        let sources = (0..).zip(self.inputs.sources);
        let sources = sources.skip(self.inputs.references as usize);
        let mut finished = HashSet::new();
        for (number, source) in sources.clone() {
            let target = self.target(number)?;
            if self.outputs.is_written(&target) {
                pipeline.progress.advance(source.bytes.unwrap_or_default());
                finished.insert(number);
            } else if self.is_copied(number, source) {
                let stamp = self.stamps.get(number as usize);
                let output = self.outputs.create(&target)?;
                copying::copy(source, stamp, output, pipeline.progress)?;
                finished.insert(number);
            }
        }
        let units = &self.without(units, |number, source| {
            source.format == Format::Parquet || finished.contains(&number)
        });
        let mut open: Vec<Option<OpenFile<'_>>> = units.iter().map(|_| None).collect();
        let work = |chunk: &Chunk| self.changed_chunk(chunk);
        pipeline.run_in_parts(units, work, |unit, event| match event {
            Event::Chunk { source, result, .. } => {
                let open = &mut open[unit];
                if open.as_ref().is_none_or(|open| open.number != source) {
                    self.finish(open.take())?;
                    *open = Some(self.open(source)?);
                }
                open.as_mut().map_or(Ok(()), |open| open.write(result))
            }
            Event::End => self.finish(open[unit].take()),
        })?;
        #[cfg(feature = "parquet")]
        self.write_tables(&finished, pipeline.progress)?;
        let mut counts = RelatedCounts::default();
        for (number, _) in sources.filter(|(_, source)| source.format == Format::Warc) {
            let own = related::stored(self.work, number)?;
            counts
                .iter_mut()
                .zip(own)
                .for_each(|(sum, own)| *sum += own);
        }
        Ok(counts)
    }

    /// Whether a source is copied byte for byte.
    fn is_copied(&self, number: u32, source: &Source) -> bool {
        let numbers = self.numbering.of_source(number);
        let same_level =
            self.settings.compression_level.is_none() || source.compression == Compression::None;
        matches!(self.change, Change::Remove)
            && same_level
            && !self
                .dropped
                .any_of(numbers.start, numbers.end - numbers.start)
    }

    /// The units without the sources for which `is_left_out` holds.
    fn without(&self, units: &[Unit], is_left_out: impl Fn(u32, &Source) -> bool) -> Vec<Unit> {
        let is_left_out = |number: &u32| {
            let source = self.inputs.sources.get(*number as usize);
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

    /// The output file of a source; creates its directories and refuses links.
    pub(super) fn target(&self, source: u32) -> Result<PathBuf> {
        let place = source.checked_sub(self.inputs.references);
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

    fn open(&self, number: u32) -> Result<OpenFile<'_>> {
        let source = source_of(self.inputs.sources, number)?;
        Ok(OpenFile {
            number,
            packing: self.packing(source),
            file: self.outputs.create(&self.target(number)?)?,
            is_empty: true,
            long: None,
            counts: RelatedCounts::default(),
        })
    }

    fn finish(&self, open: Option<OpenFile<'_>>) -> Result<()> {
        let Some(mut open) = open else {
            return Ok(());
        };
        open.end_long()?;
        if open.is_empty {
            let mut member = Vec::new();
            open.packing.member(&[], &mut member)?;
            open.put(&member)?;
        }
        self.related.forget(open.number);
        if open.counts != RelatedCounts::default() {
            related::store(self.work, open.number, open.counts)?;
        }
        open.file.publish()
    }

    fn packing<'s>(&self, source: &'s Source) -> Packing<'s> {
        Packing {
            source,
            level: self.settings.compression_level,
        }
    }

    fn changed_chunk(&self, chunk: &Chunk) -> Result<Written> {
        let source = source_of(self.inputs.sources, chunk.source)?;
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
        let (first, count) = self
            .numbering
            .first_of(chunk)
            .ok_or_else(|| changed(source))?;
        let bytes = chunk.bytes();
        let mut changes = self.changes(source, chunk, first..first + count)?;
        let mut counts = RelatedCounts::default();
        if source.format == Format::Warc {
            let ids = self.related_ids(chunk.source)?;
            let (related, found) = ids.find(bytes);
            counts = found;
            changes.extend(related.into_iter().map(|range| (range, None)));
            changes.sort_by_key(|(range, _)| range.start);
        }
        let (mut pieces, mut copied) = (Vec::new(), 0);
        for (range, new) in changes {
            if copied < range.start {
                pieces.push(Piece::Same(copied..range.start));
            }
            copied = range.end.max(copied);
            pieces.extend(new.map(Piece::New));
        }
        pieces.push(Piece::Same(copied..bytes.len()));
        let packed = self.packing(source).pack(chunk, pieces)?;
        Ok(Written::Packed(packed, counts))
    }

    /// The changed records of `chunk`, whose documents are `numbers`: their ranges and
    /// replacements.
    fn changes(
        &self,
        source: &Source,
        chunk: &Chunk,
        numbers: Range<u32>,
    ) -> Result<Vec<Replaced>> {
        let bytes = chunk.bytes();
        // Kept records are searched for earlier marks only if the chunk contains the name of one.
        let has_marks = mark::may_have_marks(source.format, bytes);
        let marks = match self.change {
            Change::Mark(marks) => Some(marks.of(numbers.clone())?),
            Change::Remove => None,
        };
        let mut changes = Vec::new();
        self.gathered.for_each_row(numbers, |number, row| {
            // Chunks do not contain records that the reader skipped.
            let Some(range) = chunk.range(&row.place) else {
                return Ok(());
            };
            match &marks {
                _ if self.dropped.contains(number) => changes.push((range, None)),
                Some(marks) if !row.flags.has(Flags::SKIPPED) => {
                    let mark = marks.get(number)?;
                    if mark.is_some() || has_marks {
                        let raw = &bytes[range.clone()];
                        let new = mark::marked(source.format, raw, mark.as_ref());
                        changes.extend(new.map(|new| (range, Some(new))));
                    }
                }
                None | Some(_) => {}
            }
            Ok(())
        })?;
        Ok(changes)
    }

    fn related_ids(&self, number: u32) -> Result<std::sync::Arc<RelatedIds>> {
        let numbers = self.numbering.of_source(number);
        let read = || RelatedIds::read(self.gathered, numbers, self.dropped);
        self.related.of(number, read)
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
