//! The settings of this crate, from the environment. Object stores read further variables
//! themselves.

use std::env;
use std::time::Duration;

/// How a client asks servers.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The most requests at a time to a host, if not the default.
    pub connections: Option<usize>,
    /// The wait after the first failure; later ones double it.
    pub first_wait: Duration,
    /// The longest wait, unless the server asks for a longer one.
    pub longest_wait: Duration,
    /// How long a server may send nothing before a request counts as failed.
    pub silence: Duration,
    /// The bytes of a part of an upload. Smaller files are sent at once.
    pub part_bytes: u64,
}

/// The least size of a part that all stores accept is 5 MiB.
const PART_BYTES: u64 = 8 << 20;

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            connections: None,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(60),
            silence: Duration::from_secs(60),
            part_bytes: PART_BYTES,
        }
    }
}

impl Settings {
    /// The settings that the environment chooses.
    pub(crate) fn from_environment() -> Settings {
        let connections = variable("SIMTOOL_CONNECTIONS").and_then(|text| text.parse().ok());
        let part_bytes = variable("SIMTOOL_PART_BYTES").and_then(|text| text.parse().ok());
        Settings {
            connections: connections.filter(|&number| number > 0),
            part_bytes: part_bytes.filter(|&bytes| bytes > 0).unwrap_or(PART_BYTES),
            ..Settings::default()
        }
    }
}

/// The value of a variable that is set and not empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether a variable says yes.
pub(crate) fn is_set(name: &str) -> bool {
    variable(name).is_some_and(|value| {
        let value = value.to_ascii_lowercase();
        matches!(value.as_str(), "1" | "true" | "yes" | "on")
    })
}
