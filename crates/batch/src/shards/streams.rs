//! The streams of shards of a run.

use serde_json::{Map, Value, json};

use super::place::{ShardCounts, ShardPlace};
use super::reading::{ShardReading, Stream};
#[cfg(feature = "parquet")]
use crate::scope::Languages;
use crate::shards::formats::json_lines::JsonLines;
#[cfg(feature = "parquet")]
use crate::shards::formats::layout::Layout;
#[cfg(feature = "parquet")]
use crate::shards::formats::tables::Tables;
#[cfg(feature = "parquet")]
use crate::shards::settings::memory;
use crate::shards::settings::shard_settings::WriteFormat;
#[cfg(feature = "parquet")]
use crate::skeleton::reading_memory::spare_bytes;
use crate::skeleton::run_documents::RunDocuments;
use crate::skeleton::settings::REMOVED;
use crate::table::bits::Bits;
use crate::table::row::TableRow;
use crate::write::edits::Edits;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::Reading;
use simtool_engine::pipeline::Pipeline;
use simtool_engine::units::units;

/// Blocks of lines that are held for each thread.
const BLOCKS_OF_A_THREAD: usize = 4;

/// The streams of the documents of a run.
pub struct ShardStreams<'a, R> {
    /// The documents.
    pub documents: RunDocuments<'a, R>,
    /// What changes in those that are not removed.
    pub edits: Edits<'a>,
    /// How they are read.
    pub reading: &'a Reading,
}

impl<R: TableRow> ShardStreams<'_, R> {
    /// Writes a stream of the documents without the `removed` ones, and one of these, as the run
    /// requires; returns a description of the shards of each, for the summary. Documents that could
    /// not be read are in neither.
    ///
    /// # Errors
    /// Errors of [`ShardReading::write`].
    pub fn write(&self, removed: &Bits) -> Result<Value> {
        let directories = self.documents.run.written.streams.iter();
        let streams = directories.map(|directory| self.stream(directory, removed));
        let streams = streams.collect::<Result<Vec<_>>>()?;
        let mut described = Map::new();
        for (Stream { place, .. }, shards) in streams.iter().zip(self.shards(&streams)?) {
            let sum = |of: fn(&ShardCounts) -> u64| shards.iter().map(of).sum::<u64>();
            let stream = json!({
                "records": sum(|shard| shard.records),
                "record_bytes": sum(|shard| shard.bytes),
                "own_source_field": sum(|shard| shard.own_source),
                "shards": place.describe(&shards),
            });
            described.insert(place.directory.to_owned(), stream);
        }
        Ok(described.into())
    }

    /// The stream in a directory.
    fn stream(&self, directory: &'static str, removed: &Bits) -> Result<Stream<'_>> {
        let documents = &self.documents;
        let is_removed = directory == REMOVED;
        let all = documents.numbering.documents();
        let (mut numbers, mut count) = (Bits::none_of(all), 0);
        let own = documents.references()..all as u32;
        documents.table.for_each_row(own, |number, row| {
            if !row.is_skipped() && removed.contains(number) == is_removed {
                numbers.insert(number);
                count += 1;
            }
            Ok(())
        })?;
        let run = &documents.run;
        let place = ShardPlace {
            out: run.out,
            directory,
            settings: run.batch.shards,
            outputs: run.work.outputs(),
            work: run.work,
        };
        Ok(Stream {
            place,
            numbers,
            count,
        })
    }

    /// Writes streams in the format of the run; the counts of the shards of each.
    fn shards(&self, streams: &[Stream<'_>]) -> Result<Vec<Vec<ShardCounts>>> {
        let run = &self.documents.run;
        let (settings, level) = (run.batch.shards, run.batch.dump.compression_level);
        let only_text = run.written.only_text;
        let units = units(run.sources);
        let shards = ShardReading {
            documents: self.documents,
            edits: self.edits,
            units: &units,
            pipeline: Pipeline {
                reading: self.reading,
                ..run.pipeline()
            },
        };
        let threads = shards.pipeline.workers;
        match settings.format {
            WriteFormat::Jsonl | WriteFormat::JsonlGzip | WriteFormat::JsonlZstd => {
                let encoder = JsonLines::new(settings, level, only_text, self.reading);
                shards.write(&encoder, streams, BLOCKS_OF_A_THREAD * threads)
            }
            #[cfg(feature = "parquet")]
            WriteFormat::Parquet => {
                let (own, field) = (run.own_sources(), &settings.source_field);
                let layout = Layout::new(own, self.reading, field, only_text)?;
                let languages = Languages::new(&self.reading.fields, settings.guess_language);
                let encoder = Tables::new(layout, level, self.reading, languages)?;
                let spare = spare_bytes(run.resources, self.reading.max_document_bytes);
                let parallel = memory::row_groups(spare, streams.len(), threads);
                shards.write(&encoder, streams, parallel)
            }
            _ => {
                let message = format!("no shards in the format {}", settings.format.name());
                Err(Error::new(ErrorKind::Parameter, message))
            }
        }
    }
}
