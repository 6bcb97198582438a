//! The same documents in every format.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::json;

/// Writes the documents into a directory.
type WriteFiles = fn(&Path);

pub const FORMATS: &[(&str, WriteFiles)] = &[
    ("jsonl", |directory| {
        write(directory, "a.jsonl", &json_lines(&documents()));
    }),
    ("jsonl.gz", |directory| {
        write(directory, "a.jsonl.gz", &gzip(&json_lines(&documents())));
    }),
    ("jsonl.zst", |directory| {
        let packed = zstd::bulk::compress(&json_lines(&documents()), 3).unwrap();
        write(directory, "a.jsonl.zst", &packed);
    }),
    ("pages", |directory| {
        let page = |(id, text): &(String, String)| format!("{id}\n{text}\x0c");
        let pages: String = documents().iter().map(page).collect();
        write(directory, "a.txt", pages.as_bytes());
    }),
    ("warc", |directory| {
        write(
            directory,
            "a.warc",
            &documents().iter().flat_map(record).collect::<Vec<u8>>(),
        );
    }),
    ("warc.gz", |directory| {
        let members = documents();
        let members = members.iter().flat_map(|document| gzip(&record(document)));
        write(directory, "a.warc.gz", &members.collect::<Vec<u8>>());
    }),
    ("arc", |directory| {
        let mut all = b"filedesc://a.arc 0.0.0.0 20050101000000 text/plain 4\nabc\n\n".to_vec();
        for (id, text) in documents() {
            let page =
                format!("HTTP/1.0 200\nContent-Type: text/html\n\n<html><p>{text}</p></html>");
            let head = format!(
                "http://a/{id} 1.1.1.1 20050102030405 text/html {}\n",
                page.len()
            );
            all.extend([head, page, "\n".to_owned()].concat().bytes());
        }
        write(directory, "a.arc", &all);
    }),
    ("files", |directory| {
        for (id, text) in &documents()[..5] {
            write(directory, &format!("{id}.txt"), text.as_bytes());
        }
    }),
    ("html", |directory| {
        for (id, text) in &documents()[..5] {
            let page = format!("<html><body><p>{text}</p></body></html>");
            write(directory, &format!("{id}.html"), page.as_bytes());
        }
    }),
    #[cfg(feature = "parquet")]
    ("parquet", |directory| {
        use arrow_array::{ArrayRef, RecordBatch, StringArray};
        use std::sync::Arc;
        let (ids, texts): (Vec<String>, Vec<String>) = documents().into_iter().unzip();
        let columns = [ids, texts].map(|column| Arc::new(StringArray::from(column)) as ArrayRef);
        let batch = RecordBatch::try_from_iter(["id", "text"].into_iter().zip(columns)).unwrap();
        let properties = parquet::file::properties::WriterProperties::builder()
            .set_max_row_group_row_count(Some(8))
            .build();
        let file = fs::File::create(directory.join("a.parquet")).unwrap();
        let writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), Some(properties));
        let mut writer = writer.unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }),
];

/// Ids and texts: each text is there twice, and parts are in several.
pub fn documents() -> Vec<(String, String)> {
    let document = |number: usize| {
        let passage = "words of a long passage that many texts repeat again and again ".repeat(6);
        let own = (0..60).map(|word| format!("w{} ", number / 2 * 7 + word));
        let text = format!(
            "{passage}\n{}\nline {}\n",
            own.collect::<String>(),
            number / 2
        );
        (format!("d{number}"), text)
    };
    (0..14).map(document).collect()
}

pub fn json_lines(documents: &[(String, String)]) -> Vec<u8> {
    let line = |(id, text): &(String, String)| json!({"id": id, "text": text}).to_string() + "\n";
    documents.iter().map(line).collect::<String>().into_bytes()
}

fn record((id, text): &(String, String)) -> Vec<u8> {
    let record = format!(
        "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <{id}>\r\nContent-Type: text/plain\r\n\
         Content-Length: {}\r\n\r\n{text}\r\n\r\n",
        text.len()
    );
    record.into_bytes()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::default();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn write(directory: &Path, name: &str, bytes: &[u8]) {
    fs::write(directory.join(name), bytes).unwrap();
}
