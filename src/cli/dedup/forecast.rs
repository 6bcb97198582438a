//! The expected time of a deduplication, and its plan, which is shown before it begins.

use std::time::Duration;

use simtool::Result;
use simtool::engine::{Resources, Stage};
use simtool::io::FileSystem;
use simtool::jobs::Invocation;
use simtool::jobs::dedup::{DedupEstimate, DedupJob};

use super::plan::{DedupPlan, warnings};
use crate::cli::process::session::Session;
use crate::cli::screen::log::Form;
use crate::cli::screen::message;
use crate::cli::screen::shown_cost::bytes;

/// Smaller inputs are not sampled unless a plan was requested.
const PLANNED_BYTES: u64 = 256 << 20;
/// The same for methods that compare each document with a part of all others.
const PLANNED_BYTES_OF_SLOW: u64 = 8 << 20;
/// Smaller inputs are sampled, too, if a file system has less free space than this.
const AMPLE_BYTES: u64 = 2 << 30;

/// The plan of a run, if there is one.
#[derive(Default)]
pub struct Forecast {
    /// The first text of the log.
    pub first_text: Option<String>,
    /// The expected duration.
    pub time: Option<Duration>,
}

/// Plans the run of `session`. With a progress bar, the plan is written immediately. Otherwise it
/// is the first text of the log, if the log was requested or is text. If the log was not requested,
/// warnings of too little space and of very many comparisons are written immediately.
///
/// # Errors
/// Errors of sampling the inputs.
pub fn expect(
    job: &DedupJob,
    invocation: &Invocation<'_>,
    resources: &Resources,
    session: &Session,
) -> Result<Forecast> {
    let log = session.log;
    let is_requested = log.form == Form::Bar || log.delay.is_zero();
    let planned = match job.may_compare_many(resources.level) {
        true => PLANNED_BYTES_OF_SLOW,
        false => PLANNED_BYTES,
    };
    let is_small = bytes(invocation.sources) + bytes(invocation.against.documents()) < planned;
    let has_space = [invocation.out, &resources.temporary]
        .iter()
        .all(|directory| {
            FileSystem::of(directory).is_none_or(|found| found.free_bytes >= AMPLE_BYTES)
        });
    if log.form == Form::Silent || (!is_requested && is_small && has_space) {
        return Ok(Forecast::default());
    }
    let listing = session.elapsed();
    let mut estimate = DedupEstimate::of(job, invocation, resources, false)?;
    session.progress.expect(estimate.cost.stages.clone());
    estimate.cost.begin_with(Stage::List, listing);
    let time = Some(estimate.cost.time());
    let plan = DedupPlan {
        job,
        invocation,
        resources,
        client: &session.client,
        estimate,
    };
    let text = match log.form {
        Form::Json => plan.json(),
        _ => plan.text(),
    };
    let first_text = match log.form {
        Form::Bar => {
            message::write(&text);
            None
        }
        _ if is_requested => Some(text),
        _ => {
            message::write(&warnings(&plan.estimate, invocation, resources));
            (log.form == Form::Text).then_some(text)
        }
    };
    Ok(Forecast { first_text, time })
}
