//! The totals of complete reports, so that a resumed run does not write the reports again.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::Result;

use super::reports::PairTotals;
use crate::workdir::{Work, path_from, path_value};

/// Marks all reports as written.
const MARKER: &str = "reported";

/// Totals of the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Totals of the list of pairs.
    pub totals: PairTotals,
    /// Refused pairs that are listed.
    pub refused_listed: u64,
}

impl Reported {
    /// The totals of an interrupted run; `None` unless all its reports are in `out`.
    ///
    /// # Errors
    /// [`ErrorKind::Content`](crate::ErrorKind::Content) for a damaged marker, and
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) for one that cannot be read.
    pub fn load(work: &Work, out: &Path) -> Result<Option<Reported>> {
        let Some(marker) = work.published(MARKER)? else {
            return Ok(None);
        };
        let is_there = |name: &Value| {
            path_from(name).is_some_and(|name| work.outputs().is_written(&out.join(name)))
        };
        let reports = marker.get("reports").and_then(Value::as_array);
        if !reports.is_some_and(|reports| reports.iter().all(is_there)) {
            return Ok(None);
        }
        Ok(Reported::parse(&marker))
    }

    /// Stores the totals, and the outputs written so far as the reports.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn store(self, work: &Work) -> Result<()> {
        let written = work.outputs().written();
        let names = written.iter().map(|output| path_value(&output.name));
        let totals = self.totals;
        let object = [
            ("reports", names.collect()),
            ("dropped", json!(totals.dropped)),
            ("same_text", json!(totals.same_text)),
            ("same_words", json!(totals.same_words)),
            ("same_url", json!(totals.same_url)),
            ("few_sources", json!(totals.few_sources)),
            ("near", json!(totals.near)),
            ("against", json!(totals.against)),
            ("clusters", json!(totals.clusters)),
            ("largest_cluster", json!(totals.largest_cluster)),
            ("refused_listed", json!(self.refused_listed)),
        ];
        let object = object.map(|(name, value)| (name.to_owned(), value));
        work.publish(MARKER, object.into_iter().collect())
    }

    fn parse(marker: &Map<String, Value>) -> Option<Reported> {
        let number = |name: &str| marker.get(name).and_then(Value::as_u64);
        Some(Reported {
            totals: PairTotals {
                dropped: number("dropped")?,
                same_text: number("same_text")?,
                same_words: number("same_words")?,
                same_url: number("same_url")?,
                few_sources: number("few_sources")?,
                near: number("near")?,
                against: number("against")?,
                clusters: number("clusters")?,
                largest_cluster: number("largest_cluster")?,
            },
            refused_listed: number("refused_listed")?,
        })
    }
}
