//! The stages of a run in order. Results of finished stages are loaded from the work directory.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::Result;
use crate::corpus::LeftOut;
use crate::engine::counting::Counting;
use crate::engine::methods;
use crate::engine::pipeline::{Pipeline, Unit};
use crate::engine::spill_space::SpillSpace;
use crate::engine::units::units;
use crate::engine::{Progress, Resources, Stage};
use crate::sketch::{Method, Shape};
use crate::vocabulary::Frequencies;

use super::bits::Bits;
use super::copying::Stamp;
use super::decided::{Decided, Decisions};
use super::decision::Decision;
use super::dump::{Change, Dump};
use super::gathered::Gathered;
use super::job::{Job, PAGE, WriteMode};
use super::known::{self, KnownDocuments, KnownIds};
use super::lines;
use super::near::{self, NearSearch};
use super::numbering::Numbering;
use super::page::{LargestClusters, PageMaker, RunFacts};
use super::refused::Refused;
use super::related::{OpenRelatedIds, RelatedCounts};
use super::reported::Reported;
use super::reports::Reports;
use super::resolve::{self, EarlierDecisions};
use super::row::{Flags, Row};
use super::sketching::{self, RunInputs};
use super::summary::{self, Summary};
use super::work::{TIMINGS, Work, checksummed_text};
use super::{frequencies, groups, memory, warnings};

/// The dropped documents.
struct DropList {
    dropped: Bits,
    /// Sorted pairs of a dropped document and its kept one; empty unless the dump is annotated.
    kept: Vec<(u32, u32)>,
}

/// A running deduplication.
pub struct Run<'a> {
    /// The job.
    pub job: &'a Job,
    /// The inputs.
    pub inputs: RunInputs<'a>,
    /// Files that are not read, for the summary.
    pub left_out: &'a [LeftOut],
    /// The stamps of the inputs' files when the run began.
    pub stamps: Vec<Stamp>,
    /// The output files of the dump.
    pub targets: Vec<PathBuf>,
    /// The documents of the index with which the input is compared, if any.
    pub known: Option<&'a dyn KnownDocuments>,
    /// The output directory.
    pub out: &'a Path,
    /// The work directory.
    pub work: &'a Work,
    /// Threads, memory, temporary space.
    pub resources: &'a Resources,
    /// Notified of progress.
    pub progress: &'a Progress,
    /// When the run began.
    pub begin: Instant,
}

impl Run<'_> {
    /// Runs all stages; returns the summary and the text of `summary.json`.
    ///
    /// # Errors
    /// Those of reading and writing; changed inputs, too little memory and interruption.
    pub fn all(&self) -> Result<(Summary, String)> {
        let total = self.pipeline().bytes();
        let method = self.method(total)?;
        let method = method.as_deref();
        let units = units(self.inputs.sources);
        if !Gathered::is_complete(self.work)? {
            self.progress.begin(Stage::Sketch, total);
            sketching::sketch(
                self.job,
                method,
                self.inputs,
                self.work,
                &self.pipeline(),
                self.resources,
                self.progress,
            )?;
            self.progress.end(total);
        }
        self.progress.begin(Stage::Gather, 0);
        let gathered = Gathered::gather(self.work, units.len())?;
        let (counts, doubts) = gathered.counts(self.inputs.sources)?;
        let numbering = Numbering::new(&gathered.chunks, self.inputs.sources.len(), &units)?;
        self.progress.end(0);
        let decided = match Decided::load(self.work)? {
            Some(decided) => decided,
            None => Decided::store(self.work, self.decide(method, &gathered, &numbering)?)?,
        };
        let drops = self.drops(&decided, numbering.documents())?;
        let warnings = warnings::warnings(self.job, &counts, &doubts, self.inputs.sources);
        let reported = match Reported::load(self.work, self.out)? {
            Some(reported) => reported,
            None => {
                let references = numbering.documents_before(self.inputs.references);
                let facts = RunFacts {
                    counts: &counts,
                    warnings: &warnings,
                    left_out: self.left_out.len(),
                    known: self.known.map(|known| known.documents()),
                    references: self.inputs.references,
                };
                self.report(method, &gathered, references, &decided, &drops, facts)?
            }
        };
        let refused = decided.refused_count;
        let known = decided.known.as_ref();
        let related = self.dump(&gathered, known, &numbering, &units, drops)?;

        let summary = Summary {
            warnings,
            counts,
            totals: reported.totals,
            refused,
            refused_listed: reported.refused_listed,
            related,
        };
        let digests = summary::digests(&gathered.chunks, self.inputs.sources.len());
        let inputs = summary::SummaryInputs {
            sources: self.inputs.sources,
            references: self.inputs.references as usize,
            known: self.known.map(|known| known.describe()),
            left_out: self.left_out,
            digests: &digests,
        };
        let text = summary.json(self.job, method, inputs);
        let (threads, time) = (self.resources.threads, self.begin.elapsed());
        let timings = summary::timings(&self.progress.finished(), threads, time);
        let timings = checksummed_text(timings);
        let mut file = self.work.outputs().create(&self.out.join(TIMINGS))?;
        file.write_all(timings.as_bytes())
            .map_err(|cause| file.error(cause))?;
        file.publish()?;
        Ok((summary, text))
    }

    /// The dropped documents, and the kept ones if the dump is annotated.
    fn drops(&self, decided: &Decided, documents: u64) -> Result<DropList> {
        let mut drops = DropList {
            dropped: Bits::none_of(documents),
            kept: Vec::new(),
        };
        for decision in decided.decisions() {
            let Decision { document, kept, .. } = decision?;
            drops.dropped.insert(document);
            if self.job.write == WriteMode::Annotated {
                drops.kept.push((document, kept));
            }
        }
        Ok(drops)
    }

    /// Writes the reports.
    fn report(
        &self,
        method: Option<&dyn Method>,
        gathered: &Gathered,
        references: u32,
        decided: &Decided,
        drops: &DropList,
        facts: RunFacts<'_>,
    ) -> Result<Reported> {
        self.progress.begin(Stage::Report, 0);
        let reports = Reports {
            job: self.job,
            gathered,
            known: decided.known.as_ref(),
            references,
            sources: self.inputs.sources,
            has_distances: method
                .is_some_and(|method| matches!(method.shape(), Shape::Bits { .. })),
            outputs: self.work.outputs(),
            progress: self.progress,
        };
        let path = |name: &str| self.out.join(name);
        let (decisions, space) = (decided.decisions(), self.space());
        let (mut totals, members) =
            reports.duplicates(decisions, &path("duplicates.jsonl"), &space)?;
        let mut clusters = LargestClusters::default();
        let note = |members: &[u32]| clusters.add(members);
        reports.clusters(members, &path("clusters.jsonl"), &mut totals, note)?;
        let refused_listed = match self.job.refused {
            true => reports.refused(decided.refused(), &path("refused.jsonl"))?,
            false => 0,
        };
        reports.skipped(&path("skipped.jsonl"))?;
        if self.job.write == WriteMode::Ids {
            reports.kept_ids(&drops.dropped, &path("kept.jsonl"))?;
        }
        if self.job.page {
            let maker = PageMaker {
                reports: &reports,
                decided,
                facts,
                resources: self.resources,
                space,
            };
            let html = maker.html(&clusters, refused_listed)?;
            let mut file = self.work.outputs().create(&path(PAGE))?;
            lines::write(&mut file, &html)?;
            file.publish()?;
        }
        let reported = Reported {
            totals,
            refused_listed,
        };
        reported.store(self.work)?;
        self.progress.end(0);
        Ok(reported)
    }

    /// Decides which documents are dropped, and for which kept ones.
    fn decide(
        &self,
        method: Option<&dyn Method>,
        gathered: &Gathered,
        numbering: &Numbering<'_>,
    ) -> Result<Decisions> {
        let space = self.space();
        let (mut by_known, mut gone, mut ids) = (None, None, None);
        if let (Some(known), Some(method)) = (self.known, method) {
            self.progress.begin(Stage::Search, gathered.rows.len());
            let matches = known::query(known, method, gathered, &space, self.progress)?;
            self.progress.end(0);
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
        self.progress.begin(Stage::Group, 0);
        let groups = groups::group(self.job, gathered, gone.as_ref(), &space)?;
        self.progress.end(0);
        let found = match method.filter(|_| !self.job.is_by_equality()) {
            Some(method) => {
                let search = NearSearch {
                    job: self.job,
                    method,
                    inputs: self.inputs,
                    gathered,
                    numbering,
                    space,
                    pipeline: self.pipeline(),
                    resources: self.resources,
                    progress: self.progress,
                };
                search.decide(groups.leaders)?
            }
            None => near::LeaderDecisions {
                decisions: space.sorter(memory::LEADER_DECISIONS).finish()?,
                refused: Refused::none(&space)?,
            },
        };
        let references = numbering.documents_before(self.inputs.references);
        let only_against = self.inputs.references > 0 && self.job.against_only;
        let against = only_against.then_some(references);
        let before = EarlierDecisions {
            known: by_known,
            leaders: found.decisions,
        };
        let (followers, drop_all) = (groups.followers, self.job.drop_all);
        let decisions = resolve::resolve(before, followers, against, drop_all, &space)?;
        Ok(Decisions {
            decisions,
            refused: found.refused,
            known: ids,
        })
    }

    /// The method that makes sketches, if the job has one. Its corpus statistics are counted unless
    /// an earlier run did so.
    fn method(&self, total: u64) -> Result<Option<Box<dyn Method>>> {
        if let Some(known) = self.known {
            return known.method().map(Some);
        }
        if self.job.is_by_equality() {
            return Ok(None);
        }
        let common = self.job.common(self.resources.level);
        let mut frequencies = Vec::new();
        for (number, count) in self.job.method.required_counts().into_iter().enumerate() {
            let stored = frequencies::load(self.work, number)?;
            let records = match stored {
                Some(records) => records,
                None => {
                    self.progress.begin(Stage::Count, total);
                    let counting = Counting {
                        count,
                        tokenizer: common.tokenizer,
                        stop_words: common.stop_words,
                        pipeline: self.pipeline(),
                        space: self.space(),
                        level: common.level,
                    };
                    let counted = counting.run()?;
                    let mut records = vec![[counted.documents(), 0]];
                    records.extend(counted.iter().map(|(feature, count)| [feature, count]));
                    frequencies::store(self.work, number, &records)?;
                    self.progress.end(total);
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
        methods::build(&self.job.method, common, &frequencies).map(Some)
    }

    /// Writes the dump, if the job has one; returns how many related records were dropped.
    fn dump(
        &self,
        gathered: &Gathered,
        known: Option<&KnownIds>,
        numbering: &Numbering<'_>,
        units: &[Range<u32>],
        drops: DropList,
    ) -> Result<RelatedCounts> {
        if !self.job.writes_dump() {
            return Ok(RelatedCounts::default());
        }
        let DropList { mut dropped, kept } = drops;
        if self.job.write == WriteMode::Annotated {
            // Duplicates get a mark instead.
            dropped = Bits::none_of(numbering.documents());
        }
        if self.job.dump.drops_skipped() {
            gathered.rows.for_each_block(8192, |first, rows: &[Row]| {
                let numbered = (first as u32..).zip(rows);
                let skipped = numbered.filter(|(_, row)| row.flags.has(Flags::SKIPPED));
                skipped.for_each(|(number, _)| dropped.insert(number));
                Ok(())
            })?;
        }
        let total = self.pipeline().bytes();
        self.progress.begin(Stage::Write, total);
        let references = self.inputs.references;
        let units: Vec<Unit> = units
            .iter()
            .filter(|sources| sources.end > references)
            .map(|sources| Unit::whole(sources.start.max(references)..sources.end))
            .collect();
        let dump = Dump {
            inputs: self.inputs,
            #[cfg(feature = "parquet")]
            reading: &self.job.reading,
            stamps: &self.stamps,
            numbering,
            gathered,
            known,
            dropped: &dropped,
            outputs: self.work.outputs(),
            change: match self.job.write {
                WriteMode::Annotated => Change::Mark(&kept),
                _ => Change::Remove,
            },
            settings: self.job.dump,
            out: self.out,
            targets: &self.targets,
            work: self.work,
            related: OpenRelatedIds::default(),
        };
        let related = dump.write(&units, &self.pipeline())?;
        self.progress.end(total);
        Ok(related)
    }

    fn pipeline(&self) -> Pipeline<'_> {
        let reading = &self.job.reading;
        Pipeline {
            sources: self.inputs.sources,
            reading,
            workers: self.resources.threads,
            readers: memory::readers(self.resources, reading.max_document_bytes),
            progress: self.progress,
        }
    }

    fn space(&self) -> SpillSpace<'_> {
        memory::space(self.resources)
    }
}
