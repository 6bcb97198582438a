//! The streams of shards of a run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use simtool_objects::RemoteDirectory;

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
use super::reading::{Reading, Stream};
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
        let directories = self.job.streams().into_iter();
        let stream = |directory| self.stream(directory, dropped);
        let streams = directories.map(stream).collect::<Result<Vec<_>>>()?;
        let mut described = serde_json::Map::new();
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

    /// The stream in a directory: the documents of the input that stay, or those that do not;
    /// without those that could not be read.
    fn stream(&self, directory: &'static str, dropped: &Bits) -> Result<Stream<'_>> {
        let numbering = self.reading.numbering;
        let references = numbering.documents_before(self.reading.inputs.references);
        let is_removed = directory == REMOVED;
        let (mut numbers, mut count) = (Bits::none_of(numbering.documents()), 0);
        let rows = &self.reading.gathered.rows;
        rows.for_each_block(8192, |first, rows: &[Row]| {
            for (number, row) in (first as u32..).zip(rows) {
                let is_read = number >= references && !row.flags.has(Flags::SKIPPED);
                if is_read && dropped.contains(number) == is_removed {
                    numbers.insert(number);
                    count += 1;
                }
            }
            Ok(())
        })?;
        let place = ShardPlace {
            out: self.out,
            directory,
            settings: &self.job.shards,
            outputs: self.work.outputs(),
            work: self.work,
        };
        Ok(Stream {
            place,
            numbers,
            count,
        })
    }

    /// Writes streams in the format of the job; the counts of the shards of each.
    fn shards(&self, streams: &[Stream<'_>]) -> Result<Vec<Vec<ShardCounts>>> {
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
                    .write(&encoder, streams, self.resources.threads)
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
                let parallel = memory::row_groups(self.job, self.resources);
                self.reading.write(&encoder, streams, parallel)
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
pub fn names(job: &Job, out: &Path) -> Result<BTreeSet<PathBuf>> {
    let (format, name) = (job.shards.format, &job.shards.name);
    let mut names = BTreeSet::new();
    for directory in job.streams() {
        let first = name.file(0, format);
        let found = match out.join(directory).is_dir() {
            true => entries(&out.join(directory))?,
            false => Vec::new(),
        };
        let others = found.into_iter().filter(|file| name.is_of(file, format));
        let all = others.chain([first.clone()]);
        names.extend(all.map(|file| Path::new(directory).join(file)));
    }
    Ok(names)
}

/// The same of a directory of an object store.
///
/// # Errors
/// Those of the request.
pub fn remote_names(job: &Job, remote: &dyn RemoteDirectory) -> Result<BTreeSet<PathBuf>> {
    let (streams, settings) = (job.streams(), &job.shards);
    if streams.is_empty() {
        return Ok(BTreeSet::new());
    }
    let is_shard = |path: &Path| {
        let directory = path.parent().and_then(Path::to_str);
        let file = path.file_name().and_then(OsStr::to_str);
        directory.is_some_and(|directory| streams.contains(&directory))
            && file.is_some_and(|file| settings.name.is_of(file, settings.format))
    };
    Ok(remote.list(&is_shard)?.into_keys().collect())
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
