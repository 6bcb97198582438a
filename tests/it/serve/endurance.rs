//! Concurrent additions, kills, shutdown, and a full disk.

use std::io::{BufReader, Write};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use serde_json::json;

use crate::serve::client::{Service, read_answer, request, words};
use simtool_testing::wait::wait_until;

/// Promise (The service): Of many clients that add the same new document at once, one gets `new`
#[test]
fn one_of_many_clients_gets_the_verdict_new() {
    let service = Service::start("");
    for round in 0..20 {
        let text = words(round, 60);
        let verdicts: Vec<String> = thread::scope(|scope| {
            let ask = |caller: u64| {
                let (service, text) = (&service, &text);
                scope.spawn(move || {
                    let id = format!("{round}-{caller}");
                    let answer = service.seen(&json!({"text": text, "id": id, "add": true}));
                    answer["verdict"].as_str().unwrap().to_owned()
                })
            };
            let callers: Vec<_> = (0..8).map(ask).collect();
            callers
                .into_iter()
                .map(|caller| caller.join().unwrap())
                .collect()
        });
        let new = verdicts.iter().filter(|verdict| *verdict == "new").count();
        assert_eq!(new, 1, "{verdicts:?}");
    }
    assert_eq!(service.get("/v1/stats").json()["documents"], 160);
}

/// Adds documents until the service ends, and records the acknowledged ids.
fn add_until_the_end(service: &Service, caller: u64, acknowledged: &Mutex<Vec<String>>) {
    let mut stream = service.connect();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for number in 0.. {
        let id = format!("{caller}-{number}");
        let body = json!({"text": words(caller * 1_000_000 + number, 20), "id": id, "add": true});
        let bytes = request(
            "POST",
            "/v1/seen",
            "",
            body.to_string().as_bytes(),
            "keep-alive",
        );
        if stream.write_all(&bytes).is_err() {
            return;
        }
        match read_answer(&mut reader) {
            Some(answer) if answer.status == 200 => acknowledged.lock().unwrap().push(id),
            _ => return,
        }
    }
}

/// Promise (The service): Acknowledged additions survive a kill of the process under load
#[test]
fn acknowledged_additions_survive_a_killed_process() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("seen");
    let acknowledged = Mutex::new(Vec::new());
    for round in 0..3_u64 {
        let mut service = Service::of(&directory, "");
        let before = acknowledged.lock().unwrap().len();
        thread::scope(|scope| {
            for caller in 0..4 {
                let (service, acknowledged) = (&service, &acknowledged);
                scope.spawn(move || add_until_the_end(service, round * 10 + caller, acknowledged));
            }
            wait_until("some additions", || {
                acknowledged.lock().unwrap().len() > before + 200
            });
            // The clients borrow the service, so `Service::kill` is not available here.
            let id = service.child.id().to_string();
            let killed = Command::new("kill").args(["-KILL", &id]).status().unwrap();
            assert!(killed.success());
        });
        service.kill();
    }
    let service = Service::of(&directory, "");
    let acknowledged = acknowledged.into_inner().unwrap();
    for id in &acknowledged {
        assert_eq!(
            service.get(&format!("/v1/documents/{id}")).status,
            200,
            "{id}"
        );
    }
    let documents = service.get("/v1/stats").json()["documents"]
        .as_u64()
        .unwrap();
    assert!(documents >= acknowledged.len() as u64);
    drop(service);
    let check = Command::new(env!("CARGO_BIN_EXE_simtool"))
        .args(["index", "check"])
        .arg(&directory)
        .output()
        .unwrap();
    assert!(check.status.success());
}

/// Promise (The service): A stopped service answers the requests that it has begun
#[test]
fn a_stopped_service_answers_requests_under_way() {
    let service = Service::start("");
    let mut stream = service.connect();
    let body = json!({"text": words(1, 60), "id": "a", "add": true}).to_string();
    let bytes = request("POST", "/v1/seen", "", body.as_bytes(), "keep-alive");
    stream.write_all(&bytes[..bytes.len() - 1]).unwrap();
    let metrics = "simtool_requests_in_flight 2";
    wait_until("the request", || {
        service.get("/metrics").text().contains(metrics)
    });
    service.signal("-TERM");
    // No new connections.
    let address = service.address.clone();
    wait_until("a closed listener", || {
        std::net::TcpStream::connect(&address).is_err()
    });
    stream.write_all(&bytes[bytes.len() - 1..]).unwrap();
    let answer = read_answer(&mut BufReader::new(stream)).unwrap();
    assert_eq!(
        (answer.status, &answer.json()["added"]),
        (200, &json!(true))
    );
    let mut service = service;
    assert_eq!(service.child.wait().unwrap().code(), Some(0));
    let again = Service::of(&service.directory, "");
    assert_eq!(again.get("/v1/documents/a").status, 200);
}

/// If files cannot grow, additions are refused and queries are answered.
/// Promise (The service): A full or read-only disk refuses additions; queries are answered
#[test]
fn a_full_disk_refuses_additions_and_answers_queries() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("seen");
    let first = Service::of(&directory, "");
    let text = words(1, 60);
    first.seen(&json!({"text": text, "id": "a", "add": true}));
    assert_eq!(first.end().0, Some(0));
    let entries = std::fs::read_dir(&directory).unwrap();
    let sizes = entries.filter_map(|entry| entry.unwrap().metadata().ok());
    let largest = sizes.map(|found| found.len()).max().unwrap();
    let limit = (largest.div_ceil(1024) + 64).to_string();
    let service = Service::under(&limit, &directory, "");
    let payload = "p".repeat(8 << 20);
    let body = json!({"text": words(2, 60), "id": "b", "payload": payload, "add": true});
    let refused = service.post("/v1/seen", &body);
    refused.problem(507, "disk-full");
    assert_eq!(service.seen(&json!({"text": text}))["verdict"], "duplicate");
    // Each line that is not blank is answered. A problem gives the number of its line.
    let question = json!({"text": text}).to_string();
    let lines = format!("{body}\n\n{question}\n{body}\n");
    let batch = service.ask("POST", "/v1/seen/batch", "", lines.as_bytes());
    let answer: Vec<serde_json::Value> = batch
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let found = answer
        .iter()
        .map(|answer| (&answer["code"], &answer["line"]));
    let full = json!("disk-full");
    let expected = [
        (&full, &json!(1)),
        (&json!(null), &json!(null)),
        (&full, &json!(4)),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    service.get("/v1/documents/b").problem(404, "unknown-id");
    // Clients get no path; standard error names it.
    let path = temporary.path().display().to_string();
    for answer in [refused.text(), batch.text()] {
        assert!(!answer.contains(&path), "{answer}");
    }
    let (code, stderr) = service.end();
    assert_eq!(code, Some(0));
    let names_path = |line: &str| line.starts_with("simtool: add: ") && line.contains(&path);
    assert!(stderr.lines().any(names_path), "{stderr}");
    // When there is space again, additions are accepted.
    let service = Service::of(&directory, "");
    assert_eq!(service.seen(&body)["added"], true);
}
