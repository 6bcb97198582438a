//! The documents of JSON lines are those of serde_json's value tree.
//!
//! Promise (Deduplication): Every parser accepts any bytes; memory …
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use simtool::corpus::{Body, Chunk, Document, Doubt, Format, Parsed, Parser};
use simtool::corpus::{Position, Reading, Reason};

/// Errors of the library for JSON that is accepted nevertheless.
const REFUSED: [&str; 5] = [
    "out of range",
    "surrogate",
    "end of hex",
    "recursion",
    "control",
];

fuzz_target!(|input: (u8, &[u8])| {
    let (settings, bytes) = input;
    let mut reading = Reading {
        text_field: ["text", "a.b", "a", "id"][usize::from(settings) % 4].into(),
        fields: vec!["k.n".into()],
        ..Reading::default()
    };
    if settings & 4 != 0 {
        reading.max_document_bytes = u64::from(settings);
    }
    let (start, members) = (Position::default(), Vec::new());
    let bytes = bytes.to_vec();
    let lines: Vec<Vec<u8>> = bytes
        .split_inclusive(|&byte| byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let whole = Vec::new();
    let body = Body::Bytes {
        bytes,
        members,
        whole,
    };
    let chunk = Chunk {
        source: 3,
        start,
        end: start,
        body,
        skipped: Vec::new(),
    };
    // The contents of a line that is too long are not parsed.
    let fits = |line: &&Vec<u8>| line.len() as u64 <= reading.max_document_bytes;
    let is_blank = |line: &&Vec<u8>| fits(line) && line.trim_ascii().is_empty();
    let blank = lines.iter().filter(is_blank).count();
    let mut lines = lines.iter().filter(|line| !is_blank(line));
    let wanted = |number| settings & 8 == 0 || number % 2 == 0;
    let mut parser = Parser::new(&reading);
    let others = parser.for_each(Format::Jsonl, &chunk, &wanted, &mut |number, parsed| {
        let line = lines.next().expect("a line");
        assert_eq!(matches!(parsed, Parsed::Unwanted), !wanted(number));
        check(line, parsed, &reading);
    });
    assert_eq!((others as usize, lines.next()), (blank, None));
});

fn check(line: &[u8], parsed: Parsed<'_>, reading: &Reading) {
    let value: serde_json::Result<Value> = serde_json::from_slice(line);
    let pointer = format!("/{}", reading.text_field.replace('.', "/"));
    let is_refused = |error: String| REFUSED.iter().any(|cause| error.contains(cause));
    let expected = match &value {
        _ if line.len() as u64 > reading.max_document_bytes => Err(Reason::TooLarge),
        Ok(value) => match (value.is_object(), value.pointer(&pointer)) {
            (true, Some(Value::String(text))) => Ok(text.as_bytes()),
            (true, _) => Err(Reason::NoText),
            (false, _) => Err(Reason::BadJson),
        },
        Err(error) if str::from_utf8(line).is_err() || is_refused(error.to_string()) => return,
        Err(_) => Err(Reason::BadJson),
    };
    match (parsed, expected) {
        (Parsed::Unwanted, _) => {}
        (Parsed::Skipped(skip), Err(reason)) => assert_eq!(skip.reason, reason),
        (Parsed::Document(document), Ok(text)) if document.text == text => {
            assert!(document.raw == line && document.doubt == Doubt::None);
            check_fields(&document, &value.expect("it has a text"));
        }
        (parsed, expected) => panic!("{parsed:?} instead of {expected:?}"),
    }
}

fn check_fields(document: &Document<'_>, value: &Value) {
    for (name, found) in [
        ("id", document.id),
        ("url", document.url),
        ("date", document.date),
    ] {
        match &value[name] {
            Value::String(text) => assert_eq!(found, text.as_bytes()),
            // Other values are unchanged.
            Value::Number(number) if number.is_f64() => assert!(!found.is_empty()),
            Value::Number(number) => assert_eq!(found, number.to_string().as_bytes()),
            _ => assert_eq!(found, b""),
        }
    }
    let found = document.fields[0].map(|value| (value.text, value.number));
    match (&value["k"]["n"], found) {
        (Value::String(text), Some((found, None))) => assert_eq!(found, text.as_bytes()),
        (Value::Bool(value), Some((found, None))) => {
            assert_eq!(found, value.to_string().as_bytes())
        }
        (Value::Number(number), Some((_, Some(found)))) => {
            assert!(number.as_i64().is_none_or(|number| number as f64 == found));
        }
        (other, found) => {
            assert!(found.is_none() && (other.is_null() || other.is_array() || other.is_object()))
        }
    }
}
