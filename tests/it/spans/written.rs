//! Actions: what is cut, masked and dropped, in every format.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use simtool::engine::Progress;
use simtool::jobs::passages::KeptOccurrence;
use simtool::jobs::passages::spans::{Least, SpansJob};
use simtool::jobs::passages::{Action, PassageSettings};
use simtool::jobs::shards::{ShardSettings, WriteFormat};
use simtool::text::units::{Snap, cut, mask};

use crate::passages::{Text, documents, lines_of, run, write};
use crate::spans::setup::{job, resources};

/// Runs a job on documents in one file, and returns the documents that are written, by id and text.
fn written(job: &SpansJob, documents: &[Text], out: &Path) -> Vec<(String, String)> {
    let inputs = tempfile::tempdir().unwrap();
    let path = inputs.path().join("in.jsonl");
    write(&path, documents);
    let resources = resources(job, 2, out);
    let paths = std::slice::from_ref(&path);
    run(job, paths, &[], out, &resources, &Progress::new()).unwrap();
    let directory = out.join(job.common.action.directory().unwrap());
    let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let lines = match job.common.shards.is_used() {
        // Without documents there is no shard.
        true if !directory.exists() => Vec::new(),
        true => lines_of(&directory.join("part-00000.jsonl")),
        false => lines_of(&directory.join(path.strip_prefix("/").unwrap())),
    };
    lines
        .iter()
        .map(|line| (text(line, "id"), text(line, "text")))
        .collect()
}

fn texts_of(job: &SpansJob, texts: &[&str]) -> Vec<String> {
    let out = tempfile::tempdir().unwrap();
    let all = written(job, &documents(texts), out.path());
    all.into_iter().map(|(_, text)| text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The written texts follow from the reported ranges, also in shards.
    /// Promise (Repeated units): Shards have the documents that stay, with …
    /// Promise (Repeated stretches of text): Written texts are those of the reported ranges
    #[test]
    fn texts_are_those_of_the_reported_ranges(
        texts in prop::collection::vec("([ab中é😀]{0,2}[.]?( |\n|\r\n|\n\n)){0,12}", 1..8),
        is_cut: bool, snap in prop::sample::select(Snap::ALL.to_vec()), bytes: bool, shards: bool,
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let documents = documents(&texts);
        let job = SpansJob {
            least: if bytes { Least::Bytes(4) } else { Least::Words(2) },
            snap, common: PassageSettings {
            action: if is_cut { Action::Cut } else { Action::Mask },
            shards: ShardSettings {
                format: if shards { WriteFormat::Jsonl } else { WriteFormat::Input },
                ..ShardSettings::default()
            }, ..job().common },
            ..job()
        };
        let out = tempfile::tempdir().unwrap();
        let found = written(&job, &documents, out.path());
        let spans = lines_of(&out.path().join("spans.jsonl"));
        let mut expected = Vec::new();
        for document in &documents {
            let own = spans.iter().find(|span| span["id"] == document.id.as_str());
            let ranges = own.map_or(Vec::new(), |span| {
                let number = |value: &Value| value.as_u64().unwrap() as usize;
                let ranges = span["ranges"].as_array().unwrap().iter();
                ranges.map(|range| number(&range["start"])..number(&range["end"])).collect()
            });
            let text = document.text.as_bytes();
            let cut = cut(text, &ranges, false);
            let is_gone = own.is_some() && cut.trim_ascii().is_empty();
            prop_assert_eq!(own.is_some_and(|span| span["dropped"] == true), is_cut && is_gone);
            if is_cut && is_gone {
                continue;
            }
            let text = if is_cut { cut } else { mask(text, &ranges) };
            expected.push((document.id.clone(), String::from_utf8(text).unwrap()));
        }
        prop_assert_eq!(found, expected);
    }
}

fn cutting(snap: Snap) -> SpansJob {
    SpansJob {
        snap,
        common: PassageSettings {
            action: Action::Cut,
            ..job().common
        },
        ..job()
    }
}

/// Promise (Repeated stretches of text): No cut goes through a character, nor, unless …
#[test]
fn cuts_respect_words_sentences_and_lines() {
    let texts = [
        "Start. One two three. Four.",
        "End here, one two three. More four.",
    ];
    let cut = |snap| texts_of(&cutting(snap), &texts).remove(1);
    assert_eq!(cut(Snap::Word), "End here, . More four.");
    assert_eq!(cut(Snap::Sentence), "End here, one two three. More four.");
    let texts = ["One two three. Four.\nx", "End. One two three. More.\nx"];
    let cut = |snap| texts_of(&cutting(snap), &texts).remove(1);
    assert_eq!(cut(Snap::Sentence), "End. More.\nx");
    let texts = ["a\nOne two three.\nb", "c\nOne two three.\nd"];
    let cut = |snap| texts_of(&cutting(snap), &texts).remove(1);
    assert_eq!(cut(Snap::Line), "c\nd");
    // A document that is repeated goes, with what is around its words.
    assert_eq!(
        texts_of(
            &cutting(Snap::Word),
            &["One two three.", "\"One two three!\""]
        )
        .len(),
        1
    );
}

/// Promise (Repeated stretches of text): No cut goes through a character, nor, unless …
#[test]
fn bytes_never_cut_through_characters_or_words() {
    let job = SpansJob {
        least: Least::Bytes(5),
        ..cutting(Snap::Word)
    };
    // The stretch ends within a character that differs in its last byte, and within a word.
    let texts = ["abcde é", "abcde è", "prefix abcdef", "prefix abcdeg"];
    let all = texts_of(&job, &texts);
    assert_eq!(all, ["abcde é", "è", "prefix abcdef", "abcdeg"]);
}

#[test]
fn all_copies_can_go() {
    let texts = ["one two three first", "second one two three"];
    let mut job = cutting(Snap::Word);
    job.keep = KeptOccurrence::None;
    assert_eq!(texts_of(&job, &texts), ["first", "second "]);
    let dropping = SpansJob {
        common: PassageSettings {
            action: Action::parse("drop-document:0.6").unwrap(),
            ..job.common
        },
        ..job
    };
    assert_eq!(texts_of(&dropping, &texts).len(), 0);
}

#[test]
fn too_little_that_remains_is_dropped() {
    let texts = [
        "one two three",
        "one two three four",
        "one two three four five six",
    ];
    let mut job = cutting(Snap::Word);
    job.common.remains.words = 2;
    assert_eq!(texts_of(&job, &texts), ["one two three", "five six"]);
}

#[test]
fn form_feed_pages_and_plain_files_are_cut() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.txt");
    fs::write(&path, "d0\nsame old words\nx\x0cd1\nsame old words\ny\x0c").unwrap();
    let out = tempfile::tempdir().unwrap();
    let job = cutting(Snap::Word);
    let resources = resources(&job, 2, out.path());
    let paths = std::slice::from_ref(&path);
    run(&job, paths, &[], out.path(), &resources, &Progress::new()).unwrap();
    let target = out.path().join("cut").join(path.strip_prefix("/").unwrap());
    let expected = "d0\nsame old words\nx\x0cd1\ny\x0c";
    assert_eq!(fs::read_to_string(target).unwrap(), expected);
}
