//! An index as the known documents of a deduplication.

use serde_json::{Value, json};

use super::open_index::Seen;
use super::settings::ExpectedSettings;
use crate::skeleton::described_inputs::modified;
use crate::skeleton::known_documents::{Asked, CopyEvidence, KnownCopy, KnownDocuments, Sketching};
use crate::{Error, Result};
use simtool_core::sketch::SignedMethod;
use simtool_index::{DATABASE, Entry, Evidence, Limit};

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
            signatures: false,
            keep: None,
        };
        self.settings.expect(self.index.directory(), &wanted)
    }

    fn copied(&self, asked: &[Asked<'_>], most_id_bytes: usize) -> Result<Vec<Option<KnownCopy>>> {
        let entries = asked.iter().map(|asked| Entry {
            words: Some(asked.words),
            text: asked.text,
            sketch: asked.sketch,
            ..Entry::default()
        });
        let entries: Vec<Entry<'_>> = entries.collect();
        let limit = Limit {
            all_id_bytes: most_id_bytes.max(LONGEST_ID),
            ..Limit::from(1)
        };
        let answers = self.index.seen(&entries, limit)?.into_iter();
        let copied = answers.map_while(|answer| match answer.matches.into_iter().next() {
            Some(found) => {
                let evidence = match found.evidence {
                    Evidence::Text => CopyEvidence::Text,
                    Evidence::Words => CopyEvidence::Words,
                    Evidence::Near { score, .. } => CopyEvidence::Near {
                        score,
                        similarity: self.similarity(&found),
                    },
                };
                let id = found.id;
                Some(Some(KnownCopy { id, evidence }))
            }
            // The known document's id did not fit: the answers end here.
            None if answer.truncated => None,
            None => Some(None),
        });
        Ok(copied.collect())
    }

    fn estimates(&self) -> bool {
        self.settings.estimates()
    }

    fn describe(&self) -> Value {
        json!({
            "documents": self.documents(),
            "index": self.index.directory().to_string_lossy(),
            "made_for": self.settings.to_string(),
            "verified": self.settings.verifies(),
            "estimated": self.settings.estimates(),
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
