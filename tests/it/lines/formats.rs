//! Every format gives the same units, and what can be written again is.

use std::fs;
use std::path::{Path, PathBuf};

use simtool::ErrorKind;
use simtool::corpus::{Format, Reading};
use simtool::engine::Progress;
use simtool::jobs::passages::lines::LinesJob;
use simtool::jobs::passages::{Action, PassageSettings};

use crate::lines::setup::{Text, documents, job, json_of, lines_of, resources, run, write};

fn texts() -> Vec<Text> {
    documents(&["same\none\n", "same\ntwo\nsame\n", "three\n"])
}

fn pages(documents: &[Text]) -> Vec<u8> {
    let page = |document: &Text| format!("{}\n{}\x0c", document.id, document.text);
    documents.iter().map(page).collect::<String>().into_bytes()
}

fn warc(documents: &[Text]) -> Vec<u8> {
    let record = |document: &Text| {
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <{}>\r\nWARC-Target-URI: {}\r\n\
             Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{}\r\n\r\n",
            document.id,
            document.url,
            document.text.len(),
            document.text
        )
    };
    documents
        .iter()
        .map(record)
        .collect::<String>()
        .into_bytes()
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path, documents: &[Text]) {
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use std::sync::Arc;
    let column = |of: fn(&Text) -> &str| -> ArrayRef {
        Arc::new(
            documents
                .iter()
                .map(|text| Some(of(text)))
                .collect::<StringArray>(),
        )
    };
    let batch = RecordBatch::try_from_iter([
        ("id", column(|text| &text.id)),
        ("url", column(|text| &text.url)),
        ("text", column(|text| &text.text)),
    ])
    .unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A file of each format with the documents.
fn inputs(directory: &Path) -> Vec<PathBuf> {
    let at = |name: &str| directory.join(name);
    write(&at("a.jsonl"), &texts());
    write(&at("a.jsonl.gz"), &texts());
    write(&at("a.jsonl.zst"), &texts());
    fs::write(at("a.txt"), pages(&texts())).unwrap();
    fs::write(at("a.warc"), warc(&texts())).unwrap();
    let mut names = vec!["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.txt", "a.warc"];
    #[cfg(feature = "parquet")]
    {
        parquet(&at("a.parquet"), &texts());
        names.push("a.parquet");
    }
    names.retain(|name| at(name).exists());
    names.into_iter().map(at).collect()
}

fn run_one(job: &LinesJob, path: &Path, out: &Path) -> simtool::Result<()> {
    let resources = resources(job, 2, out);
    run(
        job,
        &[path.to_owned()],
        &[],
        out,
        &resources,
        &Progress::new(),
    )
    .map(drop)
}

/// Promise (Repeated units): Every format has the same units, and documents are dropped in every
/// format; texts are changed only where that is possible
#[test]
fn every_format_has_the_same_units() {
    let directory = tempfile::tempdir().unwrap();
    for path in inputs(directory.path()) {
        let out = tempfile::tempdir().unwrap();
        run_one(&job(), &path, out.path()).unwrap();
        let spans = lines_of(&out.path().join("spans.jsonl"));
        let [span] = &spans[..] else {
            panic!("{}: {spans:?}", path.display());
        };
        let ranges = span["ranges"].as_array().unwrap();
        let starts: Vec<u64> = ranges
            .iter()
            .map(|range| range["start"].as_u64().unwrap())
            .collect();
        assert_eq!(starts, [0, 9], "{}", path.display());
        let boilerplate = lines_of(&out.path().join("boilerplate.jsonl"));
        assert_eq!(boilerplate[0]["text"], "same");
        assert_eq!(boilerplate[0]["count"], 3);
        let has_urls = !path.ends_with("a.txt");
        assert_eq!(boilerplate[0]["sites"], if has_urls { 2 } else { 0 });
    }
}

/// Promise (Repeated units): Every format has the same units, and documents …
#[test]
fn documents_are_dropped_in_every_format() {
    let directory = tempfile::tempdir().unwrap();
    for path in inputs(directory.path()) {
        let out = tempfile::tempdir().unwrap();
        let job = LinesJob {
            common: PassageSettings {
                action: Action::parse("drop-document:0.5").unwrap(),
                ..job().common
            },
            ..job()
        };
        run_one(&job, &path, out.path()).unwrap();
        let name = path.strip_prefix("/").unwrap();
        let written = out.path().join("kept").join(name);
        let again = tempfile::tempdir().unwrap();
        run_one(&crate::lines::setup::job(), &written, again.path()).unwrap();
        let summary = json_of(&again.path().join("summary.json"));
        assert_eq!(
            (&summary["seen"], &summary["changed"]),
            (&2.into(), &0.into())
        );
        assert_eq!(
            summary["inputs"][0]["format"].as_str(),
            {
                let summary = json_of(&out.path().join("summary.json"));
                summary["inputs"][0]["format"].as_str().map(str::to_owned)
            }
            .as_deref()
        );
    }
}

/// Promise (Repeated units): Every format has the same units, and documents …
#[test]
fn texts_are_changed_where_they_can_be() {
    let directory = tempfile::tempdir().unwrap();
    for path in inputs(directory.path()) {
        let out = tempfile::tempdir().unwrap();
        let job = LinesJob {
            common: PassageSettings {
                action: Action::Cut,
                ..job().common
            },
            ..job()
        };
        let result = run_one(&job, &path, out.path());
        let name = path.to_string_lossy().into_owned();
        if name.ends_with("warc") || name.ends_with("parquet") {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            assert!(
                error.to_string().contains("choose shards instead"),
                "{error}"
            );
            assert!(!out.path().join("summary.json").exists());
            continue;
        }
        result.unwrap();
        let written = out.path().join("cut").join(path.strip_prefix("/").unwrap());
        if name.ends_with("txt") {
            let expected = b"d0\nsame\none\n\x0cd1\ntwo\n\x0cd2\nthree\n\x0c";
            assert_eq!(fs::read(&written).unwrap(), expected);
        }
        let again = tempfile::tempdir().unwrap();
        run_one(&crate::lines::setup::job(), &written, again.path()).unwrap();
        let summary = json_of(&again.path().join("summary.json"));
        assert_eq!(
            (&summary["seen"], &summary["units"]),
            (&3.into(), &4.into())
        );
        assert_eq!(summary["changed"], 0);
    }
}

#[test]
fn plain_files_are_documents() {
    let directory = tempfile::tempdir().unwrap();
    let names = ["a.txt", "b.txt"].map(|name| directory.path().join(name));
    fs::write(&names[0], "same\r\none").unwrap();
    fs::write(&names[1], "two\r\nsame").unwrap();
    let out = tempfile::tempdir().unwrap();
    let job = LinesJob {
        common: PassageSettings {
            action: Action::Cut,
            reading: Reading {
                format: Some(Format::WholeFile),
                ..job().common.reading
            },
            ..job().common
        },
        ..job()
    };
    let resources = resources(&job, 1, out.path());
    run(&job, &names, &[], out.path(), &resources, &Progress::new()).unwrap();
    let written = |name: &Path| {
        fs::read_to_string(out.path().join("cut").join(name.strip_prefix("/").unwrap())).unwrap()
    };
    assert_eq!(written(&names[0]), "same\r\none");
    assert_eq!(written(&names[1]), "two\r\n");
}
