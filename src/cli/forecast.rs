//! What a deduplication will take: the plan that is told before it begins.

use std::time::Duration;

use serde_json::json;
use simtool::Result;
use simtool::corpus::Source;
use simtool::io::FileSystem;
use simtool::run::dedup::{Against, Estimate, Job, Place};
use simtool::run::{Progress, Resources};

use super::amount::{duration, megabytes};
use super::log::{Form, Log, event_object};
use super::visible::visible_path;
use super::{machine, message};

/// A smaller input is not sampled where no plan was asked for: it is done before the first line.
const PLANNED_BYTES: u64 = 256 << 20;
/// Unless a file system has less space than this.
const AMPLE_BYTES: u64 = 2 << 30;

/// The plan of a run, as far as there is one.
#[derive(Default)]
pub struct Plan {
    /// What the log begins with.
    pub told: Option<String>,
    /// How long the run should take.
    pub time: Option<Duration>,
}

/// Plans a run for `progress`. On a terminal the plan is written at once, in other forms of the
/// log only a warning where space is short.
///
/// # Errors
/// Those of sampling the inputs.
pub fn expect(
    job: &Job,
    place: &Place<'_>,
    resources: &Resources,
    log: Log,
    progress: &Progress,
) -> Result<Plan> {
    let is_asked = log.form == Form::Bar || log.patience.is_zero();
    let is_small = bytes(place.sources) + bytes(place.against.documents()) < PLANNED_BYTES;
    let has_space = [place.out, &resources.temporary].iter().all(|directory| {
        FileSystem::of(directory).is_none_or(|found| found.free_bytes >= AMPLE_BYTES)
    });
    if log.form == Form::Silent || (!is_asked && is_small && has_space) {
        return Ok(Plan::default());
    }
    let estimate = job.estimate(place, resources)?;
    progress.expect(estimate.stages.clone());
    let plan = match log.form {
        Form::Json => json(&estimate, place, resources),
        _ => text(job, place, resources, &estimate),
    };
    let told = match log.form {
        Form::Bar => {
            message::write(&plan);
            None
        }
        _ if is_asked => Some(plan),
        _ => {
            message::write(&shortages(&estimate, place, resources));
            (log.form == Form::Text).then_some(plan)
        }
    };
    Ok(Plan {
        told,
        time: Some(estimate.time()),
    })
}

fn bytes(sources: &[Source]) -> u64 {
    sources.iter().filter_map(|source| source.bytes).sum()
}

/// The plan for people.
pub fn text(job: &Job, place: &Place<'_>, resources: &Resources, estimate: &Estimate) -> String {
    let mut text = match place.against {
        Against::Known(_) => format!("method    {}\n", job.method.summary()),
        _ => format!("method    {}\n", job.describe()),
    };
    let streams = |sources: &[Source]| sources.iter().any(Source::is_stream);
    let uncounted = match streams(place.sources) || streams(place.against.documents()) {
        true => ", not counting streams",
        false => "",
    };
    text += &format!(
        "input     {} files, {}; about {} documents, {} of text{uncounted}\n",
        place.sources.len() + place.against.documents().len(),
        megabytes(bytes(place.sources) + bytes(place.against.documents())),
        estimate.documents,
        megabytes(estimate.text_bytes),
    );
    if let Some((fair, measured)) = estimate.accidental {
        let then = match place.against {
            Against::Known(_) => "what is near by accident goes",
            _ => "verification sorts them out",
        };
        text += &format!(
            "accidents {measured:.2} documents within the distance of each by accident \
             ({fair:.1e} if bits were fair); {then}\n"
        );
    }
    text += &format!(
        "resources {} threads, at most {} of memory\n",
        resources.threads,
        machine::size(resources.memory_bytes),
    );
    text += &format!(
        "space     about {} of temporary files in {}, {} of output\n",
        megabytes(estimate.temporary_bytes()),
        visible_path(&resources.temporary),
        megabytes(estimate.output_bytes),
    );
    text += &format!(
        "time      about {}: {}\n",
        duration(estimate.time()),
        stages(estimate)
    );
    text + &shortages(estimate, place, resources)
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

/// A warning for each file system that has too little space.
fn shortages(estimate: &Estimate, place: &Place<'_>, resources: &Resources) -> String {
    let found = estimate.shortages(place.out, &resources.temporary);
    let warning = |short: &simtool::run::dedup::Shortage| {
        format!(
            "warning: {} has {} free, and about {} are needed there (free space, or choose \
             another -o or --temp-dir)\n",
            visible_path(&short.directory),
            megabytes(short.free_bytes),
            megabytes(short.needed_bytes),
        )
    };
    found.iter().map(warning).collect()
}

/// The plan for programs, an object on one line.
pub fn json(estimate: &Estimate, place: &Place<'_>, resources: &Resources) -> String {
    let seconds = |stage: &simtool::run::StagePlan| json!({"stage": stage.stage.name(), "seconds": stage.time.as_secs_f64()});
    let short = |short: &simtool::run::dedup::Shortage| {
        json!({
            "directory": short.directory.to_string_lossy(),
            "free_bytes": short.free_bytes,
            "needed_bytes": short.needed_bytes,
        })
    };
    let shortages = estimate.shortages(place.out, &resources.temporary);
    let mut sources = place.sources.iter().chain(place.against.documents());
    // Of a stream nothing is known before it is read.
    let is_known = !sources.any(Source::is_stream);
    let number = |number: u64| is_known.then_some(number);
    let stages = estimate.stages.iter().filter(|_| is_known).map(seconds);
    let fields = json!({
        "files": place.sources.len() + place.against.documents().len(),
        "bytes": number(bytes(place.sources) + bytes(place.against.documents())),
        "documents": number(estimate.documents),
        "text_bytes": number(estimate.text_bytes),
        "temporary_bytes": number(estimate.temporary_bytes()),
        "output_bytes": number(estimate.output_bytes),
        "seconds": is_known.then(|| estimate.time().as_secs_f64()),
        "stages": stages.collect::<Vec<_>>(),
        "short_of_space": shortages.iter().map(short).collect::<Vec<_>>(),
    });
    format!("{}\n", event_object("plan", &fields))
}
