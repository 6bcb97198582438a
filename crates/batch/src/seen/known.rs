//! An index as the known documents of a deduplication.

use serde_json::{Value, json};

use super::open_index::Seen;
use super::settings::ExpectedSettings;
use crate::skeleton::described_inputs::modified;
use crate::skeleton::known_documents::{KnownDocuments, Nearest, Sketching};
use crate::{Error, Result};
use simtool_core::sketch::SignedMethod;
use simtool_index::{DATABASE, Limit, Match, Query};

/// The maximum length of an id, in bytes.
const LONGEST_ID: usize = u16::MAX as usize;

impl KnownDocuments for Seen {
    fn documents(&self) -> u64 {
        self.index.info().documents
    }

    fn method(&self) -> Result<SignedMethod> {
        self.settings.method(self.level)
    }

    fn expect(&self, sketching: &Sketching<'_>) -> Result<()> {
        let wanted = ExpectedSettings {
            spec: Some(sketching.method.clone()),
            tokenizer: Some(sketching.tokenizer),
            html: Some(sketching.reading.html),
            stop_words: Some(sketching.stop_words.clone()),
            similarity: None,
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
        let answers = self.index.seen(&queries, limit)?.into_iter();
        let nearest = answers.map_while(|answer| match answer.matches.into_iter().next() {
            Some(found) => {
                let similarity = self.similarity(&found);
                let Match { id, score, .. } = found;
                Some(Some(Nearest {
                    id,
                    score,
                    similarity,
                }))
            }
            // The nearest document's id did not fit: the answers end here.
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
            "verified": self.settings.verifies(),
            "similarity": self.settings.similarity(),
        })
    }

    fn state(&self) -> Result<Value> {
        let path = self.index.directory().join(DATABASE);
        let modified = modified(&path).map_err(|cause| Error::unreadable(&path, cause))?;
        let info = self.index.info();
        Ok(json!({
            "index": self.describe(),
            "removed": info.removed,
            "recent": info.recent,
            "segments": info.segments,
            "modified": modified,
        }))
    }
}
