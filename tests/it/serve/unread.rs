//! Clients that do not read their answers.

use std::io::Write;
use std::path::Path;

use serde_json::json;

use crate::serve::client::{Service, request};

/// A client that sends `bytes` and reads nothing holds the only connection, and loses it.
fn loses_connection(service: &Service, bytes: &[u8]) {
    let mut stream = service.connect();
    // The connection may close before all is sent.
    let _ = stream.write_all(bytes);
    assert_eq!(service.get("/healthz").status, 200);
    drop(stream);
}

/// Starts a service whose clients have two seconds to read, of the index of `filled`, whose clients
/// had time to fill it. On a slow machine an answer may take too long and is refused: its connection
/// is lost because it is idle.
fn impatient(directory: &Path, filled: Service) -> Service {
    assert_eq!(filled.end().0, Some(0));
    Service::of(
        directory,
        "--max-connections 1 --request-timeout 2 --header-timeout 30 --max-bodies 17M",
    )
}

/// Promise (The service): A client that does not read answers loses its connection
#[test]
fn clients_with_unread_answers_lose_their_connection() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("seen");
    let service = Service::of(&directory, "--method simhash");
    let payload = "p".repeat(12 << 20);
    service
        .seen(&json!({"fingerprint": "0".repeat(16), "id": "a", "add": true, "payload": payload}));
    let service = impatient(&directory, service);
    let long = request("GET", "/v1/documents/a", "", b"", "keep-alive");
    loses_connection(&service, &long);
    let short = request("GET", "/openapi.json", "", b"", "keep-alive");
    loses_connection(&service, &short.repeat(1000));
    // The memory of its answers was released.
    let metrics = service.get("/metrics").text();
    assert!(metrics.contains("simtool_lent_bytes 0\n"), "{metrics}");
}

/// Promise (The service): A client that does not read …
#[test]
fn a_client_with_an_unread_batch_loses_its_connection() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("seen");
    let service = Service::of(&directory, "--method simhash");
    let lines = |count: u64, extra: &str| -> String {
        let line = |number: u64| {
            format!("{{\"fingerprint\":\"0000000000000000\",\"id\":\"{number}\"{extra}}}\n")
        };
        (0..count).map(line).collect()
    };
    let known = lines(1000, "");
    let added = service.ask("POST", "/v1/seen/batch?add=true", "", known.as_bytes());
    assert_eq!(added.status, 200);
    let service = impatient(&directory, service);
    let queries = lines(1000, ",\"limit\":1000");
    loses_connection(
        &service,
        &request(
            "POST",
            "/v1/seen/batch",
            "",
            queries.as_bytes(),
            "keep-alive",
        ),
    );
}
