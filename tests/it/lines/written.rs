//! Actions: what is cut, masked and dropped, and lists of units.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use simtool::engine::Progress;
use simtool::jobs::dedup::{DumpSettings, SkippedRecords};
use simtool::jobs::passages::KeptOccurrence;
use simtool::jobs::passages::lines::{LinesJob, ListedUnits, Rule};
use simtool::jobs::passages::{Action, PassageSettings};
use simtool::text::units::{Normal, UnitKind, cut, mask};

use crate::lines::setup::{
    Text, documents, job, json_of, lines_of, repeated, resources, run, write,
};

/// Runs a job on documents in one file, and returns the documents that are written, by id and text.
fn written(job: &LinesJob, documents: &[Text], out: &Path) -> Vec<(String, String)> {
    let inputs = tempfile::tempdir().unwrap();
    let path = inputs.path().join("in.jsonl");
    write(&path, documents);
    let resources = resources(job, 2, out);
    run(
        job,
        std::slice::from_ref(&path),
        &[],
        out,
        &resources,
        &Progress::new(),
    )
    .unwrap();
    let name = path.strip_prefix("/").unwrap();
    let file = out.join(job.common.action.directory().unwrap()).join(name);
    let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let lines = lines_of(&file);
    lines
        .iter()
        .map(|line| (text(line, "id"), text(line, "text")))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The written texts follow from the reported ranges.
    /// Promise (Repeated units): Written texts are those of the reported ranges; a masked text has
    /// the length of the text in bytes and characters; no character is cut
    #[test]
    fn texts_are_those_of_the_reported_ranges(
        texts in prop::collection::vec("([ab中é😀]{0,2}[.]?( |\n|\r\n|\n\n)){0,6}", 1..8),
        unit in prop::sample::select(vec!["line", "run:10", "paragraph", "sentences:2"]), is_cut: bool,
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let documents = documents(&texts);
        let job = LinesJob {
            kind: UnitKind::parse(unit).unwrap(), common: PassageSettings {
            action: if is_cut { Action::Cut } else { Action::Mask }, ..job().common },
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
            if own.is_some_and(|span| span["dropped"] == true) {
                continue;
            }
            let text = document.text.as_bytes();
            let text = match is_cut {
                true => cut(text, &ranges, unit == "paragraph"),
                false => mask(text, &ranges),
            };
            expected.push((document.id.clone(), String::from_utf8(text).unwrap()));
        }
        prop_assert_eq!(found, expected);
    }
}

fn cutting() -> LinesJob {
    LinesJob {
        common: PassageSettings {
            action: Action::Cut,
            ..job().common
        },
        ..job()
    }
}

#[test]
fn a_document_of_which_too_little_remains_is_dropped() {
    let texts = [
        "same\nother",
        "same\n \n",
        "same\none two.",
        "same\none two three. Four five.",
    ];
    let ids = |words, sentences| {
        let mut job = cutting();
        job.rule = repeated(1, "global", KeptOccurrence::None);
        (job.common.remains.words, job.common.remains.sentences) = (words, sentences);
        let out = tempfile::tempdir().unwrap();
        let kept = written(&job, &documents(&texts), out.path()).into_iter();
        kept.map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(ids(0, 0), ["d0", "d2", "d3"]);
    assert_eq!(ids(2, 0), ["d2", "d3"]);
    assert_eq!(ids(0, 2), ["d3"]);
    assert_eq!(ids(6, 0), [""; 0]);
    // Documents without repeated units are never dropped.
    let mut job = cutting();
    job.common.remains.words = 50;
    let out = tempfile::tempdir().unwrap();
    assert_eq!(written(&job, &documents(&["short"]), out.path()).len(), 1);
}

#[test]
fn documents_are_dropped_by_their_share() {
    let texts = ["aaaa\n1", "aaaa\n22222", "aaaa\n4444", "b"];
    let job = LinesJob {
        common: PassageSettings {
            action: Action::parse("drop-document:0.4").unwrap(),
            ..job().common
        },
        ..job()
    };
    let out = tempfile::tempdir().unwrap();
    let kept = written(&job, &documents(&texts), out.path());
    // 4 of 6, 10 and 9 bytes; the first occurrence is not removed.
    let ids: Vec<&str> = kept.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["d0", "d3"]);
    assert_eq!(kept[0].1, "aaaa\n1");
}

/// Promise (Repeated units): A list of units can be edited and given back; a line that is not one
/// unit is an error
#[test]
fn a_list_is_read_edited_and_given_back() {
    let texts = ["menu\nfoot\nx", "menu\nfoot\ny\ny", "menu\nz"];
    let out = tempfile::tempdir().unwrap();
    let mut marking = job();
    marking.rule = repeated(1, "global", KeptOccurrence::First);
    let inputs = tempfile::tempdir().unwrap();
    let path = inputs.path().join("in.jsonl");
    write(&path, &documents(&texts));
    let all = resources(&marking, 1, out.path());
    run(&marking, &[path], &[], out.path(), &all, &Progress::new()).unwrap();
    let boilerplate = fs::read_to_string(out.path().join("boilerplate.jsonl")).unwrap();
    let names: Vec<Value> = lines_of(&out.path().join("boilerplate.jsonl"));
    let shown: Vec<_> = names
        .iter()
        .map(|unit| (&unit["text"], &unit["count"], &unit["documents"]))
        .collect();
    assert_eq!(
        shown,
        [
            (&"menu".into(), &3.into(), &3.into()),
            (&"foot".into(), &2.into(), &2.into()),
            (&"y".into(), &2.into(), &1.into()),
        ]
    );
    // A person removes a unit from the list and adds another.
    let edited: String = boilerplate
        .lines()
        .filter(|line| !line.contains("\"y\""))
        .map(|line| format!("{line}\n"))
        .collect();
    let list = inputs.path().join("list.jsonl");
    fs::write(&list, edited + "{\"text\":\"  z \"}\n").unwrap();
    let listed = ListedUnits::read(&list, &mut job().units(), 1 << 20).unwrap();
    let job = LinesJob {
        rule: Rule::Listed(listed),
        ..cutting()
    };
    let cleaned = tempfile::tempdir().unwrap();
    let kept = written(&job, &documents(&texts), cleaned.path());
    let expected = [("d0", "x"), ("d1", "y\ny")];
    assert_eq!(
        kept,
        expected.map(|(id, text)| (id.to_owned(), text.to_owned()))
    );
    let spans = lines_of(&cleaned.path().join("spans.jsonl"));
    assert_eq!(spans[0]["ranges"][0]["why"], "listed");
}

/// Promise (Repeated units): A list of units can be …
#[test]
fn a_list_of_runs_of_lines_is_read_back() {
    let menu = "Home\n\nNews | Sport\nAbout";
    let texts = [
        &format!("{menu}\nOne."),
        &format!("Two.\n{menu}\n--"),
        "News | Sport\nAbout",
    ];
    let job = LinesJob {
        kind: UnitKind::Run(15),
        ..cutting()
    };
    let texts = texts.map(|text| text as &str);
    let out = tempfile::tempdir().unwrap();
    written(&job, &documents(&texts), out.path());
    let list = out.path().join("boilerplate.jsonl");
    let units = lines_of(&list);
    assert_eq!(units.len(), 1);
    assert_eq!(
        (&units[0]["text"], &units[0]["unit"]),
        (&menu.into(), &"run:15".into())
    );
    let listed = ListedUnits::read(&list, &mut job.units(), 1 << 20).unwrap();
    let job = LinesJob {
        rule: Rule::Listed(listed),
        ..job
    };
    let cleaned = tempfile::tempdir().unwrap();
    let kept = written(&job, &documents(&texts), cleaned.path());
    let expected = [("d0", "One."), ("d1", "Two.\n--"), ("d2", texts[2])];
    assert_eq!(
        kept,
        expected.map(|(id, text)| (id.to_owned(), text.to_owned()))
    );
}

/// Promise (Repeated units): A list of units can be …
#[test]
fn long_units_are_listed_by_their_hash() {
    let long = "é".repeat(5000);
    let texts = [&long[..], &long, "other"];
    let out = tempfile::tempdir().unwrap();
    let inputs = tempfile::tempdir().unwrap();
    let path = inputs.path().join("in.jsonl");
    write(&path, &documents(&texts));
    let all = resources(&job(), 1, out.path());
    run(&job(), &[path], &[], out.path(), &all, &Progress::new()).unwrap();
    let list = out.path().join("boilerplate.jsonl");
    let unit = &lines_of(&list)[0];
    assert_eq!(unit["shortened"], true);
    assert_eq!(unit["text"], "é".repeat(2048));
    let listed = ListedUnits::read(&list, &mut job().units(), 1 << 20).unwrap();
    let job = LinesJob {
        rule: Rule::Listed(listed),
        ..cutting()
    };
    let cleaned = tempfile::tempdir().unwrap();
    assert_eq!(
        written(&job, &documents(&texts), cleaned.path()),
        [("d2".to_owned(), "other".to_owned())]
    );
    let other = LinesJob {
        normal: Normal::NONE,
        ..job
    };
    let other = ListedUnits::read(&list, &mut other.units(), 1 << 20).unwrap_err();
    assert!(
        other.to_string().contains("another unit or normal form"),
        "{other}"
    );
}

/// Promise (Repeated units): seen = kept + dropped + skipped, in documents and in bytes, of each
/// input and of all; reports agree with the summary
#[test]
fn unreadable_records_stay_or_go_and_are_counted() {
    for skipped in [SkippedRecords::Keep, SkippedRecords::Drop] {
        let inputs = tempfile::tempdir().unwrap();
        let path = inputs.path().join("in.jsonl");
        let lines =
            "{\"id\":\"a\",\"text\":\"same\\nx\"}\nbad\n{\"id\":\"b\",\"text\":\"same\\ny\"}\n";
        fs::write(&path, lines).unwrap();
        let out = tempfile::tempdir().unwrap();
        let job = LinesJob {
            common: PassageSettings {
                dump: DumpSettings {
                    skipped,
                    ..DumpSettings::default()
                },
                ..cutting().common
            },
            ..cutting()
        };
        let all = resources(&job, 1, out.path());
        run(
            &job,
            std::slice::from_ref(&path),
            &[],
            out.path(),
            &all,
            &Progress::new(),
        )
        .unwrap();
        let summary = json_of(&out.path().join("summary.json"));
        assert_eq!(
            (&summary["seen"], &summary["skipped"]),
            (&3.into(), &1.into())
        );
        assert_eq!(summary["bytes"]["skipped"], 4);
        let name = path.strip_prefix("/").unwrap();
        let text = fs::read_to_string(out.path().join("cut").join(name)).unwrap();
        let bad = match skipped {
            SkippedRecords::Keep => "bad\n",
            SkippedRecords::Drop => "",
        };
        let expected = format!(
            "{{\"id\":\"a\",\"text\":\"same\\nx\"}}\n{bad}{{\"id\":\"b\",\"text\":\"y\"}}\n"
        );
        assert_eq!(text, expected);
    }
}

/// Whatever drops them: what remains after a cut, or their share.
/// Promise (Deduplication): A file whose documents are all …
#[test]
fn a_file_whose_documents_are_all_dropped_is_not_written() {
    let inputs = tempfile::tempdir().unwrap();
    let paths = ["a.txt", "b.txt", "c.txt"].map(|name| inputs.path().join(name));
    for (path, text) in paths.iter().zip(["same\nother\n", "same\n", "\nsame\n"]) {
        fs::write(path, text).unwrap();
    }
    for action in [Action::Cut, Action::parse("drop-document:0.5").unwrap()] {
        for empty_files in [false, true] {
            let job = LinesJob {
                rule: repeated(1, "global", KeptOccurrence::None),
                common: PassageSettings {
                    action,
                    dump: DumpSettings {
                        empty_files,
                        ..DumpSettings::default()
                    },
                    ..job().common
                },
                ..job()
            };
            let out = tempfile::tempdir().unwrap();
            let all = resources(&job, 2, out.path());
            let summary = run(&job, &paths, &[], out.path(), &all, &Progress::new()).unwrap();
            let directory = out.path().join(job.common.action.directory().unwrap());
            let written = |path: &std::path::PathBuf| {
                fs::read(directory.join(path.strip_prefix("/").unwrap())).ok()
            };
            assert!(written(&paths[0]).is_some());
            let others = [1, 2].map(|number| written(&paths[number]));
            let expected = empty_files.then(Vec::new);
            assert_eq!(others, [expected.clone(), expected]);
            assert_eq!(summary.unwritten, Some(if empty_files { 0 } else { 2 }));
        }
    }
}
