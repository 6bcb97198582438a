//! `--write annotated`: the fields `duplicate_of` and those of clusters are those of this run;
//! earlier ones are replaced.

use std::fs;
use std::slice::from_ref;

use serde_json::{Value, json};
use simtool::dedup::keep::Policy;
use simtool::jobs::dedup::WriteMode;

use crate::dump::documents::documents;
use crate::dump::setup::{Form, Packed, file, job, lines, written};

/// A JSON line; `fields` precede its id.
fn page(id: usize, text: usize, fields: &str) -> String {
    let text = format!("the words of text {text} ").repeat(9);
    let line = json!({"id": id, "text": text}).to_string();
    format!("{{{fields}{}\n", &line[1..])
}

/// Promise (Deduplication): Annotations are those of the last run: earlier ones are replaced or
/// removed, and annotating an annotated file again does not change it
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

/// Promise (Deduplication): Annotations are those of the last …
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
/// Promise (Deduplication): Annotations are those of the last …
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
            let cluster = "WARC-Simtool-Duplicate-Cluster: 0\r\n\
                           WARC-Simtool-Duplicate-Cluster-Size: 3\r\n\
                           WARC-Simtool-Duplicate-Cluster-Sources: 1\r\n\
                           WARC-Simtool-Duplicate-Cluster-Sites: 0\r\n";
            let of_kept = format!("WARC/1.0\r\n{cluster}");
            let of_others = format!(
                "WARC/1.0\r\nWARC-Simtool-Duplicate-Of: urn:1\r\n{cluster}\
                 WARC-Simtool-Duplicate-Similarity: 1.0\r\n"
            );
            assert_eq!(annotated.matches(&of_kept).count(), 1, "{annotated}");
            assert_eq!(annotated.matches(&of_others).count(), 2, "{annotated}");
            let plain = annotated.replace(&of_kept, "WARC/1.0\r\n");
            assert!(plain.replace(&of_others, "WARC/1.0\r\n") == archive);
        }
    }
}

/// The fields of each line agree with `clusters.jsonl` and `duplicates.jsonl`, so that texts can be
/// weighted by the number of their copies.
/// Promise (Deduplication): Annotations, `duplicates.jsonl` and `clusters.jsonl` agree about
/// clusters, their sizes, sources, sites and similarities
#[test]
fn annotations_and_reports_agree_about_clusters() {
    let all = documents(12, 300);
    for keep_copies in [1, 3] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("input");
        crate::dump::setup::write(&path, Form::Jsonl, &all);
        let mut job = job();
        job.write = WriteMode::Annotated;
        job.keep = Policy::Longest.into();
        job.keep_copies = keep_copies;
        let (summary, out, files) = written(&job, &[path]);
        let pairs = lines(&out.path().join("duplicates.jsonl"));
        let clusters = lines(&out.path().join("clusters.jsonl"));
        let text = String::from_utf8(files[0].clone()).unwrap();
        let annotated: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let of = |id: &Value| annotated.iter().find(|line| line["id"] == *id).unwrap();
        let mut in_clusters = 0;
        let mut copies = 0;
        for cluster in &clusters {
            let members = cluster["members"].as_array().unwrap();
            in_clusters += members.len();
            let stay = members.iter().filter(|member| member["kept"] == true);
            assert_eq!(stay.count(), members.len().min(keep_copies as usize));
            copies += members.len().min(keep_copies as usize) - 1;
            for member in members {
                let line = of(&member["id"]);
                assert_eq!(line["duplicate_cluster"], cluster["cluster"]);
                for count in ["size", "sources", "sites"] {
                    assert_eq!(line[format!("duplicate_cluster_{count}")], cluster[count]);
                }
                assert_eq!(line["duplicate_of"].is_null(), member["kept"] == true);
                let is_first = member["id"] == cluster["kept"];
                assert_eq!(line["duplicate_similarity"].is_null(), is_first);
            }
        }
        for pair in &pairs {
            let line = of(&pair["id"]);
            assert_eq!(line["duplicate_of"], pair["kept"]);
            assert_eq!(line["duplicate_cluster"], pair["cluster"]);
            for count in ["cluster_size", "cluster_sources", "cluster_sites"] {
                assert_eq!(line[format!("duplicate_{count}")], pair[count]);
            }
            assert_eq!(line["duplicate_similarity"], pair["similarity"]);
        }
        assert_eq!(pairs.len() as u64, summary.dropped());
        assert_eq!(pairs.len(), in_clusters - clusters.len() - copies);
        let marked = annotated
            .iter()
            .filter(|line| !line["duplicate_cluster"].is_null());
        assert_eq!(marked.count(), in_clusters);
    }
}
