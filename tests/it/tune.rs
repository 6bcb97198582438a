//! `simtool tune` on collections whose similar pairs are counted here by comparing all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// Texts of words between spaces, by number; the id of a text is its number.
struct Collection {
    place: TempDir,
    texts: Vec<Vec<String>>,
}

/// Pseudo-random words.
struct Words(u64);

impl Words {
    fn number(&mut self, below: u64) -> u64 {
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn words(&mut self, count: usize) -> Vec<String> {
        (0..count)
            .map(|_| format!("word{}", self.number(5000)))
            .collect()
    }

    /// The text with `count` of its words replaced.
    fn edited(&mut self, text: &[String], count: usize) -> Vec<String> {
        let mut text = text.to_vec();
        for _ in 0..count {
            let place = self.number(text.len() as u64) as usize;
            text[place] = self.words(1).remove(0);
        }
        text
    }
}

impl Collection {
    fn new(texts: Vec<Vec<String>>) -> Collection {
        let place = tempfile::tempdir().unwrap();
        let line = |(number, text): (usize, &Vec<String>)| {
            format!("{{\"id\":\"{number}\",\"text\":\"{}.\"}}\n", text.join(" "))
        };
        let lines: String = texts.iter().enumerate().map(line).collect();
        fs::write(place.path().join("docs.jsonl"), lines).unwrap();
        Collection { place, texts }
    }

    fn stdout(&self, line: &str) -> String {
        let run = Command::new(env!("CARGO_BIN_EXE_simtool"))
            .current_dir(&self.place)
            .args(line.split_whitespace())
            .arg("--quiet")
            .assert()
            .success();
        String::from_utf8(run.get_output().stdout.clone()).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.place.path().join(name), text).unwrap();
    }

    /// The pairs that `match` finds with a method.
    fn joined(&self, method: &str) -> BTreeSet<[usize; 2]> {
        let line = format!("match --articles docs.jsonl --samples docs.jsonl --method {method}");
        let number = |value: &Value| value["id"].as_str().unwrap().parse::<usize>().unwrap();
        let mut pairs = BTreeSet::new();
        for line in self.stdout(&line).lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let matches = line["matches"].as_array().unwrap().iter();
            pairs.extend(matches.map(|found| [number(&line), number(found)]));
        }
        pairs.retain(|[a, b]| a < b);
        pairs
    }

    /// The sets of runs of five words.
    fn shingles(&self) -> Vec<BTreeSet<&[String]>> {
        let runs = |text: &Vec<String>| text.windows(5.min(text.len()).max(1)).count();
        assert!(self.texts.iter().all(|text| runs(text) > 0));
        let texts = self.texts.iter();
        texts
            .map(|text| text.windows(5.min(text.len())).collect())
            .collect()
    }

    /// The pairs with at least four fifths of all runs of five words in common.
    fn similar(&self) -> BTreeSet<[usize; 2]> {
        let sets = self.shingles();
        let mut pairs = BTreeSet::new();
        for (b, second) in sets.iter().enumerate() {
            for (a, first) in sets[..b].iter().enumerate() {
                let shared = first.intersection(second).count();
                if 5 * shared >= 4 * (first.len() + second.len() - shared) {
                    pairs.insert([a, b]);
                }
            }
        }
        pairs
    }
}

/// The recommended method, and the cells of its line in the table.
fn recommended(tuned: &str) -> (String, Vec<String>) {
    let mut lines = tuned.lines().skip_while(|line| *line != "Recommended:");
    let method = lines
        .nth(1)
        .and_then(|line| line.trim().strip_prefix("--method "));
    let method = method.unwrap_or_else(|| panic!("{tuned}"));
    let row = tuned.lines().find(|line| line.ends_with(method)).unwrap();
    let cells = row.split_whitespace().map(str::to_owned).collect();
    (method.to_owned(), cells)
}

/// Recommends a setting, and checks what it joins. Returns the output.
fn check(collection: &Collection) -> String {
    let tuned = collection.stdout("tune docs.jsonl --planted --copied 20");
    let (method, cells) = recommended(&tuned);
    let (joined, similar) = (collection.joined(&method), collection.similar());
    let wrong = joined.difference(&similar).count();
    let pairs = collection.texts.len() * (collection.texts.len() - 1) / 2;
    assert!(
        wrong as f64 <= 1e-6 * pairs as f64,
        "{wrong} of {} pairs of {method} are wrong: {tuned}",
        joined.len()
    );
    let found = joined.intersection(&similar).count();
    assert!(10 * found >= 9 * similar.len(), "{found} found: {tuned}");
    // Pairs, judged pairs and wrong ones.
    let counts = [joined.len(), joined.len(), wrong].map(|count| count.to_string());
    assert_eq!(cells[4..7], counts, "{tuned}");
    tuned
}

/// Sites with a long template and few own words on a page, and some copies of pages.
fn templates() -> Collection {
    let mut words = Words(1);
    let mut texts = Vec::new();
    for _ in 0..6 {
        let template = words.words(120);
        for page in 0..25 {
            let text = [template.clone(), words.words(30)].concat();
            if page < 2 {
                texts.push(words.edited(&text, 1));
            }
            texts.push(text);
        }
    }
    Collection::new(texts)
}

/// Promise (Methods and their evaluation): `tune` measures the precision of what a setting proposes
/// in the collection, so it recommends no setting that joins pages of a template or different short
/// texts
#[test]
fn pages_of_a_template_are_not_joined() {
    let collection = templates();
    let tuned = check(&collection);
    // Pages of one site share more than half of their runs of words.
    assert!(tuned.contains("more than one in a million of all pairs is proposed and wrong"));
    let loose = collection.joined("shingles:shingle=3,similarity=0.3");
    assert!(loose.len() > 6 * 25 * 24 / 2);
}

/// Promise (Methods and their evaluation): `tune` measures the precision of what …
#[test]
fn short_texts_with_the_same_beginning_are_not_joined() {
    let mut words = Words(2);
    let beginnings: Vec<_> = (0..8).map(|_| words.words(5)).collect();
    let mut texts = Vec::new();
    for number in 0..300 {
        let own = 4 + words.number(6) as usize;
        let text = [beginnings[number % 8].clone(), words.words(own)].concat();
        if number < 30 {
            texts.push([text.clone(), words.words(1)].concat());
        }
        texts.push(text);
    }
    check(&Collection::new(texts));
}

#[test]
fn revisions_are_joined_while_they_are_similar() {
    let mut words = Words(3);
    let mut texts = Vec::new();
    for _ in 0..40 {
        let original = words.words(200);
        for edits in [1, 2, 5, 20, 60] {
            texts.push(words.edited(&original, edits));
        }
        texts.push(original);
    }
    check(&Collection::new(texts));
}

/// A frame is nearly enough to make pages similar, so all of them are compared at that similarity.
#[test]
fn thresholds_at_which_all_pairs_are_compared_are_left_out() {
    let mut words = Words(4);
    let frame = words.words(160);
    let page = |words: &mut Words| [frame.clone(), words.words(30)].concat();
    let texts: Vec<_> = (0..250).map(|_| page(&mut words)).collect();
    let collection = Collection::new(texts);
    let tune = "tune docs.jsonl --planted --copied 10 --method";
    let tuned = collection.stdout(&format!("{tune} shingles"));
    let (method, cells) = recommended(&tuned);
    assert!(method.contains("similarity=0.85"), "{tuned}");
    assert_eq!(cells[4], "0", "{tuned}");

    // All texts of a language have the same characters.
    let characters: Vec<char> =
        "的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里\
        后自以会家可下而过天去能对小多然于心学么之都好看起发当没成只如事把还用第样道想作种开"
            .chars()
            .filter(|character| !character.is_whitespace())
            .collect();
    let mut word = || characters[words.number(characters.len() as u64) as usize].to_string();
    let texts = (0..250).map(|_| (0..120).map(|_| word()).collect());
    let collection = Collection::new(texts.collect());
    let tuned = collection.stdout(&format!("{tune} characters --method exact"));
    assert!(
        tuned.contains("1 of 2 settings left out: they compare so many pairs that the cost grows"),
        "{tuned}"
    );
    assert!(
        tuned.contains("1 of 2 settings left out: they find nothing"),
        "{tuned}"
    );
    assert!(tuned.contains("No method can be recommended"), "{tuned}");
}

#[test]
fn the_truth_is_believed_and_the_rest_is_compared() {
    let mut words = Words(5);
    let mut texts = Vec::new();
    for _ in 0..30 {
        let original = words.words(100);
        texts.push(words.edited(&original, 8));
        texts.push(original);
    }
    let collection = Collection::new(texts);
    assert!(collection.similar().len() < 5);
    let tune = |more: &str| {
        collection.stdout(&format!(
            "tune docs.jsonl --method shingles:shingle=5 {more}"
        ))
    };
    let near = |upto: usize| -> String {
        let pair = |number| format!("{}\t{}\tedited\n", 2 * number, 2 * number + 1);
        (0..upto).map(pair).collect()
    };
    // Pairs below the similarity are right if the truth has them.
    collection.write("all.tsv", &format!("a\tb\tlabel\n{}", near(30)));
    let tuned = tune("--pairs all.tsv");
    assert!(
        tuned.contains("30 pairs of the truth are to be found; "),
        "{tuned}"
    );
    let (_, cells) = recommended(&tuned);
    assert_eq!(cells[0], "1.000", "{tuned}");
    assert_eq!(cells[4..7], ["30", "30", "0"], "{tuned}");
    // Others are wrong.
    collection.write("some.tsv", &format!("a\tb\tlabel\n{}", near(15)));
    let tuned = tune("--pairs some.tsv");
    assert!(!tuned.contains("\nRecommended"), "{tuned}");
    assert!(tuned.contains("is proposed and wrong"), "{tuned}");
    // Unless that similarity is enough.
    let tuned = tune("--pairs some.tsv --similarity 0.3");
    assert_eq!(recommended(&tuned).1[0], "1.000", "{tuned}");
    let tuned = tune("--pairs some.tsv --similarity 0.3 --closed-world");
    assert!(!tuned.contains("\nRecommended"), "{tuned}");

    // Across clusters, pairs are wrong without being listed.
    let cluster = |number: usize| format!("{number}\t{}\n", number / 2);
    let clusters: String = (0..60).map(cluster).collect();
    collection.write("clusters.tsv", &format!("id\tcluster\n{clusters}"));
    assert_eq!(recommended(&tune("--clusters clusters.tsv")).1[0], "1.000");
    collection.write("far.tsv", "a\tb\tlabel\n0\t3\tunrelated\n");
    let tuned = tune("--pairs far.tsv");
    assert!(tuned.contains("Nothing is to be found"), "{tuned}");
    assert!(!tuned.contains("\nRecommended"), "{tuned}");
}

#[test]
fn texts_within_others_are_found_by_containment() {
    let mut words = Words(6);
    let mut texts = Vec::new();
    let mut pairs = "a\tb\tlabel\n".to_owned();
    for number in 0..60 {
        let text = words.words(150);
        if number % 3 == 0 {
            pairs += &format!("{}\t{}\tpart\n", texts.len(), texts.len() + 1);
            texts.push(text[40..80].to_vec());
        }
        texts.push(text);
    }
    let collection = Collection::new(texts);
    collection.write("pairs.tsv", &pairs);
    let tuned =
        collection.stdout("tune docs.jsonl --pairs pairs.tsv --similarity containment:0.95");
    assert!(
        tuned.contains("20 of them have a containment of 0.95"),
        "{tuned}"
    );
    assert!(tuned.contains("shingles:measure=containment,"), "{tuned}");
    let (method, cells) = recommended(&tuned);
    assert_eq!(cells[4..7], ["20", "20", "0"], "{tuned}");
    assert_eq!(collection.joined(&method).len(), 20);
}

/// All but the measured times is the same.
#[test]
fn threads_and_memory_do_not_matter() {
    let collection = templates();
    let tune = |resources: &str| {
        let line = format!("tune docs.jsonl --planted --copied 10 {resources}");
        let rows = collection.stdout(&line);
        let cells = |line: &str| {
            let mut cells: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            if line.contains(':') && cells.len() > 7 && cells[0].parse::<f64>().is_ok() {
                cells.remove(cells.len() - 2);
            }
            cells
        };
        rows.lines().map(cells).collect::<Vec<_>>()
    };
    let first = tune("--threads 1 --memory 1G");
    assert_eq!(first, tune("--threads 3 --memory 2G"));
    assert_ne!(first, tune("--seed 2"));
}

/// The class of hard pairs has the nearest documents that are not copies.
#[test]
fn an_evaluation_with_planted_copies_has_hard_pairs() {
    let collection = templates();
    let sets = collection.shingles();
    let share = |[a, b]: [usize; 2]| {
        let shared = sets[a].intersection(&sets[b]).count();
        shared as f64 / (sets[a].len() + sets[b].len() - shared) as f64
    };
    let screen = collection.stdout(
        "evaluate docs.jsonl --planted --copied 162 --method shingles:similarity=0.05 --draws 0 -o out",
    );
    assert!(screen.contains("hard (false)"), "{screen}");
    let path = collection.place.path().join("out/scores.csv");
    let scores = fs::read_to_string(path).unwrap();
    let mut hard: BTreeMap<usize, f64> = BTreeMap::new();
    for line in scores.lines() {
        let cells: Vec<&str> = line.split(',').map(|cell| cell.trim_matches('"')).collect();
        if !cells.contains(&"hard") {
            continue;
        }
        assert_eq!(cells[3], "0");
        let pair = [cells[0], cells[1]].map(|id| id.parse::<usize>().unwrap());
        assert!(share(pair) < 0.8);
        for number in pair {
            let best = hard.entry(number).or_default();
            *best = best.max(share(pair));
        }
    }
    assert_eq!(hard.len(), collection.texts.len());
    for (number, found) in hard {
        let others = (0..sets.len()).filter(|other| *other != number);
        let shares = others.map(|other| share([number, other]));
        let nearest = shares.filter(|share| *share < 0.8).fold(0.0, f64::max);
        assert!(
            (found - nearest).abs() < 1e-12,
            "{number}: {found}, {nearest}"
        );
    }
}
