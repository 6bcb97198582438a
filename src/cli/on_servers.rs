//! What a deduplication reads from servers, for its plan.

use std::env;

use serde_json::{Value, json};
use simtool::corpus::Source;
use simtool::io::remote::{cache_bytes, is_small, requested_readings, requests};
use simtool::jobs::dedup::{Invocation, WriteMode};

use super::amount::{counted, megabytes};

/// What is read from servers.
pub struct OnServers {
    objects: u64,
    /// The bytes of all readings from start to end.
    bytes: u64,
    requests: u64,
    /// Whether there is a second such reading, to write the inputs again.
    is_read_twice: bool,
    prices: Option<Prices>,
}

/// Prices that the environment tells, in any currency.
struct Prices {
    /// The price of 1000 requests.
    requests: f64,
    /// The price of 1 GB that is transferred.
    transfer: f64,
}

impl Prices {
    fn from_environment() -> Option<Prices> {
        let price = |name: &str| {
            let price: f64 = env::var(name).ok()?.trim().parse().ok()?;
            (price.is_finite() && price >= 0.0).then_some(price)
        };
        let (requests, transfer) = (
            price("SIMTOOL_REQUEST_PRICE"),
            price("SIMTOOL_TRANSFER_PRICE"),
        );
        (requests.is_some() || transfer.is_some()).then(|| Prices {
            requests: requests.unwrap_or(0.0),
            transfer: transfer.unwrap_or(0.0),
        })
    }

    fn cost(&self, requests: u64, bytes: u64) -> f64 {
        self.requests * requests as f64 / 1e3 + self.transfer * bytes as f64 / 1e9
    }
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
        let all: u64 = inputs.iter().chain(&references).sum();
        let is_cached = cache_bytes().is_some_and(|most| all <= most);
        let is_read_twice = is_written && !is_cached;
        let readings = 1 + u64::from(is_read_twice);
        let of_readings = [(&inputs, readings), (&references, 1)];
        let objects = (inputs.len() + references.len()) as u64;
        let all_small = inputs.iter().chain(&references);
        let small_bytes = all_small.filter(|bytes| is_small(**bytes)).sum();
        // The first bytes of each are requested to detect its format.
        let (mut all_bytes, mut all_requests) = (0, objects);
        for (sizes, readings) in of_readings {
            for &bytes in sizes {
                let readings = requested_readings(bytes, small_bytes, readings);
                all_bytes += bytes * readings.max(1);
                all_requests += requests(bytes) * readings;
            }
        }
        (objects > 0).then_some(OnServers {
            objects,
            bytes: all_bytes,
            requests: all_requests,
            is_read_twice,
            prices: Prices::from_environment(),
        })
    }

    /// A line of the plan.
    pub fn text(&self) -> String {
        let again = match self.is_read_twice {
            true => ", as each is read twice (to find and to write)",
            false => "",
        };
        let mut text = format!(
            "servers   {} in {}, in about {}{again}; candidates are read again, in parts\n",
            megabytes(self.bytes),
            counted(self.objects, "object"),
            counted(self.requests, "request"),
        );
        if cache_bytes().is_some() {
            text += "cache     what it has already is not requested\n";
        }
        if let Some(prices) = &self.prices {
            text += &format!(
                "cost      at least {:.4} for these requests, at {} for 1000 requests and {} for 1 GB\n",
                prices.cost(self.requests, self.bytes),
                prices.requests,
                prices.transfer,
            );
        }
        text
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let prices = self.prices.as_ref();
        json!({
            "objects": self.objects,
            "bytes": self.bytes,
            "requests": self.requests,
            "cost": prices.map(|prices| prices.cost(self.requests, self.bytes)),
        })
    }
}
