//! `simtool serve` as its callers meet it: the program itself, asked over the network.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod batch;
mod client;
mod contract;
mod copies;
mod endurance;
#[cfg(feature = "tls")]
mod hostile;
mod https;
mod questions;
mod refusals;
mod unread;
