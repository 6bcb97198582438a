//! What a deduplication reads from servers, for its plan.

use serde_json::{Value, json};
use simtool::corpus::Source;
use simtool::io::remote::requests;
use simtool::jobs::dedup::{Invocation, WriteMode};

use super::amount::{counted, megabytes};

/// What is read from servers.
pub struct OnServers {
    objects: u64,
    /// The bytes of all readings from start to end.
    bytes: u64,
    requests: u64,
    /// Whether there is a second such reading, to write the inputs again.
    is_written: bool,
}

impl OnServers {
    /// The inputs on servers, if there are any.
    pub fn of(invocation: &Invocation<'_>, write: WriteMode) -> Option<OnServers> {
        let sizes = |sources: &[Source]| -> Vec<u64> {
            let objects = sources.iter().filter_map(|source| source.object.as_ref());
            objects.map(|object| object.bytes).collect()
        };
        let inputs = sizes(invocation.sources);
        let references = sizes(invocation.against.documents());
        let is_written = !matches!(write, WriteMode::None | WriteMode::Ids);
        let readings = 1 + u64::from(is_written);
        let of = |objects: &[u64]| -> u64 { objects.iter().map(|&bytes| requests(bytes)).sum() };
        let objects = (inputs.len() + references.len()) as u64;
        (objects > 0).then(|| OnServers {
            objects,
            bytes: inputs.iter().sum::<u64>() * readings + references.iter().sum::<u64>(),
            requests: objects + of(&inputs) * readings + of(&references),
            is_written,
        })
    }

    /// A line of the plan.
    pub fn text(&self) -> String {
        let again = match self.is_written {
            true => ", as each is read twice (to find and to write)",
            false => "",
        };
        format!(
            "servers   {} in {}, in about {}{again}; candidates are read again, in parts\n",
            megabytes(self.bytes),
            counted(self.objects, "object"),
            counted(self.requests, "request"),
        )
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        json!({"objects": self.objects, "bytes": self.bytes, "requests": self.requests})
    }
}
