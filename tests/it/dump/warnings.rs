//! Warnings about settings that have no effect.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use simtool::ErrorKind;
use simtool::dedup::keep::{KeepOrder, Policy};
use simtool::engine::Progress;
use simtool::jobs::dedup::{DedupJob, Scope};

use crate::dump::documents::documents;
use crate::dump::setup::{Form, check, job, refusal, resources, run, write};

/// The settings that a run warns about, each with the number of documents concerned.
fn warned(job: &DedupJob, inputs: &[PathBuf]) -> Vec<(String, u64)> {
    let out = tempfile::tempdir().unwrap();
    let summary = run(
        job,
        inputs,
        &[],
        out.path(),
        &resources(1, out.path()),
        &Progress::new(),
    )
    .unwrap();
    check(out.path());
    let text = fs::read(out.path().join("summary.json")).unwrap();
    let text: Value = serde_json::from_slice(&text).unwrap();
    let messages = summary.warnings.iter().map(|warning| {
        json!({"setting": warning.setting, "documents": warning.documents, "message": warning.message})
    });
    assert_eq!(text["warnings"], messages.collect::<Value>());
    let summarised = |warning: &simtool::jobs::Warning| {
        assert!(warning.message.len() > 20);
        (warning.setting.to_owned(), warning.documents)
    };
    summary.warnings.iter().map(summarised).collect()
}

fn lines(directory: &Path, name: &str, lines: &[Value]) -> PathBuf {
    let path = directory.join(name);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, text).unwrap();
    path
}

/// Promise (Deduplication): A setting without effect is a warning; a text field that no document
/// has is an error before the run
#[test]
fn settings_without_effect_are_warned_about() {
    let directory = tempfile::tempdir().unwrap();
    let with = directory.path().join("with");
    write(&with, Form::Jsonl, &documents(1, 30));
    let bare: Vec<Value> = (0..20)
        .map(|number| json!({"text": format!("text {number}")}))
        .collect();
    let bare = lines(directory.path(), "bare.jsonl", &bare);
    type Change = fn(&mut DedupJob);
    let settings: [(&str, Change); 9] = [
        ("id_field", |job| job.reading.id_field = "nosuch".into()),
        ("url_field", |job| job.reading.url_field = "nosuch".into()),
        ("date_field", |job| job.reading.date_field = "nosuch".into()),
        ("keep", |job| {
            job.keep = Policy::Field("nosuch".into()).into();
            job.reading.fields = vec!["nosuch".into()];
        }),
        ("keep", |job| {
            job.keep = Policy::Smallest("nosuch".into()).into();
            job.reading.fields = vec!["nosuch".into()];
        }),
        ("keep", |job| job.keep = Policy::Newest.into()),
        ("keep", |job| job.keep = Policy::ShortestUrl.into()),
        ("within", |job| job.within = Scope::Site),
        ("within", |job| {
            job.within = Scope::Field("nosuch".into());
            job.reading.fields = vec!["nosuch".into()];
        }),
    ];
    for (setting, change) in settings {
        let mut job = job();
        assert_eq!(warned(&job, std::slice::from_ref(&bare)), []);
        change(&mut job);
        let expected = [(setting.to_owned(), 20)];
        assert_eq!(warned(&job, std::slice::from_ref(&bare)), expected);
        // One document that has the field is enough.
        if setting != "within" && !format!("{job:?}").contains("nosuch") {
            assert_eq!(warned(&job, &[bare.clone(), with.clone()]), []);
        }
    }
    // Of several policies, each without an effect is named.
    let mut several = job();
    several.keep = KeepOrder::parse("newest,longest,field:nosuch").unwrap();
    several.reading.fields = several.fields();
    let expected = ["keep"; 2].map(|setting| (setting.to_owned(), 20));
    assert_eq!(warned(&several, std::slice::from_ref(&bare)), expected);
    // Documents without a group are counted even if others have one.
    let mut job_of_sites = job();
    job_of_sites.within = Scope::Site;
    let expected = [("within".to_owned(), 20)];
    assert_eq!(
        warned(&job_of_sites, &[bare.clone(), with.clone()]),
        expected
    );
    let empty = lines(directory.path(), "empty.jsonl", &[]);
    assert_eq!(warned(&job(), &[empty]), [("inputs".to_owned(), 0)]);
}

#[test]
fn fields_are_looked_for_only_in_formats_that_have_them() {
    let directory = tempfile::tempdir().unwrap();
    let pages = directory.path().join("pages");
    write(&pages, Form::Pages, &documents(1, 10));
    let archive = directory.path().join("a.warc");
    let body = "a page that an archive holds";
    let record = format!(
        "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:a>\r\n\
         WARC-Target-URI: http://a.example/\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n\
         Content-Length: {}\r\n\r\n{body}\r\n\r\n",
        body.len()
    );
    fs::write(&archive, record).unwrap();
    let mut job = job();
    let reading = &mut job.reading;
    for field in [
        &mut reading.id_field,
        &mut reading.url_field,
        &mut reading.date_field,
    ] {
        *field = "nosuch".into();
    }
    let others = [pages, archive];
    assert_eq!(warned(&job, &others), []);
    let bare = lines(directory.path(), "bare.jsonl", &[json!({"text": "a"})]);
    let expected = ["id_field", "url_field", "date_field"].map(|name| (name.to_owned(), 1));
    assert_eq!(warned(&job, &[&others[..], &[bare]].concat()), expected);
}

#[test]
fn documents_without_the_text_field_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let some = [
        json!({"text": "one"}),
        json!({"body": "two"}),
        json!({"text": null}),
    ];
    let some = lines(directory.path(), "some.jsonl", &some);
    assert_eq!(warned(&job(), &[some]), [("text_field".to_owned(), 2)]);
}

/// Promise (Deduplication): A setting without effect is a warning; …
#[test]
fn a_text_field_that_no_document_has_is_an_error_before_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let others = |name: &str| {
        let line = json!({"title": "a", "content": "b", "n": {"m": 1}});
        lines(directory.path(), name, &[line.clone(), line])
    };
    let (a, b) = (others("a.jsonl"), others("b.jsonl"));
    let out = directory.path().join("out");
    let attempt = |inputs: &[PathBuf], against: &[PathBuf]| {
        let resources = resources(1, directory.path());
        run(&job(), inputs, against, &out, &resources, &Progress::new())
    };
    let with = lines(directory.path(), "with.jsonl", &[json!({"text": "b"})]);
    for (inputs, against) in [
        (vec![a.clone(), b.clone()], vec![]),
        (vec![with.clone()], vec![a.clone()]),
    ] {
        let error = refusal(attempt(&inputs, &against));
        assert_eq!(error.kind(), ErrorKind::Parameter);
        assert_eq!(error.file(), Some(&*a));
        let message = error.to_string();
        assert!(
            message.contains("\"text\"") && message.contains("content, n, title"),
            "{message}"
        );
        assert!(!out.exists());
    }
    // It is no error if a later file has the field, or if it has no readable record.
    let broken = directory.path().join("broken.jsonl");
    fs::write(&broken, "{broken\n").unwrap();
    for others in [with, broken] {
        fs::create_dir(&out).unwrap();
        attempt(&[a.clone(), others], &[]).unwrap();
        fs::remove_dir_all(&out).unwrap();
    }
}
