//! Inputs that are written again, with some records removed or replaced.

use std::collections::HashSet;
use std::io::Write;

use super::directory::{Content, Directory};
use super::packing::{LongMember, OutputPiece, Packing};
use super::records;
use super::related::{RelatedCounts, has_records};
use crate::Result;
use crate::skeleton::context::RunContext;
use crate::table::row::TableRow;
use crate::workdir::OutputGroup;
use simtool_corpus::{Body, Chunk, Compression, Format, Source};
use simtool_engine::documents::source_of;
use simtool_engine::pipeline::{Event, Unit};
use simtool_files::AtomicFile;

/// The sources that have been dealt with.
#[derive(Default)]
pub struct FinishedSources {
    /// Their numbers.
    pub sources: HashSet<u32>,
    /// How many sources have no file, as nothing of them is left.
    pub unwritten: u64,
}

/// The output for a chunk.
enum ChunkOutput {
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

/// Writes a file for each source that has none yet and is no table; a source without changes is
/// copied byte for byte. A source of which nothing is left has no file, unless the settings want
/// empty ones. The last files are in `group` then, not published yet. Returns the sources that are
/// complete, tables only if they are copied or left out.
///
/// # Errors
/// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if a source changed; those of reading and
/// writing.
pub fn write<R: TableRow>(
    directory: &Directory<'_, R>,
    group: &mut OutputGroup<'_>,
) -> Result<FinishedSources> {
    let run = &directory.documents.run;
    let mut finished = FinishedSources::default();
    let mut without_documents = HashSet::new();
    for (number, source) in directory.documents.own_sources() {
        run.progress.check()?;
        let content = directory.content(number, source);
        let is_finished = match content {
            Content::Nothing => {
                finished.unwritten += 1;
                true
            }
            _ => run.work.outputs().is_written(&directory.target(number)?),
        };
        if is_finished {
            run.progress.advance(source.bytes.unwrap_or_default());
            finished.sources.insert(number);
        } else if content == Content::OtherRecords {
            without_documents.insert(number);
        } else if is_copied(directory, number, source) {
            directory.copy(number, source, group)?;
            finished.sources.insert(number);
        }
    }
    let units = without(run, |number, source| {
        source.format == Format::Parquet || finished.sources.contains(&number)
    });
    let mut open: Vec<Option<OpenFile<'_>>> = units.iter().map(|_| None).collect();
    let mut unwritten = 0;
    let mut finish = |open: Option<OpenFile<'_>>| match open {
        Some(open) if without_documents.contains(&open.number) && !open.has_records => {
            unwritten += 1;
            directory.end(open.number, open.counts)
        }
        Some(mut open) => {
            open.end_file()?;
            directory.end(open.number, open.counts)?;
            group.add(open.file)
        }
        None => Ok(()),
    };
    let work = |chunk: &Chunk| {
        let has_documents = !without_documents.contains(&chunk.source);
        changed_chunk(directory, chunk, has_documents)
    };
    run.pipeline()
        .run_in_parts(&units, work, |unit, event| match event {
            Event::Chunk { source, result, .. } => {
                let open = &mut open[unit];
                if open.as_ref().is_none_or(|open| open.number != source) {
                    finish(open.take())?;
                    *open = Some(OpenFile::new(directory, source)?);
                }
                open.as_mut().map_or(Ok(()), |open| open.write(result))
            }
            Event::End => finish(open[unit].take()),
        })?;
    finished.unwritten += unwritten;
    Ok(finished)
}

/// Whether a source is copied byte for byte.
fn is_copied<R: TableRow>(directory: &Directory<'_, R>, number: u32, source: &Source) -> bool {
    let same_level =
        directory.settings.compression_level.is_none() || source.compression == Compression::None;
    same_level && directory.is_unchanged(number)
}

/// The units of the input without the sources for which `is_left_out` holds.
fn without(run: &RunContext<'_>, is_left_out: impl Fn(u32, &Source) -> bool) -> Vec<Unit> {
    let is_left_out = |number: &u32| {
        let source = run.sources.get(*number as usize);
        source.is_some_and(|source| is_left_out(*number, source))
    };
    let mut rest = Vec::new();
    for unit in run.own_units() {
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

fn changed_chunk<R: TableRow>(
    directory: &Directory<'_, R>,
    chunk: &Chunk,
    has_documents: bool,
) -> Result<ChunkOutput> {
    let source = source_of(directory.documents.run.sources, chunk.source)?;
    if let Body::Part {
        bytes,
        is_document,
        is_last,
    } = &chunk.body
    {
        let is_dropped = *is_document && directory.settings.drops_skipped();
        return Ok(ChunkOutput::Part {
            bytes: if is_dropped {
                Vec::new()
            } else {
                bytes.clone()
            },
            is_last: *is_last,
        });
    }
    let (changed, counts) = records::changes(directory, source, chunk)?;
    let (mut pieces, mut copied) = (Vec::new(), 0);
    for (range, new) in changed {
        if copied < range.start {
            pieces.push(OutputPiece::Same(copied..range.start));
        }
        copied = range.end.max(copied);
        pieces.extend(new.map(OutputPiece::New));
    }
    pieces.push(OutputPiece::Same(copied..chunk.bytes().len()));
    let has_records = has_documents
        || pieces.iter().any(|piece| match piece {
            OutputPiece::Same(range) => has_records(&chunk.bytes()[range.clone()]),
            OutputPiece::New(_) => true,
        });
    let packing = Packing {
        source,
        level: directory.settings.compression_level,
    };
    Ok(ChunkOutput::Packed {
        bytes: packing.pack(chunk, pieces)?,
        counts,
        has_records,
    })
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

impl<'a> OpenFile<'a> {
    fn new<R: TableRow>(directory: &Directory<'a, R>, number: u32) -> Result<OpenFile<'a>> {
        Ok(OpenFile {
            number,
            packing: Packing {
                source: source_of(directory.documents.run.sources, number)?,
                level: directory.settings.compression_level,
            },
            file: directory.create(number)?,
            is_empty: true,
            has_records: false,
            long: None,
            counts: RelatedCounts::default(),
        })
    }

    fn write(&mut self, written: ChunkOutput) -> Result<()> {
        match written {
            ChunkOutput::Packed {
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
            ChunkOutput::Part { bytes, is_last } => {
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

    fn end_file(&mut self) -> Result<()> {
        self.end_long()?;
        if self.is_empty {
            let mut member = Vec::new();
            self.packing.member(&[], &mut member)?;
            self.put(&member)?;
        }
        Ok(())
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
