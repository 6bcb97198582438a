//! Reads the documents that are written as shards, in input order.

use std::ops::Range;

#[cfg(feature = "parquet")]
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::super::bits::Bits;
use super::super::gathered::Gathered;
use super::super::numbering::Numbering;
use super::super::sketching::RunInputs;
#[cfg(feature = "parquet")]
use super::super::stamp::Stamp;
use super::super::stamp::changed;
#[cfg(feature = "parquet")]
use super::super::table_dump::TableDocuments;
#[cfg(feature = "parquet")]
use super::encoder::SelectedRows;
use super::encoder::{Encoder, Named, Records};
use super::place::{ShardCounts, ShardPlace};
use super::writer::ShardWriter;
#[cfg(feature = "parquet")]
use crate::corpus::parquet::{Table, kept_rows};
use crate::corpus::{Format, Source};
use crate::engine::documents::ChunkDocuments;
use crate::engine::pipeline::{Pipeline, Unit};
use crate::{Error, ErrorKind, Result};

/// The documents of a run, to be read again.
pub struct Reading<'a> {
    /// The inputs.
    pub inputs: RunInputs<'a>,
    /// The inputs' files as they were when the run began.
    #[cfg(feature = "parquet")]
    pub stamps: &'a [Stamp],
    /// The numbers of documents.
    pub numbering: &'a Numbering<'a>,
    /// Their rows.
    pub gathered: &'a Gathered,
    /// Sources that one reader reads.
    pub units: &'a [Range<u32>],
    /// How they are read.
    pub pipeline: Pipeline<'a>,
    /// Whether documents with fields of their own are written by their text.
    pub only_text: bool,
}

/// Documents to write.
pub struct Wanted {
    /// Their numbers.
    pub numbers: Bits,
    /// How many there are.
    pub count: u64,
}

impl Reading<'_> {
    /// Writes the `wanted` documents, except those of complete shards; encodes `parallel` blocks at
    /// a time. Returns the counts of all shards.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if a source changed; [`ErrorKind::Content`] if the rows of a damaged
    /// table cannot be copied; [`ErrorKind::Interrupted`]; those of reading and writing.
    pub fn write<E: Encoder>(
        &self,
        encoder: &E,
        place: &ShardPlace<'_>,
        wanted: &Wanted,
        parallel: usize,
    ) -> Result<Vec<ShardCounts>> {
        let mut writer = ShardWriter::new(encoder, place, parallel)?;
        let next = writer.next();
        for sources in self.runs() {
            let [first, end] =
                [sources.start, sources.end].map(|source| self.numbering.documents_before(source));
            let first = first.max(next);
            if first >= end || !wanted.numbers.any_of(first, end - first) {
                let of = |source: u32| self.inputs.sources.get(source as usize)?.bytes;
                self.pipeline.progress.advance(sources.filter_map(of).sum());
                continue;
            }
            let is_wanted = |number: u32| number >= next && wanted.numbers.contains(number);
            #[cfg(feature = "parquet")]
            if let Some(source) = self.own_table(sources.start) {
                self.rows(sources.start, source, &is_wanted, &mut writer)?;
                continue;
            }
            self.pipeline.run_documents(
                &[Unit::whole(sources)],
                || (),
                |(), documents| self.records(encoder, documents, is_wanted),
                |_, records| writer.add(&records),
            )?;
        }
        let shards = writer.finish()?;
        let written: u64 = shards.iter().map(|shard| shard.records).sum();
        match written == wanted.count {
            true => Ok(shards),
            false => {
                let message = format!(
                    "{}/ has {written} records instead of {}: an input changed while it was read",
                    place.directory, wanted.count
                );
                Err(Error::new(ErrorKind::Changed, message))
            }
        }
    }

    /// Runs of sources that one reader reads, in order; a table with columns of its own is alone.
    fn runs(&self) -> Vec<Range<u32>> {
        let mut runs: Vec<Range<u32>> = Vec::new();
        for unit in self.units {
            let first = unit.start.max(self.inputs.references);
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
        let source = self.inputs.sources.get(source as usize)?;
        (source.format == Format::Parquet && !self.only_text).then_some(source)
    }

    /// The wanted documents of a chunk as records.
    fn records<E: Encoder>(
        &self,
        encoder: &E,
        documents: ChunkDocuments<'_>,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Result<Records<E::Content>> {
        let source = documents.source;
        let (first, _) = self
            .numbering
            .first_of(documents.chunk)
            .ok_or_else(|| changed(source))?;
        let number_of = |ordinal: u32| first.saturating_add(ordinal);
        let (mut builder, mut each) = (encoder.builder(), Vec::new());
        documents.for_each_wanted(
            |ordinal| is_wanted(number_of(ordinal)),
            |ordinal, found| {
                // Those that could not be read are not wanted, but may be reported nevertheless.
                if let Ok(document) = &found {
                    let number = number_of(ordinal);
                    let named = Named {
                        number,
                        source,
                        document,
                    };
                    each.push(encoder.add(&mut builder, &named)?);
                }
                Ok(())
            },
        )?;
        let content = encoder.finish(builder)?;
        Ok(Records { content, each })
    }

    /// Writes the wanted rows of a table with all columns.
    #[cfg(feature = "parquet")]
    fn rows<E: Encoder>(
        &self,
        number: u32,
        source: &Source,
        is_wanted: &(impl Fn(u32) -> bool + Sync),
        writer: &mut ShardWriter<'_, E>,
    ) -> Result<()> {
        let encoder = writer.encoder();
        let numbers = self.numbering.of_source(number);
        let mut missing = numbers.clone().filter(|&number| is_wanted(number)).count();
        let stay = missing;
        let Ok(table) = Table::open(source.file(), self.pipeline.reading)? else {
            return Err(changed(source));
        };
        let mut batches = table.with_all_columns().batches(0);
        let mut documents = TableDocuments::new(self.gathered, numbers);
        loop {
            // Some batches at a time, so that several threads make records of them.
            let mut selected = Vec::new();
            for found in batches.by_ref() {
                self.pipeline.progress.check()?;
                let Ok((first_row, batch)) = found else {
                    continue;
                };
                let (mut is_kept, mut kept, mut rows) = (Vec::new(), Vec::new(), Vec::new());
                for row in first_row..first_row + batch.num_rows() as u64 {
                    // Batches of this reading end elsewhere, so it may find rows that the first
                    // reading lost. They were not compared and are left out.
                    let found = documents.at(row)?.filter(|(_, found)| !found.is_lost);
                    let number = found.map(|(number, _)| number);
                    let number = number.filter(|&number| is_wanted(number));
                    is_kept.push(number.is_some());
                    rows.extend(number.map(|_| row));
                    kept.extend(number);
                }
                if !kept.is_empty() {
                    missing = missing.saturating_sub(kept.len());
                    selected.push((batch, is_kept, kept, rows));
                }
                if selected.len() >= self.pipeline.workers {
                    break;
                }
            }
            if selected.is_empty() {
                break;
            }
            let records: Vec<_> = selected
                .into_par_iter()
                .map(|(batch, is_kept, numbers, rows)| {
                    encoder.rows(&SelectedRows {
                        source,
                        batch: kept_rows(&batch, is_kept)?,
                        numbers,
                        rows,
                    })
                })
                .collect::<Result<_>>()?;
            records.iter().try_for_each(|records| writer.add(records))?;
        }
        if missing > 0 {
            let message = format!(
                "{missing} of {stay} rows that stay cannot be copied: a column that is not needed \
                 to compare them is damaged (choose --write text or ids)",
            );
            return Err(Error::new(ErrorKind::Content, message).in_file(&source.path));
        }
        if self.stamps.get(number as usize) != Some(&Stamp::of(source)?) {
            return Err(changed(source));
        }
        self.pipeline
            .progress
            .advance(source.bytes.unwrap_or_default());
        Ok(())
    }
}
