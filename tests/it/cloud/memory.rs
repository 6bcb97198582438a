//! A measurement, run by hand: the memory of a run over an object that is much larger.
//!
//! `cargo test --release --test cloud -- --ignored --nocapture`

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{SIMTOOL, Sandbox};
use simtool_testing::server::{Content, Server};

/// The size of the object, unless `SIMTOOL_TEST_BYTES` is another one.
const BYTES: u64 = 5_000_000_000;

#[test]
#[ignore = "takes minutes"]
fn a_large_object_is_read_within_the_memory_bound() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    let bytes = std::env::var("SIMTOOL_TEST_BYTES").ok();
    let bytes = bytes.map_or(BYTES, |bytes| bytes.parse().unwrap());
    // Whole lines: a cut one would be skipped.
    let bytes = bytes - bytes % 4096;
    server.add_with(
        "a.jsonl",
        Content::Lines(bytes),
        Some("\"1\"".to_owned()),
        None,
    );
    let begin = Instant::now();
    let mut child = Command::new(SIMTOOL)
        .args([
            "dedup",
            &server.url("a.jsonl"),
            "-o",
            "out",
            "--quiet",
            "--no-page",
        ])
        .args(["--memory", "256M", "--threads", "2", "--max-document", "1M"])
        .current_dir(sandbox.path(""))
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        thread::sleep(Duration::from_millis(50));
    };
    assert!(status.success());
    let (seconds, requests) = (begin.elapsed().as_secs_f64(), server.take_requests().len());
    println!(
        "{bytes} bytes, {seconds:.1} s, {requests} requests, peak {} MiB",
        peak >> 10
    );
    assert!(peak < 256 << 10, "{peak} KiB");
}
