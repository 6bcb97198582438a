//! The plan of a run, as text and as JSON.

use serde_json::{Value, json};
use simtool::corpus::Source;
use simtool::engine::Resources;
use simtool::io::remote::Client;
use simtool::jobs::passages::{
    KeptPlaces, PassageEstimate, PassageSearch, PassageSettings, Readings,
};
use simtool::jobs::{BatchJob, Invocation};

use crate::cli::process::machine;
use crate::cli::reading::on_servers::{OnServers, ReadingsOfInput};
use crate::cli::screen::amount::{counted, megabytes};
use crate::cli::screen::message::event_object;
use crate::cli::screen::shown_cost::{ShownCost, bytes, shortages};

/// A run that has not begun, and what it is expected to take.
pub struct PassagePlan<'a, S> {
    pub search: &'a S,
    pub invocation: &'a Invocation<'a>,
    pub resources: &'a Resources,
    pub client: &'a Client,
    pub estimate: PassageEstimate,
}

impl<S: PassageSearch> PassagePlan<'_, S> {
    fn shown(&self) -> ShownCost<'_> {
        ShownCost {
            cost: &self.estimate.cost,
            invocation: self.invocation,
            resources: self.resources,
        }
    }

    /// The plan as text. `rule` says what is searched, from the settings.
    pub fn text(&self, rule: fn(&Value) -> String) -> String {
        let settings = self.search.settings();
        let PassageSettings { action, shards, .. } = self.search.common();
        let written = match (action.directory(), shards.is_used()) {
            (Some(name), true) => format!(
                "reports, and the documents in {name}/, as shards in the format {}",
                shards.format.name()
            ),
            (Some(name), false) => format!("reports, and the inputs again in {name}/"),
            (None, _) => "reports; no input is written again".to_owned(),
        };
        [
            rule(&settings),
            format!("action    {}\n", text_of(&settings["action"])),
            self.shown().input(),
            self.against(),
            self.on_servers().map_or(String::new(), |read| read.text()),
            self.index(),
            format!("readings  {}\n", self.readings()),
            format!("output    {written}\n"),
            self.shown().resources(),
            shortages(&self.estimate.cost, self.invocation.out, self.resources),
        ]
        .concat()
    }

    /// The files that are compared with, which the line of the input counts, too.
    fn against(&self) -> String {
        match self.invocation.against.documents() {
            [] => String::new(),
            files => format!(
                "against   {} of these, {}\n",
                counted(files.len() as u64, "file"),
                megabytes(bytes(files))
            ),
        }
    }

    fn index(&self) -> String {
        let Some(index) = self.estimate.index else {
            return String::new();
        };
        let mut line = format!(
            "index     about {} words in {} items; the run needs at least {}M of memory\n",
            index.words,
            index.items,
            index.needed_bytes.div_ceil(1 << 20),
        );
        if index.needed_bytes > self.resources.memory_bytes {
            line += &format!(
                "warning: the index does not fit into --memory {}\n",
                machine::size(self.resources.memory_bytes)
            );
        }
        line
    }

    fn on_servers(&self) -> Option<OnServers> {
        let Readings { whole, partial, .. } = self.estimate.readings;
        let readings = ReadingsOfInput {
            to_find: whole.into(),
            to_write: u64::from(self.search.common().action.directory().is_some()),
            in_parts: (partial > 0).then_some("documents in which something may be found"),
        };
        OnServers::of(self.client, self.invocation, readings)
    }

    /// How often the input is read, and why.
    fn readings(&self) -> String {
        let readings = &self.estimate.readings;
        let mut text = readings.whole.to_string();
        if readings.partial > 0 {
            text += &format!(
                ", and {} more of the documents in which something may be found",
                readings.partial
            );
        }
        if let Some(kept) = &readings.kept {
            text += &kept_places(kept);
        }
        if self.search.common().action.directory().is_some() {
            text += "; one more to write the documents";
        }
        text
    }

    /// The plan as a JSON object on one line.
    pub fn json(&self) -> String {
        let invocation = self.invocation;
        let describe = |sources: &[Source]| {
            json!({
                "files": sources.len(),
                "bytes": bytes(sources),
                "streams": sources.iter().filter(|source| source.is_stream()).count(),
            })
        };
        let readings = &self.estimate.readings;
        let kept = readings.kept.map(|kept| {
            json!({
                "count": kept.count,
                "bytes": kept.bytes,
                "most_bytes": kept.most_bytes,
                "enough_memory": kept.enough_memory_bytes,
            })
        });
        let index = self.estimate.index.map(|index| {
            json!({
                "items": index.items,
                "words": index.words,
                "needed_memory": index.needed_bytes,
            })
        });
        let own = json!({
            "settings": self.search.settings(),
            "input": describe(invocation.sources),
            "against": describe(invocation.against.documents()),
            "writes": self.search.common().action.directory(),
            "write_format": self.search.common().shards.format.name(),
            "output": invocation.out.to_string_lossy(),
            "memory": self.resources.memory_bytes,
            "threads": self.resources.threads,
            "temporary": self.resources.temporary.to_string_lossy(),
            "readings": readings.whole,
            "partial_readings": readings.partial,
            "kept_places": kept,
            "index": index,
            "on_servers": self.on_servers().map(|read| read.json()),
        });
        let mut fields = self.shown().fields();
        fields.extend(own.as_object().cloned().unwrap_or_default());
        format!("{}\n", event_object("plan", &fields.into()))
    }
}

/// Why one reading of all documents suffices, or does not.
fn kept_places(kept: &KeptPlaces) -> String {
    let [bytes, most] = [kept.bytes, kept.most_bytes].map(megabytes);
    match kept.fit() {
        true => format!(
            ": about {} places take {bytes} of the {most} for them",
            kept.count
        ),
        false => format!(
            ": about {} places take {bytes}, and the memory has {most} for them (with --memory {}M, \
             one reading less)",
            kept.count,
            kept.enough_memory_bytes.div_ceil(1 << 20)
        ),
    }
}

/// A setting as text.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
