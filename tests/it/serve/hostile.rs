//! Clients that cost much memory or time, and clients with unusual HTTP.

use std::io::{BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Command;

use serde_json::{Value, json};

use crate::serve::client::{Service, read_answer, request, words};
use simtool_testing::wait::wait_until;

/// The peak memory of the process in bytes.
fn peak_bytes(service: &Service) -> usize {
    let path = format!("/proc/{}/status", service.child.id());
    let status = std::fs::read_to_string(path).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kilobytes.parse::<usize>().unwrap() << 10
}

/// Answers with long ids need reserved memory; without that bound, these would take some gigabytes.
/// Promise (The service): Unread answers with long ids are in bounded memory; an answer states if
/// it was truncated
#[test]
fn long_answers_that_are_not_read_are_in_bounded_memory() {
    let service = Service::start("--max-bodies 64M --method simhash");
    let id = |number: usize| format!("{number:05}{}", "i".repeat(65_000));
    // Six bits each, at most one of which two have in common: all are near 0, and none is near another.
    for number in 0..49 {
        let bits = (0..6).map(|place| 7 * place + (number / 7 * place + number) % 7);
        let fingerprint = bits.fold(0_u64, |set, bit| set | 1 << bit);
        let known = json!({
            "fingerprint": format!("{fingerprint:016x}"), "id": id(number), "limit": 1, "add": true,
        });
        let added = service.seen(&known);
        assert_eq!([&added["added"], &added["kept"]], [true, true]);
    }
    let body = json!({"fingerprint": "0000000000000000", "limit": 1000}).to_string();
    let before = peak_bytes(&service);
    let query = request("POST", "/v1/seen", "", body.as_bytes(), "close");
    let unread: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = service.connect();
            stream.write_all(&query).unwrap();
            stream
        })
        .collect();
    // Queries with short answers need no reservation.
    assert_eq!(
        service.seen(&json!({"text": words(1, 9)}))["verdict"],
        "new"
    );
    for stream in unread {
        let answer = read_answer(&mut BufReader::new(stream)).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        let answer = answer.json();
        let listed = answer["matches"].as_array().unwrap().len();
        assert!((10..20).contains(&listed), "{listed}");
        assert_eq!(answer["truncated"], true);
        assert_eq!(answer["matches"][0]["id"], id(0));
    }
    let grown = peak_bytes(&service) - before;
    assert!(grown < 128 << 20, "{grown}");
    // The same in a batch: every line has the answer of a single query.
    let batch = (body + "\n").repeat(5);
    let batch = service.ask("POST", "/v1/seen/batch", "", batch.as_bytes());
    let lines: Vec<Value> = batch
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 5);
    for line in lines {
        let listed = line["matches"].as_array().unwrap().len();
        assert!((10..20).contains(&listed), "{listed}");
        assert_eq!(line["truncated"], true);
    }
    // The first match is always listed, and answers within the limit are complete.
    let one = service.seen(&json!({"fingerprint": "0000000000000000", "limit": 1}));
    assert_eq!(one["matches"][0]["id"], id(0));
    assert!(one.get("truncated").is_none());
}

/// A body takes memory when it arrives, not when it is announced.
/// Promise (The service): Announced bodies that do not arrive block no query, unless there are
/// as many of them as `--max-requests`
#[test]
fn announced_bodies_block_no_queries() {
    let service = Service::start("--max-bodies 64M");
    let head = b"POST /v1/seen HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n{";
    let announce = |_| {
        let mut stream = service.connect();
        stream.write_all(head).unwrap();
        stream
    };
    let mut announced: Vec<TcpStream> = (0..64).map(announce).collect();
    let ask = || service.seen(&json!({"text": words(1, 9)}))["verdict"].clone();
    assert_eq!(ask(), "new");
    // Nor do they if enough bytes have arrived to need a reservation.
    for stream in &mut announced {
        stream.write_all(&vec![b' '; 200_000]).unwrap();
    }
    let reserved = || {
        let text = service.get("/metrics").text();
        let line = text
            .lines()
            .find(|line| line.starts_with("simtool_lent_bytes "));
        line.unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    wait_until("all memory to be reserved", || reserved() > 40 << 20);
    assert_eq!(ask(), "new");
}

/// A client that sends all of a refused body before it reads gets the reason.
/// Promise (The service): A client that sends all of a refused body gets the reason, and one that
/// closes its sending side after its request gets an answer
#[test]
fn a_refused_body_is_drained() {
    let service = Service::start("");
    let large = vec![b' '; 17 << 20];
    let limit = "POST /v1/seen HTTP/1.1\r\nHost: localhost\r\n";
    let cross_origin = format!("{limit}Origin: http://evil.example\r\n");
    for (head, status) in [(limit, 413), (cross_origin.as_str(), 403)] {
        for connection in ["close", "keep-alive"] {
            let head = format!(
                "{head}Connection: {connection}\r\nContent-Length: {}\r\n\r\n",
                large.len()
            );
            let mut stream = service.connect();
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(&large).unwrap();
            let answer = read_answer(&mut BufReader::new(stream)).unwrap();
            assert_eq!(answer.status, status);
        }
    }
}

/// Promise (The service): A client that sends all of a refused …
#[test]
fn a_client_that_closes_its_side_after_the_request_is_answered() {
    let service = Service::start("");
    let page = json!({"text": words(1, 60), "id": "a", "add": true}).to_string();
    for (method, path, body) in [
        ("POST", "/v1/seen", page.as_str()),
        ("POST", "/v1/seen/batch", page.as_str()),
        ("GET", "/v1/stats", ""),
    ] {
        let mut stream = service.connect();
        let bytes = request(method, path, "", body.as_bytes(), "keep-alive");
        stream.write_all(&bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let answer = read_answer(&mut BufReader::new(stream)).unwrap();
        assert_eq!(answer.status, 200);
        assert!(!answer.body.is_empty());
    }
}

/// Removing the file `lock` of an index that is served lets no other process change the index.
/// Promise (The service): No other process changes an index that is being served, even if its file
/// `lock` is removed
#[test]
fn other_processes_cannot_change_a_served_index() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("seen");
    let service = Service::of(&directory, "");
    let page = json!({"text": words(1, 60), "id": "a", "add": true});
    assert_eq!(service.seen(&page)["added"], true);
    std::fs::remove_file(directory.join("lock")).unwrap();
    let input = temporary.path().join("more.jsonl");
    let line = json!({"text": words(2, 60), "id": "b"}).to_string();
    std::fs::write(&input, line).unwrap();
    let mut add = Command::new(env!("CARGO_BIN_EXE_simtool"));
    add.args(["index", "add"]).arg(&directory).arg(&input);
    let refused = add.output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    let expected = "another process has this index open";
    assert!(message.contains(expected), "{message}");
    let page = json!({"text": words(3, 60), "id": "c", "add": true});
    assert_eq!(service.seen(&page)["added"], true);
    assert_eq!(service.end().0, Some(0));
    assert!(add.output().unwrap().status.success());
    let again = Service::of(&directory, "");
    assert_eq!(again.get("/v1/stats").json()["documents"], 3);
}
