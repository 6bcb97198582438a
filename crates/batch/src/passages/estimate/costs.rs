//! The time and the space that a run takes, from a sample of its inputs.

use crate::Result;
use crate::estimate::input_costs::{InputCosts, described_bytes};
use crate::estimate::run_cost::RunCost;
use crate::estimate::sampled_output::OutputForm;
use crate::estimate::sampling::{Measure, Sampler};
use crate::passages::decisions::item::ItemRecord;
use crate::passages::first_reading::documents::{ChunkRows, PassageRow};
use crate::passages::search::PassageSearch;
use crate::shards::ShardForm;
use simtool_corpus::Source;
use simtool_engine::{Resources, Stage, StagePlan};

/// Approximate bytes of `spans.jsonl` for each document with removed passages.
const LINE_BYTES: f64 = 180.0;
/// Approximate bytes of the page and of the list of passages.
const PAGE_BYTES: f64 = 100e3;
/// Approximate seconds of one thread to report a document with removed passages, and a passage.
const REPORT_SECONDS: [f64; 2] = [4e-6, 0.3e-6];
/// Approximate bytes of `items.jsonl` for an item of the reference, and seconds of one thread to list
/// it.
const ITEM_BYTES: f64 = 250.0;
const ITEM_SECONDS: f64 = 4e-6;
/// Approximate seconds of one thread to read and show the most frequent passages.
const PAGE_SECONDS: f64 = 0.05;
/// Approximate seconds of one thread to write a byte of text again, besides reading it.
const REWRITE_SECONDS: f64 = 1.0e-9;

/// What a sample has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SampleTotals {
    pub documents: u64,
    pub text_bytes: u64,
    label_bytes: u64,
}

impl SampleTotals {
    pub fn add(&mut self, rows: &ChunkRows) {
        self.documents += u64::from(rows.documents());
        self.text_bytes += rows.text_bytes();
        self.label_bytes += rows.label_bytes();
    }
}

/// The size of the reports and temporary files of a search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Findings {
    /// Removed ranges.
    pub ranges: f64,
    /// Documents with one.
    pub documents: f64,
    /// Bytes of `spans.jsonl` for each range.
    pub range_bytes: f64,
    /// Bytes for each range in the work directory.
    pub stored_bytes: f64,
    /// Bytes in the directory of temporary files.
    pub spooled_bytes: f64,
    /// The items of the reference, if they are listed.
    pub items: f64,
}

/// The costs of a search.
pub(crate) struct SearchCosts<'a, S> {
    pub search: &'a S,
    pub input: InputCosts,
    totals: SampleTotals,
    /// Bytes of the descriptions of inputs and outputs.
    described_bytes: u64,
}

impl<'a, S: PassageSearch> SearchCosts<'a, S> {
    /// Measures the first reading of a sample of `sources`, of which the first ones, `references` in
    /// number, are compared with only. Returns what was measured, too.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn measured<M: Measure>(
        search: &'a S,
        sources: &[Source],
        references: usize,
        resources: &Resources,
        measure: M,
        totals: impl Fn(&M) -> SampleTotals,
    ) -> Result<(SearchCosts<'a, S>, M)> {
        let common = search.common();
        let reading = &common.reading;
        let form = match common.shards.is_used() {
            true => OutputForm::Shards(ShardForm {
                settings: &common.shards,
                level: common.dump.compression_level,
                only_text: false,
            }),
            false => OutputForm::Files(common.dump),
        };
        let form = common.action.directory().map(|_| form);
        let (measure, kinds) = Sampler::sample(sources, references, reading, form, measure)?;
        let costs = SearchCosts {
            search,
            input: InputCosts::new(kinds, resources),
            totals: totals(&measure),
            described_bytes: described_bytes(sources, form.is_some() && !common.shards.is_used()),
        };
        Ok((costs, measure))
    }

    /// The bytes of all texts.
    pub fn text_bytes(&self) -> f64 {
        self.input.total(|kind| kind.text.over(kind.bytes))
    }

    /// The number of documents.
    pub fn documents(&self) -> f64 {
        self.input.documents() as f64
    }

    /// How many times more text there is in all inputs than in the sample.
    pub fn factor(&self) -> f64 {
        match self.totals.text_bytes {
            0 => 1.0,
            bytes => (self.text_bytes() / bytes as f64).max(1.0),
        }
    }

    /// Seconds to read all documents, and to process a share of them as the first reading does.
    pub fn reading(&self, share: f64) -> f64 {
        let process = self.input.total(|kind| kind.process.over(kind.bytes));
        self.input.reading(share * process)
    }

    /// What a run takes whose `stages` lead to decisions.
    pub fn cost(&self, findings: &Findings, stages: Vec<(Stage, f64)>) -> RunCost {
        let documents = self.input.documents();
        let text_bytes = self.text_bytes();
        let labels = self.totals.label_bytes as f64 / self.totals.documents.max(1) as f64;
        let rows = documents as f64 * (size_of::<PassageRow>() as f64 + labels);
        let items = findings.items * (size_of::<PassageRow>() + size_of::<ItemRecord>()) as f64;
        let common = self.search.common();
        let is_written = common.action.directory().is_some();
        let has_a_file = is_written && !common.shards.is_used();
        let written = self.input.written_bytes(has_a_file);
        let reports = findings.documents * LINE_BYTES
            + findings.ranges * findings.range_bytes
            + findings.items * ITEM_BYTES;
        let [of_document, of_range] = REPORT_SECONDS;
        let report = findings.documents * of_document
            + findings.ranges * of_range
            + findings.items * ITEM_SECONDS;
        let mut stages = stages;
        stages.push((Stage::Report, report + PAGE_SECONDS));
        if is_written {
            let rewrite = text_bytes * REWRITE_SECONDS / self.input.threads;
            stages.push((Stage::Write, self.input.writing(has_a_file) + rewrite));
        }
        let plan = |(stage, seconds)| StagePlan::lasting(stage, seconds);
        RunCost {
            documents: documents + findings.items as u64,
            text_bytes: text_bytes as u64,
            work_bytes: (rows + items + findings.ranges * findings.stored_bytes) as u64,
            spooled_bytes: findings.spooled_bytes as u64,
            output_bytes: self.described_bytes + (written + reports + PAGE_BYTES) as u64,
            stages: stages.into_iter().map(plan).collect(),
        }
    }
}
