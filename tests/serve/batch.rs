//! Batches: many questions in one request.

use std::io::{BufReader, Write};

use serde_json::{Value, json};

use crate::client::{Service, read_answer, read_chunk, words};

fn lines(body: &str) -> Vec<Value> {
    body.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn ten_thousand_lines_in_order() {
    let service = Service::start("");
    let line = |number: u64| {
        let text = words(number / 2, 30);
        json!({"text": text, "id": format!("d{number}")}).to_string() + "\n"
    };
    let body: String = (0..10_000).map(line).collect();
    let answer = service.ask("POST", "/v1/seen/batch?add=true", "", body.as_bytes());
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.header("content-type").as_deref(),
        Some("application/x-ndjson")
    );
    let said = lines(&answer.text());
    assert_eq!(said.len(), 10_000);
    for (number, said) in said.iter().enumerate() {
        assert_eq!(said["id"], format!("d{number}"));
        assert_eq!(said["added"], true);
        if number % 2 == 1 {
            assert_eq!(said["verdict"], "duplicate");
            let twin = format!("d{}", number - 1);
            assert!(
                said["matches"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|near| near["id"] == twin)
            );
        }
    }
    let again = service.ask("POST", "/v1/seen/batch", "", body.as_bytes());
    let said = lines(&again.text());
    assert!(
        said.iter()
            .all(|said| said["verdict"] == "unchanged" && said["added"] == false)
    );
    assert_eq!(service.get("/v1/stats").json()["documents"], 10_000);
}

#[test]
fn lines_of_every_kind() {
    let service = Service::start("--max-body 5000 --max-bodies 9000");
    let text = words(1, 60);
    let body = [
        json!({"text": text, "id": "a", "add": true}).to_string(),
        json!({"text": text}).to_string(),
        String::new(),
        "{".into(),
        json!({"text": words(1, 3000)}).to_string(),
        json!({"text": "", "id": "e", "add": true}).to_string(),
        json!({"text": text, "id": "b", "add": true}).to_string(),
        json!({"text": text, "add": true}).to_string(),
        json!({"text": text, "limit": 1}).to_string(),
    ]
    .join("\n");
    let answer = service.ask("POST", "/v1/seen/batch", "", body.as_bytes());
    let said = lines(&answer.text());
    let verdicts: Vec<&Value> = said
        .iter()
        .map(|said| said.get("verdict").unwrap_or(&said["code"]))
        .collect();
    let expected = [
        "new",
        "duplicate",
        "bad-json",
        "too-large",
        "empty",
        "duplicate",
        "missing-id",
        "duplicate",
    ];
    assert_eq!(verdicts, expected);
    let numbers: Vec<&Value> = said.iter().filter_map(|said| said.get("line")).collect();
    assert_eq!(numbers, [&json!(4), &json!(5), &json!(8)]);
    assert_eq!(said[1]["matches"], json!([{"id": "a", "distance": 0}]));
    let empty = service.ask("POST", "/v1/seen/batch", "", b"");
    assert_eq!((empty.status, empty.text()), (200, String::new()));
}

/// A client that waits for each answer before the next question gets it.
#[test]
fn answers_come_while_questions_do() {
    let service = Service::start("");
    let mut stream = service.connect();
    let head =
        "POST /v1/seen/batch HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut send = |text: &str| {
        write!(stream, "{:x}\r\n{text}\r\n", text.len()).unwrap();
    };
    for number in 0..5 {
        let line = json!({"text": words(7, 40), "id": format!("{number}"), "add": true});
        send(&format!("{line}\n"));
        if number == 0 {
            // The head of the answer comes with its first line.
            let mut byte = String::new();
            while !byte.ends_with("\r\n\r\n") {
                std::io::BufRead::read_line(&mut reader, &mut byte).unwrap();
            }
            assert!(byte.starts_with("HTTP/1.1 200"));
        }
        let said: Value = serde_json::from_slice(&read_chunk(&mut reader).unwrap()).unwrap();
        assert_eq!(said["id"], format!("{number}"));
        assert_eq!(
            said["verdict"],
            if number == 0 { "new" } else { "duplicate" }
        );
    }
    send("");
    assert!(read_chunk(&mut reader).is_none());
    assert!(read_answer(&mut reader).is_none() || service.get("/healthz").status == 200);
}
