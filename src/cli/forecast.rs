//! The plan of a deduplication, which is shown before it begins.

use std::time::Duration;

use serde_json::json;
use simtool::Result;
use simtool::corpus::Source;
use simtool::engine::{Progress, Resources};
use simtool::io::FileSystem;
use simtool::jobs::dedup::{Against, Estimate, Invocation, Job, Scope};

use super::amount::{counted, duration, megabytes};
use super::log::{Form, Log};
use super::message::event_object;
use super::visible::visible_path;
use super::{machine, message};

/// Smaller inputs are not sampled unless a plan was requested.
const PLANNED_BYTES: u64 = 256 << 20;
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

/// Plans a run for `progress`. With a progress bar, the plan is written immediately. Otherwise it
/// is the first text of the log, if the log was requested or is text. If the log was not requested,
/// a warning of too little space is written immediately.
///
/// # Errors
/// Those of sampling the inputs.
pub fn expect(
    job: &Job,
    invocation: &Invocation<'_>,
    resources: &Resources,
    log: Log,
    progress: &Progress,
) -> Result<Forecast> {
    let is_requested = log.form == Form::Bar || log.delay.is_zero();
    let is_small =
        bytes(invocation.sources) + bytes(invocation.against.documents()) < PLANNED_BYTES;
    let has_space = [invocation.out, &resources.temporary]
        .iter()
        .all(|directory| {
            FileSystem::of(directory).is_none_or(|found| found.free_bytes >= AMPLE_BYTES)
        });
    if log.form == Form::Silent || (!is_requested && is_small && has_space) {
        return Ok(Forecast::default());
    }
    let estimate = job.estimate(invocation, resources)?;
    progress.expect(estimate.stages.clone());
    let plan = match log.form {
        Form::Json => json(&estimate, invocation, resources),
        _ => text(job, invocation, resources, &estimate),
    };
    let first_text = match log.form {
        Form::Bar => {
            message::write(&plan);
            None
        }
        _ if is_requested => Some(plan),
        _ => {
            message::write(&shortages(&estimate, invocation, resources));
            (log.form == Form::Text).then_some(plan)
        }
    };
    Ok(Forecast {
        first_text,
        time: Some(estimate.time()),
    })
}

fn bytes(sources: &[Source]) -> u64 {
    sources.iter().filter_map(|source| source.bytes).sum()
}

/// The plan as text.
pub fn text(
    job: &Job,
    invocation: &Invocation<'_>,
    resources: &Resources,
    estimate: &Estimate,
) -> String {
    let mut text = match invocation.against {
        Against::Known(_) => format!("method    {}\n", job.method.summary()),
        _ => format!("method    {}\n", job.describe()),
    };
    if job.within != Scope::Global {
        text += &format!("scope     documents are compared within {}\n", job.within);
    }
    if !job.compare_scopes.is_empty() {
        let scopes: Vec<String> = job.compare_scopes.iter().map(Scope::to_string).collect();
        text += &format!(
            "compared  {}; one search and clustering for each\n",
            scopes.join(", ")
        );
    }
    let streams = |sources: &[Source]| sources.iter().any(Source::is_stream);
    let uncounted = match streams(invocation.sources) || streams(invocation.against.documents()) {
        true => ", not counting streams",
        false => "",
    };
    text += &format!(
        "input     {}, {}; about {} documents, {} of text{uncounted}\n",
        counted(
            (invocation.sources.len() + invocation.against.documents().len()) as u64,
            "file"
        ),
        megabytes(bytes(invocation.sources) + bytes(invocation.against.documents())),
        estimate.documents,
        megabytes(estimate.text_bytes),
    );
    if let Some((fair, measured)) = estimate.accidental {
        let then = match invocation.against {
            Against::Known(_) => "documents near an indexed one by accident are dropped",
            _ => "verification rejects them",
        };
        text += &format!(
            "accidents {measured:.2} documents within the distance of each by accident \
             ({fair:.1e} if bits were uniform); {then}\n"
        );
    }
    text += &format!(
        "resources {}, at most {} of memory\n",
        counted(resources.threads as u64, "thread"),
        machine::size(resources.memory_bytes),
    );
    text += &format!(
        "space     about {} of temporary files in {}, {} in {}; {} of output\n",
        megabytes(estimate.work_bytes),
        visible_path(&invocation.out.join(".simtool")),
        megabytes(estimate.spooled_bytes),
        visible_path(&resources.temporary),
        megabytes(estimate.output_bytes),
    );
    text += &format!(
        "time      about {}: {}\n",
        duration(estimate.time()),
        stages(estimate)
    );
    if let Some(count) = estimate.without_text {
        text += &format!(
            "warning: none of {count} documents of the sample has text in --text-field {}; \
             documents without text are skipped\n",
            job.reading.text_field
        );
    }
    text + &shortages(estimate, invocation, resources)
}

/// The stages that take a twentieth of the time or more.
fn stages(estimate: &Estimate) -> String {
    let total = estimate.time();
    let long = estimate
        .stages
        .iter()
        .filter(|stage| stage.time * 20 >= total);
    let named = long.map(|stage| format!("{} {}", stage.stage.name(), duration(stage.time)));
    named.collect::<Vec<_>>().join(", ")
}

/// A warning for each file system with too little space.
fn shortages(estimate: &Estimate, invocation: &Invocation<'_>, resources: &Resources) -> String {
    let found = estimate.shortages(invocation.out, &resources.temporary);
    let warning = |short: &simtool::jobs::dedup::Shortage| {
        format!(
            "warning: {} has {} free, and about {} are needed there (free space, or choose \
             another {})\n",
            visible_path(&short.directory),
            megabytes(short.free_bytes),
            megabytes(short.needed_bytes),
            match short.directory == invocation.out {
                true => "-o",
                false => "--temp-dir",
            },
        )
    };
    found.iter().map(warning).collect()
}

/// The plan as a JSON object on one line.
pub fn json(estimate: &Estimate, invocation: &Invocation<'_>, resources: &Resources) -> String {
    let seconds = |stage: &simtool::engine::StagePlan| json!({"stage": stage.stage.name(), "seconds": stage.time.as_secs_f64()});
    let short = |short: &simtool::jobs::dedup::Shortage| {
        json!({
            "directory": short.directory.to_string_lossy(),
            "free_bytes": short.free_bytes,
            "needed_bytes": short.needed_bytes,
        })
    };
    let shortages = estimate.shortages(invocation.out, &resources.temporary);
    let mut sources = invocation
        .sources
        .iter()
        .chain(invocation.against.documents());
    // The contents of a stream are unknown before it is read.
    let is_known = !sources.any(Source::is_stream);
    let number = |number: u64| is_known.then_some(number);
    let stages = estimate.stages.iter().filter(|_| is_known).map(seconds);
    let fields = json!({
        "files": invocation.sources.len() + invocation.against.documents().len(),
        "bytes": number(bytes(invocation.sources) + bytes(invocation.against.documents())),
        "documents": number(estimate.documents),
        "text_bytes": number(estimate.text_bytes),
        "temporary_bytes": number(estimate.temporary_bytes()),
        "output_bytes": number(estimate.output_bytes),
        "seconds": is_known.then(|| estimate.time().as_secs_f64()),
        "stages": stages.collect::<Vec<_>>(),
        "without_text": estimate.without_text.is_some(),
        "short_of_space": shortages.iter().map(short).collect::<Vec<_>>(),
    });
    format!("{}\n", event_object("plan", &fields))
}
