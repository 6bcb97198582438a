//! The course of a job: which stage is next.

use std::path::Path;

use serde::Serialize;
use simtool_batch::dedup::{DedupJob, UrlRule};
use simtool_core::{Error, ErrorKind, Result};

use crate::context::is_in_order;
use crate::plan::{Inputs, Plan, Request};
use crate::settings::check;
use crate::stored_job::{JOB, Stored, read, unreadable};
use crate::tasks;
use crate::work::{Facts, Work};

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
