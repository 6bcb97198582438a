//! Clients that do not read their answers.

use std::io::Write;

use serde_json::json;

use crate::client::{Service, request};

/// A client that sends this and reads nothing holds the only connection, and loses it.
fn comes_back(service: &Service, sent: &[u8]) {
    let mut stream = service.connect();
    // The client may be cut off before it has sent everything.
    let _ = stream.write_all(sent);
    assert_eq!(service.get("/healthz").status, 200);
    drop(stream);
}

fn service() -> Service {
    Service::start("--max-connections 1 --request-timeout 2 --max-bodies 17M")
}

#[test]
fn one_long_answer_and_many_behind_one_another() {
    let service = service();
    let payload = "p".repeat(12 << 20);
    service
        .seen(&json!({"fingerprint": "0".repeat(16), "id": "a", "add": true, "payload": payload}));
    let long = request("GET", "/v1/documents/a", "", b"", "keep-alive");
    comes_back(&service, &long);
    let short = request("GET", "/openapi.json", "", b"", "keep-alive");
    comes_back(&service, &short.repeat(1000));
    // Its memory was released, too.
    let again = service.get("/v1/documents/a");
    assert_eq!(again.json()["payload"].as_str().unwrap().len(), 12 << 20);
}

#[test]
fn a_batch() {
    let service = service();
    let lines = |count: u64, extra: &str| -> String {
        let line = |number: u64| {
            format!("{{\"fingerprint\":\"0000000000000000\",\"id\":\"{number}\"{extra}}}\n")
        };
        (0..count).map(line).collect()
    };
    let known = lines(1000, "");
    let added = service.ask("POST", "/v1/seen/batch?add=true", "", known.as_bytes());
    assert_eq!(added.status, 200);
    let questions = lines(1000, ",\"limit\":1000");
    comes_back(
        &service,
        &request(
            "POST",
            "/v1/seen/batch",
            "",
            questions.as_bytes(),
            "keep-alive",
        ),
    );
}
