//! The stages of a run in order. Results of finished stages are loaded from the work directory.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::counting::Counter;
use super::decided::{Decided, Rereading};
use super::job::{BOILERPLATE, Job, PAGE, SKIPPED};
use super::memory;
use super::occurrence::Occurrence;
use super::page::PageMaker;
use super::reading::{Reader, push_all, retain_repeated, stored_chunks};
use super::reports::Reports;
use super::rewriting::Rewriting;
use super::summary::{Summary, SummaryInputs};
#[cfg(feature = "parquet")]
use super::tables;
use super::texts::Texts;
use super::warnings::warnings;
use crate::Result;
use crate::corpus::{Compression, LeftOut, Source};
use crate::engine::pipeline::{Pipeline, Unit};
use crate::engine::units::units;
use crate::engine::{Progress, Resources, Stage};
use crate::jobs::dedup::{
    Numbering, RewrittenFiles, Stamp, TIMINGS, Work, checksummed_text, digests, readers, timings,
};
use crate::jobs::passages::documents::DocumentTable;
use crate::jobs::passages::ranges::RemovedRange;
use crate::jobs::passages::seen_twice::SeenTwice;

/// A running search for repeated units.
pub struct Run<'a> {
    /// The job.
    pub job: &'a Job,
    /// All sources, those to compare with first.
    pub sources: &'a [Source],
    /// How many of them are compared with.
    pub references: usize,
    /// Files that are not read, for the summary.
    pub left_out: &'a [LeftOut],
    /// The stamps of the sources' files when the run began.
    pub stamps: Vec<Stamp>,
    /// The output files of the rewritten inputs.
    pub targets: Vec<PathBuf>,
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
        if !Decided::is_complete(self.work)? {
            self.decide()?;
        }
        let chunks = stored_chunks(self.work, self.sources)?;
        let units = units(self.sources);
        let numbering = Numbering::new(&chunks, self.sources.len(), &units)?;
        let documents = numbering.documents();
        let decided = Decided::load(self.work, documents)?.ok_or_else(missing)?;
        let table = DocumentTable::open(self.work)?;
        self.progress.begin(Stage::Report, 0);
        let reports = Reports {
            job: self.job,
            sources: self.sources,
            references: self.references,
            table: &table,
            decided: &decided,
            outputs: self.work.outputs(),
            out: self.out,
            progress: self.progress,
        };
        let totals = reports.spans()?;
        let is_written = |name: &str| self.work.outputs().is_written(&self.out.join(name));
        if !is_written(SKIPPED) {
            reports.skipped()?;
        }
        let inputs = &self.sources[self.references..];
        let warnings = warnings(self.job, &totals, inputs);
        let needs_page = self.job.page && !is_written(PAGE);
        if !is_written(BOILERPLATE) || needs_page {
            let texts = Texts {
                job: self.job,
                sources: self.sources,
                table: &table,
                progress: self.progress,
            };
            let units = texts.of_units(&decided.most_frequent)?;
            if !is_written(BOILERPLATE) {
                let seen = totals.all.bytes.seen - totals.all.bytes.skipped;
                reports.boilerplate(&units, seen)?;
            }
            if needs_page {
                let maker = PageMaker {
                    job: self.job,
                    inputs,
                    totals: &totals,
                    decided: &decided,
                    texts: &texts,
                    warnings: &warnings,
                };
                let mut file = self.work.outputs().create(&self.out.join(PAGE))?;
                file.write_all(&maker.html(&units)?)
                    .map_err(|cause| file.error(cause))?;
                file.publish()?;
            }
        }
        self.progress.end(0);
        if self.job.action.directory().is_some() {
            self.rewrite(&table, &decided, &numbering)?;
        }
        let summary = Summary::new(&totals, decided.totals, warnings);
        let digests = digests(&chunks, self.sources.len());
        let text = summary.json(
            &totals,
            &SummaryInputs {
                job: self.job,
                sources: self.sources,
                references: self.references,
                left_out: self.left_out,
                digests: &digests,
            },
        );
        self.write_timings()?;
        Ok((summary, text))
    }

    /// Reads the inputs, counts their units and stores what is removed.
    fn decide(&self) -> Result<()> {
        let shares = memory::Shares::of(self.resources, &self.job.reading);
        let reader = Reader {
            job: self.job,
            pipeline: self.pipeline(),
        };
        let mut sorter = shares.sorter::<Occurrence>(shares.occurrences);
        let total = self.pipeline().bytes();
        self.progress.begin(Stage::Count, total);
        let table = SeenTwice::new(self.table_bytes(shares.table));
        let most = shares.kept / size_of::<Occurrence>();
        let first = reader.first(&table, most, self.work, &mut sorter)?;
        self.progress.end(total);
        let units = units(self.sources);
        let numbering = Numbering::new(&first.chunks, self.sources.len(), &units)?;
        match first.kept {
            Some(mut kept) => {
                retain_repeated(&mut kept, &table);
                push_all(&mut sorter, &kept, self.job.per())?;
            }
            None if self.job.is_by_list() => {}
            None => {
                self.progress.begin(Stage::Locate, total);
                reader.second(&table, &numbering, &mut sorter)?;
                self.progress.end(total);
            }
        }
        drop(table);
        self.progress.begin(Stage::Gather, 0);
        let counter = Counter {
            rule: &self.job.rule,
            references: numbering.documents_before(self.references as u32),
            listed: self.job.listed,
            space: shares.space,
            progress: self.progress,
        };
        let ranges = shares.sorter::<RemovedRange>(shares.ranges);
        let counted = counter.count(sorter.finish()?, ranges)?;
        let rereading = Rereading {
            pipeline: self.pipeline(),
            numbering: &numbering,
            level: self.resources.level,
        };
        let documents = DocumentTable::open(self.work)?;
        Decided::store(self.job, self.work, counted, &documents, &rereading)?;
        self.progress.end(0);
        Ok(())
    }

    /// Writes the inputs again.
    fn rewrite(
        &self,
        table: &DocumentTable,
        decided: &Decided,
        numbering: &Numbering<'_>,
    ) -> Result<()> {
        let pipeline = self.pipeline();
        let inputs = self.sources.iter().skip(self.references);
        let total = inputs.filter_map(|source| source.bytes).sum();
        self.progress.begin(Stage::Write, total);
        let rewriting = Rewriting {
            job: self.job,
            files: RewrittenFiles {
                sources: self.sources,
                references: self.references as u32,
                stamps: &self.stamps,
                targets: &self.targets,
                out: self.out,
                outputs: self.work.outputs(),
                settings: self.job.dump,
            },
            numbering,
            table,
            decided,
        };
        let first = self.references as u32;
        let units = units(self.sources).into_iter().filter_map(|unit| {
            let own = unit.start.max(first)..unit.end;
            (!own.is_empty()).then(|| Unit::whole(own))
        });
        let finished = rewriting.write(&units.collect::<Vec<_>>(), &pipeline)?;
        #[cfg(feature = "parquet")]
        tables::write(&rewriting, &finished, &pipeline)?;
        #[cfg(not(feature = "parquet"))]
        drop(finished);
        self.progress.end(total);
        Ok(())
    }

    /// The bytes of the table of units: enough for units of 64 bytes, and at most `most`.
    fn table_bytes(&self, most: usize) -> usize {
        if self.job.is_by_list() {
            return 0;
        }
        let text = self.sources.iter().map(|source| {
            let bytes = source.bytes.unwrap_or_default();
            match source.compression {
                Compression::None => bytes,
                // Texts compress to a fifth at most.
                Compression::Gzip | Compression::Zstd => bytes.saturating_mul(5),
            }
        });
        let text = text.fold(0, u64::saturating_add);
        let wanted = usize::try_from(text / 16).unwrap_or(usize::MAX);
        wanted.clamp(1 << 16, most.max(1 << 16))
    }

    fn pipeline(&self) -> Pipeline<'_> {
        Pipeline {
            sources: self.sources,
            reading: &self.job.reading,
            workers: self.resources.threads,
            readers: readers(self.resources, self.job.reading.max_document_bytes),
            progress: self.progress,
        }
    }

    fn write_timings(&self) -> Result<()> {
        let (threads, time) = (self.resources.threads, self.begin.elapsed());
        let timings = timings(&self.progress.finished(), threads, time);
        let mut file = self.work.outputs().create(&self.out.join(TIMINGS))?;
        file.write_all(checksummed_text(timings).as_bytes())
            .map_err(|cause| file.error(cause))?;
        file.publish()
    }
}

fn missing() -> crate::Error {
    let message = "the decisions of this run are missing: start again with --restart";
    crate::Error::new(crate::ErrorKind::Content, message)
}
