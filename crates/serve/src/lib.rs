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

mod admission;
mod answer;
mod answer_body;
mod batch;
mod body;
mod config;
mod copies;
mod current_task;
mod drain;
mod gauges;
mod lines;
mod listener;
mod log;
mod memory;
mod merger;
mod metrics;
mod permits;
mod pool;
mod problem;
mod question;
mod routes;
mod run;
mod service;
#[cfg(test)]
mod slow_documents;
#[cfg(test)]
mod test_service;
mod threads;
#[cfg(feature = "tls")]
mod tls;
mod write_timeout;
mod writer;

pub use config::{Config, Limits};
pub use log::Log;
pub use run::run;
