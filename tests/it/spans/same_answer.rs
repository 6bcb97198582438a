//! The removed ranges are those of the definition, for any resources.
//!
//! Promise (Repeated stretches of text): The kept copy that a range names has the same text, and
//! is not removed itself (every comparison checks it)
//! Promise (Repeated stretches of text): The counts of `repeated.jsonl` are those … (every
//! comparison checks it)

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use simtool::engine::Progress;
use simtool::jobs::passages::KeptOccurrence;
use simtool::jobs::passages::spans::{Least, SpansJob};
use simtool::text::Choice;
use simtool::text::units::Snap;
use xxhash_rust::xxh3::xxh3_128;

use crate::passages::{Text, assert_same_for_all_resources, documents, files, lines_of, run};
use crate::spans::oracle::Definition;
use crate::spans::setup::{job, resources};

/// The lines of `spans.jsonl`, by document.
pub fn spans(out: &Path, documents: &[Text]) -> Vec<Option<Value>> {
    let mut lines = lines_of(&out.join("spans.jsonl")).into_iter().peekable();
    let own = |text: &Text| lines.next_if(|line| line["id"] == text.id.as_str());
    let found = documents.iter().map(own).collect();
    assert!(lines.next().is_none(), "an unknown document");
    found
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

fn bytes(range: &Value) -> Range<usize> {
    number(&range["start"])..number(&range["end"])
}

/// Compares the output of a job with the definition.
pub fn compare(job: &SpansJob, texts: &[&str], references: usize, each: usize, threads: usize) {
    let inputs = tempfile::tempdir().unwrap();
    let all = documents(texts);
    let (reference, own) = all.split_at(references);
    let (before, after) = (inputs.path().join("a"), inputs.path().join("b"));
    let against = files(&before, reference, each);
    let paths = files(&after, own, each);
    let out = tempfile::tempdir().unwrap();
    let resources = resources(job, threads, out.path());
    let progress = Progress::new();
    run(job, &paths, &against, out.path(), &resources, &progress).unwrap();
    check_spans(job, texts, references, out.path());
}

/// Compares `spans.jsonl` with the definition.
pub fn check_spans(job: &SpansJob, texts: &[&str], references: usize, out: &Path) {
    let all = documents(texts);
    let definition = Definition::new(job, texts);
    let found = spans(out, &all);
    for (document, text) in texts.iter().enumerate() {
        let own = found[document].as_ref().map(|span| &span["ranges"]);
        let ranges: Vec<Value> = own.map_or(Vec::new(), |own| own.as_array().unwrap().clone());
        let removed: Vec<Range<usize>> = ranges.iter().map(bytes).collect();
        let expected = match document < references {
            true => Vec::new(),
            false => definition.removed(job, text, document),
        };
        assert_eq!(
            removed, expected,
            "document {document} of {texts:?} {job:?}"
        );
        for range in &ranges {
            check_range(job, &definition, texts, document, range);
        }
    }
    check_list(&definition, &all, out);
}

/// The counts of all passages of the list are those of their texts, wherever these occur.
fn check_list(definition: &Definition, documents: &[Text], out: &Path) {
    for row in lines_of(&out.join("repeated.jsonl")) {
        let id = &row["first"]["id"];
        let first = documents.iter().position(|text| *id == text.id.as_str());
        let first = first.unwrap();
        let start = number(&row["first"]["text_start"]);
        // The text of the row may be shortened, or begin or end within a character.
        let text = documents[first].text.as_bytes();
        let is_end =
            |end: &usize| row["xxh3_128"] == format!("{:032x}", xxh3_128(&text[start..*end]));
        let end = (start + 1..=text.len()).find(is_end).unwrap();
        let passage: Vec<&[u8]> = (definition.units[first].iter())
            .filter(|(_, bytes)| bytes.start >= start && bytes.end <= end)
            .map(|(unit, _)| &unit[..])
            .collect();
        let (mut count, mut with, mut sites) = (0, 0, BTreeSet::new());
        for (text, units) in documents.iter().zip(&definition.units) {
            let units: Vec<&[u8]> = units.iter().map(|(unit, _)| &unit[..]).collect();
            let own = units.windows(passage.len());
            let own = own.filter(|part| *part == passage).count();
            count += own;
            with += usize::from(own > 0);
            if own > 0 {
                sites.extend(text.url.split('/').nth(2));
            }
        }
        let found = ["count", "documents", "sites"].map(|name| number(&row[name]));
        assert_eq!(found, [count, with, sites.len()], "{row} of {documents:?}");
        assert!(number(&row["removed"]) > 0, "{row}");
    }
}

/// Checks the kept text and the number of copies of a range.
fn check_range(
    job: &SpansJob,
    definition: &Definition,
    texts: &[&str],
    document: usize,
    range: &Value,
) {
    let own = bytes(range);
    let units = &definition.units[document];
    let context = || format!("{range} of document {document} of {texts:?} {job:?}");
    let least = job.least.units();
    // The whole range of units, before it shrank.
    let around = definition.ranges(job.keep, document).into_iter();
    let mut around = around.filter(|units_of| {
        let bytes = units[units_of.start].1.start..units[units_of.end - 1].1.end;
        bytes.start < own.end && own.start < bytes.end
    });
    let around = around.next().unwrap();
    let windows = around.start..around.end + 1 - least;
    let most = windows
        .clone()
        .map(|start| definition.places(document, start).len());
    let copies = number(&range["copies"]);
    assert!(
        copies >= 2 && copies <= most.max().unwrap(),
        "{}",
        context()
    );
    let Some(kept) = range.get("kept_at") else {
        assert_eq!(job.keep, KeptOccurrence::None, "{}", context());
        return;
    };
    let place = kept["id"].as_str().unwrap()[1..].parse::<usize>().unwrap();
    let kept_bytes = number(&kept["text_start"])..number(&kept["text_end"]);
    let of = &definition.units[place];
    let first = of
        .iter()
        .position(|(_, bytes)| bytes.start == kept_bytes.start);
    let first = first.unwrap();
    let count = of[first..]
        .iter()
        .position(|(_, bytes)| bytes.end == kept_bytes.end);
    let count = count.unwrap() + 1;
    // Parts of characters at the ends are no part of it, unless there is no whole character.
    let cut = match job.least {
        Least::Bytes(_) => 6,
        Least::Words(_) => 0,
    };
    assert!(count + cut >= least, "{}", context());
    assert!(
        texts[place].get(kept_bytes).is_some() || count <= cut,
        "cuts a character: {}",
        context()
    );
    // It is text of the range, and it stays.
    let words = |units: &[(Vec<u8>, Range<usize>)]| -> Vec<Vec<u8>> {
        units.iter().map(|(unit, _)| unit.clone()).collect()
    };
    let kept_words = words(&of[first..first + count]);
    let own_words = words(&units[around]);
    assert!(
        own_words.windows(count).any(|part| part == kept_words),
        "{}",
        context()
    );
    for start in first..(first + count + 1).saturating_sub(least) {
        let is_repeated = definition.is_repeated(job.keep, place, start);
        assert!(!is_repeated, "kept text goes: {}", context());
    }
}

fn jobs() -> impl Strategy<Value = SpansJob> {
    let least = prop_oneof![
        (1..9usize).prop_map(Least::Words),
        (1..20usize).prop_map(Least::Bytes),
    ];
    let tokenizer = prop::sample::select(Choice::ALL.to_vec());
    let snap = prop::sample::select(Snap::ALL.to_vec());
    (least, tokenizer, snap, prop::bool::weighted(0.2)).prop_map(
        |(least, tokenizer, snap, keeps_none)| SpansJob {
            least,
            tokenizer,
            snap,
            keep: match keeps_none {
                true => KeptOccurrence::None,
                false => KeptOccurrence::First,
            },
            ..job()
        },
    )
}

/// Few different words, CJK, characters with the same first byte, combining marks, punctuation, and
/// runs.
const TEXT: &str = "(([ab]|[AB]b|中|国|é|è|e\u{301}|-|\\.|\u{3002}){1,3}( |\n|\\. |){1}){0,16}";
/// Two letters: many repeats of all lengths, and periods.
const LETTERS: &str = "([ab] ?){0,40}";
const RUNS: &str = "((a ){0,20}|(-){0,30}|(ab ){0,9}|(xyz){0,9}|[abc ]{0,5}){0,4}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Promise (Repeated stretches of text): The removed ranges are those of comparing all
    /// stretches with each other, for any least length of words and bytes, every tokenizer, every
    /// kind of borders, with documents to compare with, with the first copy kept or none, for texts
    /// of few letters, runs, periods, CJK and combining marks, split into compressed files, for any
    /// number of threads
    #[test]
    fn the_result_is_that_of_the_definition(
        job in jobs(),
        texts in prop::collection::vec(prop_oneof![TEXT, LETTERS, RUNS], 1..9),
        references in 0..3usize, each in 1..4usize, threads in 1..4usize,
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let references = match texts.len() {
            1 => 0,
            count => references.min(count - 1),
        };
        compare(&job, &texts, references, each, threads);
    }
}

/// Promise (Repeated stretches of text): The removed ranges are those of comparing …
#[test]
fn hostile_texts_have_repeats() {
    let giant = "x".repeat(300_000);
    let words = "a ".repeat(100_000);
    let period = "ab ac ".repeat(9000);
    let fibonacci = (0..20).fold(("a ".to_owned(), "b ".to_owned()), |(first, second), _| {
        (format!("{first}{second}"), first)
    });
    let thue_morse: String = (0..4096u32)
        .map(|number| ["a ", "b "][number.count_ones() as usize % 2])
        .collect();
    let cjk = "今天天气很好我们去公园吧".repeat(40);
    let marks = "e\u{301}\u{302}".repeat(200);
    let texts = [
        "",
        "a",
        "\0\0\0\0",
        &giant,
        &giant[1000..],
        &words,
        &words[..5000],
        &period,
        &period[3..],
        &fibonacci.0,
        &thue_morse,
        &thue_morse,
        &cjk,
        &cjk[3..],
        &marks,
        &marks[1..][2..],
        "\u{feff}a",
    ];
    for least in [
        Least::Words(2),
        Least::Words(50),
        Least::Bytes(4),
        Least::Bytes(200),
    ] {
        for keep in [KeptOccurrence::First, KeptOccurrence::None] {
            let job = SpansJob {
                least,
                keep,
                ..job()
            };
            let inputs = tempfile::tempdir().unwrap();
            let all = documents(&texts);
            let paths = files(inputs.path(), &all, 5);
            let out = tempfile::tempdir().unwrap();
            let resources = resources(&job, 2, out.path());
            run(&job, &paths, &[], out.path(), &resources, &Progress::new()).unwrap();
            let found = spans(out.path(), &all);
            let definition = LongDefinition::new(&job, &texts);
            for (document, own) in found.iter().enumerate() {
                let ranges = own.as_ref().map_or(Vec::new(), |own| {
                    own["ranges"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(bytes)
                        .collect()
                });
                let expected = definition.removed(&job, texts[document], document);
                assert_eq!(ranges, expected, "{least} {keep:?} document {document}");
            }
        }
    }
}

/// The definition for long texts: stretches are compared by their hashes.
struct LongDefinition {
    short: Definition,
    repeated: Vec<Vec<bool>>,
}

impl LongDefinition {
    fn new(job: &SpansJob, texts: &[&str]) -> LongDefinition {
        use std::collections::HashMap;
        use std::hash::BuildHasher;
        let short = Definition::units_of(job, texts);
        let hasher = std::collections::hash_map::RandomState::new();
        let least = job.least.units();
        let mut seen: HashMap<u64, u32> = HashMap::new();
        let hashes: Vec<Vec<u64>> = short
            .units
            .iter()
            .map(|units| {
                let ids: Vec<u64> = units
                    .iter()
                    .map(|(unit, _)| hasher.hash_one(unit))
                    .collect();
                ids.windows(least)
                    .map(|window| hasher.hash_one(window))
                    .collect()
            })
            .collect();
        for hash in hashes.iter().flatten() {
            *seen.entry(*hash).or_default() += 1;
        }
        let mut first: HashMap<u64, ()> = HashMap::new();
        let repeated = hashes
            .iter()
            .map(|hashes| {
                hashes
                    .iter()
                    .map(|hash| match job.keep {
                        KeptOccurrence::First => first.insert(*hash, ()).is_some(),
                        KeptOccurrence::None => seen[hash] > 1,
                    })
                    .collect()
            })
            .collect();
        LongDefinition { short, repeated }
    }

    fn removed(&self, job: &SpansJob, text: &str, document: usize) -> Vec<Range<usize>> {
        let starts = &self.repeated[document];
        self.short.bytes_of(job, text, document, starts)
    }
}

/// More anchors than are kept in the least memory, so that a second reading is needed, and more
/// windows than fit, so that some are looked up at a time.
fn many() -> Vec<Text> {
    let text = |number: usize| {
        let word = |place: usize| {
            // A third of the texts repeat another one from a place on.
            let (own, place) = match number % 3 {
                0 if number > 0 && place > number % 500 => (number / 2, place + 7),
                _ => (number, place),
            };
            format!("{}", (own * 7919 + place * place % 1009) % 50_021)
        };
        (0..1000).map(word).collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = (0..1500).map(text).collect();
    documents(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Promise (Repeated stretches of text): The counts of `repeated.jsonl` are those of the text that
/// each row shows, wherever it occurs: places, documents, sites; with documents to compare with,
/// runs and periods, in bounded memory
/// Promise (Repeated stretches of text): Memory and threads change no byte, with and without a
/// second reading, in memory and on disk
#[test]
fn memory_and_threads_change_no_byte() {
    let inputs = tempfile::tempdir().unwrap();
    let documents = many();
    let paths = files(inputs.path(), &documents, 500);
    let job = SpansJob {
        least: Least::Words(4),
        ..job()
    };
    let texts: Vec<&str> = documents.iter().map(|text| text.text.as_str()).collect();
    assert_same_for_all_resources(&job, (&paths, &[]), Some("locate"), |out| {
        check_spans(&job, &texts, 0, out);
    });
}
