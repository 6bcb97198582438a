//! The command line: flags become validated jobs; a file or a folder for each subcommand.
//!
//! ```text
//! command line ─► flags ─► plan (job, resources, files) ─► run ─► published file ─► screen
//! ```
//!
//! Only this folder prints, reads the environment, exits and handles termination signals, except
//! that `serve` logs its requests and handles SIGTERM, too.

mod batch;
pub mod dedup;
pub mod explain;
pub mod flags;
pub mod help;
#[cfg(feature = "index")]
pub mod index;
pub mod lab;
pub mod main_job;
pub mod matching;
mod output;
pub mod passages;
pub mod process;
mod reading;
pub mod screen;
#[cfg(feature = "serve")]
pub mod serve;
pub mod values;

pub use flags::Command;
