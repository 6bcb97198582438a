//! The variables of the environment when a client was made, and the settings of this crate among them.

use std::env;
use std::str::FromStr;
use std::time::Duration;

/// The variables of the environment whose names and values are UTF-8.
pub(crate) struct Environment(Vec<(String, String)>);

impl Environment {
    /// The variables now.
    pub(crate) fn now() -> Environment {
        let all = env::vars_os();
        let texts = all.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Environment(texts.collect())
    }

    /// The value of a variable that is set and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(own, _)| own == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Whether a variable says yes.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| {
            let value = value.to_ascii_lowercase();
            matches!(value.as_str(), "1" | "true" | "yes" | "on")
        })
    }

    /// The settings of a kind of store: the variables with this prefix whose names it knows.
    pub(crate) fn settings<K: FromStr>(&self, prefix: &str) -> impl Iterator<Item = (K, &str)> {
        let own = self
            .0
            .iter()
            .filter(move |(name, _)| name.starts_with(prefix));
        own.filter_map(|(name, value)| {
            let key = name.to_ascii_lowercase().parse().ok()?;
            Some((key, value.as_str()))
        })
    }
}

/// How a client asks servers.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The maximum number of requests at a time to a host, if not the default.
    pub connections: Option<usize>,
    /// The time without progress after which a server is given up.
    pub timeout: Duration,
    /// The bytes of a part of an upload. Smaller files are sent at once.
    pub part_bytes: u64,
}

/// The minimum size of a part that all stores accept is 5 MiB.
const PART_BYTES: u64 = 8 << 20;
/// The time without progress after which a server is given up.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The longest wait after the first failure.
const FIRST_WAIT: Duration = Duration::from_millis(500);

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            connections: None,
            timeout: TIMEOUT,
            part_bytes: PART_BYTES,
        }
    }
}

impl Settings {
    /// The settings that the environment chooses.
    pub(crate) fn of(environment: &Environment) -> Settings {
        let variable = |name| environment.get(name);
        let connections = variable("SIMTOOL_CONNECTIONS").and_then(|text| text.parse().ok());
        let part_bytes = variable("SIMTOOL_PART_BYTES").and_then(|text| text.parse().ok());
        let seconds = variable("SIMTOOL_SERVER_TIMEOUT").and_then(|text| text.parse().ok());
        let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Settings {
            connections: connections.filter(|&number| number > 0),
            timeout: timeout.filter(|time| !time.is_zero()).unwrap_or(TIMEOUT),
            part_bytes: part_bytes.filter(|&bytes| bytes > 0).unwrap_or(PART_BYTES),
        }
    }

    /// The wait after the first failure; later ones double it.
    pub(crate) fn first_wait(&self) -> Duration {
        FIRST_WAIT.min(self.timeout / 100)
    }

    /// The maximum wait, unless the server asks for a longer one.
    pub(crate) fn max_wait(&self) -> Duration {
        self.timeout / 6
    }

    /// The time without progress after which users are notified: 10 s of 60.
    pub(crate) fn notice(&self) -> Duration {
        self.timeout / 6
    }
}
