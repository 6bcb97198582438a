//! Directories, patterns and lists of objects.

use crate::cloud::{BUCKET, gzip, lines, reports, run};
use crate::sandbox::{Sandbox, assert_message, stderr};
use simtool_testing::server::{Fault, Server};
use simtool_testing::wait::wait_until;

/// The paths of the inputs of a run, and what follows `root` in them.
fn inputs(sandbox: &Sandbox, out: &str) -> Vec<String> {
    let summary: serde_json::Value =
        serde_json::from_str(&sandbox.read(&format!("{out}/summary.json"))).unwrap();
    let sources = summary["inputs"].as_array().unwrap();
    let path = |source: &serde_json::Value| source["file"].as_str().unwrap().to_owned();
    sources.iter().map(path).collect()
}

const NAMES: [&str; 7] = [
    "d/a.jsonl",
    "d/b.jsonl",
    "d/c.txt",
    "d/e/f.jsonl",
    "d/e/.hidden.jsonl",
    "d/e/README.md",
    "other/x.jsonl",
];

fn filled(prefix: &str) -> Server {
    let server = Server::start();
    for (number, name) in NAMES.iter().enumerate() {
        let text = match name.ends_with(".jsonl") {
            true => lines(8 + number),
            false => format!("a text of its own {number}"),
        };
        server.add(&format!("{prefix}{name}"), text.as_bytes());
    }
    server
}

/// Promise (Inputs on servers): Listings, patterns and lists give the same objects despite
/// failures; a data set of the hub is read at one commit
#[test]
fn directories_and_patterns_are_listed() {
    let sandbox = Sandbox::new();
    let server = filled("bucket/");
    let with = |input: &str, expected: &[&str]| {
        let line = format!("dedup {input} -o out --restart --quiet");
        run(&sandbox, &server, &line).success();
        assert_eq!(inputs(&sandbox, "out"), expected, "{input}");
    };
    let all = [
        "s3://bucket/d/a.jsonl",
        "s3://bucket/d/b.jsonl",
        "s3://bucket/d/e/f.jsonl",
    ];
    with("s3://bucket/d/", &all);
    with("s3://bucket/d", &all);
    with("s3://bucket/d/*.jsonl", &all[..2]);
    with(
        "s3://bucket/d/**/*.jsonl",
        &[all[0], all[1], "s3://bucket/d/e/.hidden.jsonl", all[2]],
    );
    with(
        "s3://bucket/d/[ab]* s3://bucket/other",
        &[all[0], all[1], "s3://bucket/other/x.jsonl"],
    );
    with("s3://bucket --exclude other/", &all);
    // Sizes and tags come from listings, and small objects are read once.
    server.take_requests();
    with("s3://bucket/d/*.jsonl", &all[..2]);
    let requests = server.take_requests();
    let objects: Vec<_> = requests
        .iter()
        .filter(|one| one.range().is_some())
        .collect();
    assert_eq!(objects.len(), 2);
    assert!(objects.iter().all(|one| one.header("if-match").is_some()));
    let line = "dedup s3://bucket/nothing -o new";
    assert_message(
        &run(&sandbox, &server, line).code(2),
        &["s3://bucket/nothing", "404"],
    );
    let line = "dedup s3://bucket/*.csv -o new";
    assert_message(
        &run(&sandbox, &server, line).code(2),
        &["matches no object"],
    );
    let line = format!("dedup {} -o new", server.url("d/"));
    assert_message(
        &run(&sandbox, &server, &line).code(2),
        &["no listings", "--files-from"],
    );
}

/// Promise (Inputs on servers): Listings, patterns and lists give the same …
#[test]
fn listings_are_complete_despite_failures() {
    let sandbox = Sandbox::new();
    let server = filled(&format!("{BUCKET}/"));
    server.set_faults(|request| (request.number % 4 == 1).then(|| Fault::status(503)));
    run(&sandbox, &server, "dedup s3://bucket/d -o out --quiet").success();
    assert_eq!(inputs(&sandbox, "out").len(), 3);
}

/// Promise (Inputs on servers): Listings, patterns and lists give the same …
#[test]
fn data_sets_of_the_hub_are_read_at_one_commit() {
    let sandbox = Sandbox::new();
    let server = filled("");
    let line = "dedup hf://datasets/org/name/d -o out --quiet --write kept";
    run(&sandbox, &server, line).success();
    let all = ["d/a.jsonl", "d/b.jsonl", "d/e/f.jsonl"];
    let all = all.map(|name| format!("hf://datasets/org/name/{name}"));
    assert_eq!(inputs(&sandbox, "out"), all);
    assert!(
        sandbox
            .path("out/kept/datasets/org/name/d/a.jsonl")
            .exists()
    );
    let requests = server.take_requests();
    for request in &requests {
        assert_eq!(request.header("authorization"), Some("Bearer hf_hunter2"));
    }
    let asked = requests
        .iter()
        .filter(|request| request.path.contains("/revision/main"));
    assert_eq!(asked.count(), 1);
    let line = "dedup hf://datasets/org/name@v1/other/x.jsonl -o one --quiet";
    run(&sandbox, &server, line).success();
    assert_eq!(
        inputs(&sandbox, "one"),
        ["hf://datasets/org/name@v1/other/x.jsonl"]
    );
    server.set_faults(|_| {
        Some(Fault::Status(
            401,
            None,
            "{\"error\":\"Invalid token\"}".into(),
        ))
    });
    let assert = run(&sandbox, &server, "dedup hf://datasets/org/x/ -o new").code(2);
    assert_message(&assert, &["401 Unauthorized: Invalid token", "HF_TOKEN"]);
    assert!(!stderr(&assert).contains("hunter2"));
}

/// Promise (Inputs on servers): Listings, patterns and lists give the same …
#[test]
fn names_in_remote_lists_are_keys_of_the_server() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    let mut list = String::new();
    for number in 0..12 {
        let name = format!("crawl-data/segments/{number:02}.jsonl");
        server.add(&name, lines(20 + number).as_bytes());
        server.add(&format!("{BUCKET}/{name}"), lines(20 + number).as_bytes());
        list.push_str(&format!("{name}\n"));
    }
    for prefix in ["", "bucket/"] {
        let path = format!("{prefix}crawl-data/paths.gz");
        server.add(&path, &gzip(list.as_bytes(), usize::MAX));
    }
    let http = server.url("crawl-data/paths.gz");
    for (list, root) in [
        (http.as_str(), server.url("")),
        ("s3://bucket/crawl-data/paths.gz", "s3://bucket/".to_owned()),
    ] {
        let line = format!("dedup --files-from {list} --take 3..5 -o out --restart --quiet");
        run(&sandbox, &server, &line).success();
        let expected = [3, 4].map(|number| format!("{root}crawl-data/segments/0{number}.jsonl"));
        assert_eq!(inputs(&sandbox, "out"), expected);
        let line = format!("lines --files-from {list} --take 1.. -o lines --restart --quiet");
        run(&sandbox, &server, &line).success();
    }
    server.add("bad.txt", b"crawl-data/segments/00.jsonl\nmissing.jsonl\n");
    let line = format!("dedup --files-from {} -o new", server.url("bad.txt"));
    let assert = run(&sandbox, &server, &line).code(2);
    assert_message(&assert, &["missing.jsonl", "404"]);
    for take in ["5..5", "x", "3"] {
        let line = format!("dedup --files-from {http} --take {take} -o new");
        assert_message(&run(&sandbox, &server, &line).code(2), &["--take"]);
    }
}

#[test]
fn waits_are_told_before_anything_is_read() {
    let sandbox = Sandbox::new();
    let messages = |flags: &str| {
        let server = filled(&format!("{BUCKET}/"));
        server.set_faults(|request| {
            let busy = Fault::Status(503, Some(("Retry-After", "1".into())), "slow down".into());
            (request.number == 0).then_some(busy)
        });
        let line = format!("dedup s3://{BUCKET}/d -o out --restart {flags}");
        stderr(&run(&sandbox, &server, &line).success())
    };
    // A thread looks for waits ten times a second. A busy machine may give it no time in one second.
    wait_until("a message about a wait", || {
        let said = messages("");
        said.contains("waiting 1 s for 127.0.0.1") && said.contains("slow down")
    });
    assert_eq!(messages("--quiet"), "");
}

/// Detection of many small objects does not wait for each in turn.
#[test]
fn first_bytes_are_requested_ahead() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    for number in 0..40 {
        server.add(&format!("bucket/d/{number:02}.jsonl"), lines(4).as_bytes());
    }
    server.set_faults(|_| Some(Fault::Delay(std::time::Duration::from_millis(5))));
    run(&sandbox, &server, "dedup s3://bucket/d -o out --quiet").success();
    // One request for detection and one for each reading; the listing has pages of three.
    let requests = server.take_requests();
    let objects = requests
        .iter()
        .filter(|request| request.path.ends_with(".jsonl"));
    assert!(objects.count() <= 3 * 40 + 2);
}

#[test]
fn many_small_objects_take_a_request_each() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    std::fs::create_dir(sandbox.path("small")).unwrap();
    let documents = lines(200);
    let documents: Vec<&str> = documents.lines().collect();
    for (number, lines) in documents.chunks(2).enumerate() {
        let bytes = gzip(lines.join("\n").as_bytes(), 200);
        server.add(&format!("{BUCKET}/small/{number:03}.jsonl.gz"), &bytes);
        sandbox.write(&format!("small/{number:03}.jsonl.gz"), bytes);
    }
    let methods = "--method exact --threads 2 --no-page";
    run(
        &sandbox,
        &server,
        &format!("dedup small -o local {methods}"),
    )
    .success();
    let line = format!("dedup s3://{BUCKET}/small/ -o remote {methods}");
    run(&sandbox, &server, &line).success();
    let requests = || {
        let objects = server.take_requests();
        let objects = objects.iter().filter(|request| request.range().is_some());
        objects.count()
    };
    assert_eq!(requests(), 100);
    let prefix = format!("s3://{BUCKET}/");
    let local = reports(&sandbox, "local", "", "");
    assert_eq!(reports(&sandbox, "remote", &prefix, ""), local);
    // Without memory to keep them, each is read again.
    let least = stderr(&run(&sandbox, &server, &format!("{line} --memory 1M")).code(2));
    let least = least.split("at least ").nth(1).unwrap().split(' ').next();
    let line = format!("{line} --restart --memory {}", least.unwrap());
    server.take_requests();
    run(&sandbox, &server, &line).success();
    assert!(requests() >= 200);
    assert_eq!(reports(&sandbox, "remote", &prefix, ""), local);
}
