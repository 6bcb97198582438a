//! What a run reads from servers, for its plan.

use serde_json::{Value, json};
use simtool::corpus::Source;
use simtool::io::remote::{Client, READ_BYTES};
use simtool::jobs::Invocation;
use simtool_objects::PREFIX_BYTES;

use crate::cli::screen::amount::{counted, megabytes};

/// What is read from servers.
pub struct OnServers {
    objects: u64,
    /// The bytes of all readings from start to end.
    bytes: u64,
    requests: u64,
    readings: ReadingsOfInput,
    has_cache: bool,
}

/// How often an input is read.
#[derive(Clone, Copy)]
pub struct ReadingsOfInput {
    /// From its start to its end, to find what goes.
    pub to_find: u64,
    /// From its start to its end, to write documents.
    pub to_write: u64,
    /// The documents that are read again besides, if any are.
    pub in_parts: Option<&'static str>,
}

impl OnServers {
    /// The inputs on servers, which `client` reads, if there are any. Those of `--against` are not
    /// written.
    pub fn of(
        client: &Client,
        invocation: &Invocation<'_>,
        mut readings: ReadingsOfInput,
    ) -> Option<OnServers> {
        let sizes = |sources: &[Source]| -> Vec<u64> {
            let objects = sources.iter().filter_map(|source| source.object.as_ref());
            objects.map(|object| object.identity().bytes).collect()
        };
        let inputs = sizes(invocation.sources);
        let references = sizes(invocation.against.documents());
        let all: u64 = inputs.iter().chain(&references).sum();
        if client.cache_bytes().is_some_and(|most| all <= most) {
            (readings.to_find, readings.to_write) = (1, 0);
        }
        let of_readings = [
            (&inputs, readings.to_find + readings.to_write),
            (&references, readings.to_find),
        ];
        let objects = (inputs.len() + references.len()) as u64;
        let all_small = inputs.iter().chain(&references);
        let small_bytes = all_small.filter(|bytes| **bytes <= PREFIX_BYTES).sum();
        // The first bytes of each are requested to detect its format.
        let (mut all_bytes, mut all_requests) = (0, objects);
        for (sizes, readings) in of_readings {
            for &bytes in sizes {
                let readings = client.requested_readings(bytes, small_bytes, readings);
                all_bytes += bytes * readings.max(1);
                all_requests += client.requests(bytes, READ_BYTES) * readings;
            }
        }
        if all_bytes == all {
            // Whatever is read again is kept.
            (readings.to_find, readings.to_write) = (1, 0);
        }
        (objects > 0).then_some(OnServers {
            objects,
            bytes: all_bytes,
            requests: all_requests,
            readings,
            has_cache: client.cache_bytes().is_some(),
        })
    }

    /// A line of the plan.
    pub fn text(&self) -> String {
        let ReadingsOfInput {
            to_find, to_write, ..
        } = self.readings;
        let again = match to_find + to_write {
            1 => String::new(),
            2 => format!(", as each is read twice ({to_find} to find, {to_write} to write)"),
            all => {
                format!(", as each is read {all} times ({to_find} to find, {to_write} to write)")
            }
        };
        let in_parts = self
            .readings
            .in_parts
            .map(|documents| format!("; {documents} are read again, in parts"));
        let mut text = format!(
            "servers   {} in {}, in about {}{again}{}\n",
            megabytes(self.bytes),
            counted(self.objects, "object"),
            counted(self.requests, "request"),
            in_parts.unwrap_or_default(),
        );
        if self.has_cache {
            text += "cache     what it has already is not requested\n";
        }
        text
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        json!({
            "objects": self.objects,
            "bytes": self.bytes,
            "requests": self.requests,
        })
    }
}
