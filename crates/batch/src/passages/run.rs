//! The stages of a run in order. Results of finished stages are loaded from the work directory.

use std::io::Write;
use std::ops::Range;

use serde_json::Value;

use super::decided::Decided;
use super::items_list::{by_reference, by_share};
use super::page::PageMaker;
use super::reports::Reports;
use super::rewriting::Rewriting;
use super::search::Search;
use super::shard_documents::ChangedDocuments;
use super::summary::{Summary, SummaryInputs};
#[cfg(feature = "parquet")]
use super::tables;
use super::texts::Texts;
use super::warnings::warnings;
use crate::Result;
use crate::scope::LANGUAGE_FIELDS;
use crate::shards::{ShardReading, ShardStreams};
use crate::skeleton::context::RunContext;
#[cfg(feature = "parquet")]
use crate::skeleton::reading_memory::spare_bytes;
use crate::skeleton::start::SKIPPED;
use crate::skeleton::summary::digests;
use crate::table::document_table::DocumentTable;
use crate::table::numbering::Numbering;
use crate::table::segment_store::SegmentStore;
use crate::workdir::OutputGroup;
use crate::write::rewritten::RewrittenFiles;
use simtool_corpus::Reading;
use simtool_engine::Stage;
use simtool_engine::pipeline::Pipeline;
use simtool_engine::units::units;

/// The file of the page in the output directory.
pub const PAGE: &str = "page.html";

/// A running search for passages.
pub struct Run<'a, S> {
    /// The search.
    pub search: &'a S,
    /// The inputs and resources.
    pub run: RunContext<'a>,
}

impl<S: Search> Run<'_, S> {
    /// Runs all stages; returns the summary and the text of `summary.json`.
    ///
    /// # Errors
    /// Errors of reading and writing; changed inputs, too little memory and interruption.
    pub fn all(&self) -> Result<(Summary, String)> {
        let RunContext {
            sources,
            work,
            progress,
            ..
        } = self.run;
        let references = self.run.references as usize;
        let common = self.search.common();
        if !Decided::is_complete(work)? {
            self.search.decide(self.run)?;
        }
        let table = DocumentTable::of(&SegmentStore::open(work, progress)?.finish()?)?;
        let chunks = &table.chunks;
        let units = units(sources);
        let numbering = Numbering::new(chunks, sources.len(), &units)?;
        let decided = Decided::load(work, numbering.documents(), progress)?.ok_or_else(missing)?;
        progress.begin(Stage::Report, 0);
        let reports = Reports {
            search: self.search,
            sources,
            references,
            table: &table,
            decided: &decided,
            outputs: work.outputs(),
            out: self.run.out,
            progress,
        };
        let totals = reports.spans()?;
        let is_written = |name: &str| work.outputs().is_written(&self.run.out.join(name));
        if !is_written(SKIPPED) {
            reports.skipped()?;
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
                reading: common.reading,
                reference_reading: common.reference_reading,
                references,
                sources,
                table: &table,
                progress,
            };
            let listed = texts.of_passages(&decided.most_frequent, self.search.hash_of())?;
            let items = decided.items.as_ref().map(by_share).transpose()?;
            if !is_written(list) {
                match &items {
                    Some(items) => reports.items(items)?,
                    None => {
                        let seen = totals.all.bytes.seen - totals.all.bytes.skipped;
                        reports.list(&listed, seen)?;
                    }
                }
            }
            if needs_page {
                let maker = PageMaker {
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
        let documents = ChangedDocuments {
            search: self.search,
            table: &table,
            decided: &decided,
        };
        let (written, unwritten) = match common.action.directory() {
            Some(directory) => self.write(directory, &documents, &numbering, &units)?,
            None => (None, None),
        };
        let mut summary = Summary::new(&totals, decided.totals, warnings);
        summary.unwritten = unwritten;
        let digests = digests(chunks, sources.len());
        let text = summary.json(
            &totals,
            &SummaryInputs {
                search: self.search,
                sources,
                references,
                left_out: self.run.left_out,
                digests: &digests,
                by_reference: &by_reference,
                written,
            },
        );
        Ok((summary, text))
    }

    /// Writes the documents; returns, of shards, a description for the summary, and of files, the
    /// number of inputs that have none.
    fn write(
        &self,
        directory: &'static str,
        documents: &ChangedDocuments<'_, S>,
        numbering: &Numbering<'_>,
        units: &[Range<u32>],
    ) -> Result<(Option<Value>, Option<u64>)> {
        let progress = self.run.progress;
        let own = self.run.own_sources().iter();
        let total = own.filter_map(|source| source.bytes).sum();
        progress.begin(Stage::Write, total);
        let written = match self.search.common().shards.is_used() {
            true => {
                let shards = self.write_shards(directory, documents, numbering, units)?;
                (Some(shards), None)
            }
            false => (None, Some(self.rewrite(documents, numbering)?)),
        };
        progress.end(total);
        Ok(written)
    }

    /// Writes the documents as shards.
    fn write_shards(
        &self,
        directory: &'static str,
        documents: &ChangedDocuments<'_, S>,
        numbering: &Numbering<'_>,
        units: &[Range<u32>],
    ) -> Result<Value> {
        let common = self.search.common();
        // A record has the language that the document names.
        let reading = Reading {
            fields: LANGUAGE_FIELDS.map(str::to_owned).to_vec(),
            ..common.reading.clone()
        };
        let references = self.run.references;
        let streams = ShardStreams {
            settings: common.shards,
            compression_level: common.dump.compression_level,
            reading: ShardReading {
                references,
                #[cfg(feature = "parquet")]
                stamps: self.run.stamps,
                numbering,
                documents,
                units,
                pipeline: Pipeline {
                    reading: &reading,
                    ..self.run.pipeline()
                },
                only_text: false,
                #[cfg(feature = "parquet")]
                advice: "choose --action mark",
            },
            out: self.run.out,
            work: self.run.work,
            #[cfg(feature = "parquet")]
            spare_bytes: spare_bytes(self.run.resources, reading.max_document_bytes),
        };
        streams.write(vec![documents.that_stay(directory, numbering, references)?])
    }

    /// Writes the inputs again; returns how many have no file.
    fn rewrite(
        &self,
        documents: &ChangedDocuments<'_, S>,
        numbering: &Numbering<'_>,
    ) -> Result<u64> {
        let pipeline = self.run.pipeline();
        let rewriting = Rewriting {
            search: self.search,
            files: RewrittenFiles {
                sources: self.run.sources,
                references: self.run.references,
                stamps: self.run.stamps,
                targets: self.run.targets.first().map_or(&[], Vec::as_slice),
                out: self.run.out,
                outputs: self.run.work.outputs(),
                settings: self.search.common().dump,
            },
            numbering,
            table: documents.table,
            decided: documents.decided,
        };
        let outputs = self.run.work.outputs();
        let mut group = OutputGroup::new(outputs, pipeline.progress);
        let finished = rewriting.write(&self.run.own_units(), &pipeline, &mut group)?;
        #[cfg(feature = "parquet")]
        tables::write(&rewriting, &finished.sources, &pipeline, &mut group)?;
        group.publish()?;
        Ok(finished.unwritten)
    }
}

fn missing() -> crate::Error {
    let message = "the decisions of this run are missing: start again with --restart";
    crate::Error::new(crate::ErrorKind::Content, message)
}
