//! Execution of jobs: units of input, threads, memory, temporary space, progress.
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! A *job* determines every byte of the output. *Resources* (threads, memory, instruction set)
//! affect only the time. A job's inputs are split into *units*, independently of the resources. In
//! the main job, [`Workers`] assigns each unit to one thread. In a pipeline, one reader reads a
//! unit, and all workers process its chunks. Deliberately absent: flags, the screen, signals. The
//! caller of a job may observe its [`Progress`].

mod memory;
mod progress;
mod reading;
mod sketching;
pub mod tasks;
mod workers;

pub use memory::arena::{Arena, ArenaSlot};
pub use memory::budget::{Budget, Reservation};
pub use memory::resources::Resources;
pub use memory::{memory_account, spill_space};
pub use progress::{Progress, Snapshot, Stage, StagePlan, StageTime, WorkUnit};
pub use reading::{
    documents, doubts, item_text, naming, pipeline, places, streams, text_field, units,
};
pub use sketching::{collection, counting, methods, sketcher, text_words};
pub use workers::Workers;

use simtool_core::{Error, ErrorKind, Result, threads};
