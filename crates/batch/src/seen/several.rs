//! Several indexes as the known documents of a deduplication.

use serde_json::{Value, json};

use super::open_index::Seen;
use crate::Result;
use crate::skeleton::known_documents::{Asked, KnownCopy, KnownDocuments, Sketching};
use simtool_core::sketch::SignedMethod;

/// Indexes with the same settings, of which the first that knows a document answers.
///
/// Each was decided about without the others, so the answers are not those of one collection of all.
pub struct SeveralIndexes(Vec<Seen>);

impl SeveralIndexes {
    /// The indexes in the order in which they are asked; at least one.
    ///
    /// # Panics
    /// Without any.
    pub fn new(indexes: Vec<Seen>) -> SeveralIndexes {
        assert!(!indexes.is_empty(), "at least one index");
        SeveralIndexes(indexes)
    }

    /// The first index.
    pub fn first(&self) -> &Seen {
        &self.0[0]
    }
}

impl KnownDocuments for SeveralIndexes {
    fn documents(&self) -> u64 {
        self.0.iter().map(KnownDocuments::documents).sum()
    }

    fn method(&self) -> Result<SignedMethod> {
        KnownDocuments::method(self.first())
    }

    fn expect(&self, sketching: &Sketching<'_>) -> Result<()> {
        self.0.iter().try_for_each(|index| index.expect(sketching))
    }

    fn copied(&self, asked: &[Asked<'_>], most_id_bytes: usize) -> Result<Vec<Option<KnownCopy>>> {
        let most_id_bytes = most_id_bytes / self.0.len();
        let mut answers = self.first().copied(asked, most_id_bytes)?;
        for index in &self.0[1..] {
            let open = answers.iter().enumerate();
            let open: Vec<usize> = open
                .filter(|(_, answer)| answer.is_none())
                .map(|(place, _)| place)
                .collect();
            if open.is_empty() {
                break;
            }
            let asked: Vec<Asked<'_>> = open.iter().map(|place| asked[*place]).collect();
            let more = index.copied(&asked, most_id_bytes)?;
            // Answers end where those of this index do.
            if let Some(end) = open.get(more.len()) {
                answers.truncate(*end);
            }
            for (place, answer) in open.into_iter().zip(more) {
                answers[place] = answer;
            }
        }
        Ok(answers)
    }

    fn estimates(&self) -> bool {
        self.first().estimates()
    }

    fn describe(&self) -> Value {
        let mut described = self.first().describe();
        if let [_, others @ ..] = &self.0[..]
            && !others.is_empty()
        {
            let each: Vec<Value> = self.0.iter().map(KnownDocuments::describe).collect();
            described["documents"] = json!(self.documents());
            described["index"] = each.iter().map(|index| index["index"].clone()).collect();
        }
        described
    }

    fn state(&self) -> Result<Value> {
        match &self.0[..] {
            [only] => only.state(),
            all => all.iter().map(KnownDocuments::state).collect(),
        }
    }
}
