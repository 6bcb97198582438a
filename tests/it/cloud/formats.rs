//! Every format and compression, from a web server and from an object store.

use std::fs;

use crate::cloud::{BUCKET, gzip, lines, reports, run};
use crate::sandbox::Sandbox;
use simtool_testing::server::{Fault, Server};

/// Web archive records of the documents of [`lines`].
fn records(documents: usize) -> Vec<Vec<u8>> {
    let record = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let (text, url) = (
            value["text"].as_str().unwrap(),
            value["url"].as_str().unwrap(),
        );
        let id = value["id"].as_str().unwrap();
        let length = text.len();
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: {url}\r\n\
             WARC-Record-ID: <urn:{id}>\r\nContent-Type: text/plain\r\n\
             Content-Length: {length}\r\n\r\n{text}\r\n\r\n"
        )
        .into_bytes()
    };
    lines(documents).lines().map(record).collect()
}

fn files() -> Vec<(&'static str, Vec<u8>)> {
    let lines = lines(600);
    let records = records(300);
    let members: Vec<u8> = records
        .iter()
        .flat_map(|record| gzip(record, usize::MAX))
        .collect();
    let pages = lines
        .replace("{\"id\":\"", "")
        .replace("\",\"url", "\n\"url")
        .replace("\"}\n", "\x0c");
    vec![
        ("a.jsonl", lines.clone().into_bytes()),
        ("one.jsonl.gz", gzip(lines.as_bytes(), usize::MAX)),
        ("members.jsonl.gz", gzip(lines.as_bytes(), 30_000)),
        (
            "a.jsonl.zst",
            zstd::encode_all(lines.as_bytes(), 3).unwrap(),
        ),
        ("a.warc", records.concat()),
        ("a.warc.wet.gz", members),
        ("pages.txt", pages.into_bytes()),
        (
            "whole.txt",
            b"one text of some words, which is alone".to_vec(),
        ),
        ("empty.jsonl", Vec::new()),
    ]
}

/// Compares the reports and written inputs of local and remote inputs.
fn compare(files: &[(&str, Vec<u8>)], prepare: impl Fn(&Server)) {
    let sandbox = Sandbox::new();
    let server = Server::start();
    let address = &server.address;
    let (mut local, mut web, mut store) = (String::new(), String::new(), String::new());
    fs::create_dir_all(sandbox.path("d/e")).unwrap();
    for (name, bytes) in files {
        sandbox.write(&format!("d/e/{name}"), bytes);
        server.add(&format!("d/e/{name}"), bytes);
        server.add(&format!("{BUCKET}/d/e/{name}"), bytes);
        local.push_str(&format!("d/e/{name} "));
        web.push_str(&format!("http://{address}/d/e/{name} "));
        store.push_str(&format!("s3://{BUCKET}/d/e/{name} "));
    }
    prepare(&server);
    let flags = "--quiet --threads 2 --write kept --memory 512M";
    for (inputs, out) in [(&local, "local"), (&web, "web"), (&store, "store")] {
        run(
            &sandbox,
            &server,
            &format!("dedup {inputs} -o {out} {flags}"),
        )
        .success();
    }
    let expected = reports(&sandbox, "local", "", "");
    assert!(expected[0].lines().count() > 10);
    let root = format!("http://{address}/");
    assert_eq!(reports(&sandbox, "web", &root, ""), expected);
    let root = format!("s3://{BUCKET}/");
    assert_eq!(reports(&sandbox, "store", &root, ""), expected);
    // A file without kept documents is not written.
    let kept = |root: &str, name: &str| fs::read(sandbox.path(&format!("{root}/d/e/{name}"))).ok();
    let mut written = 0;
    for (name, _) in files {
        let expected = kept("local/kept", name);
        written += usize::from(expected.is_some());
        for root in [
            format!("web/kept/{address}"),
            format!("store/kept/{BUCKET}"),
        ] {
            assert!(kept(&root, name) == expected, "{root} {name}");
        }
    }
    assert!(written > 0);
}

/// Promise (Inputs on servers): `dedup` gives the same reports and written inputs as for the same
/// local files, in every format, from a web server and from S3
#[test]
fn every_format_gives_what_the_local_files_give() {
    compare(&files(), |_| ());
}

/// Promise (Inputs on servers): The reports and written inputs are the same if the server refuses
/// requests, breaks connections, sends less than it announced, or redirects
#[test]
fn failures_of_the_server_do_not_change_the_answer() {
    compare(&files(), |server| {
        server.set_faults(|request| match request.number % 23 {
            3 => Some(Fault::status(500)),
            7 => Some(Fault::Truncate(10_000)),
            11 => Some(Fault::Close),
            _ => None,
        });
    });
}

/// Promise (Inputs on servers): `dedup` gives the same reports and written …
#[cfg(feature = "parquet")]
#[test]
fn a_table_gives_what_the_local_table_gives() {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;

    let values: Vec<serde_json::Value> = lines(900)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let column = |name: &str| -> ArrayRef {
        let own: StringArray = values.iter().map(|value| value[name].as_str()).collect();
        Arc::new(own)
    };
    let batch = RecordBatch::try_from_iter([
        ("id", column("id")),
        ("url", column("url")),
        ("text", column("text")),
    ])
    .unwrap();
    let mut table = Vec::new();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(250))
        .build();
    let mut writer = ArrowWriter::try_new(&mut table, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let files = [("a.parquet", table), ("a.jsonl", lines(40).into_bytes())];
    compare(&files, |_| ());
    compare(&files, |server| {
        server.set_faults(|request| (request.number % 5 == 3).then_some(Fault::Truncate(3000)));
    });
}

/// A server that fails for good ends the run: rows must not become skipped documents.
/// Promise (Inputs on servers): A server that fails for good ends the run; its rows do not become
/// skipped documents
#[cfg(feature = "parquet")]
#[test]
fn a_failing_server_is_no_damage_of_a_table() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    let table = include_bytes!("../../../testdata/README.md");
    let mut bytes = b"PAR1".to_vec();
    bytes.extend_from_slice(&[0; 3 << 20]);
    bytes.extend_from_slice(table);
    server.add("a.parquet", &bytes);
    server.set_faults(|request| {
        let is_first = request.range().is_some_and(|(start, _)| start == 0);
        (!is_first).then_some(Fault::status(401))
    });
    let url = server.url("a.parquet");
    let assert = run(&sandbox, &server, &format!("dedup {url} -o out --quiet")).code(2);
    crate::sandbox::assert_message(&assert, &["a.parquet", "401 Unauthorized"]);
}

/// The main job copies its inputs first, as it does standard input.
/// Promise (Inputs on servers): Every command that reads documents reads …
#[test]
fn the_main_job_reads_objects() {
    let sandbox = Sandbox::example();
    let server = Server::start();
    for name in ["article.txt", "sample.txt"] {
        server.add(name, &crate::sandbox::example(name));
    }
    let (articles, samples) = (server.url("article.txt"), server.url("sample.txt"));
    let line = format!("100 16 --articles {articles} --samples {samples} --output -");
    let assert = run(&sandbox, &server, &line).success();
    assert_eq!(
        assert.get_output().stdout,
        crate::sandbox::RESULT.as_bytes()
    );
}

/// Every command that reads documents reads them from servers.
/// Promise (Inputs on servers): Every command that reads documents reads them from servers
#[test]
fn other_commands_read_objects() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    server.add("a.jsonl", lines(60).as_bytes());
    let url = server.url("a.jsonl");
    sandbox.write("a.jsonl", lines(60));
    for line in [
        "match --articles INPUT --samples INPUT --method minhash",
        "lines INPUT -o OUT --quiet",
        "spans INPUT -o OUT --quiet",
        "decontaminate INPUT --reference INPUT -o OUT --quiet",
        "explain d2 d3 --in INPUT",
        "evaluate INPUT --planted --method minhash",
        "index build NEW INPUT",
    ] {
        if line.starts_with("index") && !cfg!(feature = "index") {
            continue;
        }
        let with = |input: &str, out: &str| {
            let line = line
                .replace("INPUT", input)
                .replace("OUT", out)
                .replace("NEW", out);
            run(&sandbox, &server, &line)
        };
        let name = line.split(' ').next().unwrap();
        let local = with("a.jsonl", &format!("{name}-local"));
        let remote = with(&url, &format!("{name}-remote"));
        let code = local.get_output().status.code();
        assert_eq!(
            remote.get_output().status.code(),
            code,
            "{line}: {}",
            crate::sandbox::stderr(&remote)
        );
        assert!(
            code == Some(0),
            "{line}: {}",
            crate::sandbox::stderr(&local)
        );
        let local = String::from_utf8_lossy(&local.get_output().stdout).into_owned();
        let remote = String::from_utf8_lossy(&remote.get_output().stdout).replace(&url, "a.jsonl");
        if name != "evaluate" {
            assert_eq!(remote, local, "{line}");
        }
    }
}
