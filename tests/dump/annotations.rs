//! `--write annotated`: the fields `duplicate_of` are those of this run; earlier ones are replaced.

use std::fs;
use std::slice::from_ref;

use serde_json::{Value, json};
use simtool::jobs::dedup::WriteMode;

use crate::setup::{Packed, file, job, written};

/// A JSON line; `fields` precede its id.
fn page(id: usize, text: usize, fields: &str) -> String {
    let text = format!("the words of text {text} ").repeat(9);
    let line = json!({"id": id, "text": text}).to_string();
    format!("{{{fields}{}\n", &line[1..])
}

#[test]
fn annotating_an_annotated_file_changes_nothing() {
    for packed in [Packed::Plain, Packed::Gzip(200)] {
        let text: String = (0..30).map(|id| page(id, id % 20, "")).collect();
        let (_directory, path) = file(&packed.pack(text.as_bytes()));
        let mut job = job();
        job.write = WriteMode::Annotated;
        job.reading.chunk_bytes = 700;
        let (_, _out, once) = written(&job, from_ref(&path));
        let once = packed.unpack(&once[0]);
        assert_eq!(
            String::from_utf8_lossy(&once)
                .matches("duplicate_of")
                .count(),
            10
        );
        fs::write(&path, packed.pack(&once)).unwrap();
        let (_, _out, twice) = written(&job, &[path]);
        assert!(packed.unpack(&twice[0]) == once);
    }
}

#[test]
fn earlier_annotations_are_replaced_or_removed() {
    let earlier = "\"duplicate_of\": \"earlier\", ";
    let text = page(0, 0, earlier) + &page(1, 0, earlier) + &page(2, 2, "");
    let (_directory, path) = file(text.as_bytes());
    let mut job = job();
    job.write = WriteMode::Annotated;
    let (_, _out, files) = written(&job, &[path]);
    let text = String::from_utf8(files[0].clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let annotations: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["duplicate_of"].take())
        .collect();
    assert_eq!(annotations, [Value::Null, "0".into(), Value::Null]);
    assert!(!text.contains("earlier"), "{text}");
    assert_eq!(lines[1].matches("duplicate_of").count(), 1);
    assert_eq!(format!("{}\n", lines[2]), page(2, 2, ""));
}

/// A record that is too long, and blank lines, precede an annotated record.
#[test]
fn annotations_of_warc_records_are_header_fields() {
    let record = |id: u32, text: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:{id}>\r\n\
             Content-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )
    };
    let words = "some words that are repeated here ".repeat(20);
    let archive = record(1, &words)
        + &record(2, &"x ".repeat(5000))
        + &record(3, &words)
        + "\r\n\r\n"
        + &record(4, &words);
    for packed in [Packed::Plain, Packed::Gzip(100), Packed::Gzip(100_000)] {
        let (_directory, path) = file(&packed.pack(archive.as_bytes()));
        let mut job = job();
        job.write = WriteMode::Annotated;
        job.reading.max_document_bytes = 2000;
        for chunk_bytes in [1, 900, 100_000] {
            job.reading.chunk_bytes = chunk_bytes;
            let (summary, _out, files) = written(&job, from_ref(&path));
            assert_eq!((summary.dropped(), summary.skipped()), (2, 1));
            let annotated = String::from_utf8(packed.unpack(&files[0])).unwrap();
            let field = "WARC/1.0\r\nWARC-Simtool-Duplicate-Of: urn:1\r\n";
            assert_eq!(annotated.matches(field).count(), 2, "{annotated}");
            assert!(annotated.replace(field, "WARC/1.0\r\n") == archive);
        }
    }
}
