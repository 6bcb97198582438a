//! Inputs that are written again, with some records removed or replaced.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::background::{InOrder, Sequence, with_background};
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
use simtool_engine::pipeline::Event;
use simtool_engine::units::Unit;
use simtool_files::AtomicFile;
use simtool_files::output::BUFFER_BYTES;

/// Output that is held for each thread until it is written.
const BYTES_OF_A_THREAD: usize = 4 << 20;

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
    group: &OutputGroup<'_>,
) -> Result<FinishedSources> {
    let run = &directory.documents.run;
    let mut finished = FinishedSources::default();
    let (mut without_documents, mut copied) = (HashSet::new(), Vec::new());
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
            copied.push((number, source));
            finished.sources.insert(number);
        }
    }
    let units = without(run, |number, source| {
        source.format == Format::Parquet || finished.sources.contains(&number)
    });
    let files = SourceFiles {
        directory,
        group,
        without_documents,
        unwritten: AtomicU64::new(0),
    };
    let most_bytes = BYTES_OF_A_THREAD * run.pipeline().workers;
    with_background(most_bytes as u64, |background| {
        for (number, source) in copied {
            let copy = move || directory.copy(number, source, group);
            background.run(2 * BUFFER_BYTES as u64, copy)?;
        }
        let work = |chunk: &Chunk| {
            let has_documents = !files.without_documents.contains(&chunk.source);
            changed_chunk(directory, chunk, has_documents)
        };
        let end = |open: Option<(u32, Arc<_>)>| match open {
            Some((_, file)) => background.append(&file, ITEM_BYTES, || Ok(None)),
            None => Ok(()),
        };
        let mut open: Vec<_> = units.iter().map(|_| None).collect();
        run.pipeline()
            .run_in_parts(&units, work, |unit, event| match event {
                Event::Chunk { source, result, .. } => {
                    let file = match open[unit].take() {
                        Some((number, file)) if number == source => file,
                        other => {
                            end(other)?;
                            Sequence::new(OpenFile::new(&files, source)?)
                        }
                    };
                    background.append(&file, result.bytes(), || Ok(Some(result)))?;
                    open[unit] = Some((source, file));
                    Ok(())
                }
                Event::End => end(open[unit].take()),
            })
    })?;
    finished.unwritten += files.unwritten.into_inner();
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
    for group in run.own_groups() {
        let mut begin = group.start;
        for number in group.clone().filter(is_left_out) {
            rest.push(begin..number);
            begin = number + 1;
        }
        rest.push(begin..group.end);
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

impl ChunkOutput {
    fn bytes(&self) -> u64 {
        let (ChunkOutput::Packed { bytes, .. } | ChunkOutput::Part { bytes, .. }) = self;
        bytes.len() as u64 + ITEM_BYTES
    }
}

/// The memory of an item besides its bytes, and of an open file.
const ITEM_BYTES: u64 = 4 << 10;

/// The files that are written of chunks.
struct SourceFiles<'a, R> {
    directory: &'a Directory<'a, R>,
    group: &'a OutputGroup<'a>,
    /// The sources without documents in their file.
    without_documents: HashSet<u32>,
    /// How many of these have no file.
    unwritten: AtomicU64,
}

/// A file that is being written.
struct OpenFile<'a, R> {
    files: &'a SourceFiles<'a, R>,
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

impl<R: TableRow> InOrder for OpenFile<'_, R> {
    /// The output for a chunk; `None` for the end of the file.
    type Item = Option<ChunkOutput>;

    fn write(mut self, item: Option<ChunkOutput>) -> Result<Option<Self>> {
        match item {
            Some(output) => {
                self.add(output)?;
                Ok(Some(self))
            }
            None => self.end().map(|()| None),
        }
    }
}

impl<'a, R: TableRow> OpenFile<'a, R> {
    fn new(files: &'a SourceFiles<'a, R>, number: u32) -> Result<OpenFile<'a, R>> {
        let directory = files.directory;
        Ok(OpenFile {
            files,
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

    fn add(&mut self, written: ChunkOutput) -> Result<()> {
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

    fn end(mut self) -> Result<()> {
        let SourceFiles {
            directory,
            group,
            without_documents,
            unwritten,
        } = self.files;
        if without_documents.contains(&self.number) && !self.has_records {
            unwritten.fetch_add(1, Ordering::Relaxed);
            return directory.end(self.number, self.counts);
        }
        self.end_long()?;
        if self.is_empty {
            let mut member = Vec::new();
            self.packing.member(&[], &mut member)?;
            self.put(&member)?;
        }
        directory.end(self.number, self.counts)?;
        group.add(self.file)
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
            .write_block(bytes)
            .map_err(|cause| self.file.error(cause))
    }
}
