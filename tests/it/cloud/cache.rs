//! Runs with `--cache`: what was read once is not requested again, unless it changed or was damaged.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::cloud::{gzip, lines, reports, run};
use crate::sandbox::{SIMTOOL, Sandbox, assert_message, stderr};
use simtool_testing::server::{Content, Fault, Request, Server};

/// The bytes that the requests want of objects, and their number.
fn wanted(requests: &[Request]) -> (u64, usize) {
    let ranges = requests.iter().filter_map(Request::range);
    ranges.fold((0, 0), |(bytes, count), (start, end)| {
        (bytes + end - start, count + 1)
    })
}

/// The files of blocks in the cache.
fn blocks(sandbox: &Sandbox) -> Vec<PathBuf> {
    let files = fs::read_dir(sandbox.path("cache")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.file_name().unwrap() != "CACHEDIR.TAG")
        .collect();
    files.sort();
    files
}

/// Adds objects: `a.jsonl` of several blocks, and compressed ones in a bucket.
fn add(server: &Server) {
    server.add("a.jsonl", lines(8000).as_bytes());
    for number in 0..3 {
        let packed = gzip(lines(3000 + number).as_bytes(), 100_000);
        server.add(&format!("bucket/b{number}.jsonl.gz"), &packed);
    }
}

/// A run of `dedup` that is compared with others.
fn dedup(sandbox: &Sandbox, server: &Server, out: &str, more: &str) -> Vec<String> {
    let url = server.url("a.jsonl");
    let line = format!("dedup {url} s3://bucket/b*.gz -o {out} --threads 2 {more}");
    run(sandbox, server, &line).success();
    reports(sandbox, out, "", "")
}

/// Promise (Inputs on servers): A second run with `--cache` requests no data; changed objects and
/// damaged blocks are requested again; a killed run leaves no false blocks; runs may share a cache
#[test]
fn the_second_run_requests_no_data() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    add(&server);
    let expected = dedup(&sandbox, &server, "plain", "");
    server.take_requests();
    let first = dedup(&sandbox, &server, "one", "--cache cache --write kept");
    assert_eq!(first, expected);
    let (bytes, _) = wanted(&server.take_requests());
    let sizes: u64 = [lines(8000).len() as u64]
        .into_iter()
        .chain((0..3).map(|number| gzip(lines(3000 + number).as_bytes(), 100_000).len() as u64))
        .sum();
    assert!(bytes < 2 * sizes + (4 << 20), "{bytes} of {sizes}");
    let second = dedup(&sandbox, &server, "two", "--cache cache --write kept");
    assert_eq!(second, expected);
    // A byte of the named object tells its identity; a listing tells that of others.
    assert_eq!(wanted(&server.take_requests()), (1, 1));
    let lines = format!("lines {} -o lines --cache cache", server.url("a.jsonl"));
    run(&sandbox, &server, &lines).success();
    assert_eq!(wanted(&server.take_requests()), (1, 1));
}

/// Promise (Inputs on servers): A second run with `--cache` requests …
#[test]
fn objects_that_changed_are_requested_again() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    add(&server);
    dedup(&sandbox, &server, "one", "--cache cache");
    server.add("a.jsonl", lines(8000).replace("end7", "END7").as_bytes());
    server.add("bucket/b1.jsonl.gz", &gzip(lines(500).as_bytes(), 999));
    let expected = dedup(&sandbox, &server, "plain", "");
    assert_eq!(dedup(&sandbox, &server, "two", "--cache cache"), expected);
}

/// Promise (Inputs on servers): A second run with `--cache` requests …
#[test]
fn damaged_blocks_are_requested_again() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    add(&server);
    let expected = dedup(&sandbox, &server, "one", "--cache cache");
    let files = blocks(&sandbox);
    assert!(files.len() >= 6, "{files:?}");
    for (number, path) in files.iter().enumerate() {
        let mut bytes = fs::read(path).unwrap();
        match number % 3 {
            0 => *bytes.last_mut().unwrap() ^= 1,
            1 => bytes.truncate(bytes.len() / 2),
            _ => continue,
        }
        fs::write(path, bytes).unwrap();
    }
    server.take_requests();
    assert_eq!(dedup(&sandbox, &server, "two", "--cache cache"), expected);
    assert!(wanted(&server.take_requests()).1 > 2);
    assert_eq!(dedup(&sandbox, &server, "three", "--cache cache"), expected);
    assert_eq!(wanted(&server.take_requests()), (1, 1));
}

/// Promise (Inputs on servers): A cache stays within its size, and only its own files are removed
#[test]
fn the_cache_stays_within_its_size() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    add(&server);
    server.add(
        "other.jsonl",
        lines(8000).replace("site", "place").as_bytes(),
    );
    let expected = dedup(&sandbox, &server, "plain", "");
    let bytes = || -> u64 {
        let sizes = blocks(&sandbox).into_iter();
        sizes.map(|path| path.metadata().unwrap().len()).sum()
    };
    let small = "--cache cache --cache-size 3M";
    let line = format!(
        "dedup {} {} -o full {small}",
        server.url("a.jsonl"),
        server.url("other.jsonl")
    );
    let assert = run(&sandbox, &server, &line).success();
    assert_message(
        &assert,
        &["cache is full of what this run uses", "--cache-size"],
    );
    assert_eq!(stderr(&assert).matches("is full").count(), 1);
    assert!(bytes() <= 3 << 20 && bytes() > 1 << 20, "{}", bytes());
    let before = blocks(&sandbox);
    // Blocks of the run before give way.
    let line = format!("lines {} -o lines {small}", server.url("other.jsonl"));
    run(&sandbox, &server, &line).success();
    assert!(bytes() <= 3 << 20 && blocks(&sandbox) != before);
    assert_eq!(dedup(&sandbox, &server, "two", small), expected);
    assert!(bytes() <= 3 << 20);
}

/// Promise (Inputs on servers): A second run with `--cache` requests …
#[test]
fn a_killed_run_leaves_no_false_blocks() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    add(&server);
    let expected = dedup(&sandbox, &server, "plain", "");
    server.set_faults(|_| Some(Fault::Slow(Duration::from_millis(2))));
    for attempt in 0..3 {
        let mut child = Command::new(SIMTOOL)
            .args(["dedup", &server.url("a.jsonl"), "-o"])
            .arg(format!("killed{attempt}"))
            .args(["--quiet", "--cache", "cache"])
            .current_dir(sandbox.path(""))
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(150 + 200 * attempt));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    server.set_faults(|_| None);
    // What a process that is killed in the middle of a block leaves.
    fs::write(sandbox.path("cache/temporary-1-0"), "half").unwrap();
    assert_eq!(dedup(&sandbox, &server, "two", "--cache cache"), expected);
    server.take_requests();
    assert_eq!(dedup(&sandbox, &server, "three", "--cache cache"), expected);
    assert_eq!(wanted(&server.take_requests()), (1, 1));
}

/// Promise (Inputs on servers): A second run with `--cache` requests …
#[test]
fn two_runs_share_a_cache() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    add(&server);
    let expected = dedup(&sandbox, &server, "plain", "");
    thread::scope(|scope| {
        for out in ["one", "two", "three"] {
            let (sandbox, server, expected) = (&sandbox, &server, &expected);
            scope.spawn(move || {
                let found = dedup(sandbox, server, out, "--cache cache --cache-size 4M");
                assert_eq!(&found, expected);
            });
        }
    });
}

#[test]
fn objects_without_an_identity_are_not_kept() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    for name in ["a.jsonl", "b.jsonl"] {
        let bytes = lines(100).into_bytes();
        server.add_with(name, Content::Bytes(bytes.into()), None, None);
    }
    let (a, b) = (server.url("a.jsonl"), server.url("b.jsonl"));
    let line = format!("dedup {a} {b} -o out --cache cache");
    let assert = run(&sandbox, &server, &line).success();
    assert_eq!(stderr(&assert).matches("is not kept").count(), 1);
    assert!(blocks(&sandbox).is_empty());
    let line = format!("dedup {a} {b} -o two --quiet");
    run(&sandbox, &server, &line).success();
    assert_eq!(
        sandbox.read("out/clusters.jsonl"),
        sandbox.read("two/clusters.jsonl")
    );
}

/// Promise (Inputs on servers): A cache stays within its size, and only …
#[test]
fn a_directory_with_other_files_is_refused() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    server.add("a.jsonl", lines(40).as_bytes());
    fs::create_dir(sandbox.path("mine")).unwrap();
    fs::write(sandbox.path("mine/notes.txt"), "mine").unwrap();
    let line = format!("dedup {} -o out --cache mine", server.url("a.jsonl"));
    let assert = run(&sandbox, &server, &line).code(2);
    assert_message(&assert, &["mine", "has other files"]);
    assert_eq!(sandbox.read("mine/notes.txt"), "mine");
    let line = line.replace("--cache mine", "--cache s3://bucket/cache");
    let assert = run(&sandbox, &server, &line).code(2);
    assert_message(&assert, &["s3://bucket/cache", "local directory"]);
}
