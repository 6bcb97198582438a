//! Reads the documents that are written as shards, in input order.

use std::ops::Range;

#[cfg(feature = "parquet")]
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::place::{ShardCounts, ShardPlace};
use super::writer::ShardWriter;
#[cfg(feature = "parquet")]
use crate::shards::formats::encoder::SelectedRows;
use crate::shards::formats::encoder::{Encoder, ShardDocument, ShardRecords};
#[cfg(feature = "parquet")]
use crate::shards::formats::table_rows::{WantedRows, with_new_texts};
use crate::skeleton::run_documents::RunDocuments;
use crate::table::bits::Bits;
use crate::table::row::TableRow;
#[cfg(feature = "parquet")]
use crate::table::stamp::InputStamp;
#[cfg(feature = "parquet")]
use crate::table::stamp::changed;
use crate::write::background::{Background, with_background};
use crate::write::edits::Edits;
#[cfg(feature = "parquet")]
use crate::write::tables::not_copied;
use crate::{Error, ErrorKind, Result};
#[cfg(feature = "parquet")]
use simtool_corpus::parquet::{Table, kept_rows};
use simtool_corpus::{Document, Format, Source};
use simtool_engine::documents::ChunkDocuments;
use simtool_engine::pipeline::Pipeline;
use simtool_engine::units::Unit;

/// The documents of a run, to be read again.
pub struct ShardReading<'a, R> {
    /// The documents.
    pub documents: RunDocuments<'a, R>,
    /// What changes in those that are not removed.
    pub edits: Edits<'a>,
    /// Sources that one reader reads.
    pub units: &'a [Range<u32>],
    /// The sources, and how they are read.
    pub pipeline: Pipeline<'a>,
}

/// A stream of shards.
pub struct Stream<'a> {
    /// Where it is written.
    pub place: ShardPlace<'a>,
    /// The numbers of its documents, which are in no other stream.
    pub numbers: Bits,
    /// How many there are.
    pub count: u64,
}

/// The documents that are in no complete shard of their stream.
struct Remaining<'a>(Vec<(&'a Bits, u32)>);

impl Remaining<'_> {
    /// The position of the stream of a document.
    fn stream_of(&self, number: u32) -> Option<usize> {
        let is_of = |(numbers, next): &(&Bits, u32)| number >= *next && numbers.contains(number);
        self.0.iter().position(is_of)
    }

    /// Whether there are any in a range.
    fn any_of(&self, numbers: Range<u32>) -> bool {
        self.0.iter().any(|(wanted, next)| {
            let first = numbers.start.max(*next);
            first < numbers.end && wanted.any_of(first, numbers.end - first)
        })
    }
}

/// The records of a chunk, for each stream.
type OfStreams<C> = Vec<ShardRecords<C>>;

impl<R: TableRow> ShardReading<'_, R> {
    /// Writes the documents of all streams, except those of complete shards; holds `parallel` blocks
    /// of a stream at a time. Returns the counts of all shards of each.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if a source changed; [`ErrorKind::Content`] if the rows of a damaged
    /// table cannot be copied; [`ErrorKind::Interrupted`]; those of reading and writing.
    pub fn write<E: Encoder>(
        &self,
        encoder: &E,
        streams: &[Stream<'_>],
        parallel: usize,
    ) -> Result<Vec<Vec<ShardCounts>>> {
        let places = streams.iter().map(|stream| &stream.place);
        let mut writers = places
            .map(|place| ShardWriter::new(encoder, place))
            .collect::<Result<Vec<_>>>()?;
        let numbers = streams.iter().map(|stream| &stream.numbers);
        let remaining = numbers.zip(writers.iter().map(|writer| writer.next));
        let remaining = Remaining(remaining.collect());
        // Each stream collects a block.
        let blocks = 1 + parallel.saturating_sub(1) * streams.len();
        with_background(blocks as u64 * E::BLOCK_BYTES, |background| {
            for sources in self.runs() {
                self.run(sources, encoder, &remaining, &mut writers, background)?;
            }
            let mut writers = writers.iter_mut();
            writers.try_for_each(|writer| writer.end(background))
        })?;
        let finish = |(writer, stream): (ShardWriter<'_, E>, &Stream<'_>)| {
            let shards = writer.finish()?;
            let written: u64 = shards.iter().map(|shard| shard.records).sum();
            if written != stream.count {
                let message = format!(
                    "{}/ has {written} records instead of {}: an input changed while it was read",
                    stream.place.directory, stream.count
                );
                return Err(Error::new(ErrorKind::Changed, message));
            }
            Ok(shards)
        };
        writers.into_iter().zip(streams).map(finish).collect()
    }

    /// Writes the remaining documents of a run of sources.
    fn run<'scope, 'w: 'scope, E: Encoder>(
        &self,
        sources: Range<u32>,
        encoder: &E,
        remaining: &Remaining<'_>,
        writers: &mut [ShardWriter<'w, E>],
        background: &Background<'_, 'scope>,
    ) -> Result<()> {
        let [first, end] = [sources.start, sources.end]
            .map(|source| self.documents.numbering.documents_before(source));
        if !remaining.any_of(first..end) {
            let of = |source: u32| self.pipeline.sources.get(source as usize)?.bytes;
            self.pipeline.progress.advance(sources.filter_map(of).sum());
            return Ok(());
        }
        let mut add = |records: OfStreams<E::Content>| {
            let mut pairs = writers.iter_mut().zip(records);
            pairs.try_for_each(|(writer, records)| writer.add(records, background))
        };
        #[cfg(feature = "parquet")]
        if let Some(source) = self.own_table(sources.start) {
            return self.rows(sources.start, source, encoder, remaining, add);
        }
        self.pipeline.run_documents(
            &[Unit::whole(sources)],
            || (),
            |(), documents| self.records(encoder, documents, remaining),
            |_, records| add(records),
        )
    }

    /// Runs of sources that one reader reads, in order; a table with columns of its own is alone.
    fn runs(&self) -> Vec<Range<u32>> {
        let mut runs: Vec<Range<u32>> = Vec::new();
        for unit in self.units {
            let first = unit.start.max(self.documents.run.references);
            let mut begin = first;
            for source in first..unit.end {
                if self.own_table(source).is_some() {
                    runs.extend([begin..source, source..source + 1]);
                    begin = source + 1;
                }
            }
            runs.push(begin..unit.end);
        }
        runs.retain(|run| !run.is_empty());
        runs
    }

    /// The source, if it is a table whose columns are written.
    fn own_table(&self, source: u32) -> Option<&Source> {
        let source = self.pipeline.sources.get(source as usize)?;
        (source.format == Format::Parquet && !self.documents.run.written.only_text)
            .then_some(source)
    }

    /// The remaining documents of a chunk as records.
    fn records<E: Encoder>(
        &self,
        encoder: &E,
        documents: ChunkDocuments<'_>,
        remaining: &Remaining<'_>,
    ) -> Result<OfStreams<E::Content>> {
        let source = documents.source;
        let numbers = (self.documents.numbering).numbers_of(documents.chunk, source)?;
        let first = numbers.start;
        let texts = self.edits.texts_of(numbers)?;
        let number_of = |ordinal: u32| first.saturating_add(ordinal);
        let begin = |_| (encoder.builder(), Vec::new());
        let mut begun: Vec<_> = remaining.0.iter().map(begin).collect();
        documents.for_each_wanted(
            |ordinal| remaining.stream_of(number_of(ordinal)).is_some(),
            |ordinal, found| {
                let number = number_of(ordinal);
                // Those that could not be read are not wanted, but may be reported nevertheless.
                let Ok(document) = &found else {
                    return Ok(());
                };
                let stream = remaining.stream_of(number);
                if let Some((builder, each)) = stream.and_then(|stream| begun.get_mut(stream)) {
                    let texts = texts.as_ref().filter(|texts| texts.has(number));
                    let text = texts.map(|texts| texts.of(number, source, document.text));
                    let text = text.transpose()?;
                    let document = Document {
                        text: text.as_deref().unwrap_or(document.text),
                        ..*document
                    };
                    let named = ShardDocument {
                        number,
                        source,
                        document: &document,
                        has_new_text: text.is_some(),
                    };
                    each.push(encoder.add(builder, &named)?);
                }
                Ok(())
            },
        )?;
        let finish = |(builder, each)| {
            let content = encoder.finish(builder)?;
            Ok(ShardRecords { content, each })
        };
        begun.into_iter().map(finish).collect()
    }

    /// Writes the remaining rows of a table with all columns.
    #[cfg(feature = "parquet")]
    fn rows<E: Encoder>(
        &self,
        number: u32,
        source: &Source,
        encoder: &E,
        remaining: &Remaining<'_>,
        mut add: impl FnMut(OfStreams<E::Content>) -> Result<()>,
    ) -> Result<()> {
        let numbers = self.documents.numbering.of_source(number);
        let is_wanted = |number: &u32| remaining.stream_of(*number).is_some();
        let mut missing = numbers.clone().filter(is_wanted).count();
        let kept = missing;
        let Ok(table) = Table::open(source.file(), self.pipeline.reading)? else {
            return Err(changed(source));
        };
        let mut batches = table.with_all_columns().batches(0);
        // Batches of this reading end elsewhere, so it may find rows that the first reading lost.
        // They were not compared, and are not wanted.
        let mut wanted = WantedRows::new(self.documents.table, numbers.filter(is_wanted));
        loop {
            // Some batches at a time, so that several threads make records of them.
            let mut selected = Vec::new();
            for found in batches.by_ref() {
                self.pipeline.progress.check()?;
                let Ok((first_row, batch)) = found? else {
                    continue;
                };
                let mut places = Vec::new();
                for row in first_row..first_row + batch.num_rows() as u64 {
                    let stream = |number| Some((remaining.stream_of(number)?, number));
                    places.push(wanted.at(row)?.and_then(stream));
                }
                let found = places.iter().flatten().count();
                if found > 0 {
                    missing = missing.saturating_sub(found);
                    selected.push((batch, first_row, places));
                }
                if selected.len() >= self.pipeline.workers {
                    break;
                }
            }
            if selected.is_empty() {
                break;
            }
            let records: Vec<OfStreams<E::Content>> = selected
                .into_par_iter()
                .map(|(batch, first_row, places)| {
                    let of_stream = |stream| {
                        let (mut is_kept, mut numbers, mut rows) =
                            (Vec::new(), Vec::new(), Vec::new());
                        for (place, row) in places.iter().zip(first_row..) {
                            let own = place.filter(|(found, _)| *found == stream);
                            is_kept.push(own.is_some());
                            rows.extend(own.map(|_| row));
                            numbers.extend(own.map(|(_, number)| number));
                        }
                        let batch = kept_rows(&batch, is_kept)?;
                        let (pipeline, edits) = (&self.pipeline, self.edits);
                        let batch = with_new_texts(pipeline, edits, number, batch, &numbers)?;
                        encoder.rows(&SelectedRows {
                            source,
                            batch,
                            numbers,
                            rows,
                        })
                    };
                    (0..remaining.0.len()).map(of_stream).collect()
                })
                .collect::<Result<_>>()?;
            records.into_iter().try_for_each(&mut add)?;
        }
        if missing > 0 {
            let written = self.documents.run.written;
            return Err(not_copied(missing as u64, kept as u64, written, source));
        }
        if self.documents.run.stamps.get(number as usize) != Some(&InputStamp::of(source)?) {
            return Err(changed(source));
        }
        self.pipeline
            .progress
            .advance(source.bytes.unwrap_or_default());
        Ok(())
    }
}
