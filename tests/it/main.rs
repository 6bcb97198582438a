//! What needs the program, or several crates at once. Tests of one crate are in that crate.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod cli;
#[cfg(feature = "cloud")]
mod cloud;
#[cfg(feature = "parquet")]
mod cluster;
mod decontaminate;
mod dedup_cli;
#[cfg(all(
    feature = "cloud",
    feature = "index",
    feature = "parquet",
    feature = "tls",
    target_os = "linux"
))]
mod docs;
mod dump;
mod explain;
mod facade;
mod golden;
#[cfg(target_os = "linux")]
mod held_memory;
#[cfg(feature = "index")]
mod index_cli;
#[cfg(feature = "index")]
#[path = "../../crates/index/tests/it/model.rs"]
mod index_model;
mod layers;
mod lines;
#[cfg(all(
    feature = "cloud",
    feature = "index",
    feature = "parquet",
    feature = "serve"
))]
mod manifest;
mod methods_cli;
mod one_thread;
mod passages;
#[cfg(feature = "index")]
mod power_loss;
mod read_faults;
mod readme;
mod reliability_page;
mod sandbox;
#[cfg(feature = "serve")]
mod serve;
mod spans;
mod tune;
#[cfg(feature = "cloud")]
mod uploads;
