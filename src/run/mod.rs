//! How does the work run?
//!
//! A *job* decides every output byte. *Resources* (threads, memory, instruction set) decide how
//! long it takes and may never change a byte. A job's inputs are cut into *units* by their bytes
//! alone; [`Workers`] hands units to threads, inside one unit everything is single-threaded.
//! Deliberately absent: flags, the screen, signals; whoever runs a job may watch its [`Progress`].

mod arena;
mod budget;
pub mod collection;
mod counting;
pub mod dedup;
pub mod doubts;
pub mod evaluation;
pub mod explain;
mod held;
pub mod matching;
pub mod methods;
pub mod naming;
pub mod neighbours;
mod pipeline;
mod progress;
mod resources;
mod room;
#[cfg(feature = "index")]
pub mod seen;
pub mod sketcher;
pub mod streams;
mod units;
mod workers;

pub use arena::{Arena, Place};
pub use budget::{Budget, Reservation};
pub use progress::{Progress, Snapshot, Stage, StagePlan, StageTime, WorkUnit};
pub use resources::Resources;
pub use workers::Workers;
