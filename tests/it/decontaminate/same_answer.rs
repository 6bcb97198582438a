//! Ranges and items are those of the definition, for any resources.
//!
//! Promise (Parts of evaluation sets): The reference of each range is a run of words that the item
//! and the document have (every comparison checks it)

use std::ops::Range;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use simtool::engine::Progress;
use simtool::jobs::passages::decontaminate::{DecontaminateJob, LeastWords, Widening};
use simtool::jobs::passages::{Action, PassageSettings};
use simtool::text::Choice;

use crate::decontaminate::oracle::{Definition, ItemFound};
use crate::decontaminate::setup::{job, resources};
use crate::passages::{assert_same_for_all_resources, documents, files, lines_of, run};

pub fn number(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

pub fn id(value: &Value) -> usize {
    value["id"].as_str().unwrap()[1..].parse().unwrap()
}

/// Compares the output of a job with the definition.
fn compare(job: &DecontaminateJob, items: &[&str], texts: &[&str], each: usize, threads: usize) {
    let inputs = tempfile::tempdir().unwrap();
    let references = files(&inputs.path().join("a"), &documents(items), each);
    let paths = files(&inputs.path().join("b"), &documents(texts), each);
    let out = tempfile::tempdir().unwrap();
    let resources = resources(job, threads, out.path());
    run(
        job,
        &paths,
        &references,
        out.path(),
        &resources,
        &Progress::new(),
    )
    .unwrap();
    let definition = Definition::new(job, items, texts);
    check_spans(job, &definition, texts, out.path());
    check_items(&definition, out.path());
}

fn check_spans(job: &DecontaminateJob, definition: &Definition, texts: &[&str], out: &Path) {
    let mut lines = lines_of(&out.join("spans.jsonl")).into_iter().peekable();
    for (document, text) in texts.iter().enumerate() {
        let line = lines.next_if(|line| id(line) == document);
        let ranges: Vec<Value> = line.map_or(Vec::new(), |line| {
            line["ranges"].as_array().unwrap().clone()
        });
        let found: Vec<Range<usize>> = ranges
            .iter()
            .map(|range| number(&range["start"])..number(&range["end"]))
            .collect();
        let stretches = definition.stretches(text, document);
        let mut expected = Vec::new();
        job.widening
            .widen(text.as_bytes(), &stretches, &mut expected);
        let expected: Vec<Range<usize>> = expected.into_iter().map(|wide| wide.bytes).collect();
        let context = format!("document {document} of {texts:?} {job:?}");
        assert_eq!(found, expected, "{context}");
        let hits: usize = ranges.iter().map(|range| number(&range["ngrams"])).sum();
        assert_eq!(hits, definition.hits(document).len(), "{context}");
        for range in &ranges {
            check_origin(definition, document, range, &context);
        }
    }
    assert!(lines.next().is_none(), "an unknown document");
}

/// The reference of a range is a run of words of an item that the document has, too.
pub fn check_origin(definition: &Definition, document: usize, range: &Value, context: &str) {
    let reference = &range["reference"];
    let item = &definition.items[id(reference)];
    let bytes = number(&reference["text_start"])..number(&reference["text_end"]);
    let own = item
        .iter()
        .filter(|(_, word)| word.start >= bytes.start && word.end <= bytes.end);
    let own: Vec<&[u8]> = own.map(|(word, _)| &word[..]).collect();
    let words: Vec<&[u8]> = definition.words[document]
        .iter()
        .map(|(word, _)| &word[..])
        .collect();
    let least = definition.grams[id(reference)]
        .iter()
        .map(Vec::len)
        .min()
        .unwrap();
    assert!(own.len() >= least, "{range} {context}");
    // The words of one character of the text have one place, so there may be more on both sides.
    let runs = (least..=own.len()).flat_map(|length| own.windows(length));
    let is_shared = |run: &[&[u8]]| words.windows(run.len()).any(|part| part == run);
    assert!(runs.rev().any(is_shared), "{range} {context}");
}

fn check_items(definition: &Definition, out: &Path) {
    let lines = lines_of(&out.join("items.jsonl"));
    assert_eq!(lines.len(), definition.items.len());
    let mut last: Option<(f64, usize)> = None;
    for line in &lines {
        let item = id(line);
        let best = line["best"].as_object().map(|_| &line["best"]);
        let found = ItemFound {
            grams: number(&line["ngrams"]),
            found: number(&line["found"]),
            documents: number(&line["documents"]),
            best: best.map(|best| (id(best), number(&best["found"]))),
        };
        assert_eq!(found, definition.item(item), "{line}");
        assert_eq!(number(&line["words"]), definition.items[item].len());
        assert_eq!(line["too_short"], found.grams == 0);
        let ignored = definition.grams[item]
            .intersection(&definition.ignored)
            .count();
        assert_eq!(number(&line["ignored"]), ignored);
        let share = line["share"].as_f64().unwrap();
        if let Some((before, item_before)) = last {
            assert!(
                before > share || (before == share && item_before < item),
                "{lines:?}"
            );
        }
        last = Some((share, item));
    }
}

fn jobs() -> impl Strategy<Value = DecontaminateJob> {
    let tokenizer = prop::sample::select(Choice::ALL.to_vec());
    let most = prop::option::weighted(0.4, 1..4u32);
    (1..6usize, 1..4usize, tokenizer, most, 0..5usize, 0..5usize).prop_map(
        |(least, least_item, tokenizer, most_documents, around, least_piece)| DecontaminateJob {
            least: LeastWords(least),
            least_item: LeastWords(least_item),
            tokenizer,
            most_documents,
            widening: Widening {
                around,
                least_piece,
            },
            ..job()
        },
    )
}

/// Few different words, CJK, combining marks, punctuation, and empty texts.
fn texts(most: usize) -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(vec![
        "a ",
        "b ",
        "A, ",
        "c. ",
        "中国",
        "人",
        "e\u{301} ",
        "é",
        "\u{301}",
        " ",
        "\n",
        "ไทย",
        "1 ",
        "-",
    ]);
    let text = prop::collection::vec(word, 0..14).prop_map(|words| words.concat());
    prop::collection::vec(text, 1..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// Promise (Parts of evaluation sets): The ranges and the counts of items are those of sets of
    /// n-grams, for every tokenizer, any length of n-grams, short, equal and empty items, ignored
    /// n-grams, and what goes around stretches, split into compressed files, for any number of
    /// threads
    #[test]
    fn ranges_and_items_are_those_of_sets_of_ngrams(
        job in jobs(), items in texts(6), texts in texts(9), each in 1..5usize, threads in 1..4usize,
    ) {
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        compare(&job, &items, &texts, each, threads);
    }
}

/// Items and documents of few parts, so that more items have an n-gram than are enumerated for each
/// document.
pub fn many_items() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let part = prop::sample::select(vec![
        "a b c d ", "e f g ", "a b c ", "h ", "i j ", "k l m n ",
    ]);
    let text = |most| prop::collection::vec(part.clone(), 0..most).prop_map(|parts| parts.concat());
    (
        prop::collection::vec(text(6), 66..110),
        prop::collection::vec(text(9), 1..24),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Promise (Parts of evaluation sets): Ranges, counts and clusters are those of the definition
    /// also where many items have an n-gram, and documents of one template change the counts of few
    /// items
    #[test]
    fn ngrams_of_many_items_are_counted_for_each(
        least in 1..5usize, most in prop::option::weighted(0.2, 1..9u32),
        (items, texts) in many_items(), each in 1..9usize, threads in 1..4usize,
    ) {
        let job = DecontaminateJob { least: LeastWords(least), most_documents: most, ..job() };
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        compare(&job, &items, &texts, each, threads);
    }
}

/// Promise (Parts of evaluation sets): The ranges and the counts of items …
#[test]
fn duplicates_and_overlaps_are_found() {
    let items = [
        "one two three four five",
        "x one two three",
        "one two three four five",
        "",
        "y",
    ];
    let texts = [
        "zero one two three four five six",
        "two three four five one two three",
        "one two",
        "ONE-two: three!",
        "y",
    ];
    compare(&job(), &items, &texts, 2, 2);
}

/// Promise (Parts of evaluation sets): Memory and threads change no byte, with one reading and with
/// two
#[test]
fn the_output_does_not_depend_on_resources() {
    let word =
        |number: usize, place: usize| format!("w{} ", (number * 31 + place * 7) % (place + 9));
    let text = |number: usize| (0..80).map(|place| word(number, place)).collect::<String>();
    let all: Vec<String> = (0..700).map(text).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let items: Vec<&str> = all.iter().step_by(7).map(|text| &text[40..120]).collect();
    let directory = tempfile::tempdir().unwrap();
    let references = files(&directory.path().join("a"), &documents(&items), 30);
    let paths = files(&directory.path().join("b"), &documents(&all), 100);
    for most_documents in [None, Some(3)] {
        let job = DecontaminateJob {
            most_documents,
            common: PassageSettings {
                action: Action::Cut,
                ..job().common
            },
            ..job()
        };
        let inputs = (&paths[..], &references[..]);
        assert_same_for_all_resources(&job, inputs, None, |_| ());
    }
}
