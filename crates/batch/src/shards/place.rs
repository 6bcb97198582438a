//! Where shards are written, and which of them are complete.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::Result;
use crate::shards::settings::shard_settings::ShardSettings;
use crate::workdir::Outputs;
use crate::workdir::Work;
use crate::workdir::digest_value;
use crate::write::targets;
use simtool_files::AtomicFile;
use simtool_files::directory::create_all;

/// The directory of the shards of a stream of records.
pub struct ShardPlace<'a> {
    /// The output directory.
    pub out: &'a Path,
    /// The name of the directory below it.
    pub directory: &'static str,
    /// The format and the names.
    pub settings: &'a ShardSettings,
    /// Creates output files and records them.
    pub outputs: &'a Outputs,
    /// The work directory, which stores the counts of complete shards.
    pub work: &'a Work,
}

/// The counts of a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardCounts {
    /// Its records.
    pub records: u64,
    /// Their bytes before compression.
    pub bytes: u64,
    /// Records with a field of their own that has the name of the source field.
    pub own_source: u64,
    /// The number of the first document that is not in it or in an earlier shard.
    pub next: u32,
}

impl ShardPlace<'_> {
    /// The name of a shard, relative to the output directory.
    fn name(&self, number: u32) -> PathBuf {
        let ShardSettings { format, name, .. } = self.settings;
        Path::new(self.directory).join(name.file(number, *format))
    }

    /// The counts of the leading complete shards.
    ///
    /// # Errors
    /// Errors of [`Work::published`].
    pub fn complete(&self) -> Result<Vec<ShardCounts>> {
        let mut complete = Vec::new();
        loop {
            let number = complete.len() as u32;
            let counts = self.work.published(&self.record(number))?;
            let counts = counts.and_then(|counts| parse(&counts));
            match counts {
                Some(counts) if self.outputs.is_written(&self.out.join(self.name(number))) => {
                    complete.push(counts);
                }
                _ => return Ok(complete),
            }
        }
    }

    /// Creates a shard.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn create(&self, number: u32) -> Result<AtomicFile> {
        let name = self.name(number);
        targets::check(self.out, std::slice::from_ref(&name))?;
        create_all(&self.out.join(self.directory))?;
        self.outputs.create(&self.out.join(name))
    }

    /// Publishes a complete shard, after its counts.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn publish(&self, number: u32, counts: &ShardCounts, file: AtomicFile) -> Result<()> {
        let object = [
            ("records", counts.records),
            ("bytes", counts.bytes),
            ("own_source", counts.own_source),
            ("next", counts.next.into()),
        ];
        let object = object.map(|(name, count)| (name.to_owned(), count.into()));
        self.work
            .publish(&self.record(number), object.into_iter().collect())?;
        file.publish()
    }

    /// The shards with these counts, for the summary.
    pub fn describe(&self, shards: &[ShardCounts]) -> Value {
        let describe = |(counts, number): (&ShardCounts, u32)| {
            let name = self.name(number);
            let mark = self.outputs.mark(&name);
            json!({
                "file": name.to_string_lossy(),
                "records": counts.records,
                "record_bytes": counts.bytes,
                "file_bytes": mark.as_ref().map(|mark| mark.bytes),
                "xxh3_128": mark.map(|mark| digest_value(mark.digest)),
            })
        };
        shards.iter().zip(0..).map(describe).collect()
    }

    fn record(&self, number: u32) -> String {
        format!("{}-shard-{number}", self.directory)
    }
}

fn parse(object: &Map<String, Value>) -> Option<ShardCounts> {
    let count = |name: &str| object.get(name).and_then(Value::as_u64);
    Some(ShardCounts {
        records: count("records")?,
        bytes: count("bytes")?,
        own_source: count("own_source")?,
        next: count("next")?.try_into().ok()?,
    })
}
