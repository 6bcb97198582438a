//! Inputs on servers: the program gives what it gives for the same files on disk.
//!
//! The server of these tests is that of `crates/objects/tests/faults`.

mod cache;
mod formats;
mod guide;
mod hostile;
mod listings;
mod memory;
mod resume;

use crate::sandbox::{SIMTOOL, Sandbox};
use assert_cmd::assert::Assert;
use flate2::Compression;
use flate2::write::GzEncoder;
use simtool_testing::server::Server;
use std::io::Write;

/// The name of the bucket.
const BUCKET: &str = "bucket";

/// Documents as JSON Lines; every fourth is the one before it with another last word.
fn lines(documents: usize) -> String {
    let line = |number: usize| {
        let own = number - usize::from(number % 4 == 3);
        let words: Vec<_> = (0..60)
            .map(|word| format!("w{}", own * 1000 + word))
            .collect();
        let url = format!("http://site{}.example/{number}", number % 5);
        format!(
            "{{\"id\":\"d{number}\",\"url\":\"{url}\",\"text\":\"{} end{number}\"}}\n",
            words.join(" ")
        )
    };
    (0..documents).map(line).collect()
}

/// The bytes as gzip members of `member` bytes each.
fn gzip(bytes: &[u8], member: usize) -> Vec<u8> {
    let packed = |part: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    bytes.chunks(member).flat_map(packed).collect()
}

/// Runs `simtool` with the words of `line`, and with the server as S3 and as the hub.
fn run(sandbox: &Sandbox, server: &Server, line: &str) -> Assert {
    let endpoint = format!("http://{}", server.address);
    let mut command = sandbox.command(SIMTOOL);
    command
        .args(line.split_whitespace())
        .env("AWS_ENDPOINT_URL", &endpoint)
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "hunter2")
        .env("HF_ENDPOINT", &endpoint)
        .env("HF_TOKEN", "hf_hunter2");
    command.assert()
}

/// The reports of `out`, with `from` replaced by `to` in the names of inputs.
fn reports(sandbox: &Sandbox, out: &str, from: &str, to: &str) -> Vec<String> {
    ["duplicates.jsonl", "clusters.jsonl", "skipped.jsonl"]
        .map(|name| sandbox.read(&format!("{out}/{name}")).replace(from, to))
        .into()
}
