//! `simtool serve`: the program, tested over the network.

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
