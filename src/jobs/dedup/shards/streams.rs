//! The streams of shards of a run.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::bits::Bits;
use super::super::job::Job;
#[cfg(feature = "parquet")]
use super::super::memory;
use super::super::row::{Flags, Row};
use super::super::work::{Work, entries};
use super::json_lines::JsonLines;
#[cfg(feature = "parquet")]
use super::layout::Layout;
use super::place::{ShardCounts, ShardPlace};
use super::reading::{Reading, Wanted};
use super::settings::{REMOVED, WriteFormat};
#[cfg(feature = "parquet")]
use super::tables::Tables;
use crate::engine::Resources;
use crate::{Error, ErrorKind, Result};

/// Everything that is needed to write the streams of a run.
pub struct ShardStreams<'a> {
    /// The job.
    pub job: &'a Job,
    /// The documents.
    pub reading: Reading<'a>,
    /// The output directory.
    pub out: &'a Path,
    /// The work directory.
    pub work: &'a Work,
    /// Threads and memory.
    pub resources: &'a Resources,
}

impl ShardStreams<'_> {
    /// Writes each stream of the job: the kept documents, the `dropped` ones. Returns a description
    /// of the shards for the summary.
    ///
    /// # Errors
    /// Those of [`Reading::write`].
    pub fn write(&self, dropped: &Bits) -> Result<Value> {
        let mut described = serde_json::Map::new();
        for directory in self.job.streams() {
            let wanted = self.wanted(directory == REMOVED, dropped)?;
            let place = ShardPlace {
                out: self.out,
                directory,
                settings: &self.job.shards,
                outputs: self.work.outputs(),
                work: self.work,
            };
            let shards = self.stream(&place, &wanted)?;
            let sum = |of: fn(&ShardCounts) -> u64| shards.iter().map(of).sum::<u64>();
            let stream = json!({
                "records": sum(|shard| shard.records),
                "record_bytes": sum(|shard| shard.bytes),
                "own_source_field": sum(|shard| shard.own_source),
                "shards": place.describe(&shards),
            });
            described.insert(directory.to_owned(), stream);
        }
        Ok(described.into())
    }

    /// The documents of the input that stay, or those that do not; without those that could not be
    /// read.
    fn wanted(&self, removed: bool, dropped: &Bits) -> Result<Wanted> {
        let numbering = self.reading.numbering;
        let references = numbering.documents_before(self.reading.inputs.references);
        let mut wanted = Wanted {
            numbers: Bits::none_of(numbering.documents()),
            count: 0,
        };
        let rows = &self.reading.gathered.rows;
        rows.for_each_block(8192, |first, rows: &[Row]| {
            for (number, row) in (first as u32..).zip(rows) {
                let is_read = number >= references && !row.flags.has(Flags::SKIPPED);
                if is_read && dropped.contains(number) == removed {
                    wanted.numbers.insert(number);
                    wanted.count += 1;
                }
            }
            Ok(())
        })?;
        Ok(wanted)
    }

    /// Writes a stream in the format of the job.
    fn stream(&self, place: &ShardPlace<'_>, wanted: &Wanted) -> Result<Vec<ShardCounts>> {
        let shards = &self.job.shards;
        match shards.format {
            WriteFormat::Jsonl | WriteFormat::JsonlGzip | WriteFormat::JsonlZstd => {
                let encoder = JsonLines::new(
                    shards.format.compression(),
                    self.job.dump.compression_level,
                    &shards.source_field,
                    self.reading.only_text,
                    &self.job.reading.fields,
                );
                self.reading
                    .write(&encoder, place, wanted, self.resources.threads)
            }
            #[cfg(feature = "parquet")]
            WriteFormat::Parquet => {
                let references = self.reading.inputs.references as usize;
                let layout = Layout::new(
                    &self.reading.inputs.sources[references..],
                    &self.job.reading,
                    &shards.source_field,
                    self.reading.only_text,
                )?;
                let level = self.job.dump.compression_level;
                let encoder = Tables::new(layout, level, &self.job.reading)?;
                let parallel = memory::row_groups(self.resources, &self.job.reading);
                self.reading.write(&encoder, place, wanted, parallel)
            }
            _ => {
                let message = format!("no shards in the format {}", shards.format.name());
                Err(Error::new(ErrorKind::Parameter, message))
            }
        }
    }
}

/// The files in the output directory that have names of the job's shards, and the first shard of
/// each stream; relative to that directory.
///
/// # Errors
/// [`ErrorKind::Write`] if a directory cannot be read.
pub fn names(job: &Job, out: &Path) -> Result<Vec<PathBuf>> {
    let (format, name) = (job.shards.format, &job.shards.name);
    let mut names = Vec::new();
    for directory in job.streams() {
        let first = name.file(0, format);
        let found = match out.join(directory).is_dir() {
            true => entries(&out.join(directory))?,
            false => Vec::new(),
        };
        let others = found.into_iter().filter(|file| name.is_of(file, format));
        let others = others.filter(|file| *file != first);
        let all = others.chain([first.clone()]);
        names.extend(all.map(|file| Path::new(directory).join(file)));
    }
    Ok(names)
}

/// The number of complete shards of a stream.
///
/// # Errors
/// Those of [`ShardPlace::complete`].
pub fn complete(job: &Job, directory: &'static str, work: &Work, out: &Path) -> Result<usize> {
    let place = ShardPlace {
        out,
        directory,
        settings: &job.shards,
        outputs: work.outputs(),
        work,
    };
    Ok(place.complete()?.len())
}
