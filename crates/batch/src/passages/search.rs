//! What the commands that search for passages have in common, and what each of them adds.

use serde_json::Value;

use crate::Result;
use crate::passages::decisions::item::ReferenceTotals;
use crate::passages::estimate::cost::PassageEstimate;
use crate::passages::report::totals::SearchTotals;
use crate::passages::settings::passage_settings::PassageSettings;
use crate::skeleton::context::RunContext;
use crate::skeleton::warning::Warning;
use simtool_corpus::{Reading, Source};
use simtool_engine::Resources;

/// The names that reports use.
#[derive(Clone, Copy)]
pub struct Names {
    /// The file of the most frequent passages.
    pub list: &'static str,
    /// A passage, and several.
    pub noun: [&'static str; 2],
    /// What a passage is: "repeated", for example.
    pub found: &'static str,
    /// In the summary: the number of different passages, and of their occurrences that go.
    pub counts: [&'static str; 2],
    /// In `spans.jsonl`: the number of occurrences of what a range has.
    pub count: &'static str,
    /// In `spans.jsonl`: the place that a range repeats, where the search stores it.
    pub origin: &'static str,
    /// The setting that names the documents to compare with.
    pub against: &'static str,
}

/// A search for passages, which is a [`BatchJob`](crate::BatchJob).
///
/// The settings determine every byte of the output. The trait is for the commands of simtool; its
/// methods may change.
pub trait PassageSearch: Sync + Sized {
    /// The names that reports use.
    const NAMES: Names;

    /// What the page calls a passage, and several.
    fn noun(&self) -> [&'static str; 2] {
        Self::NAMES.noun
    }

    /// The settings that every search has.
    fn common(&self) -> &PassageSettings;

    /// How documents to compare with are read.
    fn reference_reading(&self) -> &Reading {
        &self.common().reading
    }

    /// The other settings that determine the output, as a JSON object.
    fn own_settings(&self) -> Value;

    /// Checks the settings before anything is read.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) naming the setting and what is
    /// expected of it.
    fn check(&self) -> Result<()>;

    /// Checks whether documents to compare with are possible.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) if they are not.
    fn check_references(&self) -> Result<()> {
        Ok(())
    }

    /// Whether the search is impossible without documents to compare with.
    fn needs_references(&self) -> bool {
        false
    }

    /// The least memory bound of the search with `threads` threads.
    fn search_memory_bytes(&self, threads: usize) -> u64;

    /// Whether the blank lines after a passage go with it.
    fn removes_blank_lines(&self) -> bool {
        false
    }

    /// Reads a sample of `sources`, of which the first ones, `references` in number, are compared
    /// with, and extrapolates. Writes nothing.
    ///
    /// # Errors
    /// Errors of reading.
    fn estimate(
        &self,
        sources: &[Source],
        references: usize,
        resources: &Resources,
    ) -> Result<PassageEstimate>;

    /// Reads the inputs, and stores all documents and decisions in the work directory.
    ///
    /// # Errors
    /// Errors of reading and writing; changed inputs; interruption.
    fn decide(&self, run: RunContext<'_>) -> Result<()>;

    /// A function that gives the hash by which a text is listed; `None` if it is no passage.
    fn hash_of(&self) -> impl FnMut(&[u8]) -> Option<u128>;

    /// Settings that each line of the list states.
    fn list_fields(&self) -> Vec<(&'static str, String)>;

    /// The rule of the search, for the page.
    fn facts(&self) -> Vec<(&'static str, String)>;

    /// Whether the page says how many of all units are repetitions.
    fn counts_units(&self) -> bool;

    /// Warnings of settings without effect; `references` are the totals of the items by file, if the
    /// search has such.
    fn warnings(&self, totals: &SearchTotals, references: &[ReferenceTotals]) -> Vec<Warning>;
}
