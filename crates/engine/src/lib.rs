//! Execution of jobs: units of input, threads, memory, temporary space, progress.
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! A *job* determines every byte of the output. *Resources* (threads, memory, instruction set)
//! affect only the time. A job's inputs are split into *units*, independently of the resources. In
//! the main job, [`Workers`] assigns each unit to one thread. In a pipeline, one reader reads a
//! unit, and all workers process its chunks. Deliberately absent: flags, the screen, signals. The
//! caller of a job may observe its [`Progress`].

mod arena;
mod budget;
pub mod collection;
pub mod counting;
pub mod documents;
pub mod doubts;
pub mod item_text;
pub mod memory_account;
pub mod methods;
pub mod naming;
pub mod pipeline;
pub mod places;
mod progress;
mod resources;
pub mod sketcher;
pub mod spill_space;
pub mod streams;
pub mod text_field;
pub mod text_words;
pub mod units;
mod workers;

pub use arena::{Arena, ArenaSlot};
pub use budget::{Budget, Reservation};
pub use progress::{Progress, Snapshot, Stage, StagePlan, StageTime, WorkUnit};
pub use resources::Resources;
pub use workers::Workers;

use simtool_core::{Error, ErrorKind, Result, threads};
