//! The settings that every job has, and the documents that it writes.

use crate::shards::ShardSettings;
use crate::write::settings::DumpSettings;
use simtool_corpus::Reading;

/// The settings that every job has.
#[derive(Clone, Copy)]
pub struct BatchSettings<'a> {
    /// How documents are read.
    pub reading: &'a Reading,
    /// How documents to compare with are read.
    pub reference_reading: &'a Reading,
    /// How inputs are written again.
    pub dump: DumpSettings,
    /// How documents are written as one stream of records instead, cut into shards.
    pub shards: &'a ShardSettings,
}

/// The directory of the removed documents.
pub const REMOVED: &str = "removed";

/// The documents that a job writes.
#[derive(Clone, Debug, Default)]
pub struct WrittenDocuments {
    /// The directories with a file for each input, of the kept documents or of the removed ones.
    pub files: Vec<&'static str>,
    /// The directories with shards.
    pub streams: Vec<&'static str>,
    /// Whether shards have only the texts of documents.
    pub only_text: bool,
    /// Whether the documents in files get marks.
    pub marks: bool,
    /// Whether the request and metadata records of a removed document are removed, too.
    pub drops_related: bool,
    /// What the user can choose if a damaged column of a table cannot be written, and does not
    /// matter otherwise.
    pub advice: &'static str,
}

impl WrittenDocuments {
    /// The documents in `directories`: as shards, or as a file for each input.
    pub fn new(directories: Vec<&'static str>, settings: &ShardSettings) -> WrittenDocuments {
        let (files, streams) = match settings.is_used() {
            true => (Vec::new(), directories),
            false => (directories, Vec::new()),
        };
        WrittenDocuments {
            files,
            streams,
            ..WrittenDocuments::default()
        }
    }
}
