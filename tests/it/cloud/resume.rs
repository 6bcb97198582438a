//! Runs over inputs on servers that are repeated, and inputs that change.

use crate::cloud::{lines, run};
use crate::sandbox::{SIMTOOL, Sandbox, assert_message, last_event, stderr};
use simtool_testing::server::{Fault, Server};

/// Promise (Inputs on servers): A repeated command compares the objects with those of the earlier
/// run
#[test]
fn a_finished_run_is_known_again_until_the_object_changes() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    server.add("a.jsonl", lines(80).as_bytes());
    let line = format!("dedup {} -o out --threads 2", server.url("a.jsonl"));
    run(&sandbox, &server, &line).success();
    let summary = sandbox.read("out/summary.json");
    let again = run(&sandbox, &server, &line).success();
    assert!(stderr(&again).contains("complete"), "{}", stderr(&again));
    assert_eq!(sandbox.read("out/summary.json"), summary);
    server.add("a.jsonl", lines(80).replace("end7", "END7").as_bytes());
    let assert = run(&sandbox, &server, &line).code(2);
    assert_message(&assert, &["another job", "object.etag was"]);
    run(&sandbox, &server, &format!("{line} --restart")).success();
}

/// Promise (Inputs on servers): Bytes of two versions of an …
#[test]
fn an_object_that_changes_during_a_run_ends_it() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    server.add("a.jsonl", lines(2000).as_bytes());
    server.set_faults(|request| (request.number > 0).then_some(Fault::Changed));
    let line = format!("dedup {} -o out --quiet", server.url("a.jsonl"));
    let assert = run(&sandbox, &server, &line).code(2);
    assert_message(&assert, &["a.jsonl: changed while it was being read"]);
    assert!(!sandbox.path("out/summary.json").exists());
}

/// Promise (Inputs on servers): Credentials, and signatures in URLs, are in no message and no file
#[test]
fn credentials_are_in_no_file_and_no_message() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    server.add("a.jsonl", lines(80).as_bytes());
    server.add("bucket/b.jsonl", lines(40).as_bytes());
    let url = server.url("a.jsonl?X-Amz-Signature=hunter2&x=1");
    let line = format!("dedup {url} s3://bucket/b.jsonl -o out --write kept");
    let assert = run(&sandbox, &server, &line).success();
    assert!(!stderr(&assert).contains("hunter2"), "{}", stderr(&assert));
    let requests = server.take_requests();
    assert!(
        requests
            .iter()
            .any(|request| request.query.contains("hunter2"))
    );
    assert!(
        requests
            .iter()
            .any(|request| request.header("authorization").is_some())
    );
    let mut folders = vec![sandbox.path("out")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = std::fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains("hunter2"), "{}", path.display());
        }
    }
    assert!(files >= 5);
}

#[test]
fn a_dry_run_tells_what_is_read_from_servers() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    let text = lines(3000);
    server.add("a.jsonl", text.as_bytes());
    let line = format!(
        "dedup {} -o out --dry-run --write kept",
        server.url("a.jsonl")
    );
    let shown = stderr(&run(&sandbox, &server, &line).success());
    assert!(
        shown.contains("servers ") && shown.contains("read twice"),
        "{shown}"
    );
    let assert = run(&sandbox, &server, &format!("{line} --log json")).success();
    let plan = last_event(&assert);
    let told = &plan["on_servers"];
    assert_eq!(told["bytes"], 2 * text.len());
    server.take_requests();
    run(&sandbox, &server, &line.replace("--dry-run", "--quiet")).success();
    let requests = server.take_requests().len() as u64;
    let expected = told["requests"].as_u64().unwrap();
    assert!(requests >= expected, "{requests} {expected}");
}

#[test]
fn plans_tell_how_often_objects_are_read() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    let text = lines(1500);
    server.add("a.jsonl", text.as_bytes());
    sandbox.write("reference.jsonl", lines(3));
    for (line, readings) in [
        ("dedup --write ids", 1),
        ("dedup --write removed", 2),
        ("dedup --write kept,removed", 3),
        ("dedup --write kept,removed --write-format jsonl", 2),
        ("lines --action cut", 2),
        ("spans --action mark", 1),
        ("decontaminate --reference reference.jsonl", 1),
    ] {
        let (command, flags) = line.split_once(' ').unwrap();
        let url = server.url("a.jsonl");
        let line = format!("{command} {url} {flags} -o out --dry-run --log json");
        let plan = last_event(&run(&sandbox, &server, &line).success());
        assert_eq!(plan["on_servers"]["bytes"], readings * text.len(), "{line}");
    }
}

#[test]
fn a_dry_run_says_what_a_cache_saves() {
    let sandbox = Sandbox::new();
    let server = Server::start();
    server.add("a.jsonl", lines(3000).as_bytes());
    let url = server.url("a.jsonl");
    let plan = |more: &[&str]| -> serde_json::Value {
        let mut command = sandbox.command(SIMTOOL);
        command.args(["dedup", &url, "-o", "out", "--dry-run", "--log", "json"]);
        command.args(["--write", "kept"]).args(more);
        let plan = last_event(&command.assert());
        plan["on_servers"].clone()
    };
    let bytes = lines(3000).len();
    assert_eq!(plan(&[])["bytes"], 2 * bytes);
    // The second reading is from the cache.
    assert_eq!(plan(&["--cache", "cache"])["bytes"], bytes);
}
