//! The stages of a run in order. Results of finished stages are loaded from the work directory.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::Value;

use crate::Result;
use crate::shards::{ShardReading, ShardStreams};
use simtool_core::sketch::{Method, Shape, SignedMethod};
use simtool_core::vocabulary::Frequencies;
use simtool_engine::Stage;
use simtool_engine::counting::Counting;
use simtool_engine::methods;
use simtool_engine::spill_space::SpillSpace;
use simtool_engine::units::units;

use super::memory;
use crate::dedup::dump::files::{Change, Dump};
use crate::dedup::dump::marks::Marks;
use crate::dedup::dump::shard_documents::of_stream;
use crate::dedup::first_reading::frequencies;
use crate::dedup::first_reading::sketching::{self, RunInputs};
use crate::dedup::groups::keep_ranks::KeepKeys;
use crate::dedup::near::refused::Refused;
use crate::dedup::near::search::NearSearch;
use crate::dedup::report::beginnings::Beginnings;
use crate::dedup::report::largest::Shown;
use crate::dedup::report::lines;
use crate::dedup::report::page::{ClusterSamples, PageMaker, RunFacts};
use crate::dedup::report::reported::Reported;
use crate::dedup::report::reports::Reports;
use crate::dedup::report::summary::{self, Summary};
use crate::dedup::settings::job::{Job, PAGE, REMOVED, WriteMode};
use crate::dedup::settings::warnings;
use crate::dedup::settle::clusters::{ClusterInputs, Clusters};
use crate::dedup::settle::decided::{Decided, Decisions};
use crate::dedup::settle::guard::LossGroups;
use crate::dedup::settle::known;
use crate::dedup::settle::scope_search::ScopeSearch;
use crate::skeleton::context::RunContext;
use crate::skeleton::job::BatchJob;
#[cfg(feature = "parquet")]
use crate::skeleton::reading_memory;
use crate::skeleton::summary::digests;
use crate::table::bits::Bits;
use crate::table::document_table::DocumentTable;
use crate::table::numbering::Numbering;
use crate::table::row::{Flags, Row};
use crate::table::segment_store::SegmentStore;
use crate::write::related::{OpenRelatedIds, RelatedCounts};
use crate::write::settings::{DumpSettings, SkippedRecords};

/// A running deduplication.
pub struct Run<'a> {
    job: &'a Job,
    run: RunContext<'a>,
    /// Memory of the tables of chunks and documents, from the first reading on.
    table_bytes: OnceLock<u64>,
}

impl<'a> Run<'a> {
    /// A run of `job`.
    pub fn new(job: &'a Job, run: RunContext<'a>) -> Run<'a> {
        Run {
            job,
            run,
            table_bytes: OnceLock::new(),
        }
    }

    /// Runs all stages; returns the summary and the text of `summary.json`.
    ///
    /// # Errors
    /// Errors of reading and writing; changed inputs, too little memory and interruption.
    pub fn all(&self) -> Result<(Summary, String)> {
        let total = self.run.pipeline().bytes();
        let signed = self.method(total)?;
        let signed = signed.as_ref();
        let method = signed.map(SignedMethod::plain);
        let units = units(self.run.sources);
        let mut store = SegmentStore::open(self.run.work, self.run.progress)?;
        if !store.is_complete() {
            self.run.progress.begin(Stage::Sketch, total);
            sketching::sketch(
                self.job,
                signed.map(|signed| signed as &dyn Method),
                self.inputs(),
                &mut store,
                &self.run.pipeline(),
                self.run.resources,
                self.run.progress,
            )?;
            self.run.progress.end(total);
        }
        self.run.progress.begin(Stage::Gather, 0);
        let gathered = DocumentTable::of(&store.finish()?)?;
        let (counts, mut sources, doubts) = gathered.counts(self.run.sources, self.run.progress)?;
        let numbering = Numbering::new(&gathered.chunks, self.run.sources.len(), &units)?;
        let tables = memory::reserve_tables(
            self.run.resources,
            gathered.chunks.len() as u64,
            numbering.documents(),
        )?;
        self.table_bytes.get_or_init(|| tables);
        let keys = KeepKeys::of(self.job, &gathered, &self.space(), self.run.progress)?;
        self.run.progress.end(0);
        let decided = match Decided::load(self.run.work, self.run.progress)? {
            Some(decided) => decided,
            None => Decided::store(
                self.run.work,
                self.decide(signed, (&gathered, &keys), &numbering)?,
                self.run.progress,
            )?,
        };
        self.run.progress.begin(Stage::Report, 0);
        let losses = LossGroups::new(self.run.sources, self.run.references as usize);
        let clusters = self.clusters(&decided, (&gathered, &keys), &losses)?;
        for (source, dropped) in sources.iter_mut().zip(&clusters.dropped_of) {
            source.dropped = *dropped;
        }
        let sources = sources.split_off(self.run.references as usize);
        let shown = Shown {
            gathered: &gathered,
            known: decided.known.as_ref(),
            beginnings: Beginnings {
                sources: self.run.sources,
                reading: &self.job.reading,
                progress: self.run.progress,
            },
        };
        if let Some(limit) = self.job.loss_limit {
            losses.check(limit, &sources, &clusters, &shown)?;
        }
        let largest = shown.largest(&clusters)?;
        let dropped = self.dropped(&decided, &clusters, numbering.documents())?;
        let warnings =
            warnings::warnings(self.job, &counts, &keys.without, &doubts, self.run.sources);
        let reported = match Reported::load(self.run.work, self.run.out)? {
            Some(reported) => reported,
            None => {
                let references = numbering.documents_before(self.run.references);
                let facts = RunFacts {
                    counts: &counts,
                    warnings: &warnings,
                    left_out: self.run.left_out.len(),
                    known: self.run.known.map(|known| known.documents()),
                    references: self.run.references,
                };
                self.report(
                    method,
                    &gathered,
                    references,
                    (&decided, &clusters),
                    &dropped,
                    facts,
                )?
            }
        };
        self.run.progress.end(0);
        let refused = decided.refused_count;
        let shards = self.shards(&gathered, &numbering, &units, &dropped)?;
        if self.job.removed && !self.job.shards.is_used() {
            self.dump_removed(&gathered, &numbering, &dropped)?;
        }
        let (related, unwritten) =
            self.dump(&gathered, (&decided, &clusters), &numbering, dropped)?;

        let summary = Summary {
            warnings,
            counts,
            totals: reported.totals,
            refused,
            refused_listed: reported.refused_listed,
            related,
            unwritten,
            shards,
            sources,
            largest,
        };
        let digests = digests(&gathered.chunks, self.run.sources.len());
        let inputs = summary::SummaryInputs {
            sources: self.run.sources,
            references: self.run.references as usize,
            known: self.run.known.map(|known| known.describe()),
            left_out: self.run.left_out,
            digests: &digests,
        };
        let text = summary.json(self.job, method, inputs);
        Ok((summary, text))
    }

    /// The clusters that the decisions make.
    fn clusters(
        &self,
        decided: &Decided,
        (gathered, keys): (&DocumentTable, &KeepKeys),
        losses: &LossGroups,
    ) -> Result<Clusters> {
        let inputs = ClusterInputs {
            gathered,
            keys,
            loss_of: &losses.of,
            keep_copies: self.job.keep_copies,
            space: self.space(),
            progress: self.run.progress,
        };
        Clusters::of(decided.decisions(), inputs)
    }

    /// The dropped documents.
    fn dropped(&self, decided: &Decided, clusters: &Clusters, documents: u64) -> Result<Bits> {
        let mut dropped = Bits::none_of(documents);
        for decision in decided.decisions() {
            let document = decision?.document;
            if document.is_multiple_of(8192) {
                self.run.progress.check()?;
            }
            if !clusters.copies.contains(document) {
                dropped.insert(document);
            }
        }
        Ok(dropped)
    }

    /// Writes the reports.
    fn report(
        &self,
        method: Option<&dyn Method>,
        gathered: &DocumentTable,
        references: u32,
        (decided, clusters): (&Decided, &Clusters),
        dropped: &Bits,
        facts: RunFacts<'_>,
    ) -> Result<Reported> {
        let reports = Reports {
            job: self.job,
            gathered,
            known: decided.known.as_ref(),
            clusters,
            references,
            sources: self.run.sources,
            has_distances: method
                .is_some_and(|method| matches!(method.shape(), Shape::Bits { .. })),
            outputs: self.run.work.outputs(),
            progress: self.run.progress,
        };
        let path = |name: &str| self.run.out.join(name);
        let (decisions, space) = (decided.decisions(), self.space());
        let (mut totals, members) =
            reports.duplicates(decisions, &path("duplicates.jsonl"), &space)?;
        let mut samples = ClusterSamples::new(&clusters.largest);
        let note = |members: &[u32]| samples.add(members);
        reports.clusters(members, &path("clusters.jsonl"), &mut totals, note)?;
        let refused_listed = match self.job.refused {
            true => reports.refused(decided.refused(), &path("refused.jsonl"))?,
            false => 0,
        };
        reports.skipped(&path("skipped.jsonl"))?;
        if self.job.write == WriteMode::Ids {
            reports.kept_ids(dropped, &path("kept.jsonl"))?;
        }
        if self.job.page {
            let maker = PageMaker {
                reports: &reports,
                decided,
                facts,
                resources: self.run.resources,
                space,
            };
            let html = maker.html(&samples, refused_listed)?;
            let mut file = self.run.work.outputs().create(&path(PAGE))?;
            lines::write(&mut file, &html)?;
            file.publish()?;
        }
        let reported = Reported {
            totals,
            refused_listed,
        };
        reported.store(self.run.work)?;
        Ok(reported)
    }

    /// Decides which documents are dropped, and for which kept ones.
    fn decide(
        &self,
        method: Option<&SignedMethod>,
        (gathered, keys): (&DocumentTable, &KeepKeys),
        numbering: &Numbering<'_>,
    ) -> Result<Decisions> {
        let space = self.space();
        let (mut by_known, mut gone, mut ids) = (None, None, None);
        if let (Some(known), Some(method)) = (self.run.known, method) {
            self.run.progress.begin(Stage::Search, gathered.rows.len());
            let matches = known::query(known, method, gathered, &space, self.run.progress)?;
            self.run.progress.end(0);
            if self.job.against_only {
                return Ok(Decisions {
                    decisions: matches.decisions,
                    refused: Refused::none(&space)?,
                    known: Some(matches.ids),
                });
            }
            (by_known, gone, ids) = (
                Some(matches.decisions),
                Some(matches.gone),
                Some(matches.ids),
            );
        }
        let search = method
            .filter(|_| !self.job.is_by_equality())
            .map(|method| NearSearch {
                job: self.job,
                method: method.plain(),
                signed: method,
                inputs: self.inputs(),
                stamps: self.run.stamps,
                gathered,
                numbering,
                space,
                pipeline: self.run.pipeline(),
                resources: self.run.resources,
                progress: self.run.progress,
            });
        let scopes = ScopeSearch {
            job: self.job,
            gathered,
            keys,
            gone: gone.as_ref(),
            references: numbering.documents_before(self.run.references),
            search,
            space,
            progress: self.run.progress,
        };
        let found = scopes.decide(by_known)?;
        Ok(Decisions {
            known: ids,
            ..found
        })
    }

    /// The method that makes sketches, if the job has one. Its corpus statistics are counted unless
    /// an earlier run did so.
    fn method(&self, total: u64) -> Result<Option<SignedMethod>> {
        if let Some(known) = self.run.known {
            return known.method().map(Some);
        }
        if self.job.is_by_equality() {
            return Ok(None);
        }
        let common = self.job.common(self.run.resources.level);
        let mut frequencies = Vec::new();
        for (number, count) in self.job.method.required_counts().into_iter().enumerate() {
            let stored = frequencies::load(self.run.work, number)?;
            let records = match stored {
                Some(records) => records,
                None => {
                    self.run.progress.begin(Stage::Count, total);
                    let counting = Counting {
                        count,
                        tokenizer: common.tokenizer,
                        stop_words: common.stop_words,
                        pipeline: self.run.pipeline(),
                        space: self.space(),
                        level: common.level,
                    };
                    let counted = counting.run()?;
                    let mut records = vec![[counted.documents(), 0]];
                    records.extend(counted.iter().map(|(feature, count)| [feature, count]));
                    frequencies::store(self.run.work, number, &records)?;
                    self.run.progress.end(total);
                    records
                }
            };
            let documents = records.first().map_or(0, |[documents, _]| *documents);
            let counts = records
                .iter()
                .skip(1)
                .map(|&[feature, count]| (feature, count));
            frequencies.push(Frequencies::new(documents, counts));
        }
        let method = methods::build(&self.job.method, common, &frequencies)?;
        Ok(Some(SignedMethod::new(method, None)))
    }

    /// Writes the dump, if the job has one; returns how many related records were dropped, and how
    /// many inputs have no file in it.
    fn dump(
        &self,
        gathered: &DocumentTable,
        (decided, clusters): (&Decided, &Clusters),
        numbering: &Numbering<'_>,
        mut dropped: Bits,
    ) -> Result<(RelatedCounts, u64)> {
        if !self.job.writes_dump() {
            return Ok((RelatedCounts::default(), 0));
        }
        let mut marks = None;
        if self.job.write == WriteMode::Annotated {
            // Duplicates get a mark instead.
            dropped = Bits::none_of(numbering.documents());
            marks = Some(Marks {
                decisions: decided.by_document()?,
                clusters,
                gathered,
                known: decided.known.as_ref(),
            });
        }
        if self.job.dump.drops_skipped() {
            gathered.rows.for_each_block(8192, |first, rows: &[Row]| {
                self.run.progress.check()?;
                let numbered = (first as u32..).zip(rows);
                let skipped = numbered.filter(|(_, row)| row.flags.has(Flags::SKIPPED));
                skipped.for_each(|(number, _)| dropped.insert(number));
                Ok(())
            })?;
        }
        let dump = Dump {
            change: marks.as_ref().map_or(Change::Remove, Change::Mark),
            ..self.dump_without(gathered, numbering, &dropped)
        };
        self.write_dump(&dump)
    }

    /// Writes the inputs with the `dropped` documents alone.
    fn dump_removed(
        &self,
        gathered: &DocumentTable,
        numbering: &Numbering<'_>,
        dropped: &Bits,
    ) -> Result<()> {
        let mut others = Bits::none_of(numbering.documents());
        let all = 0..numbering.documents() as u32;
        all.filter(|&number| !dropped.contains(number))
            .for_each(|number| others.insert(number));
        let dump = Dump {
            settings: DumpSettings {
                skipped: SkippedRecords::Drop,
                ..self.job.dump
            },
            targets: self.targets(REMOVED),
            only_removed: true,
            ..self.dump_without(gathered, numbering, &others)
        };
        self.write_dump(&dump).map(drop)
    }

    /// The dump without the `dropped` documents.
    fn dump_without<'d>(
        &'d self,
        gathered: &'d DocumentTable,
        numbering: &'d Numbering<'d>,
        dropped: &'d Bits,
    ) -> Dump<'d> {
        Dump {
            inputs: self.inputs(),
            #[cfg(feature = "parquet")]
            reading: &self.job.reading,
            stamps: self.run.stamps,
            numbering,
            gathered,
            dropped,
            outputs: self.run.work.outputs(),
            change: Change::Remove,
            settings: self.job.dump,
            out: self.run.out,
            targets: self.targets(self.job.write.name()),
            work: self.run.work,
            related: OpenRelatedIds::default(),
            only_removed: false,
        }
    }

    /// Writes a dump; returns the values of [`Dump::write`].
    fn write_dump(&self, dump: &Dump<'_>) -> Result<(RelatedCounts, u64)> {
        let total = self.run.pipeline().bytes();
        self.run.progress.begin(Stage::Write, total);
        let written = dump.write(&self.run.own_units(), &self.run.pipeline())?;
        self.run.progress.end(total);
        Ok(written)
    }

    /// Writes documents as shards, if the job does; returns a description for the summary.
    fn shards(
        &self,
        gathered: &DocumentTable,
        numbering: &Numbering<'_>,
        units: &[Range<u32>],
        dropped: &Bits,
    ) -> Result<Option<Value>> {
        let directories = self.job.written().streams;
        if directories.is_empty() {
            return Ok(None);
        }
        let total = self.run.pipeline().bytes();
        self.run.progress.begin(Stage::Write, total);
        let references = self.run.references;
        let streams = ShardStreams {
            settings: &self.job.shards,
            compression_level: self.job.dump.compression_level,
            reading: ShardReading {
                references,
                #[cfg(feature = "parquet")]
                stamps: self.run.stamps,
                numbering,
                documents: gathered,
                units,
                pipeline: self.run.pipeline(),
                only_text: self.job.written().only_text,
                #[cfg(feature = "parquet")]
                advice: "choose --write text or ids",
            },
            out: self.run.out,
            work: self.run.work,
            #[cfg(feature = "parquet")]
            spare_bytes: {
                let most = self.job.reading.max_document_bytes;
                reading_memory::spare_bytes(self.run.resources, most)
            },
        };
        let documents = directories
            .into_iter()
            .map(|directory| of_stream(directory, gathered, numbering, references, dropped));
        let written = streams.write(documents.collect::<Result<_>>()?)?;
        self.run.progress.end(total);
        Ok(Some(written))
    }

    /// The files in a directory, one for each source of the input; none if the run writes no such.
    fn targets(&self, directory: &str) -> &[PathBuf] {
        let written = self.job.written().files;
        let place = written.iter().position(|written| *written == directory);
        let targets = place.and_then(|place| self.run.targets.get(place));
        targets.map_or(&[], Vec::as_slice)
    }

    fn inputs(&self) -> RunInputs<'_> {
        RunInputs {
            sources: self.run.sources,
            references: self.run.references,
        }
    }

    fn space(&self) -> SpillSpace<'_> {
        memory::space(
            self.run.resources,
            self.table_bytes.get().copied().unwrap_or(0),
        )
    }
}
