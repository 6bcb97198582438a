//! WARC records of requests and metadata are dropped with the response to which they belong.

use simtool::jobs::dedup::{SkippedRecords, WriteMode};

use crate::dump::setup::{Packed, file, job, lines, written};

fn record(kind: &str, id: u32, fields: &[(&str, u32)], body: &str) -> String {
    let mut head = format!("WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:{id}>\r\n");
    for (name, id) in fields {
        head += &format!("WARC-{name}: <urn:{id}>\r\n");
    }
    if kind == "response" {
        head += "Content-Type: application/http\r\n";
    }
    format!("{head}Content-Length: {}\r\n\r\n{body}\r\n\r\n", body.len())
}

fn response(id: u32, fields: &[(&str, u32)], text: &str) -> String {
    let page = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{text}");
    record("response", id, fields, &page)
}

/// Records, and whether each is dropped.
fn archive() -> Vec<(String, bool)> {
    let words = "words that stand in two pages of this archive ".repeat(9);
    let request = |id, fields: &[_]| record("request", id, fields, "GET / HTTP/1.1\r\n\r\n");
    let metadata = |id, fields: &[_]| record("metadata", id, fields, "fetchTimeMs: 7\r\n");
    vec![
        (record("warcinfo", 1, &[], "software: x\r\n"), false),
        // The response that is kept.
        (request(10, &[("Concurrent-To", 11)]), false),
        (response(11, &[], &words), false),
        (metadata(12, &[("Concurrent-To", 11)]), false),
        // A request before its response, which names it.
        (request(20, &[]), true),
        (response(21, &[("Concurrent-To", 20)], &words), true),
        (metadata(22, &[("Refers-To", 21)]), true),
        // A response before its request.
        (response(31, &[], &words), true),
        (request(30, &[("Concurrent-To", 31)]), true),
        (metadata(32, &[("Concurrent-To", 31)]), true),
        // Records of other types that name a dropped record, and records that name no dropped one.
        (
            record(
                "revisit",
                41,
                &[("Refers-To", 21), ("Concurrent-To", 31)],
                "",
            ),
            false,
        ),
        (record("warcinfo", 42, &[("Concurrent-To", 31)], ""), false),
        (metadata(43, &[("Refers-To", 1)]), false),
        (request(44, &[]), false),
        (
            record(
                "resource",
                45,
                &[("Concurrent-To", 31)],
                "a resource of its own",
            ),
            false,
        ),
    ]
}

/// Promise (Deduplication): When a response of a WARC file is dropped, so are its `request` and
/// `metadata` records, and no others
#[test]
fn requests_and_metadata_are_dropped_with_their_response() {
    let archive = archive();
    let text: String = archive.iter().map(|(record, _)| record.as_str()).collect();
    let kept = archive.iter().filter(|(_, is_dropped)| !is_dropped);
    let expected: String = kept.map(|(record, _)| record.as_str()).collect();
    for packed in [
        Packed::Plain,
        Packed::Gzip(150),
        Packed::Gzip(100_000),
        Packed::Zstd(150),
    ] {
        let (_directory, path) = file(&packed.pack(text.as_bytes()));
        let mut job = job();
        job.write = WriteMode::Kept;
        for chunk_bytes in [1, 700, 100_000] {
            job.reading.chunk_bytes = chunk_bytes;
            let (summary, out, files) = written(&job, std::slice::from_ref(&path));
            assert_eq!((summary.dropped(), summary.related), (2, [2, 2]));
            assert_eq!(
                String::from_utf8(packed.unpack(&files[0])).unwrap(),
                expected
            );
            let summary = &std::fs::read(out.path().join("summary.json")).unwrap();
            let summary: serde_json::Value = serde_json::from_slice(summary).unwrap();
            let related = serde_json::json!({"request": 2, "metadata": 2});
            assert_eq!(summary["related_dropped"], related);
        }
    }
}

#[test]
fn an_unreadable_response_is_kept_or_dropped_with_its_request() {
    let words = "words that stand in one page of this archive ".repeat(9);
    let long = "x ".repeat(2000);
    let parts = [
        record("request", 1, &[("Concurrent-To", 2)], "GET /\r\n"),
        response(2, &[], &long),
        record("request", 3, &[("Concurrent-To", 4)], "GET /\r\n"),
        response(4, &[], &words),
        response(5, &[], &words),
    ];
    let (_directory, path) = file(parts.concat().as_bytes());
    let mut job = job();
    job.write = WriteMode::Kept;
    job.reading.max_document_bytes = 1000;
    for (skipped, kept) in [(SkippedRecords::Keep, 0..4), (SkippedRecords::Drop, 2..4)] {
        job.dump.skipped = skipped;
        let (summary, out, files) = written(&job, std::slice::from_ref(&path));
        assert_eq!((summary.skipped(), summary.dropped()), (1, 1));
        assert_eq!(lines(&out.path().join("skipped.jsonl"))[0]["id"], "urn:2");
        // The line ends after a record that is too long count as part of the next one.
        let written = String::from_utf8(files[0].clone()).unwrap();
        assert_eq!(written.trim_start(), parts[kept].concat());
    }
}

/// A WARC file whose responses are all dropped is written only if it has other records than those
/// that describe them. The dropped requests count either way.
/// Promise (Deduplication): A file whose documents are all …
#[test]
fn a_file_without_responses_is_written_for_its_other_records() {
    let words = "words that stand in two files of this dump ".repeat(9);
    let (_first, first) = file(response(1, &[], &words).as_bytes());
    let parts = [
        record("warcinfo", 2, &[], "software: x\r\n"),
        record("request", 3, &[("Concurrent-To", 4)], "GET /\r\n"),
        response(4, &[], &words),
    ];
    let revisit = record("revisit", 5, &[("Refers-To", 4)], "");
    let mut job = job();
    job.write = WriteMode::Kept;
    for packed in [Packed::Plain, Packed::Gzip(150), Packed::Zstd(150)] {
        for (has_revisit, empty_files) in [(false, false), (true, false), (false, true)] {
            let rest = if has_revisit { revisit.as_str() } else { "" };
            let all = packed.pack(format!("{}{rest}", parts.concat()).as_bytes());
            let (_second, second) = file(&all);
            job.dump.empty_files = empty_files;
            let (summary, _out, files) = written(&job, &[first.clone(), second]);
            assert_eq!((summary.dropped(), summary.related), (1, [1, 0]));
            let expected = match has_revisit || empty_files {
                true => format!("{}{rest}", parts[0]),
                false => String::new(),
            };
            assert_eq!(summary.unwritten, u64::from(expected.is_empty()));
            let found = match expected.is_empty() {
                true => files[1].clone(),
                false => packed.unpack(&files[1]),
            };
            assert_eq!(String::from_utf8(found).unwrap(), expected);
        }
    }
}
