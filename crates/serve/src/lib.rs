//! `simtool serve`: an index over HTTP.
//!
//! ```text
//! connection ─► admission: token, origin, limits ─► route ─► Pool: text ─► sketch ─► answer
//!                                                 └──► Writer: many additions, one commit ─► answer
//!                                                      Merger: merges segments in the background
//! ```
//!
//! Network I/O is asynchronous; computation and writes run in their own threads. An addition is
//! answered when it is durable. Flags are parsed, and SIGINT is handled, in `cli`.

mod config;
mod limits;
mod listener;
mod log;
mod metrics;
mod problem;
mod question;
mod routes;
mod run;
mod service;
#[cfg(test)]
mod slow_documents;
#[cfg(test)]
mod test_service;
mod workers;

pub use config::{Config, Limits};
pub use log::Log;
pub use run::run;
