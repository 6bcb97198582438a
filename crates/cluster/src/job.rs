//! The course of a job: which stage is next.

use std::path::Path;

use serde::{Deserialize, Serialize};
use simtool_batch::KnownDocuments;
use simtool_batch::dedup::{DedupJob, UrlRule};
use simtool_core::{Error, ErrorKind, Result};
use simtool_engine::Progress;

use crate::context::{Context, is_in_order};
use crate::plan::{Inputs, Plan, Request};
use crate::settings::check;
use crate::tasks;
use crate::work::{Facts, Work};

/// The file with what was asked for.
const JOB: &str = "job.json";

/// What is stored of a job.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Stored {
    version: String,
    request: Request,
    plan: Plan,
}

/// A job that has begun, as its tasks see it.
pub struct StoredJob {
    work: Work,
    stored: Stored,
}

/// What the words of a request say.
#[derive(Clone, Copy)]
pub struct Called<'a> {
    /// The settings.
    pub job: &'a DedupJob,
    /// The indexes that the input is compared with.
    pub known: Option<&'a dyn KnownDocuments>,
}

/// A stage that is next.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Its tasks, numbered from 0 on.
    pub tasks: usize,
}

/// A job, as its driver sees it.
pub struct Job {
    work: Work,
    job: DedupJob,
    stored: Stored,
}

impl Job {
    /// Begins a job in a directory, or goes on with it. `job` and `inputs` are what the words of
    /// `request` say.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for settings that a cluster does not have, and for a directory of another
    /// job; errors of finding files.
    pub fn open(
        directory: &Path,
        request: Request,
        job: DedupJob,
        inputs: Inputs<'_>,
    ) -> Result<Job> {
        check(&job, !inputs.references.is_empty())?;
        let work = Work::open(directory)?;
        work.claim()?;
        let stored = Stored {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            plan: Plan::of(&job, inputs, &request)?,
            request,
        };
        let stored = match read(&work)? {
            Some(earlier) => same(directory, earlier, &stored)?,
            None => {
                let text = serde_json::to_vec(&stored).map_err(unreadable)?;
                work.write(JOB, &text)?;
                stored
            }
        };
        Ok(Job { work, job, stored })
    }

    /// The next stage; `None` if the job is finished.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn next(&self) -> Result<Option<Stage>> {
        for name in self.stages()? {
            if self.work.found(&name)?.is_none() {
                let is_single = name == "common" || name.starts_with("settled");
                let tasks = match is_single {
                    true => 1,
                    false => self.stored.plan.tasks.len(),
                };
                return Ok(Some(Stage { name, tasks }));
            }
        }
        Ok(None)
    }

    /// Records that all tasks of a stage are finished, with what they found, in their order.
    ///
    /// # Errors
    /// Errors of writing; [`ErrorKind::Parameter`] if rows have equal keys.
    pub fn finish(&self, stage: &str, found: Vec<Facts>) -> Result<Facts> {
        let mut all = Facts::default();
        found.into_iter().for_each(|facts| all.merge(facts));
        let repeated = all.count("repeated");
        if repeated > 0 {
            let message = format!(
                "{repeated} values occur more than once, and each row needs one of its own"
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        self.work.finish(stage, &all)?;
        Ok(all)
    }

    /// What the tasks of a finished stage found.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn facts(&self, stage: &str) -> Result<Facts> {
        self.work.facts(stage)
    }

    /// The stages of the job, as far as it is known which ones it has.
    fn stages(&self) -> Result<Vec<String>> {
        let mut stages: Vec<String> = vec!["read".into()];
        let plan = &self.stored.plan;
        if !is_in_order(plan, &self.job) {
            stages.extend(["divide", "sort"].map(str::to_owned));
        }
        if self.has_urls() {
            stages.extend(["pages", "newest", "words"].map(str::to_owned));
        }
        stages.extend(["equal", "spread"].map(str::to_owned));
        if self.stored.plan.known.is_some() {
            stages.push("known".into());
        }
        if !self.job.is_by_equality() {
            self.near_stages(&mut stages)?;
        }
        stages.push("outcomes".into());
        if self.has_urls() {
            stages.push("captured".into());
        }
        stages.extend(["counted", "named", "reports"].map(str::to_owned));
        Ok(stages)
    }

    fn has_urls(&self) -> bool {
        self.job.url != UrlRule::Ignored
    }

    fn near_stages(&self, stages: &mut Vec<String>) -> Result<()> {
        stages.push("near".into());
        if !is_in_order(&self.stored.plan, &self.job) {
            stages.push("wanted".into());
        }
        stages.push("sets".into());
        let Some(sets) = self.work.found("sets")? else {
            return Ok(());
        };
        if sets.count("marked") == 0 {
            return Ok(());
        }
        let has_crowded = sets.count("crowded") > 0;
        if has_crowded {
            stages.extend(["elements", "frequent", "common"].map(str::to_owned));
            if tasks::may_be_hot(&self.stored.plan, &sets) {
                stages.push("hot".into());
            }
        }
        for round in 0.. {
            if has_crowded {
                stages.extend(["prefix", "pairs"].map(|name| format!("{name}-{round}")));
            }
            let names = ["proposed", "lent", "verified", "settled"];
            stages.extend(names.map(|name| format!("{name}-{round}")));
            match self.work.found(&format!("settled-{round}"))? {
                None => return Ok(()),
                Some(settled) if settled.count("undecided") == 0 => break,
                Some(_) => {}
            }
        }
        if self.job.clusters == simtool_batch::dedup::ClusterRule::Components {
            stages.extend(["firsts-0", "shown-0", "compared-0"].map(str::to_owned));
        }
        if self.job.verification.least.is_containment() {
            // The method and the verification are the same.
            return Ok(());
        }
        stages.extend(["labels", "refusals", "refused-1"].map(str::to_owned));
        if self.job.refused {
            stages.extend(["shown-1", "compared-1"].map(str::to_owned));
        }
        Ok(())
    }

    /// The counts of a finished job, by the names of `summary.json`.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn summary(&self) -> Result<Vec<(&'static str, u64)>> {
        let (read, reports) = (self.facts("read")?, self.facts("reports")?);
        let named = self.facts("named")?;
        let refused = self.work.found("refused-1")?.unwrap_or_default();
        let largest = named
            .samples
            .iter()
            .filter_map(|sample| sample.first_chunk());
        let largest = largest.map(|bytes| u64::from_le_bytes(*bytes)).max();
        let dropped = reports.count("dropped");
        let kept = read.count("seen") - read.count("skipped") - dropped;
        Ok(vec![
            ("seen", read.count("seen")),
            ("kept", kept),
            ("dropped", dropped),
            ("skipped", read.count("skipped")),
            ("same_text", reports.count("same_text")),
            ("same_words", reports.count("same_words")),
            ("same_url", reports.count("same_url")),
            ("near", reports.count("near")),
            ("clusters", named.count("clusters")),
            ("largest_cluster", largest.unwrap_or_default()),
            ("refused", refused.count("pairs")),
            ("against", read.count("against")),
            ("skipped_against", read.count("skipped_against")),
            ("dropped_against", reports.count("dropped_against")),
            ("empty", read.count("empty")),
            ("short", read.count("short")),
            ("text_bytes", read.count("text_bytes")),
        ])
    }

    /// What is read, and by which tasks.
    pub fn plan(&self) -> &Plan {
        &self.stored.plan
    }
}

impl StoredJob {
    /// The job in a directory.
    ///
    /// # Errors
    /// Errors of reading; [`ErrorKind::Content`] if there is none.
    pub fn open(directory: &Path) -> Result<StoredJob> {
        let work = Work::open(directory)?;
        let stored = read(&work)?.ok_or_else(|| {
            let message =
                "has no job: is it the directory of the driver, and do all workers see it?";
            Error::new(ErrorKind::Content, message).in_file(directory)
        })?;
        Ok(StoredJob { work, stored })
    }

    /// What was asked for.
    pub fn request(&self) -> &Request {
        &self.stored.request
    }

    /// What is read, and by which tasks.
    pub fn plan(&self) -> &Plan {
        &self.stored.plan
    }

    /// Its directory.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// Runs a task of a stage, and returns what it found. Files that it needs only itself are in
    /// `temporary`.
    ///
    /// # Errors
    /// Errors of the stage.
    pub fn run(
        &self,
        Called { job, known }: Called<'_>,
        (stage, task): (&str, usize),
        temporary: &Path,
        progress: &Progress,
    ) -> Result<Facts> {
        let sources = self.stored.plan.sources(job, task)?;
        let context = Context {
            work: &self.work,
            plan: &self.stored.plan,
            job,
            known,
            sources: &sources,
            temporary,
            progress,
        };
        tasks::run(&context, stage, task)
    }
}

fn read(work: &Work) -> Result<Option<Stored>> {
    let text = work.read(JOB)?;
    text.map(|text| serde_json::from_slice(&text).map_err(unreadable))
        .transpose()
}

fn unreadable(cause: serde_json::Error) -> Error {
    Error::new(ErrorKind::Content, format!("a file of the job: {cause}"))
}

/// The job that is there already, if it is the same one.
fn same(directory: &Path, earlier: Stored, now: &Stored) -> Result<Stored> {
    let difference = if earlier.version != now.version {
        Some(format!("version {}, now {}", earlier.version, now.version))
    } else if (&earlier.request.words, &earlier.request.stop_words)
        != (&now.request.words, &now.request.stop_words)
    {
        let words = |stored: &Stored| stored.request.words.join(" ");
        Some(format!(
            "settings {:?}, now {:?}",
            words(&earlier),
            words(now)
        ))
    } else if earlier.plan.files != now.plan.files {
        Some("other input files, or files that changed since".to_owned())
    } else if earlier.plan.known != now.plan.known {
        Some("another index, or one that changed since".to_owned())
    } else {
        None
    };
    match difference {
        None => Ok(earlier),
        Some(difference) => {
            let message = format!(
                "has another job ({difference}): give the same settings and inputs, or another directory"
            );
            Err(Error::new(ErrorKind::Parameter, message).in_file(directory))
        }
    }
}
