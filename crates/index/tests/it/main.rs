//! The index against a model, and what may happen to it: damage, faults, two writers.

#![allow(clippy::unwrap_used)]

mod answers;
mod calls;
mod damage;
mod faults;
mod format;
mod lock;
mod merge;
mod model;
mod readers;
mod replay;
