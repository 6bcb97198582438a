//! `simtool serve`: the program, tested over the network.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod batch;
mod client;
mod contract;
mod copies;
mod endurance;
mod hostile;
#[cfg(feature = "tls")]
mod https;
mod questions;
mod refusals;
mod unread;
#[path = "../wait/mod.rs"]
mod wait;
