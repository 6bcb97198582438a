//! Servers that list what no file system has, do not end, or send requests elsewhere.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use assert_cmd::assert::Assert;

use crate::cloud::{BUCKET, lines, run};
use crate::sandbox::{SIMTOOL, Sandbox, assert_message, stderr};
use simtool_testing::server::{Fault, Server};

/// Runs `simtool` with the server as all stores, and with credentials that must not leave it.
fn run_with(sandbox: &Sandbox, server: &Server, words: &[&str]) -> Assert {
    let endpoint = format!("http://{}", server.address);
    let mut command = sandbox.command(SIMTOOL);
    command
        .args(words)
        .env("AWS_ENDPOINT_URL", &endpoint)
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_ACCESS_KEY_ID", "key")
        .env("AWS_SECRET_ACCESS_KEY", "hunter2")
        .env("AWS_SESSION_TOKEN", "hunter2")
        .env("GOOGLE_BASE_URL", &endpoint)
        .env("GOOGLE_SKIP_SIGNATURE", "true")
        .env("AZURE_STORAGE_ENDPOINT", &endpoint)
        .env("AZURE_STORAGE_ACCOUNT_NAME", "account")
        .env("HF_ENDPOINT", &endpoint)
        .env("HF_TOKEN", "hf_hunter2");
    match words.iter().any(|word| word.contains("sas")) {
        true => command.env("AZURE_STORAGE_SAS_KEY", "sv=1&sig=hunter2"),
        false => command.env("AZURE_STORAGE_ACCOUNT_KEY", "aHVudGVyMg=="),
    };
    command.assert()
}

/// Keys that are no names of files, or have characters that URLs and XML encode.
const KEYS: [&str; 15] = [
    "d//lead.jsonl",
    "d/../x.jsonl",
    "d/a b+c%20%2F&amp;.jsonl",
    "d/a/./c.jsonl",
    "d/a//b.jsonl",
    "d/a/b.jsonl",
    "d/a/b.jsonl/c.jsonl",
    "d/back\\slash.jsonl",
    "d/control\u{1}.jsonl",
    "d/less<&\"'>#?.jsonl",
    "d/line\nbreak.jsonl",
    "d/return\r.jsonl",
    "d/star*[a]{b}.jsonl",
    "d/umlaut-\u{fc}-\u{1f600}.jsonl",
    "d/~tilde/x.jsonl",
];

/// Promise (Inputs on servers): Every legal key of S3 is read, with empty parts, parts of one or
/// two points, line breaks, percent and plus signs
#[test]
fn every_legal_key_is_read() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    for (number, key) in KEYS.iter().enumerate() {
        let text = format!("{{\"text\":\"only in {number}\"}}\n");
        server.add(&format!("{BUCKET}/{key}"), text.as_bytes());
    }
    // A mark of a directory, and a hidden object.
    server.add(&format!("{BUCKET}/d/a/"), b"");
    server.add(
        &format!("{BUCKET}/d/a//.hidden.jsonl"),
        b"{\"text\":\"no\"}\n",
    );
    let texts = |out: &str| -> Vec<String> {
        let shards = std::fs::read_dir(sandbox.path(&format!("{out}/kept"))).unwrap();
        let shards = shards.map(|shard| std::fs::read_to_string(shard.unwrap().path()).unwrap());
        let lines = |shard: String| shard.lines().map(str::to_owned).collect::<Vec<_>>();
        shards.flat_map(lines).collect()
    };
    for scheme in ["s3", "gs", "az"] {
        let mut names: Vec<String> = KEYS.map(|key| format!("{scheme}://{BUCKET}/{key}")).into();
        names.sort();
        let (listed, named) = (format!("{scheme}-listed"), format!("{scheme}-named"));
        let write = [
            "--quiet",
            "--write",
            "kept",
            "--write-format",
            "jsonl",
            "-o",
        ];
        let input = format!("{scheme}://{BUCKET}/d/");
        let words = [&["dedup", &input][..], &write, &[&listed]].concat();
        run_with(&sandbox, &server, &words).success();
        let summary: serde_json::Value =
            serde_json::from_str(&sandbox.read(&format!("{listed}/summary.json"))).unwrap();
        let files = summary["inputs"].as_array().unwrap();
        let files: Vec<_> = files
            .iter()
            .map(|one| one["file"].as_str().unwrap())
            .collect();
        assert_eq!(files, names, "{scheme}");
        // Each by its name, too.
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let words = [&["dedup"], &names[..], &write, &[&named]].concat();
        run_with(&sandbox, &server, &words).success();
        let expected = (0..KEYS.len()).map(|number| format!("only in {number}\""));
        for out in [&listed, &named] {
            let found = texts(out);
            assert_eq!(found.len(), KEYS.len());
            for text in expected.clone() {
                assert!(
                    found.iter().any(|line| line.contains(&text)),
                    "{text} in {out}"
                );
            }
        }
    }
    // As files, `a//b` and `a/b` are the same.
    let input = format!("s3://{BUCKET}/d/");
    let words = ["dedup", &input, "--write", "kept", "-o", "files"];
    let assert = run_with(&sandbox, &server, &words).code(2);
    assert_message(&assert, &["would both be written to", "a//b.jsonl"]);
    let requests = server.take_requests();
    let has = |path: &str| requests.iter().any(|request| request.raw_path == path);
    for path in [
        "d/../x.jsonl",
        "d/a/./c.jsonl",
        "d//lead.jsonl",
        "d/line%0Abreak.jsonl",
    ] {
        assert!(has(&format!("/{BUCKET}/{path}")), "{path}");
    }
}

/// The message about a listing that fails, and the number of requests.
fn failed_listing(server: &Server, input: &str, memory: &str) -> (Assert, usize) {
    let sandbox = Sandbox::new();
    server.take_requests();
    let words = ["dedup", input, "-o", "out", "--quiet", "--memory", memory];
    let assert = run_with(&sandbox, server, &words).code(2);
    (assert, server.take_requests().len())
}

/// Promise (Inputs on servers): Listings are in memory bounded by `--memory`; endless answers and
/// listings are errors
#[test]
fn endless_answers_and_listings_are_errors() {
    let object = "<Contents><Key>k</Key><Size>1</Size></Contents>";
    let comment = format!("<!--{}-->", " ".repeat(8000));
    for (start, text, words) in [
        (
            "<ListBucketResult>",
            object,
            &["more than", "objects", "memory"][..],
        ),
        (
            "<ListBucketResult><Contents><Key>",
            "kkkkkkkk",
            &["more than 16384 bytes"],
        ),
        (
            "<ListBucketResult><",
            "kkkkkkkk",
            &["more than 16384 bytes"],
        ),
        (
            "<ListBucketResult>",
            &comment,
            &["more than 67108864 bytes"],
        ),
    ] {
        let server = Server::start();
        let (start, text) = (start.to_owned(), text.to_owned());
        server.set_faults(move |_| Some(Fault::Endless(start.clone(), text.clone())));
        let (assert, requests) = failed_listing(&server, "s3://bucket/d/", "4M");
        assert_message(&assert, words);
        assert_eq!(requests, 1);
    }
    // Of the hub.
    let server = Server::start();
    server.set_faults(|request| {
        let is_tree = request.path.contains("/tree/");
        is_tree.then(|| Fault::Endless("[".to_owned(), "{\"type\":\"file\"},".to_owned()))
    });
    let (assert, requests) = failed_listing(&server, "hf://datasets/org/name/", "4M");
    assert_message(&assert, &["more than 16777216 bytes"]);
    assert_eq!(requests, 2);
    // Pages without an end: the same one, empty ones, and ones with objects.
    let page = |objects: &str, token: &str| {
        let next = format!("<NextContinuationToken>{token}</NextContinuationToken>");
        let page = format!("<ListBucketResult>{objects}{next}</ListBucketResult>");
        Fault::Status(200, None, page)
    };
    let server = Server::start();
    server.set_faults(move |_| Some(page(object, "same")));
    let (assert, requests) = failed_listing(&server, "s3://bucket/d/", "4M");
    assert_message(&assert, &["does not end: it repeats a page"]);
    assert_eq!(requests, 2);
    let server = Server::start();
    server.set_faults(move |request| Some(page("", &request.number.to_string())));
    let (assert, requests) = failed_listing(&server, "s3://bucket/d/", "4M");
    assert_message(&assert, &["does not end: its pages have no objects"]);
    assert_eq!(requests, 1001);
    let server = Server::start();
    server.set_faults(move |request| Some(page(&object.repeat(20), &request.number.to_string())));
    let (assert, requests) = failed_listing(&server, "s3://bucket/d/", "4M");
    assert_message(&assert, &["objects", "memory"]);
    assert!(requests < 500, "{requests}");
}

/// Promise (Inputs on servers): Failures that another attempt would not …
#[test]
fn invalid_listings_are_errors_at_once() {
    let body = |text: &str| Fault::Status(200, None, text.to_owned());
    let list = |text: &str| body(&format!("<ListBucketResult>{text}</ListBucketResult>"));
    for (fault, word) in [
        (body("<html><p>Welcome</html>"), "no valid listing"),
        (body("<html></html>"), "no listing"),
        (body("{}"), "no valid listing"),
        (list("<IsTruncated>true</IsTruncated>"), "incomplete"),
        (
            list("<Contents><Key>a</Key></Contents>"),
            "without name or size",
        ),
        (
            list("<Contents><Key>a</Key><Size>-1</Size></Contents>"),
            "invalid size",
        ),
        (
            list("<Contents><ETag>&#10;</ETag></Contents>"),
            "invalid entity tag",
        ),
        (
            list(
                "<EncodingType>url</EncodingType><Contents><Key>%FF</Key><Size>1</Size></Contents>",
            ),
            "not UTF-8",
        ),
        (
            list("<Contents><Key>other/a</Key><Size>1</Size></Contents>"),
            "\"other/a\"",
        ),
        (Fault::status(400), "400 Bad Request"),
        (
            Fault::Raw("HTTP/1.1 200 X\r\na b: c\r\n\r\n".to_owned()),
            "no valid HTTP",
        ),
    ] {
        let server = Server::start();
        server.set_faults(move |_| Some(fault.clone()));
        let (assert, requests) = failed_listing(&server, "s3://bucket/d/", "1G");
        assert_message(&assert, &[word, "s3://bucket/d"]);
        assert_eq!(requests, 1, "{word}");
    }
}

/// Promise (Inputs on servers): An object is empty only if …
#[test]
fn a_refused_range_is_no_empty_object() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    server.add("416.jsonl", lines(20).as_bytes());
    server.add("ok.jsonl", lines(40).as_bytes());
    server.set_faults(|request| (request.path == "416.jsonl").then(|| Fault::status(416)));
    let line = format!(
        "dedup {} {} -o out",
        server.url("416.jsonl"),
        server.url("ok.jsonl")
    );
    assert_message(
        &run(&sandbox, &server, &line).code(2),
        &["416.jsonl", "416"],
    );
    assert!(!sandbox.path("out/summary.json").exists());
}

/// Redirects of signed requests are not followed to another server (another port), and those of the hub
/// without the token.
/// Promise (Inputs on servers): No credential crosses to another host or port, or from https to
/// http
#[test]
fn no_credential_crosses_to_another_server() {
    let sandbox = Sandbox::new();
    let (server, other) = (Server::start(), Server::start());
    for path in ["bucket/d.jsonl", "sas/d.jsonl", "d.jsonl"] {
        server.add(path, lines(20).as_bytes());
        other.add(path, lines(20).as_bytes());
    }
    let target = other.address.clone();
    server.set_faults(move |request| {
        let is_file = request.path.ends_with(".jsonl");
        let url = || format!("http://{target}/{}?{}", request.path, request.query);
        is_file.then(|| Fault::Redirect(url()))
    });
    for input in [
        "s3://bucket/d.jsonl",
        "az://bucket/d.jsonl",
        "az://sas/d.jsonl",
    ] {
        let words = ["dedup", input, "-o", "out", "--quiet"];
        let assert = run_with(&sandbox, &server, &words).code(2);
        assert_message(&assert, &["302"]);
        assert!(!stderr(&assert).contains("hunter2"));
    }
    assert!(other.take_requests().is_empty());
    let words = [
        "dedup",
        "hf://datasets/org/name/d.jsonl",
        "-o",
        "out",
        "--quiet",
    ];
    run_with(&sandbox, &server, &words).success();
    let requests = other.take_requests();
    assert!(!requests.is_empty());
    for request in requests {
        for name in request.header_names() {
            let value = request.header(name).unwrap();
            assert!(!value.contains("hunter2"), "{name}: {value}");
            assert!(
                !["authorization", "cookie", "referer"].contains(&name),
                "{name}"
            );
        }
    }
}

/// The server answers as soon as the user was notified, so the test does not depend on time.
/// Promise (Inputs on servers): A wait of more than 10 s is told on standard error, also with
/// `--quiet`
#[test]
fn a_long_wait_is_told_even_with_quiet() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    server.add("a.jsonl", lines(20).as_bytes());
    let (is_told, held) = (Arc::new(AtomicBool::new(false)), AtomicUsize::new(0));
    let told = Arc::clone(&is_told);
    server.set_faults(move |_| {
        let is_first = held.fetch_add(1, Ordering::Relaxed) == 0;
        while is_first && !told.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        None
    });
    let mut child = std::process::Command::new(SIMTOOL)
        .args(["dedup", &server.url("a.jsonl"), "-o", "out", "--quiet"])
        .current_dir(sandbox.path(""))
        .env("SIMTOOL_SERVER_TIMEOUT", "30")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    said.read_line(&mut first).unwrap();
    is_told.store(true, Ordering::Relaxed);
    assert!(
        first.contains(&format!("waiting for {}: no progress", server.address))
            && first.contains("no answer"),
        "{first}"
    );
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success(), "{rest}");
    assert_eq!(rest, "");
}
