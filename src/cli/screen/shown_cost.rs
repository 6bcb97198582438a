//! What a run takes, as lines of a plan and as JSON.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use simtool::corpus::Source;
use simtool::engine::{Resources, StagePlan};
use simtool::jobs::Invocation;
use simtool::jobs::dedup::{RunCost, Shortage};

use super::amount::{counted, duration, megabytes};
use super::visible::visible_path;
use crate::cli::process::machine;

/// The cost of a run that has not begun.
#[derive(Clone, Copy)]
pub struct ShownCost<'a> {
    pub cost: &'a RunCost,
    pub invocation: &'a Invocation<'a>,
    pub resources: &'a Resources,
}

/// The bytes of `sources`, not counting streams.
pub fn bytes(sources: &[Source]) -> u64 {
    sources.iter().filter_map(|source| source.bytes).sum()
}

impl ShownCost<'_> {
    /// Whether all contents are known: those of a stream are not, before it is read.
    pub fn is_known(&self) -> bool {
        let references = self.invocation.against.documents();
        let mut sources = self.invocation.sources.iter().chain(references);
        !sources.any(Source::is_stream)
    }

    /// The number and the bytes of all files.
    fn files(&self) -> (u64, u64) {
        let (own, references) = (self.invocation.sources, self.invocation.against.documents());
        let files = own.len() + references.len();
        (files as u64, bytes(own) + bytes(references))
    }

    /// The line of the input.
    pub fn input(&self) -> String {
        let uncounted = match self.is_known() {
            true => "",
            false => ", not counting streams",
        };
        let (files, bytes) = self.files();
        format!(
            "input     {}, {}; about {} documents, {} of text{uncounted}\n",
            counted(files, "file"),
            megabytes(bytes),
            self.cost.documents,
            megabytes(self.cost.text_bytes),
        )
    }

    /// The lines of threads and memory, of space and of time.
    pub fn resources(&self) -> String {
        let ShownCost {
            cost,
            invocation,
            resources,
        } = self;
        format!(
            "resources {}, at most {} of memory\n\
             space     about {} of temporary files in {}, {} in {}; {} of output\n\
             time      about {}: {}\n",
            counted(resources.threads as u64, "thread"),
            machine::size(resources.memory_bytes),
            megabytes(cost.work_bytes),
            visible_path(&invocation.out.join(".simtool")),
            megabytes(cost.spooled_bytes),
            visible_path(&resources.temporary),
            megabytes(cost.output_bytes),
            duration(cost.time()),
            stages(cost)
        )
    }

    /// The fields of the plan in JSON. Amounts that depend on streams are missing.
    pub fn fields(&self) -> Map<String, Value> {
        let cost = self.cost;
        let is_known = self.is_known();
        let seconds = |stage: &StagePlan| json!({"stage": stage.stage.name(), "seconds": stage.time.as_secs_f64()});
        let short = |short: &Shortage| {
            json!({
                "directory": short.directory.to_string_lossy(),
                "free_bytes": short.free_bytes,
                "needed_bytes": short.needed_bytes,
            })
        };
        let number = |number: u64| is_known.then_some(number);
        let stages = cost.stages.iter().filter(|_| is_known).map(seconds);
        let shortages = cost.shortages(self.invocation.out, &self.resources.temporary);
        let (files, bytes) = self.files();
        let fields = json!({
            "files": files,
            "bytes": number(bytes),
            "documents": number(cost.documents),
            "text_bytes": number(cost.text_bytes),
            "temporary_bytes": number(cost.temporary_bytes()),
            "output_bytes": number(cost.output_bytes),
            "seconds": is_known.then(|| cost.time().as_secs_f64()),
            "stages": stages.collect::<Vec<_>>(),
            "short_of_space": shortages.iter().map(short).collect::<Vec<_>>(),
        });
        fields.as_object().cloned().unwrap_or_default()
    }
}

/// The stages that take a twentieth of the time or more.
fn stages(cost: &RunCost) -> String {
    let total = cost.time();
    let is_long = |time: Duration| time * 20 >= total;
    let long = cost.stages.iter().filter(|stage| is_long(stage.time));
    let named = long.map(|stage| format!("{} {}", stage.stage.name(), duration(stage.time)));
    named.collect::<Vec<_>>().join(", ")
}

/// A warning for each file system with too little space.
pub fn shortages(cost: &RunCost, out: &Path, resources: &Resources) -> String {
    let warning = |short: &Shortage| {
        format!(
            "warning: {} has {} free, and about {} are needed there (free space, or choose \
             another {})\n",
            visible_path(&short.directory),
            megabytes(short.free_bytes),
            megabytes(short.needed_bytes),
            match short.directory == out {
                true => "-o",
                false => "--temp-dir",
            },
        )
    };
    let found = cost.shortages(out, &resources.temporary);
    found.iter().map(warning).collect()
}
