//! The stages of a run in order. Results of finished stages are loaded from the work directory.

use std::io::Write;

use super::search::PassageSearch;
use crate::Result;
use crate::passages::decisions::decided::PassageDecisions;
use crate::passages::decisions::new_texts::NewTexts;
use crate::passages::report::items_list::{by_reference, by_share, write_items};
use crate::passages::report::page::PassagesPageMaker;
use crate::passages::report::reports::PassageReports;
use crate::passages::report::spans::write_spans;
use crate::passages::report::summary::{PassageSummary, PassageSummaryInputs};
use crate::passages::report::texts::Texts;
use crate::passages::report::warnings::warnings;
use crate::scope::LANGUAGE_FIELDS;
use crate::skeleton::context::RunContext;
use crate::skeleton::run_documents::RunDocuments;
use crate::skeleton::skipped::{SKIPPED, write_skipped};
use crate::skeleton::summary::digests;
use crate::table::document_table::DocumentTable;
use crate::table::numbering::Numbering;
use crate::table::segment_store::SegmentStore;
use crate::write::documents::Output;
use crate::write::edits::Edits;
use simtool_corpus::Reading;
use simtool_engine::Stage;
use simtool_engine::units::units;

/// The file of the page in the output directory.
pub const PAGE: &str = "page.html";

/// A running search for passages.
pub struct PassageRun<'a, S> {
    /// The search.
    pub search: &'a S,
    /// The inputs and resources.
    pub run: RunContext<'a>,
}

impl<S: PassageSearch> PassageRun<'_, S> {
    /// Runs all stages; returns the summary and the text of `summary.json`.
    ///
    /// # Errors
    /// Errors of reading and writing; changed inputs, too little memory and interruption.
    pub fn all(&self) -> Result<(PassageSummary, String)> {
        let RunContext {
            sources,
            work,
            progress,
            ..
        } = self.run;
        let references = self.run.references as usize;
        let common = self.search.common();
        if !PassageDecisions::is_complete(work)? {
            self.search.decide(self.run)?;
        }
        let table = DocumentTable::of(&SegmentStore::open(work, progress)?.finish()?)?;
        let chunks = &table.chunks;
        let units = units(sources);
        let numbering = Numbering::new(chunks, sources.len(), &units)?;
        let decided =
            PassageDecisions::load(work, numbering.documents(), progress)?.ok_or_else(missing)?;
        progress.begin(Stage::Report, 0);
        let reports = PassageReports {
            search: self.search,
            sources,
            references,
            table: &table,
            decided: &decided,
            outputs: work.outputs(),
            out: self.run.out,
            progress,
        };
        let totals = write_spans(&reports)?;
        let is_written = |name: &str| work.outputs().is_written(&self.run.out.join(name));
        if !is_written(SKIPPED) {
            let file = (work.outputs(), &*self.run.out.join(SKIPPED));
            write_skipped(&table, sources, file, progress)?;
        }
        let inputs = self.run.own_sources();
        let items = decided.items.as_ref();
        let by_reference = items.map(|items| by_reference(items, &table, references));
        let by_reference = by_reference.transpose()?.unwrap_or_default();
        let warnings = warnings(self.search, &totals, &by_reference, inputs);
        let list = S::NAMES.list;
        let needs_page = common.page && !is_written(PAGE);
        if !is_written(list) || needs_page {
            let texts = Texts {
                reading: &common.reading,
                reference_reading: self.search.reference_reading(),
                references,
                sources,
                table: &table,
                progress,
            };
            let listed = texts.of_passages(&decided.most_frequent, || self.search.hash_of())?;
            let items = decided.items.as_ref().map(by_share).transpose()?;
            if !is_written(list) {
                match &items {
                    Some(items) => write_items(&reports, items)?,
                    None => {
                        let seen = totals.all.bytes.seen - totals.all.bytes.skipped;
                        reports.list(&listed, seen)?;
                    }
                }
            }
            if needs_page {
                let maker = PassagesPageMaker {
                    search: self.search,
                    inputs,
                    totals: &totals,
                    decided: &decided,
                    items: items.as_deref().map(|items| (items, &by_reference[..])),
                    texts: &texts,
                    warnings: &warnings,
                };
                let mut file = work.outputs().create(&self.run.out.join(PAGE))?;
                file.write_all(&maker.html(&listed)?)
                    .map_err(|cause| file.error(cause))?;
                file.publish()?;
            }
        }
        progress.end(0);
        let texts = NewTexts {
            search: self.search,
            decided: &decided,
        };
        // A record of a shard has the language that the document names.
        let reading = Reading {
            fields: LANGUAGE_FIELDS.map(str::to_owned).to_vec(),
            ..common.reading.clone()
        };
        let output = Output {
            documents: RunDocuments {
                run: self.run,
                table: &table,
                numbering: &numbering,
            },
            edits: match common.action.changes_texts() {
                true => Edits::Texts(&texts),
                false => Edits::None,
            },
            reading: &reading,
        };
        let written = output.write(&decided.dropped)?;
        let mut summary = PassageSummary::new(&totals, decided.totals, warnings);
        summary.unwritten = written.unwritten;
        let digests = digests(chunks, sources.len());
        let text = summary.json(
            &totals,
            &PassageSummaryInputs {
                search: self.search,
                sources,
                references,
                left_out: self.run.left_out,
                digests: &digests,
                by_reference: &by_reference,
                written: written.shards,
            },
        );
        Ok((summary, text))
    }
}

fn missing() -> crate::Error {
    let message = "the decisions of this run are missing: start again with --restart";
    crate::Error::new(crate::ErrorKind::Content, message)
}
