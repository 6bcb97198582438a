//! The short interface of the library gives the results of the program.

#[cfg(feature = "cli")]
use std::fs;

use proptest::prelude::*;
#[cfg(feature = "index")]
use simtool::Verdict;
use simtool::{Deduplicator, Evidence, MinHash};

/// Texts, many of them equal, similar or short.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let words = |count| prop::collection::vec(0..2000u32, count);
    let spelled = |words: &[u32], separator: &str| {
        let words: Vec<String> = words.iter().map(|word| format!("w{word}")).collect();
        words.join(separator)
    };
    let kinds = prop::collection::vec((any::<prop::sample::Index>(), 0..6u8, 0..2000u32), 0..60);
    (prop::collection::vec(words(0..80), 1..12), kinds).prop_map(move |(bases, kinds)| {
        let text = |(base, kind, word): (prop::sample::Index, u8, u32)| {
            let mut words = base.get(&bases).clone();
            match kind {
                0 | 1 => {}
                2 => return spelled(&words, ", ").to_uppercase(),
                3 => words.truncate(5),
                4 => words.push(word),
                _ => {
                    let middle = words.len() / 2;
                    words.insert(middle, word);
                }
            }
            spelled(&words, " ")
        };
        kinds.into_iter().map(text).collect()
    })
}

/// The documents that `simtool dedup` drops, and the copies that it keeps for them.
#[cfg(feature = "cli")]
fn dropped_by_program(texts: &[String], flags: &[&str]) -> Vec<(usize, usize)> {
    let place = tempfile::tempdir().unwrap();
    let lines = texts.iter().enumerate().map(|(number, text)| {
        let line = serde_json::json!({"id": number.to_string(), "text": text});
        format!("{line}\n")
    });
    fs::write(place.path().join("a.jsonl"), lines.collect::<String>()).unwrap();
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_simtool"));
    let line = ["dedup", "a.jsonl", "-o", "out", "--quiet"];
    command.current_dir(place.path()).args(line).args(flags);
    command.assert().success();
    let number = |value: &serde_json::Value| value.as_str().unwrap().parse().unwrap();
    let mut dropped: Vec<(usize, usize)> =
        fs::read_to_string(place.path().join("out/duplicates.jsonl"))
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|pair| (number(&pair["id"]), number(&pair["kept"])))
            .collect();
    dropped.sort_unstable();
    dropped
}

#[cfg(feature = "cli")]
proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn dedup_drops_what_the_program_drops(texts in texts()) {
        for method in ["simhash", "minhash", "exact", "normalized"] {
            let found = Deduplicator::new().method(method).unwrap().run(&texts).unwrap();
            let found: Vec<_> = found.iter().map(|pair| (pair.document, pair.kept)).collect();
            prop_assert_eq!(found, dropped_by_program(&texts, &["--method", method]), "{}", method);
        }
    }
}

#[test]
#[cfg(feature = "cli")]
fn settings_reach_the_method_as_in_the_program() {
    let base: Vec<String> = (0..60).map(|word| format!("w{word}")).collect();
    let edited = |number: usize| {
        let mut words = base.clone();
        words[..number % 25]
            .iter_mut()
            .for_each(|word| *word += "x");
        words.push(format!("v{number}"));
        words.join(" ")
    };
    let texts: Vec<String> = (0..50).map(edited).collect();
    for (similarity, shingle) in [(0.5, 5), (0.9, 2)] {
        let job = Deduplicator::new().similarity(similarity).unwrap();
        let job = job.shingle(shingle).unwrap().method("minhash").unwrap();
        let found = job.run(&texts).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|pair| (pair.document, pair.kept))
            .collect();
        let (similarity, shingle) = (similarity.to_string(), shingle.to_string());
        let flags = [
            "--method",
            "minhash",
            "--similarity",
            &similarity,
            "--shingle",
            &shingle,
        ];
        assert_eq!(found, dropped_by_program(&texts, &flags));
    }
}

proptest! {
    /// Against the definition, with sets of strings.
    #[test]
    fn similarity_is_counted(texts in texts()) {
        let shingles = |text: &str| {
            let text = text.to_lowercase();
            let words: Vec<String> = text.split([' ', ',']).filter(|word| !word.is_empty()).map(String::from).collect();
            let width = words.len().clamp(1, 5);
            words.windows(width).map(|run| run.join(" ")).collect::<std::collections::BTreeSet<_>>()
        };
        for pair in texts.windows(2) {
            let (a, b) = (shingles(&pair[0]), shingles(&pair[1]));
            let found = simtool::similarity(&pair[0], &pair[1]);
            prop_assert_eq!(found.shared, a.intersection(&b).count() as u64);
            prop_assert_eq!(found.all, a.union(&b).count() as u64);
        }
    }

    #[test]
    fn every_pair_is_as_similar_as_it_says(texts in texts()) {
        for pair in simtool::dedup(&texts).unwrap() {
            prop_assert!(pair.kept < pair.document);
            let similarity = simtool::similarity(&texts[pair.document], &texts[pair.kept]);
            match pair.evidence {
                Evidence::Similar(found) => {
                    prop_assert_eq!(found, similarity);
                    prop_assert!(found.shared * 1000 >= found.all * 800);
                }
                Evidence::SameText => prop_assert_eq!(&texts[pair.document], &texts[pair.kept]),
                _ => prop_assert_eq!(similarity.value(), 1.0),
            }
        }
    }
}

#[test]
fn estimates_are_near_the_truth() {
    let text = |from: usize| {
        (from..from + 400)
            .map(|word| format!("w{word} "))
            .collect::<String>()
    };
    for shift in [0, 20, 100, 300] {
        let (a, b) = (text(0), text(shift));
        let exact = simtool::similarity(&a, &b).value();
        let estimate = simtool::minhash(&a).similarity(&simtool::minhash(&b));
        assert!((exact - estimate).abs() < 0.15, "{exact} {estimate}");
    }
    assert_eq!(simtool::minhash("").similarity(&simtool::minhash("")), 0.0);
}

#[test]
fn odd_settings_are_refused() {
    let refused = |result: simtool::Result<Deduplicator>| result.unwrap_err().to_string();
    assert!(refused(Deduplicator::new().similarity(0.0)).contains("0.001 to 1"));
    assert!(refused(Deduplicator::new().similarity(f64::NAN)).contains("0.001 to 1"));
    assert!(refused(Deduplicator::new().shingle(0)).contains("1 to 100"));
    assert!(refused(Deduplicator::new().method("simhash:weights=tf-idf")).contains("statistics"));
    assert!(refused(Deduplicator::new().method("sinhash")).contains("simhash"));
}

#[test]
fn settings_without_effect_are_refused() {
    for method in ["exact", "normalized"] {
        let job = || Deduplicator::new().method(method).unwrap();
        assert!(job().run(["a b", "a b"]).is_ok());
        let jobs = [
            ("similarity", job().similarity(0.8).unwrap()),
            ("shingle", job().shingle(5).unwrap()),
        ];
        for (setting, job) in jobs {
            let error = job.run(["a b", "a b"]).unwrap_err();
            assert_eq!(error.kind(), simtool::ErrorKind::Parameter);
            let message = error.to_string();
            assert!(message.contains(setting) && message.contains(method));
        }
    }
}

#[test]
fn a_similarity_is_rounded_to_thousandths() {
    // Similarity 36 / 66, which is 0.54545.
    let text = |from: usize| {
        let words = (from..from + 55).map(|word| format!("w{word} "));
        words.collect::<String>()
    };
    let texts = [text(0), text(15)];
    let similarity = simtool::similarity(&texts[0], &texts[1]);
    assert_eq!((similarity.shared, similarity.all), (36, 66));
    for (least, count) in [(0.5454, 1), (0.54549, 1), (0.5455, 0), (0.546, 0)] {
        let job = Deduplicator::new().similarity(least).unwrap();
        // With a high recall, the pair is proposed.
        let job = job.method("minhash:recall=0.9999").unwrap();
        assert_eq!(job.run(&texts).unwrap().len(), count, "{least}");
    }
    for (allowed, refused) in [(0.0005, 0.0004), (1.0004, 1.0006)] {
        assert!(Deduplicator::new().similarity(allowed).is_ok());
        assert!(Deduplicator::new().similarity(refused).is_err());
    }
}

/// Programs may store fingerprints: another value here needs a new major version.
#[test]
fn fingerprints_are_those_of_earlier_versions() {
    let text = "A cat sat on the mat while a dog slept in the sun behind the house; Überraschung!";
    let signature = simtool::minhash(text);
    let digest = xxhash_rust::xxh3::xxh3_64(&signature.to_bytes());
    let found = (simtool::simhash(text), &signature.minima()[..2], digest);
    let minima = &[934_884_646, 876_965_889][..];
    let expected = (9_238_040_106_446_894_750, minima, 9_336_436_460_396_574_371);
    assert_eq!(found, expected);
}

#[test]
fn signatures_are_read_back() {
    for text in ["", "one", "one two three four five six seven"] {
        let signature = simtool::minhash(text);
        let bytes = signature.to_bytes();
        assert_eq!(bytes.len(), if text.is_empty() { 0 } else { 512 });
        assert_eq!(MinHash::from_bytes(&bytes).unwrap(), signature);
    }
    for length in [1, 4, 508, 511, 513, 516, 1024] {
        let error = MinHash::from_bytes(&vec![0; length]).unwrap_err();
        assert_eq!(error.kind(), simtool::ErrorKind::Content, "{length}");
    }
}

#[test]
fn texts_without_words_are_not_similar() {
    for text in ["", "...", "\u{3000}"] {
        assert_eq!(simtool::similarity(text, text).value(), 0.0);
        assert!(simtool::dedup([text, text]).unwrap().is_empty());
    }
    let separated = simtool::similarity(b"one\xfftwo", "one two");
    assert_eq!((separated.shared, separated.all), (1, 1));
}

#[cfg(feature = "index")]
#[test]
fn an_index_adds_many_as_one_after_another() {
    let base: Vec<String> = (0..60).map(|word| format!("w{word}")).collect();
    let texts = (0..200).map(|number: usize| {
        let mut words = base.clone();
        words.rotate_left(number % 7);
        words.truncate(60 - number % 30);
        let text = if number.is_multiple_of(9) {
            "".into()
        } else {
            words.join(" ")
        };
        ((number % 150).to_string(), text)
    });
    let texts: Vec<(String, String)> = texts.collect();
    let place = tempfile::tempdir().unwrap();
    for method in ["simhash", "minhash"] {
        let create = |name: &str| {
            let directory = place.path().join(format!("{method}-{name}"));
            simtool::Index::create_with(directory, method).unwrap()
        };
        let (one, all) = (create("one"), create("all"));
        let expected: Vec<_> = texts
            .iter()
            .map(|(id, text)| one.add(id, text).unwrap())
            .collect();
        let pairs = texts.iter().map(|(id, text)| (id, text));
        assert_eq!(all.add_all(pairs).unwrap(), expected);
        assert_eq!(all.len(), one.len());
        assert!(all.add_all([("new", "some text"), ("", "x")]).is_err());
        assert_eq!(all.len(), one.len(), "all of a batch or none");
        assert!(all.add_all([("", ""); 0]).unwrap().is_empty());
    }
}

#[cfg(feature = "index")]
#[test]
fn an_index_adds_duplicates_and_empty_texts() {
    let place = tempfile::tempdir().unwrap();
    let index = simtool::Index::create(place.path().join("seen")).unwrap();
    let text = "a cat sat on the mat while a dog slept in the sun behind the house";
    let added = |id: &str, text: &str| {
        let answer = index.add(id, text).unwrap();
        (answer.verdict, answer.added, answer.matches.len())
    };
    assert_eq!(added("a", text), (Verdict::New, true, 0));
    assert_eq!(added("b", text), (Verdict::Duplicate, true, 1));
    // Another text of an id is a further one, whatever it is a copy of.
    let further = added("b", &text.to_uppercase());
    assert!(matches!(further, (Verdict::Changed(Some(_)), true, 1)));
    for text in [text, &text.to_uppercase()] {
        assert_eq!(added("b", text), (Verdict::Unchanged, false, 1));
    }
    assert_eq!(added("c", ""), (Verdict::Empty, true, 0));
    let short = added("d", "the of");
    assert_eq!(short, (Verdict::New, true, 0), "fewer words than a shingle");
    assert_eq!(added("c", ""), (Verdict::Unchanged, false, 0));
    assert_eq!(added("c", "..."), (Verdict::Changed(None), true, 0));
    assert_eq!(index.len(), 6);
    assert_eq!(index.query("").unwrap().verdict, Verdict::Empty);
    assert_eq!(added("c", text), (Verdict::Changed(None), true, 1));
    let second = simtool::Index::open(place.path().join("seen"))
        .err()
        .unwrap();
    assert_eq!(second.kind(), simtool::ErrorKind::Read);
    let none = simtool::Index::open(place.path().join("none"))
        .err()
        .unwrap();
    assert_eq!(none.kind(), simtool::ErrorKind::Read);
    let long = "x".repeat(65_536);
    for id in ["", &long] {
        let error = index.add(id, text).unwrap_err();
        assert_eq!(error.kind(), simtool::ErrorKind::Parameter);
    }
}

#[cfg(feature = "index")]
#[test]
fn an_index_remembers() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("seen");
    let text = "a cat sat on the mat while a dog slept in the sun behind the house";
    {
        let index = simtool::Index::create(&directory).unwrap();
        assert!(index.is_empty());
        assert!(index.add("a", text).unwrap().added);
        assert!(simtool::Index::open(&directory).is_err(), "two writers");
    }
    let index = simtool::Index::open(&directory).unwrap();
    assert_eq!(index.len(), 1);
    let answer = index.query(text).unwrap();
    assert_eq!(answer.verdict, simtool::Verdict::Duplicate);
    assert!(index.remove("a").unwrap() && !index.remove("a").unwrap());
    assert_eq!(index.query(text).unwrap().verdict, simtool::Verdict::New);
}
