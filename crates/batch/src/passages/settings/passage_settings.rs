//! The settings that every search for passages has.

use serde_json::{Value, json};

use super::action::Action;
use super::remains::Remains;
use crate::shards::ShardSettings;
use crate::write::settings::{DumpSettings, SkippedRecords};
use simtool_corpus::Reading;

/// The settings that every search for passages has.
#[derive(Clone, Debug, Default)]
pub struct PassageSettings {
    /// What happens to the passages that are found.
    pub action: Action,
    /// What has to remain of a document from which passages are cut.
    pub remains: Remains,
    /// How documents are read.
    pub reading: Reading,
    /// How rewritten inputs are written.
    pub dump: DumpSettings,
    /// How documents are written as one stream of records instead, cut into shards.
    pub shards: ShardSettings,
    /// Whether `page.html` is written.
    pub page: bool,
}

impl PassageSettings {
    /// The directories of the streams of shards that are written: one, or none.
    pub fn streams(&self) -> Vec<&'static str> {
        match self.shards.is_used() {
            true => self.action.directory().into_iter().collect(),
            false => Vec::new(),
        }
    }

    /// These settings and those of a search as one JSON object. What has to remain is null if nothing
    /// is cut, and how documents are written is null if they are not.
    pub(crate) fn with(&self, mut of_search: Value) -> Value {
        let remains = (self.action == Action::Cut).then(|| {
            json!({
                "words": self.remains.words,
                "sentences": self.remains.sentences,
                "tokenizer": (self.remains.words > 0).then(|| self.remains.tokenizer.name()),
            })
        });
        let dump = self.action.directory().map(|_| {
            json!({
                "skipped": match self.dump.skipped {
                    SkippedRecords::Keep => "keep",
                    SkippedRecords::Drop => "drop",
                },
                "compression_level": self.dump.compression_level,
                "write_format": self.shards.format.name(),
                "shards": self.shards.json(),
            })
        });
        of_search["action"] = self.action.to_string().into();
        of_search["remains"] = remains.into();
        of_search["dump"] = dump.into();
        of_search["page"] = self.page.into();
        of_search["reading"] = json!(self.reading);
        of_search
    }
}
