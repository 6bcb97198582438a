//! The command line: flags become validated jobs; one file per subcommand.
//!
//! ```text
//! command line ─► flags ─► plan (job, resources, files) ─► run ─► published file ─► screen
//! ```
//!
//! Only this folder prints, reads the environment, exits and handles termination signals, except
//! that `serve` logs its requests and handles SIGTERM, too.

mod addresses;
mod amount;
mod batch;
mod cache_flags;
mod commands;
pub mod completions;
mod decontaminate;
mod decontaminate_flags;
pub mod dedup;
mod dedup_flags;
mod dedup_plan;
mod effect;
pub mod evaluate;
pub mod exit;
pub mod explain;
pub mod flags;
mod forecast;
mod found;
pub mod generate;
pub mod help;
#[cfg(feature = "index")]
pub mod index;
mod inputs;
pub mod interrupt;
mod lines;
mod lines_flags;
mod listing;
mod log;
pub mod machine;
pub mod main_job;
mod main_job_flags;
pub mod man;
pub mod matching;
mod max_skipped;
pub mod message;
mod method_flags;
pub mod methods;
mod number;
mod on_servers;
mod outcome;
mod output;
mod output_directory;
mod output_place;
pub mod passages;
mod plan;
mod reading_flags;
mod resource_flags;
mod scaling;
mod screen;
#[cfg(feature = "serve")]
pub mod serve;
mod server_waits;
mod session;
mod shard_flags;
mod shown_cost;
pub mod size;
mod spans;
mod spans_flags;
mod summary;
mod timings;
pub mod tune;
mod values;
mod visible;
mod watch;
mod write_flags;

pub use flags::Command;
