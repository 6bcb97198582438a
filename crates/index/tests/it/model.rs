//! The model of an index: a list of documents that are all compared.

#![allow(dead_code, clippy::unwrap_used)]

use simtool_core::kernel::Level;
use simtool_core::sketch::{Compare, Score, Shape, hashed};
use simtool_index::{Answer, Document, Entry, Index, Query, Verdict};
use std::sync::Arc;

/// SimHash of `width` bits within `distance`.
pub fn simhash(width: u32, distance: u32) -> Arc<dyn Compare> {
    let settings = hashed::SimHashSettings {
        distance,
        ..hashed::SimHashSettings::default()
    };
    let method: Box<dyn Compare> = settings.method(width, Level::best()).unwrap();
    Arc::from(method)
}

/// The [`Answer`] that an index must give.
#[derive(Debug)]
pub struct Expected {
    pub verdict: Verdict,
    /// Ids and scores.
    pub matches: Vec<(Vec<u8>, Score)>,
    pub added: bool,
}

impl PartialEq<Expected> for Answer {
    fn eq(&self, expected: &Expected) -> bool {
        let matches = self.matches.iter().cloned();
        let matches: Vec<_> = matches.map(|found| (found.id, found.score)).collect();
        (self.verdict, self.added, self.truncated) == (expected.verdict, expected.added, false)
            && matches == expected.matches
    }
}

/// Documents, oldest first.
#[derive(Clone)]
pub struct Model {
    pub method: Arc<dyn Compare>,
    pub documents: Vec<Document>,
}

impl Model {
    pub fn new(method: Arc<dyn Compare>) -> Model {
        Model {
            method,
            documents: Vec::new(),
        }
    }

    pub fn find(&self, id: &[u8]) -> Option<&Document> {
        self.documents.iter().find(|document| document.id == id)
    }

    /// Whether the two share a key; fingerprints need none.
    fn shares_a_key(&self, a: &[u8], b: &[u8]) -> bool {
        if matches!(self.method.shape(), Shape::Bits { .. }) {
            return true;
        }
        let keys = |sketch: &[u8]| {
            let mut keys = Vec::new();
            self.method.keys(sketch, &mut |key| keys.push(key));
            keys
        };
        let of_b = keys(b);
        keys(a).iter().any(|key| of_b.contains(key))
    }

    pub fn seen(&self, query: &Query<'_>, limit: usize) -> Expected {
        let mut matches = Vec::new();
        for document in &self.documents {
            let comparable = !document.sketch.is_empty() && !query.sketch.is_empty();
            if comparable && query.id != Some(&document.id) {
                let score = self.method.score(query.sketch, &document.sketch);
                if self.method.accepts(&score) && self.shares_a_key(query.sketch, &document.sketch)
                {
                    matches.push((document.id.clone(), score));
                }
            }
        }
        matches.sort_by_key(|(_, score)| *score);
        matches.truncate(limit);
        let known = query
            .id
            .and_then(|id| self.find(id))
            .map(|known| &known.sketch[..]);
        let verdict = match known {
            Some(known) if known == query.sketch => Verdict::Unchanged,
            Some(known) if known.is_empty() || query.sketch.is_empty() => Verdict::Changed(None),
            Some(known) => Verdict::Changed(Some(self.method.score(known, query.sketch))),
            None if query.sketch.is_empty() => Verdict::Empty,
            None if matches.is_empty() => Verdict::New,
            None => Verdict::Duplicate,
        };
        Expected {
            verdict,
            matches,
            added: false,
        }
    }

    pub fn add(&mut self, entry: &Entry<'_>, limit: usize) -> Expected {
        let mut answer = self.seen(
            &Query {
                id: Some(entry.id),
                sketch: entry.sketch,
            },
            limit,
        );
        answer.added = answer.verdict != Verdict::Unchanged;
        if answer.added {
            self.remove(entry.id);
            self.documents.push(Document {
                id: entry.id.to_vec(),
                sketch: entry.sketch.to_vec(),
                payload: entry.payload.to_vec(),
            });
        }
        answer
    }

    pub fn remove(&mut self, id: &[u8]) -> bool {
        let before = self.documents.len();
        self.documents.retain(|document| document.id != id);
        before != self.documents.len()
    }

    /// Fails unless `index` holds the same documents in the same order, and finds them.
    pub fn assert_same(&self, index: &Index) {
        let mut found = Vec::new();
        index
            .for_each(|entry| {
                found.push(Document {
                    id: entry.id.to_vec(),
                    sketch: entry.sketch.to_vec(),
                    payload: entry.payload.to_vec(),
                });
                Ok(())
            })
            .unwrap();
        assert_eq!(found, self.documents);
        let check = index.check().unwrap();
        assert_eq!(check.problems, []);
        assert_eq!(check.documents, self.documents.len() as u64);
        assert_eq!(index.info().documents, self.documents.len() as u64);
    }
}
