//! The streams of shards of a run.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::json_lines::JsonLines;
#[cfg(feature = "parquet")]
use super::layout::Layout;
#[cfg(feature = "parquet")]
use super::memory;
use super::place::{ShardCounts, ShardPlace};
use super::reading::{Reading, Stream};
use super::settings::{ShardSettings, WriteFormat};
#[cfg(feature = "parquet")]
use super::tables::Tables;
use crate::table::bits::Bits;
use crate::workdir::Work;
use crate::{Error, ErrorKind, Result};

/// Everything that is needed to write the streams of a run.
pub struct ShardStreams<'a> {
    /// The format and the names.
    pub settings: &'a ShardSettings,
    /// The level of the compression.
    pub compression_level: Option<u32>,
    /// The documents.
    pub reading: Reading<'a>,
    /// The output directory.
    pub out: &'a Path,
    /// The work directory.
    pub work: &'a Work,
    /// The memory that reading leaves.
    #[cfg(feature = "parquet")]
    pub spare_bytes: u64,
}

/// The documents of a stream.
pub struct StreamDocuments {
    /// The name of its directory.
    pub directory: &'static str,
    /// Their numbers, which are in no other stream.
    pub numbers: Bits,
    /// How many there are.
    pub count: u64,
}

impl ShardStreams<'_> {
    /// Writes the streams; returns a description of the shards of each, for the summary.
    ///
    /// # Errors
    /// Errors of [`Reading::write`].
    pub fn write(&self, streams: Vec<StreamDocuments>) -> Result<Value> {
        let stream = |documents: StreamDocuments| Stream {
            place: ShardPlace {
                out: self.out,
                directory: documents.directory,
                settings: self.settings,
                outputs: self.work.outputs(),
                work: self.work,
            },
            numbers: documents.numbers,
            count: documents.count,
        };
        let streams: Vec<Stream<'_>> = streams.into_iter().map(stream).collect();
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

    /// Writes streams in the format of the run; the counts of the shards of each.
    fn shards(&self, streams: &[Stream<'_>]) -> Result<Vec<Vec<ShardCounts>>> {
        let (settings, level) = (self.settings, self.compression_level);
        let (reading, threads) = (self.reading.pipeline.reading, self.reading.pipeline.workers);
        match settings.format {
            WriteFormat::Jsonl | WriteFormat::JsonlGzip | WriteFormat::JsonlZstd => {
                let only_text = self.reading.only_text;
                let encoder = JsonLines::new(settings, level, only_text, reading);
                self.reading.write(&encoder, streams, threads)
            }
            #[cfg(feature = "parquet")]
            WriteFormat::Parquet => {
                let layout = Layout::new(
                    self.reading.own_sources(),
                    reading,
                    &settings.source_field,
                    self.reading.only_text,
                )?;
                let encoder = Tables::new(layout, level, reading)?;
                let parallel = memory::row_groups(self.spare_bytes, streams.len(), threads);
                self.reading.write(&encoder, streams, parallel)
            }
            _ => {
                let message = format!("no shards in the format {}", settings.format.name());
                Err(Error::new(ErrorKind::Parameter, message))
            }
        }
    }
}
