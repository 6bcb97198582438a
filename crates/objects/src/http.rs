//! The clients that make requests.

/// Clients with different patience; copies share their connections.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    pub(crate) usual: reqwest::Client,
    /// One that soon gives up a connection.
    pub(crate) hasty: reqwest::Client,
}
