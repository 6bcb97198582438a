//! How a run begins: what it refuses, what it finds in its output directory, and how it goes on.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use crate::corpus::Source;
use crate::dedup::keep::Policy;
use crate::io::Faults;
use crate::run::streams::{BegunStream, spool};
use crate::run::{Progress, Resources, Workers};
use crate::{Error, ErrorKind, Result};

use super::copying::Stamp;
use super::decided::Decided;
use super::gathered::Gathered;
use super::sketching::Inputs;
#[cfg(feature = "parquet")]
use super::table_dump;
use super::work::{Beginning, Opened, SUMMARY, Work};
use super::{
    Against, ClusterRule, Job, KnownDocuments, Place, Run, Summary, WriteMode, dump, identity,
    least_memory_bytes, pair_tables, targets, text_field,
};

/// What a job finds in its output directory.
pub enum Begun<'a> {
    /// The complete output of the same job on the same inputs.
    Complete(Box<Summary>),
    /// Nothing, or what an interrupted run of the same job left.
    Unfinished(Box<Unfinished<'a>>),
}

/// A run that has its output directory for itself, and reads nothing before it is told to.
pub struct Unfinished<'a> {
    job: &'a Job,
    place: Place<'a>,
    resources: &'a Resources,
    identity: Value,
    work: Work,
    found: Option<String>,
    stream: Option<BegunStream>,
}

/// What a job that may begin begins with.
struct Checked {
    identity: Value,
    has_stream: bool,
    outputs: Vec<PathBuf>,
    reads: Vec<PathBuf>,
}

impl Checked {
    fn beginning(&self, place: &Place<'_>) -> Beginning<'_> {
        Beginning {
            restart: place.restart,
            has_stream: self.has_stream,
            outputs: &self.outputs,
            reads: &self.reads,
        }
    }
}

impl Job {
    /// Runs the job and publishes its output; `summary.json` comes last. Nothing is done for the
    /// complete output of the same job on the same inputs.
    ///
    /// The output is the same for all `resources`, and whether or not the run was interrupted and
    /// begun again in between. A run that reads a stream always begins anew.
    ///
    /// # Errors
    /// Those of [`begin`](Job::begin) and of [`Unfinished::run`].
    pub fn run(
        &self,
        place: &Place<'_>,
        resources: &Resources,
        progress: &Progress,
    ) -> Result<Summary> {
        match self.begin(place, resources)? {
            Begun::Complete(summary) => Ok(*summary),
            Begun::Unfinished(run) => run.run(progress),
        }
    }

    /// Checks what can be checked before anything is read, and takes the output directory. Before a
    /// restart removes anything, the first bytes of the first stream are awaited.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a job that cannot be done, or if the earlier output that would be
    /// removed is read; [`ErrorKind::Memory`] for too small
    /// a bound; [`ErrorKind::Changed`] if the output directory holds what another job left, or an
    /// input changed; [`ErrorKind::Content`] if what is there is damaged; [`ErrorKind::Write`].
    pub fn begin<'a>(&'a self, place: &Place<'a>, resources: &'a Resources) -> Result<Begun<'a>> {
        self.begin_with_faults(place, resources, &Faults::default())
    }

    /// The same, with changes of the output directory that fail on demand.
    ///
    /// # Errors
    /// Those of [`begin`](Job::begin).
    pub fn begin_with_faults<'a>(
        &'a self,
        place: &Place<'a>,
        resources: &'a Resources,
        faults: &Faults,
    ) -> Result<Begun<'a>> {
        let checked = self.checked(place, resources)?;
        let stream = self.first_stream(place)?;
        let beginning = checked.beginning(place);
        match Work::open(place.out, &checked.identity, beginning, faults)? {
            Opened::Finished => {
                let summary = Summary::read(&place.out.join(SUMMARY))?;
                Ok(Begun::Complete(Box::new(summary)))
            }
            Opened::Unfinished(work) => {
                let found = self.found(&work, place)?;
                Ok(Begun::Unfinished(Box::new(Unfinished {
                    job: self,
                    place: *place,
                    resources,
                    identity: checked.identity,
                    work,
                    found,
                    stream,
                })))
            }
        }
    }

    /// Refuses what [`begin`](Job::begin) refuses before anything is read, and changes nothing.
    ///
    /// # Errors
    /// Those of [`begin`](Job::begin).
    pub fn check_beginning(&self, place: &Place<'_>, resources: &Resources) -> Result<()> {
        self.checked(place, resources).map(drop)
    }

    fn checked(&self, place: &Place<'_>, resources: &Resources) -> Result<Checked> {
        self.check()?;
        check_memory(self, resources)?;
        pair_tables::check(self.pairs)?;
        match place.against {
            Against::Known(known) => self.check_known(known)?,
            Against::Documents(_) if self.drop_all => {
                let message = "no copy is kept only of an input that is compared with itself";
                return Err(Error::new(ErrorKind::Parameter, message));
            }
            Against::Itself | Against::Documents(_) => {}
        }
        let all = [place.against.documents(), place.sources].concat();
        self.check_sources(&all, place.against.documents().len(), place.out)?;
        for sources in [place.against.documents(), place.sources] {
            text_field::check(sources, &self.reading)?;
        }
        let sources = all.iter().map(|source| &source.path);
        let checked = Checked {
            identity: identity::identity(self, place)?,
            has_stream: all.iter().any(Source::is_stream),
            outputs: self.outputs(place.sources)?,
            reads: sources.chain(place.also_read).cloned().collect(),
        };
        Work::check(place.out, &checked.identity, checked.beginning(place))?;
        Ok(checked)
    }

    /// Begins the first stream where an earlier output is to be removed: what is not read must not
    /// cost it.
    fn first_stream(&self, place: &Place<'_>) -> Result<Option<BegunStream>> {
        let mut all = place.against.documents().iter().chain(place.sources);
        match all
            .find(|source| source.is_stream())
            .filter(|_| place.restart && place.out.is_dir())
        {
            Some(stream) => {
                BegunStream::begin(stream, &self.reading, place.out, || Ok(())).map(Some)
            }
            None => Ok(None),
        }
    }

    /// What an interrupted run left, in a sentence for people.
    fn found(&self, work: &Work, place: &Place<'_>) -> Result<Option<String>> {
        let segments = work.segments()?;
        let mut found = match (Gathered::is_complete(work)?, segments) {
            (false, 0) => return Ok(None),
            (false, 1) => "first reading begun, 1 stretch of it complete".to_owned(),
            (false, more) => format!("first reading begun, {more} stretches of it complete"),
            (true, _) => "first reading complete".to_owned(),
        };
        if Decided::is_complete(work)? {
            found += ", decisions complete";
        }
        if work.outputs().is_written(&place.out.join("skipped.jsonl")) {
            found += ", reports written";
        }
        if self.writes_dump() {
            let directory = place.out.join(self.write.name());
            let target = |source: &&Source| {
                let target = directory.join(targets::inside(&source.path));
                work.outputs().is_written(&target)
            };
            let written = place.sources.iter().filter(target).count();
            let (all, name) = (place.sources.len(), self.write.name());
            found += &format!(", {written} of {all} files of {name}/ written");
        }
        Ok(Some(format!("continuing an interrupted run: {found}")))
    }

    /// Refuses what cannot be read or written, before anything is; of streams, little is known yet.
    /// The first sources are the `references`.
    fn check_sources(&self, sources: &[Source], references: usize, out: &Path) -> Result<()> {
        let (references, inputs) = sources.split_at(references.min(sources.len()));
        #[cfg(feature = "parquet")]
        {
            table_dump::check(references, &self.reading, false)?;
            table_dump::check(inputs, &self.reading, self.writes_dump())?;
        }
        #[cfg(not(feature = "parquet"))]
        let _ = references;
        if self.writes_dump() {
            dump::check(inputs, self.write == WriteMode::Annotated, self.dump)?;
        }
        targets::check(out, &self.outputs(inputs)?)
    }

    /// Whether files are written for the inputs.
    pub(super) fn writes_dump(&self) -> bool {
        matches!(self.write, WriteMode::Kept | WriteMode::Annotated)
    }

    /// The files that a run on `sources` writes, below the directory of the output.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if two of them would be one file.
    pub fn outputs(&self, sources: &[Source]) -> Result<Vec<PathBuf>> {
        let mut names: Vec<PathBuf> = self.reports().into_iter().map(PathBuf::from).collect();
        names.extend(self.targets(sources)?);
        Ok(names)
    }

    /// For each of `sources`, the file that is written for it.
    fn targets(&self, sources: &[Source]) -> Result<Vec<PathBuf>> {
        match self.writes_dump() {
            true => targets::of_sources(sources, self.write.name()),
            false => Ok(Vec::new()),
        }
    }

    /// Refuses what goes by texts or parts, of which nothing is known.
    fn check_known(&self, known: &dyn KnownDocuments) -> Result<()> {
        let refused = [
            (self.keep_per_site, "a copy for every site is kept"),
            (
                self.clusters == ClusterRule::Components,
                "components are formed",
            ),
            (self.drop_all, "no copy is kept"),
            (
                self.against_only && self.keep != Policy::First,
                "the copy that stays is chosen",
            ),
        ];
        if let Some((_, what)) = refused.iter().find(|(is_asked, _)| *is_asked) {
            let message = format!("{what} only where all texts can be read, not against an index");
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        known.expect(self)
    }
}

impl Unfinished<'_> {
    /// What an interrupted run left and is not done again, in a sentence for people.
    pub fn found(&self) -> Option<&str> {
        self.found.as_deref()
    }

    /// What people should know before the run begins.
    pub fn warning(&self) -> Option<&str> {
        self.work.warning()
    }

    /// Runs the job to its end.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if an input changed; [`ErrorKind::Content`] if a file of the work
    /// directory is damaged; [`ErrorKind::Interrupted`]; those of reading and writing.
    pub fn run(self, progress: &Progress) -> Result<Summary> {
        let Unfinished { job, place, .. } = self;
        let references = place.against.documents();
        let mut sources = [references, place.sources].concat();
        let references = references.len();
        if sources.iter().any(Source::is_stream) {
            let directory = self.work.directory();
            let spooled = spool(&mut sources, self.stream, &job.reading, directory, progress);
            if let Err(error) =
                spooled.and_then(|()| job.check_sources(&sources, references, place.out))
            {
                self.work.abandon()?;
                return Err(error);
            }
        }
        let inputs = Inputs {
            sources: &sources,
            references: references as u32,
        };
        let workers = Workers::new(self.resources.threads)?;
        let run = Run {
            job,
            inputs,
            left_out: place.left_out,
            stamps: sources.iter().map(Stamp::of).collect::<Result<_>>()?,
            targets: job.targets(&sources[references..])?,
            known: match place.against {
                Against::Known(known) => Some(known),
                Against::Itself | Against::Documents(_) => None,
            },
            out: place.out,
            work: &self.work,
            resources: self.resources,
            progress,
            begin: Instant::now(),
        };
        let (summary, text) = workers.install(|| run.all())?;
        self.work.finish(&self.identity, &text)?;
        Ok(summary)
    }
}

fn check_memory(job: &Job, resources: &Resources) -> Result<()> {
    let least = least_memory_bytes(resources.threads, job.reading.max_document_bytes);
    if resources.memory_bytes >= least {
        return Ok(());
    }
    let message = format!(
        "a memory bound of {} MiB is too small: {} threads and documents of {} MiB need at least \
         {} MiB",
        resources.memory_bytes >> 20,
        resources.threads,
        job.reading.max_document_bytes >> 20,
        least.div_ceil(1 << 20),
    );
    Err(Error::new(ErrorKind::Memory, message))
}

impl Summary {
    /// The summary of a finished run.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if the file is not a summary; [`ErrorKind::Read`].
    fn read(path: &Path) -> Result<Summary> {
        let text = fs::read(path).map_err(|cause| {
            Error::new(ErrorKind::Read, "cannot be read")
                .in_file(path)
                .caused_by(cause)
        })?;
        let summary: Option<Value> = serde_json::from_slice(&text).ok();
        summary
            .and_then(|summary| Summary::parse(&summary))
            .ok_or_else(|| {
                let message = "is damaged: it has not the counts of a finished run (remove it, and \
                           add --restart to make the whole output again)";
                Error::new(ErrorKind::Content, message).in_file(path)
            })
    }
}
