//! The removed ranges are those of a hash map, for any resources.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use simtool::engine::Progress;
use simtool::jobs::passages::KeptOccurrence;
use simtool::jobs::passages::lines::{LinesJob, Per, Rule, Threshold};
use simtool::text::units::{Normal, UnitKind};

use crate::lines::oracle::{Definition, Group, Often, Removed, Unit};
use crate::lines::setup::{Text, documents, job, lines_of, resources, run, write};
use crate::passages::assert_same_for_all_resources;

/// The job of a definition.
fn job_of(definition: &Definition) -> LinesJob {
    let kind = match definition.unit {
        Unit::Line => UnitKind::Line,
        Unit::Run(words) | Unit::AnyRun(words) => UnitKind::Run(words),
        Unit::Paragraph => UnitKind::Paragraph,
        Unit::Sentences(count) => UnitKind::Sentences(count),
    };
    let per = match definition.per {
        Group::All => "global".to_owned(),
        Group::Source => "source".to_owned(),
        Group::Site => "site".to_owned(),
        Group::Documents(count) => format!("{count}-documents"),
    };
    let keep = match definition.keeps_first {
        true => KeptOccurrence::First,
        false => KeptOccurrence::None,
    };
    LinesJob {
        kind,
        normal: match definition.normalizes {
            // The form of characters has tests of its own.
            true => Normal {
                spaces: true,
                ..Normal::NONE
            },
            false => Normal::NONE,
        },
        rule: Rule::Repeated {
            threshold: match definition.often {
                Often::Above(most) => Threshold::Above(most as u64),
                Often::InDocuments(least) => Threshold::InDocuments(least as u64),
            },
            per: Per::parse(&per).unwrap(),
            keep,
        },
        ..job()
    }
}

/// The removed ranges in `spans.jsonl`, by id.
pub fn found(out: &Path, documents: &[(usize, Text)]) -> Vec<Vec<Removed>> {
    let spans = lines_of(&out.join("spans.jsonl"));
    let of = |text: &Text| {
        let own = spans.iter().find(|span| span["id"] == text.id.as_str());
        let ranges = own.map_or(Vec::new(), |span| {
            span["ranges"].as_array().unwrap().clone()
        });
        let number = |range: &serde_json::Value, name: &str| range[name].as_u64().unwrap() as usize;
        let ranges = ranges.iter();
        ranges
            .map(|range| {
                (
                    number(range, "start"),
                    number(range, "end"),
                    number(range, "count"),
                )
            })
            .collect()
    };
    documents.iter().map(|(_, text)| of(text)).collect()
}

/// Writes each run of documents of one source to a file.
fn files(directory: &Path, documents: &[(usize, Text)]) -> Vec<PathBuf> {
    let endings = ["jsonl", "jsonl.gz", "jsonl.zst"];
    let runs = documents.chunk_by(|a, b| a.0 == b.0);
    let write_run = |run: &[(usize, Text)]| {
        let source = run[0].0;
        let path = directory.join(format!("{source:03}.{}", endings[source % 3]));
        let texts: Vec<Text> = run.iter().map(|(_, text)| text.clone()).collect();
        write(&path, &texts);
        path
    };
    runs.map(write_run).collect()
}

fn compare(
    definition: &Definition,
    documents: &[(usize, Text)],
    references: usize,
    threads: usize,
) {
    let expected = definition.removed(documents, references);
    let found = result(definition, documents, references, threads);
    assert_eq!(found, expected, "{definition:?} {documents:?}");
}

/// The ranges that the program removes.
fn result(
    definition: &Definition,
    documents: &[(usize, Text)],
    references: usize,
    threads: usize,
) -> Vec<Vec<Removed>> {
    let inputs = tempfile::tempdir().unwrap();
    let (reference, own) = documents.split_at(references);
    let against = files(inputs.path(), reference);
    let paths = files(inputs.path(), own);
    let out = tempfile::tempdir().unwrap();
    let job = job_of(definition);
    let resources = resources(&job, threads, out.path());
    run(
        &job,
        &paths,
        &against,
        out.path(),
        &resources,
        &Progress::new(),
    )
    .unwrap();
    found(out.path(), documents)
}

fn units() -> impl Strategy<Value = Unit> {
    prop_oneof![
        2 => Just(Unit::Line),
        1 => Just(Unit::Paragraph),
        2 => (1..4usize).prop_map(Unit::Sentences),
        3 => (1..20usize).prop_map(Unit::Run),
    ]
}

fn often() -> impl Strategy<Value = Often> {
    prop_oneof![
        1 => (1..4usize).prop_map(Often::Above),
        1 => (2..4usize).prop_map(Often::InDocuments),
    ]
}

fn groups() -> impl Strategy<Value = Group> {
    prop_oneof![
        2 => Just(Group::All),
        1 => Just(Group::Source),
        1 => Just(Group::Site),
        1 => (1..5usize).prop_map(Group::Documents),
    ]
}

/// Texts of few different units: line breaks of both kinds, blank lines, combining marks, NUL.
const TEXTS: &str = "([ab中\u{301}\0]{0,2}[.!。]?( |\t|\n|\r\n|\n\n|\u{3000})?){0,7}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Promise (Repeated units): The removed ranges are those of a hash map, for every unit, normal
    /// form, threshold and group, with documents to compare with, split into compressed files, for
    /// any number of threads
    #[test]
    fn the_result_is_that_of_a_hash_map(
        texts in prop::collection::vec((TEXTS, 0..3usize, 0..4usize), 1..10),
        unit in units(), per in groups(), normalizes: bool, often in often(), keeps_first: bool,
        threads in 1..4usize, split in 0..10usize, compares: bool,
    ) {
        let mut sources: Vec<usize> = texts.iter().map(|(_, source, _)| *source).collect();
        sources.sort_unstable();
        let all: Vec<(usize, Text)> = texts.iter().zip(sources).enumerate()
            .map(|(number, ((text, _, site), source))| {
                let url = match site {
                    0 => String::new(),
                    site => format!("http://s{site}.example/{number}"),
                };
                (source, Text { id: format!("d{number}"), url, text: text.clone() })
            })
            .collect();
        // Documents to compare with are whole files, and are counted with everything.
        let references = match compares && all.len() > 1 {
            true => all.partition_point(|(source, _)| *source < all[split.min(all.len() - 1)].0),
            false => 0,
        };
        let per = if references > 0 { Group::All } else { per };
        // Groups of fewer documents than the threshold are refused.
        let per = match (often, per) {
            (Often::InDocuments(least), Group::Documents(all)) => Group::Documents(all.max(least)),
            _ => per,
        };
        let definition = Definition { unit, normalizes, often, per, keeps_first };
        compare(&definition, &all, references, threads);
    }
}

/// The bytes of the removed ranges that are not white space.
fn removed_bytes(ranges: &[Removed], text: &str) -> Vec<usize> {
    let ranges = ranges.iter().flat_map(|(start, end, _)| *start..*end);
    ranges
        .filter(|place| !text.as_bytes()[*place].is_ascii_whitespace())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Promise (Repeated units): A line is removed by `run:N` if and only if it belongs to a run of
    /// lines with at least N words, of whatever length, that occurs in as many documents as are asked
    #[test]
    fn lines_are_removed_if_any_run_is_frequent(
        texts in prop::collection::vec("([ab中-]{1,2}(\n|\n\n)){0,9}", 2..9),
        words in 5..30usize, documents in 2..4usize,
    ) {
        let id = |number: usize| format!("d{number}");
        let all: Vec<(usize, Text)> = texts.iter().enumerate()
            .map(|(number, text)| {
                (0, Text { id: id(number), url: String::new(), text: text.clone() })
            })
            .collect();
        let definition = Definition {
            unit: Unit::AnyRun(words),
            normalizes: true,
            often: Often::InDocuments(documents),
            per: Group::All,
            keeps_first: false,
        };
        let expected = definition.removed(&all, 0);
        let found = result(&definition, &all, 0, 1);
        for (text, (found, expected)) in texts.iter().zip(found.iter().zip(&expected)) {
            prop_assert_eq!(removed_bytes(found, text), removed_bytes(expected, text));
        }
    }
}

/// Many short lines: more occurrences than are kept in the least memory, so that a second reading is
/// needed, and a unit with very many occurrences.
fn many() -> Vec<(usize, Text)> {
    let text = |number: usize| {
        let line = |line: usize| match line % 3 {
            0 => "a".to_owned(),
            _ => format!("{}", (number * 2003 + line * 7919) % 700_001),
        };
        (0..2000).map(line).collect::<Vec<_>>().join("\n")
    };
    (0..400)
        .map(|number| {
            let text = text(number);
            (
                number / 150,
                Text {
                    id: format!("d{number}"),
                    url: String::new(),
                    text,
                },
            )
        })
        .collect()
}

/// Promise (Repeated units): Memory and threads change no byte, with one reading and with two, also
/// for a unit with very many occurrences
#[test]
fn memory_and_threads_change_no_byte() {
    let inputs = tempfile::tempdir().unwrap();
    let documents = many();
    let paths = files(inputs.path(), &documents);
    for (unit, often, group) in [
        (Unit::Line, Often::Above(2), Group::All),
        (Unit::Line, Often::Above(2), Group::Documents(100)),
        (Unit::Run(12), Often::InDocuments(2), Group::All),
    ] {
        let definition = Definition {
            unit,
            normalizes: true,
            often,
            per: group,
            keeps_first: true,
        };
        let job = job_of(&definition);
        // The least memory needs the second reading.
        assert_same_for_all_resources(&job, (&paths, &[]), Some("locate"), |out| {
            assert_eq!(found(out, &documents), definition.removed(&documents, 0));
        });
    }
}

/// Promise (Repeated units): The removed ranges are those of a hash … (on hostile texts)
#[test]
fn hostile_texts_have_units() {
    let giant = "x".repeat(900_000);
    let same = "a\n".repeat(1000);
    let texts = [
        "",
        "\n",
        "\r\n",
        "\0",
        "a\r\nb",
        "a\nb\r\n",
        "no final newline",
        "no final newline\n",
        &giant,
        &giant,
        "中文\n中文\u{301}\n",
        "e\u{301}\n\u{e9}\n",
        "\u{feff}a",
        &same,
        "\r",
        "a\r\r\n",
        "\u{2028}a",
    ];
    let all: Vec<(usize, Text)> = documents(&texts)
        .into_iter()
        .map(|text| (0, text))
        .collect();
    for unit in [
        Unit::Line,
        Unit::Run(7),
        Unit::Paragraph,
        Unit::Sentences(1),
        Unit::Sentences(2),
    ] {
        for normalizes in [false, true] {
            let definition = Definition {
                unit,
                normalizes,
                often: Often::Above(1),
                per: Group::All,
                keeps_first: true,
            };
            compare(&definition, &all, 0, 2);
        }
    }
}
