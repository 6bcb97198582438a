//! `simtool tune` on collections whose duplicates are known; the recommended commands are run.

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

    /// The pairs of a removed and a kept document by the recommended command of `dedup`.
    fn removed(&self, tuned: &str) -> BTreeSet<[usize; 2]> {
        let line = command(tuned);
        let line = line.strip_prefix("simtool ").unwrap();
        self.stdout(&format!("{line} --no-page --restart"));
        let path = self.place.path().join("deduplicated/duplicates.jsonl");
        let number = |value: &Value| value.as_str().unwrap().parse::<usize>().unwrap();
        let lines = fs::read_to_string(path).unwrap();
        let pair = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            let [a, b] = [number(&line["id"]), number(&line["kept"])];
            [a.min(b), a.max(b)]
        };
        lines.lines().map(pair).collect()
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
}

/// The recommended command.
fn command(tuned: &str) -> String {
    let mut lines = tuned.lines().skip_while(|line| *line != "Run:");
    let line = lines.nth(1).unwrap_or_else(|| panic!("{tuned}"));
    line.trim().to_owned()
}

/// The first number after `name` in the summary: `recall     0.950 (...`.
fn shown<'a>(tuned: &'a str, name: &str) -> &'a str {
    let line = tuned.lines().find(|line| line.starts_with(name));
    let line = line.unwrap_or_else(|| panic!("{tuned}"));
    line.split_whitespace().nth(1).unwrap()
}

/// Recommends a setting of `dedup`, runs its command, and checks that it removes nine tenths of
/// `copies` and nothing else. Returns the output.
fn check(collection: &Collection, copies: &BTreeSet<[usize; 2]>) -> String {
    let tuned = collection.stdout("tune docs.jsonl --planted --copied 20");
    let removed = collection.removed(&tuned);
    let wrong = removed.difference(copies).count();
    assert_eq!(wrong, 0, "{removed:?}: {tuned}");
    assert!(
        10 * removed.len() >= 9 * copies.len(),
        "{removed:?}: {tuned}"
    );
    assert!(
        tuned.contains("those of the other one, in the same order"),
        "{tuned}"
    );
    tuned
}

/// Sites with a long template and own words on each page, and copies of some pages, which follow
/// them.
fn templates() -> (Collection, BTreeSet<[usize; 2]>) {
    let mut words = Words(1);
    let (mut texts, mut copies) = (Vec::new(), BTreeSet::new());
    for _ in 0..6 {
        let template = words.words(120);
        for page in 0..25 {
            let text = [template.clone(), words.words(60)].concat();
            if page < 2 {
                copies.insert([texts.len(), texts.len() + 1]);
                texts.push(words.edited(&text, 1));
            }
            texts.push(text);
        }
    }
    (Collection::new(texts), copies)
}

/// Promise (Methods and their evaluation): `tune` measures the precision of what a setting proposes
/// in the collection, so it recommends no setting that joins pages of a template or different short
/// texts
#[test]
fn pages_of_a_template_are_not_joined() {
    let (collection, copies) = templates();
    check(&collection, &copies);
    // Pages of one site share more than half of their runs of words.
    let loose = collection.joined("shingles:shingle=3,similarity=0.3");
    assert!(loose.len() > 6 * 25 * 24 / 2);
}

/// Promise (Methods and their evaluation): `tune` measures the precision of what …
#[test]
fn short_texts_with_the_same_beginning_are_not_joined() {
    let mut words = Words(2);
    let beginnings: Vec<_> = (0..8).map(|_| words.words(5)).collect();
    let (mut texts, mut copies) = (Vec::new(), BTreeSet::new());
    for number in 0..300 {
        let own = 4 + words.number(6) as usize;
        let text = [beginnings[number % 8].clone(), words.words(own)].concat();
        if number < 30 {
            copies.insert([texts.len(), texts.len() + 1]);
            texts.push([text.clone(), words.words(1)].concat());
        }
        texts.push(text);
    }
    check(&Collection::new(texts), &copies);
}

/// What is recommended is no definition of what is right: shingles of five words have a similarity of
/// 0.8 only if a fiftieth of the words differs.
#[test]
fn edited_texts_are_found_below_the_similarity_of_copies() {
    let mut words = Words(3);
    let (mut texts, mut copies) = (Vec::new(), BTreeSet::new());
    for number in 0..60 {
        let text = words.words(150);
        if number < 30 {
            copies.insert([texts.len(), texts.len() + 1]);
            texts.push(words.edited(&text, 20));
        }
        texts.push(text);
    }
    let collection = Collection::new(texts);
    let tuned = check(&collection, &copies);
    assert_eq!(collection.joined("shingles").len(), 0);
    let share: f64 = command(&tuned).rsplit(' ').next().unwrap().parse().unwrap();
    assert!(share < 0.8, "{tuned}");
}

#[test]
fn wrong_characters_are_found_by_characters() {
    let mut words = Words(4);
    let texts: Vec<_> = (0..80).map(|_| words.words(100)).collect();
    let collection = Collection::new(texts);
    let tune = "tune docs.jsonl --planted --copied 20";
    let clean = collection.stdout(tune);
    assert!(!clean.contains("characters-10"), "{clean}");
    let noisy = collection.stdout(&format!("{tune} --noise --aligned 0.5"));
    assert!(noisy.contains("  characters-05 20 of 20\n"), "{noisy}");
    assert!(
        command(&noisy).contains(" --tokenizer chars --shingle "),
        "{noisy}"
    );
    assert!(
        noisy.contains("precision  unknown: it proposes no pair"),
        "{noisy}"
    );
    // One tokenizer alone.
    let words = collection.stdout(&format!("{tune} --noise --aligned 0.5 --tokenizer unicode"));
    assert!(command(&words).contains(" --tokenizer unicode "), "{words}");
    assert!(shown(&words, "recall") < shown(&noisy, "recall"), "{words}");
}

/// A frame is nearly enough to make pages near, so all of them are compared at that similarity.
#[test]
fn thresholds_at_which_all_pairs_are_compared_are_left_out() {
    let mut words = Words(4);
    let frame = words.words(160);
    let page = |words: &mut Words| [frame.clone(), words.words(30)].concat();
    let texts: Vec<_> = (0..250).map(|_| page(&mut words)).collect();
    let collection = Collection::new(texts);
    let tune = "tune docs.jsonl --planted --copied 10 --for match --aligned 0.9 --method";
    let tuned = collection.stdout(&format!("{tune} shingles"));
    let line = command(&tuned);
    assert!(
        line.starts_with(
            "simtool match --articles docs.jsonl --samples docs.jsonl --method shingles:"
        ),
        "{tuned}"
    );
    assert!(line.contains("similarity=0.85"), "{tuned}");
    assert_eq!(shown(&tuned, "precision"), "unknown:", "{tuned}");

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
    assert!(
        tuned.starts_with("No setting can be recommended"),
        "{tuned}"
    );
}

/// Pairs of texts of which eight of a hundred words differ.
fn edited_pairs(count: usize) -> Collection {
    let mut words = Words(5);
    let mut texts = Vec::new();
    for _ in 0..count {
        let original = words.words(100);
        texts.push(words.edited(&original, 8));
        texts.push(original);
    }
    Collection::new(texts)
}

/// The first `count` pairs of [`edited_pairs`].
fn listed(count: usize) -> String {
    let pair = |number| format!("{}\t{}\tedited\n", 2 * number, 2 * number + 1);
    let rows: String = (0..count).map(pair).collect();
    format!("a\tb\tlabel\n{rows}")
}

#[test]
fn the_truth_is_believed_and_the_rest_is_aligned() {
    let collection = edited_pairs(30);
    let tune = |more: &str| collection.stdout(&format!("tune docs.jsonl {more}"));
    collection.write("all.tsv", &listed(30));
    // However much has to be aligned.
    for share in ["0.5", "1"] {
        let tuned = tune(&format!("--pairs all.tsv --aligned {share}"));
        assert!(tuned.contains(": 30 of 30 pairs of the truth\n"), "{tuned}");
        assert!(
            tuned.contains("\nprecision  1.000 (0.886-1.000): 30 of 30 "),
            "{tuned}"
        );
    }
    // Other pairs are right or wrong by their alignment.
    collection.write("some.tsv", &listed(15));
    for (share, is_right) in [("0.8", true), ("0.99", false)] {
        let tuned = tune(&format!("--pairs some.tsv --aligned {share}"));
        let is_found = tuned.contains(": 15 of 15 pairs of the truth\n");
        assert_eq!(is_found, is_right, "{tuned}");
    }
    let tuned = tune("--pairs some.tsv --closed-world");
    assert!(!tuned.contains("15 of 15 pairs of the truth"), "{tuned}");
    let tuned = tune("--pairs some.tsv --closed-world --precision 0.3");
    assert_eq!(shown(&tuned, "precision"), "0.500", "{tuned}");
    assert!(!tuned.contains("not enough to show"), "{tuned}");

    // Across clusters, pairs are wrong without being listed.
    let cluster = |number: usize| format!("{number}\t{}\n", number / 2);
    let clusters: String = (0..60).map(cluster).collect();
    collection.write("clusters.tsv", &format!("id\tcluster\n{clusters}"));
    assert_eq!(shown(&tune("--clusters clusters.tsv"), "recall"), "1.000");
    collection.write("far.tsv", "a\tb\tlabel\n0\t3\tunrelated\n");
    let tuned = tune("--pairs far.tsv");
    assert!(tuned.starts_with("Nothing is to be found"), "{tuned}");
}

/// Promise (Methods and their evaluation): `tune` says what few pairs cannot show, and says first if
/// it finds less than half
#[test]
fn what_cannot_be_shown_is_said() {
    let collection = edited_pairs(6);
    collection.write("pairs.tsv", &listed(6));
    let tuned = collection.stdout("tune docs.jsonl --pairs pairs.tsv");
    assert!(tuned.starts_with("Run:\n"), "{tuned}");
    let told = "6 judged pairs: precision between 0.610 and 1.000; not enough to show 0.990\n";
    assert!(tuned.contains(told), "{tuned}");

    // Texts of which little is the same cannot be found.
    let unlike = (0..8).map(|number| format!("{}\t{}\tunlike\n", number, (number + 4) % 12));
    let pairs = listed(6) + &unlike.collect::<String>();
    collection.write("pairs.tsv", &pairs);
    let tuned = collection.stdout("tune docs.jsonl --pairs pairs.tsv");
    let first = "The best setting finds less than half of the pairs of the truth: 6 of 14.\n";
    assert!(tuned.starts_with(first), "{tuned}");
    assert!(tuned.contains("  unlike 0 of 8\n"), "{tuned}");
    assert!(tuned.contains("\ncost "), "{tuned}");
}

#[test]
fn few_documents_show_nothing_of_loose_thresholds() {
    let mut words = Words(8);
    let texts = (0..10).map(|_| words.words(60));
    let collection = Collection::new(texts.collect());
    let tuned = collection.stdout("tune docs.jsonl --planted");
    let run = command(&tuned);
    let similarity = run.split_once("--similarity ").unwrap().1;
    let similarity: f64 = similarity.split(' ').next().unwrap().parse().unwrap();
    assert!(similarity >= 0.6, "{tuned}");
    assert!(!run.contains("--tokenizer"), "{tuned}");
    let told = "Only 45 pairs were compared: the strictest threshold that finds half is taken";
    assert!(tuned.contains(told), "{tuned}");
}

#[test]
fn texts_within_others_are_found_by_containment() {
    let mut words = Words(6);
    let (mut texts, mut parts) = (Vec::new(), BTreeSet::new());
    for number in 0..60 {
        let text = words.words(150);
        if number % 3 == 0 {
            parts.insert([texts.len(), texts.len() + 1]);
            texts.push(text[40..80].to_vec());
        }
        texts.push(text);
    }
    let collection = Collection::new(texts);
    let tuned = collection.stdout("tune docs.jsonl --planted --copied 20 --contained");
    assert!(
        command(&tuned).contains(" --similarity containment:"),
        "{tuned}"
    );
    assert!(
        tuned.contains("of the words of the shorter text"),
        "{tuned}"
    );
    assert!(tuned.contains("  truncate-75 20 of 20\n"), "{tuned}");
    assert_eq!(collection.removed(&tuned), parts, "{tuned}");
}

/// The command of each question has the words of its setting, and the flags of reading.
#[test]
fn commands_are_complete() {
    let collection = edited_pairs(30);
    let docs = fs::read_to_string(collection.place.path().join("docs.jsonl")).unwrap();
    collection.write("other docs.jsonl", &docs.replace("\"text\"", "\"body\""));
    let run = |question: &str| {
        let line = [
            "tune",
            "other docs.jsonl",
            "--planted",
            "--copied",
            "10",
            "--text-field",
        ];
        let run = Command::new(env!("CARGO_BIN_EXE_simtool"))
            .current_dir(&collection.place)
            .args(line)
            .args(["body", "--quiet", "--for", question])
            .assert()
            .success();
        command(&String::from_utf8(run.get_output().stdout.clone()).unwrap())
    };
    for (question, begin) in [
        (
            "dedup",
            "simtool dedup 'other docs.jsonl' -o deduplicated --text-field body --",
        ),
        (
            "match",
            "simtool match --articles 'other docs.jsonl' --samples 'other docs.jsonl' --text-field body ",
        ),
        (
            "index",
            "simtool index build index 'other docs.jsonl' --text-field body --",
        ),
    ] {
        let line = run(question);
        assert!(line.starts_with(begin), "{line}");
        if question == "index" && !cfg!(feature = "index") {
            continue;
        }
        let flags = line
            .split_whitespace()
            .skip_while(|word| *word != "--text-field");
        let flags: Vec<&str> = flags.collect();
        let inputs: &[&str] = match question {
            "dedup" => &["dedup", "other docs.jsonl", "-o", "deduplicated"],
            "index" => &["index", "build", "index", "other docs.jsonl"],
            _ => &[
                "match",
                "--articles",
                "other docs.jsonl",
                "--samples",
                "other docs.jsonl",
            ],
        };
        Command::new(env!("CARGO_BIN_EXE_simtool"))
            .current_dir(&collection.place)
            .args(inputs)
            .args(flags)
            .assert()
            .success();
    }
}

/// All but the measured times is the same.
#[test]
fn threads_and_memory_do_not_matter() {
    let (collection, _) = templates();
    let tune = |resources: &str| {
        let line = format!("tune docs.jsonl --planted --copied 10 {resources}");
        let rows = collection.stdout(&line);
        let cells = |line: &str| {
            let mut cells: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            if line.contains(':') && cells.len() > 7 && cells[0].parse::<f64>().is_ok() {
                cells.remove(cells.len() - 3);
            }
            cells
        };
        let lines = rows
            .lines()
            .filter(|line| !line.contains("microseconds of"));
        let lines = lines.filter(|line| !line.contains(" seconds for these "));
        lines.map(cells).collect::<Vec<_>>()
    };
    let first = tune("--threads 1 --memory 1G");
    assert_eq!(first, tune("--threads 3 --memory 2G"));
    assert_ne!(first, tune("--seed 2"));
}

/// The class of hard pairs has the nearest documents that are not copies.
#[test]
fn an_evaluation_with_planted_copies_has_hard_pairs() {
    let (collection, _) = templates();
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
