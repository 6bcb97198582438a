//! Batches: many documents in one request.

use std::io::{BufReader, Write};

use serde_json::{Value, json};

use crate::serve::client::{Service, read_answer, read_chunk, words};

fn lines(body: &str) -> Vec<Value> {
    body.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Promise (The service): Batches are answered in order, line by line, while they arrive
#[test]
fn ten_thousand_lines_are_answered_in_order() {
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
    let answer = lines(&answer.text());
    assert_eq!(answer.len(), 10_000);
    for (number, answer) in answer.iter().enumerate() {
        assert_eq!(answer["id"], format!("d{number}"));
        assert_eq!(answer["added"], true);
        if number % 2 == 1 {
            assert_eq!(answer["verdict"], "duplicate");
            let earlier = format!("d{}", number - 1);
            assert!(
                answer["matches"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|near| near["id"] == earlier)
            );
        }
    }
    let again = service.ask("POST", "/v1/seen/batch", "", body.as_bytes());
    let answer = lines(&again.text());
    assert!(
        answer
            .iter()
            .all(|answer| answer["verdict"] == "unchanged" && answer["added"] == false)
    );
    assert_eq!(service.get("/v1/stats").json()["documents"], 10_000);
}

/// Promise (The service): Batches are answered in order, line …
#[test]
fn each_line_of_a_batch_has_its_own_answer() {
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
    let answer = lines(&answer.text());
    let verdicts: Vec<&Value> = answer
        .iter()
        .map(|answer| answer.get("verdict").unwrap_or(&answer["code"]))
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
    let numbers: Vec<&Value> = answer
        .iter()
        .filter_map(|answer| answer.get("line"))
        .collect();
    assert_eq!(numbers, [&json!(4), &json!(5), &json!(8)]);
    assert_eq!(
        answer[1]["matches"],
        json!([{"id": "a", "similarity": 1.0}])
    );
    let empty = service.ask("POST", "/v1/seen/batch", "", b"");
    assert_eq!((empty.status, empty.text()), (200, String::new()));
}

/// A client that waits for each answer before it sends the next line gets the answer.
/// Promise (The service): Batches are answered in order, line …
#[test]
fn answers_are_sent_while_the_batch_arrives() {
    let service = Service::start("");
    let mut stream = service.connect();
    let head = "POST /v1/seen/batch HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Transfer-Encoding: chunked\r\n\r\n";
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
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                std::io::BufRead::read_line(&mut reader, &mut head).unwrap();
            }
            assert!(head.starts_with("HTTP/1.1 200"));
        }
        let answer: Value = serde_json::from_slice(&read_chunk(&mut reader).unwrap()).unwrap();
        assert_eq!(answer["id"], format!("{number}"));
        assert_eq!(
            answer["verdict"],
            if number == 0 { "new" } else { "duplicate" }
        );
    }
    send("");
    assert!(read_chunk(&mut reader).is_none());
    assert!(read_answer(&mut reader).is_none());
}
