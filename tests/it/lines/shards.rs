//! Documents written as shards: their records follow from the reported ranges, whatever the format
//! of the inputs, the resources and the sizes of chunks.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use simtool::ErrorKind;
use simtool::corpus::HtmlText;
use simtool::engine::Progress;
use simtool::jobs::dedup::SkippedRecords;
use simtool::jobs::passages::lines::LinesJob;
use simtool::jobs::passages::{Action, PassageSettings};
use simtool::jobs::shards::{ShardSettings, WriteFormat};

use crate::lines::setup::{contents, job, json_of, lines_of, resources, run};

/// A job that writes shards of `bytes`.
pub fn shard_job(action: &str, format: WriteFormat, bytes: u64) -> LinesJob {
    let mut job = LinesJob {
        common: PassageSettings {
            action: Action::parse(action).unwrap(),
            shards: ShardSettings {
                format,
                bytes,
                guess_language: true,
                ..ShardSettings::default()
            },
            page: false,
            ..job().common
        },
        ..job()
    };
    job.common.reading.html = HtmlText::Visible;
    job
}

/// Runs a job; returns the directory of its output.
pub fn output(job: &LinesJob, paths: &[PathBuf], threads: usize) -> tempfile::TempDir {
    let out = tempfile::tempdir().unwrap();
    let resources = resources(job, threads, out.path());
    run(job, paths, &[], out.path(), &resources, &Progress::new()).unwrap();
    out
}

/// The files of shards, in order.
pub fn shards(job: &LinesJob, out: &Path) -> Vec<PathBuf> {
    let directory = out.join(job.common.action.directory().unwrap());
    let entries = fs::read_dir(directory).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The records of shards of JSON Lines.
pub fn records(job: &LinesJob, out: &Path) -> Vec<String> {
    let mut text = String::new();
    for path in shards(job, out) {
        let bytes = fs::read(path).unwrap();
        let mut reader: Box<dyn Read> = match job.common.shards.format {
            WriteFormat::JsonlGzip => Box::new(MultiGzDecoder::new(&bytes[..])),
            WriteFormat::JsonlZstd => Box::new(zstd::Decoder::new(&bytes[..]).unwrap()),
            _ => Box::new(&bytes[..]),
        };
        reader.read_to_string(&mut text).unwrap();
    }
    text.split_inclusive('\n').map(str::to_owned).collect()
}

/// The text of a document: lines of which some are repeated.
fn text_of(number: usize) -> String {
    let line = |line: usize| match (number * 5 + line * 3) % 7 {
        0 => "the same line everywhere".to_owned(),
        1 => "caf\u{e9} \u{4e2d}\u{6587} \u{1f600}".to_owned(),
        2 if number.is_multiple_of(3) => format!("every third {}", number % 2),
        other => format!("line {other} of document {number}"),
    };
    let lines: Vec<String> = (0..1 + number % 6).map(line).collect();
    lines.join("\n")
}

/// The formats of the inputs, each with ten documents.
const INPUTS: [&str; 5] = [
    "a.jsonl",
    "pages.txt",
    "web.warc.gz",
    "b.jsonl.zst",
    "c.html",
];
const OF_INPUT: usize = 10;

fn json_line(number: usize, text: &str) -> String {
    let text = json!(text);
    format!("{{ \"id\":\"d{number}\",\"n\":1.50,\"text\" : {text}, \"x\":[1 ,{{}}]")
}

fn html(text: &str) -> String {
    let lines: String = text.lines().map(|line| format!("<p>{line}</p>")).collect();
    format!("<!doctype html><html><body>{lines}</body></html>")
}

fn web_record(number: usize) -> Vec<u8> {
    let http = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Language: de-AT\r\n\r\n{}",
        html(&text_of(number))
    );
    let record = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <d{number}>\r\n\
         WARC-Target-URI: http://a.example/{number}\r\nWARC-Date: 2024-05-06T00:00:00Z\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    );
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(record.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A file of each format.
fn inputs(directory: &Path) -> Vec<PathBuf> {
    for (place, name) in INPUTS.iter().enumerate() {
        let first = place * OF_INPUT;
        let numbers = first..first + OF_INPUT;
        let bytes = match *name {
            "pages.txt" => {
                let page = |number| format!("d{number}\n{}\x0c", text_of(number));
                numbers.map(page).collect::<String>().into_bytes()
            }
            "web.warc.gz" => numbers.flat_map(web_record).collect(),
            "c.html" => html(&text_of(first)).into_bytes(),
            _ => {
                // A line that cannot be read is in no shard.
                let line = |number| json_line(number, &text_of(number)) + "}\n";
                let lines = numbers.map(line).collect::<String>() + "broken\n";
                match name.ends_with("zst") {
                    true => zstd::bulk::compress(lines.as_bytes(), 3).unwrap(),
                    false => lines.into_bytes(),
                }
            }
        };
        fs::write(directory.join(name), bytes).unwrap();
    }
    INPUTS.iter().map(|name| directory.join(name)).collect()
}

/// What a document becomes by the definition: its lines without those that `spans.jsonl` has, or
/// with blanks for them; `None` if it is dropped.
fn expected_text(action: &str, span: Option<&Value>, text: &str) -> Option<String> {
    let Some(span) = span else {
        return Some(text.to_owned());
    };
    if span["dropped"] == true {
        return None;
    }
    let starts: Vec<u64> = span["ranges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|range| range["start"].as_u64().unwrap())
        .collect();
    let (mut at, mut lines) = (0, Vec::new());
    for line in text.split_inclusive('\n') {
        let is_removed = starts.contains(&at);
        at += line.len() as u64;
        let blank = |character: char| match character.len_utf8() {
            _ if character == '\n' => '\n',
            1 => ' ',
            2 => '\u{a0}',
            3 => '\u{3000}',
            _ => '\u{e0020}',
        };
        match (is_removed, action) {
            (true, "cut") => {}
            (true, "mask") => lines.push(line.chars().map(blank).collect()),
            _ => lines.push(line.to_owned()),
        }
    }
    Some(lines.concat())
}

/// The texts of the documents that stay, by number.
fn expected_texts(action: &str, out: &Path) -> BTreeMap<usize, String> {
    let spans = lines_of(&out.join("spans.jsonl"));
    let count = (INPUTS.len() - 1) * OF_INPUT + 1;
    let of = |number: usize| {
        let own = |span: &&Value| match number < count - 1 {
            true => span["id"] == format!("d{number}"),
            false => span["id"].as_str().unwrap().ends_with("c.html"),
        };
        let span = spans.iter().find(own);
        let text = text_of(number);
        Some((number, expected_text(action, span, &text)?))
    };
    (0..count).filter_map(of).collect()
}

fn digest(text: &str) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes()))
}

/// Promise (Repeated units): Shards have the documents that stay, with the texts that follow from
/// the reported ranges, from JSON Lines, pages, web archives, HTML and tables; nothing else of a
/// line or row changes. A second run over them removes nothing
#[test]
fn records_follow_from_the_reported_ranges() {
    let directory = tempfile::tempdir().unwrap();
    let paths = inputs(directory.path());
    for (action, format, bytes) in [
        ("cut", WriteFormat::Jsonl, 700),
        ("mask", WriteFormat::JsonlGzip, 1),
        ("drop-document:0.4", WriteFormat::JsonlZstd, 1 << 30),
    ] {
        let job = shard_job(action, format, bytes);
        let out = output(&job, &paths, 2);
        let texts = expected_texts(action, out.path());
        let records = records(&job, out.path());
        assert_eq!(records.len(), texts.len());
        let is_changed = |(number, text): &(&usize, &String)| text_of(**number) != **text;
        assert_eq!(texts.iter().any(|text| is_changed(&text)), action.len() < 5);
        for (record, (&number, text)) in records.iter().zip(&texts) {
            let path = paths[number / OF_INPUT].to_str().unwrap();
            if matches!(number / OF_INPUT, 0 | 3) {
                let line = json_line(number, text);
                assert_eq!(*record, format!("{line},\"source\":\"{path}\"}}\n"));
                continue;
            }
            let record: Value = serde_json::from_str(record).unwrap();
            let is_web = number / OF_INPUT == 2;
            let is_file = number / OF_INPUT == 4;
            let known = |value: String| is_web.then_some(value);
            let expected = json!({
                "id": if is_file { path.to_owned() } else { format!("d{number}") },
                "url": known(format!("http://a.example/{number}")),
                "date": known("2024-05-06T00:00:00Z".to_owned()),
                "text": text,
                // That of a page is detected.
                "language": if is_web { json!("deu") } else { record["language"].clone() },
                "xxh3_128": digest(text),
                "source": path,
                "start": record["start"],
                "member": record["member"],
            });
            assert_eq!(record, expected);
            assert!(record["start"].is_u64() && record["member"].is_u64() == is_web);
        }
        let summary = json_of(&out.path().join("summary.json"));
        let written = &summary["written"][job.common.action.directory().unwrap()];
        assert_eq!(written["records"], records.len());
        assert_eq!(written["records"], summary["kept"]);
        assert_eq!(summary["skipped"], 2);
        let files = written["shards"].as_array().unwrap();
        assert_eq!(files.len(), shards(&job, out.path()).len());
        assert_eq!(files.len() > 3, bytes < 1000);
    }
}

/// Promise (Repeated units): Shards of changed documents have the same bytes for any threads,
/// memory and chunks, and after a failure at any change; files of others with their names are
/// refused
#[test]
fn shards_have_the_same_bytes_for_any_threads_memory_and_chunks() {
    let directory = tempfile::tempdir().unwrap();
    let paths = inputs(directory.path());
    let mut formats = vec![(WriteFormat::JsonlZstd, 900)];
    formats.extend(cfg!(feature = "parquet").then_some((WriteFormat::Parquet, 900)));
    for (format, bytes) in formats {
        let mut job = shard_job("cut", format, bytes);
        let files = |job: &LinesJob, threads, more| {
            let out = tempfile::tempdir().unwrap();
            let mut resources = resources(job, threads, out.path());
            resources.memory_bytes += more;
            run(job, &paths, &[], out.path(), &resources, &Progress::new()).unwrap();
            let mut files = contents(out.path());
            files.retain(|name, _| name.starts_with("cut"));
            files
        };
        let expected = files(&job, 1, 0);
        assert!(expected.len() > 3, "{}", expected.len());
        assert!(files(&job, 4, 0) == expected);
        assert!(files(&job, 2, 1 << 30) == expected);
        for chunk_bytes in [1, 700] {
            job.common.reading.chunk_bytes = chunk_bytes;
            assert!(files(&job, 2, 0) == expected, "{chunk_bytes}");
        }
    }
}

/// A second run over the shards finds nothing that the first one removed.
/// Promise (Repeated units): Shards have the documents that stay, with …
#[test]
fn shards_are_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let paths = inputs(directory.path());
    let mut formats = vec![WriteFormat::JsonlGzip];
    formats.extend(cfg!(feature = "parquet").then_some(WriteFormat::Parquet));
    for format in formats {
        let job = shard_job("cut", format, 900);
        let out = output(&job, &paths, 2);
        let mut again = shard_job("cut", format, 900);
        again.common.shards.source_field = "shard".to_owned();
        let second = output(&again, &shards(&job, out.path()), 2);
        let summary = json_of(&second.path().join("summary.json"));
        let first = json_of(&out.path().join("summary.json"));
        assert_eq!(
            (&summary["seen"], &summary["kept"]),
            (&first["kept"], &first["kept"])
        );
        assert_eq!(summary["changed"], 0);
    }
}

/// Promise (Repeated units): Shards have the documents that stay, with …
#[test]
fn a_nested_text_and_the_text_of_a_page_are_changed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("in.jsonl");
    let lines = [
        r#"{"doc":{"text":"same\none","k":1},"text":"x"}"#.to_owned(),
        r#"{"doc":{"k":2,"text":"same\ntwo"},"text":"same"}"#.to_owned(),
        format!("{}", json!({"doc": {"text": html("same\nthree")}})),
        format!("{}", json!({"doc": {"text": html("four")}})),
    ];
    fs::write(&path, lines.join("\n")).unwrap();
    let mut job = shard_job("cut", WriteFormat::Jsonl, 1 << 30);
    job.common.reading.text_field = "doc.text".to_owned();
    let out = output(&job, std::slice::from_ref(&path), 1);
    let source = format!(",\"source\":\"{}\"}}\n", path.display());
    // A page without a removed line stays as it is.
    let expected = [
        lines[0].clone(),
        r#"{"doc":{"k":2,"text":"two"},"text":"same"}"#.to_owned(),
        r#"{"doc":{"text":"three"}}"#.to_owned(),
        lines[3].clone(),
    ]
    .map(|line| line.strip_suffix('}').unwrap().to_owned() + &source);
    assert_eq!(records(&job, out.path()), expected);
}

/// Promise (Repeated units): Shards of changed documents have the same …
#[test]
fn files_with_names_of_shards_that_no_run_wrote_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("in.jsonl");
    fs::write(&path, "{\"text\":\"a\",\"source\":1}\n").unwrap();
    let refused = |job: &LinesJob, out: &Path| {
        let paths = [path.clone()];
        let resources = resources(job, 1, out);
        run(job, &paths, &[], out, &resources, &Progress::new()).unwrap_err()
    };
    let mut job = shard_job("mask", WriteFormat::Jsonl, 1000);
    let out = tempfile::tempdir().unwrap();
    // A field of the name of the added one, before anything is written.
    let error = refused(&job, out.path());
    assert_eq!(
        (error.kind(), error.file()),
        (ErrorKind::Parameter, Some(&*path))
    );
    assert!(fs::read_dir(out.path()).unwrap().next().is_none());
    job.common.shards.source_field = "file".to_owned();
    let foreign = out.path().join("masked/part-00017.jsonl");
    fs::create_dir_all(foreign.parent().unwrap()).unwrap();
    fs::write(&foreign, "mine").unwrap();
    assert_eq!(refused(&job, out.path()).file(), Some(&*foreign));
    assert_eq!(fs::read(&foreign).unwrap(), b"mine");
    fs::rename(&foreign, foreign.with_file_name("part-17.jsonl")).unwrap();
    let resources = resources(&job, 1, out.path());
    let paths = [path.clone()];
    run(&job, &paths, &[], out.path(), &resources, &Progress::new()).unwrap();
    assert_eq!(
        fs::read(foreign.with_file_name("part-17.jsonl")).unwrap(),
        b"mine"
    );
}

/// Promise (Repeated units): A flag without effect is refused; …
#[test]
fn settings_without_effect_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("in.jsonl");
    fs::write(&path, "{\"text\":\"a\"}\n").unwrap();
    let refused = |spoil: fn(&mut LinesJob), less: u64| {
        let mut job = shard_job("cut", WriteFormat::Jsonl, 1000);
        spoil(&mut job);
        let out = tempfile::tempdir().unwrap();
        let mut resources = resources(&job, 1, out.path());
        resources.memory_bytes -= less;
        let paths = [path.clone()];
        let error = run(&job, &paths, &[], out.path(), &resources, &Progress::new()).unwrap_err();
        (error.kind(), error.to_string())
    };
    for (spoil, expected) in [
        (
            (|job| job.common.action = Action::Mark) as fn(&mut LinesJob),
            "choose the action cut, mask",
        ),
        (
            |job| job.common.dump.skipped = SkippedRecords::Drop,
            "skipped has no effect",
        ),
        (
            |job| job.common.dump.empty_files = true,
            "empty_files has no effect",
        ),
        (
            |job| job.common.dump.compression_level = Some(3),
            "compression_level has no effect",
        ),
        (|job| job.common.shards.bytes = 0, "shard_size 0"),
    ] {
        let (kind, message) = refused(spoil, 0);
        assert_eq!(kind, ErrorKind::Parameter);
        assert!(message.contains(expected), "{message}");
    }
    // A row group needs more than the search.
    let (kind, message) = refused(|job| job.common.shards.format = WriteFormat::Parquet, 1);
    assert_eq!(kind, ErrorKind::Memory, "{message}");
}
