//! What edited items add is that of the definition: the union of n-grams and of clusters of shorter
//! n-grams, one item and one place after another.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use simtool::engine::Progress;
use simtool::jobs::CheckedJob;
use simtool::jobs::passages::decontaminate::{
    DecontaminateJob, EditedRule, LeastWords, NgramClusterRule, Widening,
};
use simtool::jobs::passages::{Action, PassageSettings};

use crate::decontaminate::clusters::{Cluster, clusters};
use crate::decontaminate::oracle::{Definition, ItemFound};
use crate::decontaminate::same_answer::{check_origin, id, many_items, number};
use crate::decontaminate::setup::{job, resources};
use crate::passages::{assert_same_for_all_resources, documents, files, lines_of, run};

fn compare(job: &DecontaminateJob, items: &[&str], texts: &[&str], each: usize, threads: usize) {
    let rule = job.edited.unwrap();
    let inputs = tempfile::tempdir().unwrap();
    let references = files(&inputs.path().join("a"), &documents(items), each);
    let paths = files(&inputs.path().join("b"), &documents(texts), each);
    let out = tempfile::tempdir().unwrap();
    let (out, resources) = (out.path(), resources(job, threads, out.path()));
    run(job, &paths, &references, out, &resources, &Progress::new()).unwrap();
    let ngrams = Definition::new(job, items, texts);
    let edited = Definition::of_edited(job, rule, items, texts);
    let found: Vec<Vec<Cluster>> = (0..texts.len())
        .map(|document| clusters(&edited, rule.clusters, document))
        .collect();
    let mut lines = lines_of(&out.join("spans.jsonl")).into_iter().peekable();
    for (document, text) in texts.iter().enumerate() {
        let line = lines.next_if(|line| id(line) == document);
        let ranges = line.map_or(Vec::new(), |line| {
            line["ranges"].as_array().unwrap().clone()
        });
        let definitions = (&ngrams, &edited);
        check_ranges(
            job,
            definitions,
            (document, text),
            &found[document],
            &ranges,
        );
    }
    check_items(&ngrams, &edited, &found, out);
}

/// The ranges are the runs of covered words, and what goes with them. One with an n-gram is not an
/// edited item.
fn check_ranges(
    job: &DecontaminateJob,
    (ngrams, edited): (&Definition, &Definition),
    (document, text): (usize, &str),
    clusters: &[Cluster],
    ranges: &[Value],
) {
    let context = format!("document {document}: {text} {job:?}");
    let hits = ngrams.hits(document);
    let mut is_covered = vec![false; ngrams.words[document].len()];
    let covered = hits
        .iter()
        .chain(clusters.iter().map(|(_, words, _)| words));
    covered.for_each(|words| is_covered[words.clone()].fill(true));
    let bytes = ngrams.bytes_of(text, document, &is_covered);
    let mut wide = Vec::new();
    job.widening.widen(text.as_bytes(), &bytes, &mut wide);
    let found: Vec<Range<usize>> = ranges
        .iter()
        .map(|range| number(&range["start"])..number(&range["end"]))
        .collect();
    let expected: Vec<Range<usize>> = wide.iter().map(|wide| wide.bytes.clone()).collect();
    assert_eq!(found, expected, "{context}");
    let mut runs: Vec<Range<usize>> = Vec::new();
    for place in (0..is_covered.len()).filter(|place| is_covered[*place]) {
        match runs.last_mut() {
            Some(last) if last.end == place => last.end += 1,
            _ => runs.push(place..place + 1),
        }
    }
    for (range, wide) in ranges.iter().zip(&wide) {
        let runs = &runs[wide.stretches.clone()];
        let is_within = |first: usize| runs.iter().any(|run| run.contains(&first));
        let within = |hits: &[Range<usize>]| hits.iter().filter(|hit| is_within(hit.start)).count();
        let (why, count) = match within(&hits) {
            0 => ("edited", within(&edited.hits(document))),
            count => ("against", count),
        };
        assert_eq!(range["why"], why, "{range} {context}");
        assert_eq!(number(&range["ngrams"]), count, "{range} {context}");
        if why == "against" {
            check_origin(ngrams, document, range, &context);
            continue;
        }
        // Of each run the item of the first cluster with the most n-grams; of these, the longest.
        let mut origin: Option<usize> = None;
        for run in runs {
            let mut own: Vec<&Cluster> = (clusters.iter())
                .filter(|(_, words, _)| run.contains(&words.start))
                .collect();
            own.sort_by_key(|(item, words, grams)| {
                (usize::MAX - grams, words.start, words.end, *item)
            });
            let item = own[0].0;
            if origin.is_none_or(|before| ngrams.items[before].len() < ngrams.items[item].len()) {
                origin = Some(item);
            }
        }
        let words = &ngrams.items[origin.unwrap()];
        let place = ["text_start", "text_end"].map(|name| number(&range["reference"][name]));
        assert_eq!(Some(id(&range["reference"])), origin, "{range} {context}");
        let expected = [words[0].1.start, words[words.len() - 1].1.end];
        assert_eq!(place, expected, "{range} {context}");
    }
}

/// The counts of an item are those of n-grams, unless another document has more of its edited form.
fn check_items(ngrams: &Definition, edited: &Definition, found: &[Vec<Cluster>], out: &Path) {
    for line in lines_of(&out.join("items.jsonl")) {
        let item = id(&line);
        let own = ngrams.item(item);
        let mut most: HashMap<usize, usize> = HashMap::new();
        for (document, clusters) in found.iter().enumerate() {
            let has_ngram = !ngrams.found_in(document).is_disjoint(&ngrams.grams[item]);
            for (_, _, grams) in clusters.iter().filter(|(of, ..)| *of == item && !has_ngram) {
                let most = most.entry(document).or_default();
                *most = (*most).max(*grams);
            }
        }
        let documents = own.documents + most.len();
        let best = most
            .iter()
            .max_by_key(|(document, grams)| (**grams, usize::MAX - **document));
        let best = best.map(|(document, grams)| (*document, *grams));
        let all = edited.grams[item].len();
        let (best_own, best_edited) = [own.best, best]
            .map(|best| best.map_or(0, |best| best.1))
            .into();
        let is_more = best_edited * own.grams.max(1) > best_own * all.max(1);
        let expected = match is_more || own.grams == 0 {
            true => ItemFound {
                grams: all,
                found: best_edited,
                documents,
                best,
            },
            false => ItemFound { documents, ..own },
        };
        let best = line["best"].as_object().map(|_| &line["best"]);
        let reported = ItemFound {
            grams: number(&line["ngrams"]),
            found: number(&line["found"]),
            documents: number(&line["documents"]),
            best: best.map(|best| (id(best), number(&best["found"]))),
        };
        assert_eq!(reported, expected, "{line}");
        assert_eq!(line["edited"], is_more, "{line}");
        if let (Some(best), false) = (best, is_more) {
            // Its stretch has an n-gram of the item.
            let place = number(&best["text_start"])..number(&best["text_end"]);
            let document = id(best);
            let words = &ngrams.words[document];
            let mut hits = ngrams.hits(document).into_iter();
            assert!(hits.any(|hit| {
                let is_own = ngrams.grams[item].contains(&ngrams.gram(document, &hit));
                is_own && place.contains(&words[hit.start].1.start)
            }));
        }
        assert_eq!(line["too_short"], expected.grams == 0, "{line}");
    }
}

fn jobs() -> impl Strategy<Value = DecontaminateJob> {
    let of_ngrams = (3..7usize, 1..7usize, 0..4usize);
    let of_edited = (1..4usize, 0..6usize, 0..5usize, 1..=1000u32);
    (of_ngrams, of_edited).prop_map(
        |((least, least_item, around), (words, more, most_gap, thousandths))| DecontaminateJob {
            least: LeastWords(least),
            least_item: LeastWords(least_item.min(least)),
            widening: Widening {
                around,
                least_piece: 0,
            },
            edited: Some(EditedRule {
                least: LeastWords(words),
                // Perhaps fewer than those of an n-gram.
                least_item: LeastWords(more + 1),
                clusters: NgramClusterRule {
                    most_gap,
                    thousandths,
                    answer_within: 0,
                },
            }),
            ..job()
        },
    )
}

fn spaced(texts: &[String]) -> Vec<String> {
    let text = |text: &String| text.chars().map(|c| format!("{c} ")).collect();
    texts.iter().map(text).collect()
}

fn borrowed(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

#[test]
fn edited_items_are_refused_together_with_clusters_and_counts_of_documents() {
    let rule = EditedRule::new(500);
    let edited = DecontaminateJob {
        edited: Some(rule),
        ..job()
    };
    let clusters = DecontaminateJob {
        clusters: Some(rule.clusters),
        ..edited.clone()
    };
    let counted = DecontaminateJob {
        most_documents: Some(9),
        ..edited.clone()
    };
    for (job, is_good) in [(edited, true), (clusters, false), (counted, false)] {
        assert_eq!(CheckedJob::new(&job).is_ok(), is_good);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    /// Promise (Parts of evaluation sets): Edited items are found as a simple loop over all items
    /// finds them, besides n-grams; none of them has characters that are words of their own
    #[test]
    fn edited_items_are_those_of_the_definition(
        job in jobs(), items in prop::collection::vec("[abc]{0,12}|[ab中]{0,9}", 1..6),
        texts in prop::collection::vec("[abcd]{0,40}|[abc中]{0,20}", 1..7),
        each in 1..4usize, threads in 1..4usize,
    ) {
        let (items, texts) = (spaced(&items), spaced(&texts));
        compare(&job, &borrowed(&items), &borrowed(&texts), each, threads);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Promise (Parts of evaluation sets): Edited items are found as a …
    #[test]
    fn edited_forms_of_many_items_are_those_of_the_definition(
        job in jobs(), (items, texts) in many_items(), each in 1..9usize, threads in 1..4usize,
    ) {
        compare(&job, &borrowed(&items), &borrowed(&texts), each, threads);
    }
}

/// Promise (Parts of evaluation sets): Memory and threads change no …
#[test]
fn edited_items_do_not_depend_on_resources() {
    let word =
        |number: usize, place: usize| format!("w{} ", (number * 31 + place * 7) % (place + 9));
    let text = |number: usize| (0..60).map(|place| word(number, place)).collect::<String>();
    let all: Vec<String> = (0..500).map(text).collect();
    let edit = |text: &String| {
        let words = text.split(' ').enumerate();
        let words = words.map(|(place, word)| if place % 9 == 8 { "other" } else { word });
        words.take(30).collect::<Vec<_>>().join(" ")
    };
    let items: Vec<String> = all.iter().step_by(7).map(edit).collect();
    let directory = tempfile::tempdir().unwrap();
    let references = files(
        &directory.path().join("a"),
        &documents(&borrowed(&items)),
        30,
    );
    let paths = files(
        &directory.path().join("b"),
        &documents(&borrowed(&all)),
        100,
    );
    let job = DecontaminateJob {
        least: LeastWords(13),
        edited: Some(EditedRule::new(400)),
        common: PassageSettings {
            action: Action::Cut,
            ..job().common
        },
        ..job()
    };
    let inputs = (&paths[..], &references[..]);
    assert_same_for_all_resources(&job, inputs, None, |out| {
        let lines = lines_of(&out.join("items.jsonl"));
        assert!(lines.iter().any(|line| line["edited"] == true));
    });
}
