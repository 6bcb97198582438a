//! An index, as deduplication compares its input with it.

use serde_json::{Value, json};

use super::{Seen, Wanted};
use crate::index::{DATABASE, Limit, Match, Query};
use crate::run::dedup::{Job, KnownDocuments, Nearest};
use crate::sketch::Method;
use crate::{Error, ErrorKind, Result};

/// No id has more bytes.
const LONGEST_ID: usize = u16::MAX as usize;

impl KnownDocuments for Seen {
    fn documents(&self) -> u64 {
        self.index.info().documents
    }

    fn method(&self) -> Result<Box<dyn Method>> {
        self.settings.method(self.level)
    }

    fn expect(&self, job: &Job) -> Result<()> {
        let wanted = Wanted {
            spec: Some(job.method.clone()),
            tokenizer: Some(job.tokenizer),
            html: Some(job.reading.html),
            stop_words: Some(job.stop_words.clone()),
        };
        self.settings.expect(self.index.directory(), &wanted)
    }

    fn nearest(&self, sketches: &[&[u8]], most_id_bytes: usize) -> Result<Vec<Option<Nearest>>> {
        let queries: Vec<Query<'_>> = sketches
            .iter()
            .map(|sketch| Query { id: None, sketch })
            .collect();
        let limit = Limit {
            all_id_bytes: most_id_bytes.max(LONGEST_ID),
            ..Limit::from(1)
        };
        let answers = self.index.seen_within(&queries, limit)?.into_iter();
        let nearest = answers.map_while(|answer| match answer.matches.into_iter().next() {
            Some(Match { id, score }) => Some(Some(Nearest { id, score })),
            // What was near did not fit.
            None if answer.truncated => None,
            None => Some(None),
        });
        Ok(nearest.collect())
    }

    fn describe(&self) -> Value {
        json!({
            "documents": self.documents(),
            "index": self.index.directory().to_string_lossy(),
            "made_for": self.settings.to_string(),
        })
    }

    fn state(&self) -> Result<Value> {
        let path = self.index.directory().join(DATABASE);
        let modified = std::fs::metadata(&path)
            .and_then(|data| data.modified())
            .map_err(|cause| {
                Error::new(ErrorKind::Read, "cannot be read")
                    .in_file(&path)
                    .caused_by(cause)
            })?;
        let info = self.index.info();
        let since = modified
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        Ok(json!({
            "index": self.describe(),
            "removed": info.removed,
            "recent": info.recent,
            "segments": info.segments,
            "modified": format!("{}.{:09}", since.as_secs(), since.subsec_nanos()),
        }))
    }
}
