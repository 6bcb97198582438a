//! `simtool index`: the program.

mod against;
mod batches;
mod better;
mod daily;
mod export;
mod fixture;
mod formats;
mod killed;
mod listing;
mod reports;
mod verified;

use std::fs;

use crate::sandbox::{SIMTOOL, Sandbox, json_lines};
use serde_json::{Value, json};

/// The answers of a query, in input order.
fn query(sandbox: &Sandbox, line: &str) -> Vec<Value> {
    json_lines(&sandbox.stdout(line))
}

fn words(seed: u64, count: u64) -> String {
    let word = |index: u64| {
        let mixed = (seed * 1_000_003 + index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("w{:x} ", mixed >> 52)
    };
    (0..count).map(word).collect()
}

fn line(id: &str, text: &str) -> String {
    let url = format!("http://{id}/");
    json!({"id": id, "text": text, "url": url}).to_string() + "\n"
}

fn corpus() -> String {
    (0..50)
        .map(|number| line(&format!("d{number}"), &words(number, 200)))
        .collect()
}

#[test]
fn an_index_is_built_queried_changed_and_copied() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    let near = words(3, 200) + "more";
    let new = [
        line("d1", &words(1, 200)),
        line("d2", &words(999, 200)),
        line("n1", &near),
        line("n2", &words(1000, 200)),
        line("n3", ""),
    ]
    .concat();
    sandbox.write("new.jsonl", &new);

    let built =
        sandbox.stdout("index build seen old.jsonl --method simhash:distance=6 --payload url");
    assert!(
        built.starts_with("50 documents: 50 new, 0 duplicate, 0 unchanged, 0 changed, 0 empty; 0"),
        "{built}"
    );

    let answers = query(&sandbox, "index query seen new.jsonl");
    let verdicts: Vec<&str> = answers
        .iter()
        .map(|answer| answer["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(
        verdicts,
        ["unchanged", "changed", "duplicate", "new", "empty"]
    );
    assert!(answers[1]["distance"].as_u64().unwrap() > 0);
    assert_eq!(answers[2]["matches"][0]["id"], "d3");
    assert!(answers[2]["matches"][0]["distance"].as_u64().unwrap() <= 6);
    assert_eq!(answers[2]["file"], "new.jsonl");
    assert_eq!(answers[0]["start"], 0);
    assert_eq!(
        query(&sandbox, "match --against seen --samples new.jsonl"),
        answers
    );
    for flags in [
        "--method minhash",
        "--articles old.jsonl",
        "--tokenizer auto",
    ] {
        let line = format!("match --against seen --samples new.jsonl {flags}");
        sandbox.refuse(&line, &["cannot be used with"]);
    }

    let added = sandbox.stdout("index add seen new.jsonl");
    let expected = "5 documents: 1 new, 1 duplicate, 1 unchanged, 1 changed, 1 empty; 0 skipped\n";
    assert_eq!(added, expected);
    let again = sandbox.stdout("index add seen new.jsonl");
    assert!(again.contains(" 5 unchanged,"), "{again}");

    let info: Value = serde_json::from_str(&sandbox.stdout("index info seen --json")).unwrap();
    assert_eq!(
        (&info["documents"], &info["removed"]),
        (&json!(54), &json!(0))
    );
    assert!(info["method"].as_str().unwrap().contains("distance=6"));
    let verified = ["verified", "similarity", "shingle", "estimated", "dumps"];
    let expected = [json!(true), json!(0.8), json!(5), json!(false), json!([""])];
    assert_eq!(verified.map(|name| info[name].clone()), expected);
    // Reports for people have words; those for programs have all parameters.
    let stderr = sandbox.stdout("index info seen");
    for line in [
        "documents   54\n",
        "method      simhash, 64 bits, distance 6; stop words left out; verified at similarity 0.8\n",
        "HTML        the main text of a page\n",
        "tables      fast\n",
        "verified    texts that match share 0.8 of their 5-word shingles or more, exactly\n",
    ] {
        assert!(stderr.contains(line), "{line:?} in {stderr}");
    }
    assert!(!stderr.contains("lexicon"), "{stderr}");

    sandbox.write("gone.txt", "n1\r\nnobody\n\nn3");
    assert_eq!(
        sandbox.stdout("index remove seen d1 --ids gone.txt"),
        "3 removed, 1 not found\n"
    );
    let advice = "simtool index remove DIR ID...";
    sandbox.refuse("index remove seen --id d1", &[advice, "--ids FILE"]);
    sandbox.stdout("index copy seen copy");
    let asked = query(&sandbox, "index query seen new.jsonl");
    sandbox.stdout("index compact seen");
    assert_eq!(query(&sandbox, "index query seen new.jsonl"), asked);
    for index in ["seen", "copy"] {
        let check = sandbox.stdout(&format!("index check {index}"));
        assert_eq!(check, "51 documents, no damage found\n");
    }
    let answers = query(&sandbox, "index query copy new.jsonl --limit 1");
    assert_eq!(answers[0]["verdict"], "new");
    let rescued = sandbox.stdout("index rescue copy saved");
    assert_eq!(rescued, "51 documents saved, 0 lost\n");
    assert_eq!(
        query(&sandbox, "index query saved new.jsonl --limit 1"),
        answers
    );
}

/// Promise (The service): The settings that determine sketches are fixed in an index; damage to
/// them is detected
#[test]
fn settings_of_an_index_are_stored_and_need_no_flags() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    sandbox.write("stop.txt", "w1 w2 w3");
    sandbox.stdout(
        "index build seen old.jsonl --method simhash:weights=tf-idf --tokenizer unicode \
         --stop-words stop.txt --html visible",
    );
    let answers = query(&sandbox, "index query seen old.jsonl");
    assert_eq!(answers.len(), 50);
    assert!(
        answers
            .iter()
            .all(|answer| answer["verdict"] == "unchanged")
    );
    let same = "index query seen old.jsonl --tokenizer unicode --stop-words stop.txt";
    assert_eq!(query(&sandbox, same), answers);
    for (flag, shown) in [
        ("--tokenizer chars", "tokenizer unicode, not chars"),
        ("--html main", "html visible, not main"),
        ("--method minhash", "not minhash"),
    ] {
        sandbox.refuse(
            &format!("index add seen old.jsonl {flag}"),
            &[shown, "leave the flag out"],
        );
    }
    sandbox.write("stop.txt", "other words");
    sandbox.refuse(same, &["stop words", "not 2 with hash"]);
}

#[test]
fn any_method_has_an_index() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    let near = words(3, 200) + "more";
    sandbox.write("new.jsonl", line("n", &near));
    for (number, method) in [
        "minhash",
        "shingles",
        "content-seen:distance=3",
        "exact",
        "i-match",
    ]
    .into_iter()
    .enumerate()
    {
        sandbox.stdout(&format!(
            "index build s{number} old.jsonl --method {method}"
        ));
        let answers = query(&sandbox, &format!("index query s{number} new.jsonl"));
        match method {
            "minhash" | "shingles" => {
                assert_eq!(answers[0]["verdict"], "duplicate", "{method}");
                assert_eq!(answers[0]["matches"][0]["id"], "d3");
                for number in ["estimate", "similarity"] {
                    assert!(answers[0]["matches"][0][number].is_f64(), "{method}");
                }
            }
            "exact" => assert_eq!(answers[0]["verdict"], "new"),
            _ => assert!(answers[0]["verdict"].is_string()),
        }
        if method.starts_with("content-seen") && answers[0]["verdict"] == "duplicate" {
            assert!(answers[0]["matches"][0]["likeness"].is_number());
        }
        sandbox.stdout(&format!("index check s{number}"));
    }
}

#[test]
fn inputs_of_every_kind() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "pages.txt",
        format!("a\n{}\u{c}b\n{}", words(1, 99), words(2, 99)),
    );
    sandbox.stdout("index build seen pages.txt --format form-feed");
    sandbox.write("one.txt", words(1, 99));
    let answers = query(&sandbox, "index query seen one.txt --format whole-file");
    assert_eq!(answers[0]["matches"][0]["id"], "a");
    let mut command = sandbox.command(SIMTOOL);
    command.args(["index", "add", "seen", "-", "--format", "jsonl"]);
    let added = command.write_stdin(line("c", &words(2, 99))).assert();
    added
        .success()
        .stdout("1 document: 0 new, 1 duplicate, 0 unchanged, 0 changed, 0 empty; 0 skipped\n");
    sandbox.write("bad.jsonl", "{\n");
    sandbox
        .run("index add seen bad.jsonl --format jsonl")
        .code(3);
}

/// Promise (The service): The settings that determine sketches are …
#[test]
fn errors_name_the_index_and_the_cause() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    sandbox.refuse("index query seen old.jsonl", &["seen", "no such index"]);
    fs::create_dir(sandbox.path("full")).unwrap();
    sandbox.write("full/precious", "data");
    sandbox.refuse("index build full old.jsonl", &["is not empty", "precious"]);
    sandbox.stdout("index build seen old.jsonl");
    sandbox.refuse("index build seen old.jsonl", &["is an index already"]);
    sandbox.refuse("index build other missing.jsonl", &["missing.jsonl"]);
    assert!(!sandbox.path("other/index.json").exists());
    sandbox.refuse(
        "index build other old.jsonl --method simhush",
        &["expected one of"],
    );

    let settings = fs::read_dir(sandbox.path("seen"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("settings-"));
    let settings = settings.unwrap();
    let mut bytes = fs::read(&settings).unwrap();
    bytes[20] ^= 1;
    fs::write(&settings, bytes).unwrap();
    sandbox.refuse("index query seen old.jsonl", &["settings-", "is damaged"]);
    fs::remove_file(settings).unwrap();
    sandbox.refuse(
        "index query seen old.jsonl",
        &["settings-", "cannot be read"],
    );
}

/// Promise (The index): No index is made inside another one
#[test]
fn no_index_is_made_inside_another_one() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    sandbox.stdout("index build seen old.jsonl");
    for line in [
        "index copy seen seen/segments/copy",
        "index copy seen seen/copy",
        "index rescue seen seen/segments/saved",
        "index build seen/segments/built old.jsonl",
    ] {
        sandbox.refuse(line, &["is inside the index", "choose a place outside it"]);
    }
    fs::create_dir(sandbox.path("seen/segments/there")).unwrap();
    std::os::unix::fs::symlink("seen/segments/there", sandbox.path("link")).unwrap();
    sandbox.refuse("index copy seen link", &["is inside the index"]);
    fs::remove_dir(sandbox.path("seen/segments/there")).unwrap();
    sandbox.stdout("index copy seen copy");
    sandbox.stdout("index check seen");
}

/// A command that is killed while it writes a small file leaves a temporary file.
/// Promise (The index): Unfinished files of a killed command are removed by the next command that
/// changes the index; files with other names are left alone, also in `segments`
#[test]
fn temporary_files_of_a_killed_command_are_removed_and_no_others() {
    let sandbox = Sandbox::new();
    sandbox.write("old.jsonl", corpus());
    sandbox.stdout("index build seen old.jsonl");
    let (began, other) = ("seen/.simtool-unfinished-aB3dE6", "seen/.tmpaB3dE6");
    // 99999 is the number of a segment, but not in eight digits.
    let files_of_the_user = ["seen/segments/notes.txt", "seen/segments/99999"];
    let begin = || {
        sandbox.write(began, "{");
        sandbox.write(other, "{");
        sandbox.write("seen/segments/00099999", "unlisted");
        for file in files_of_the_user {
            sandbox.write(file, "mine");
        }
    };
    let user_files_are_kept = || {
        assert!(!sandbox.path("seen/segments/00099999").exists());
        for file in files_of_the_user {
            assert_eq!(sandbox.read(file), "mine");
        }
        assert!(sandbox.path("seen/segments/drafts").is_dir());
    };
    begin();
    fs::create_dir(sandbox.path("seen/segments/drafts")).unwrap();
    sandbox.stdout("index check seen");
    assert!(sandbox.path(began).exists(), "a reader changes nothing");
    sandbox.stdout("index add seen old.jsonl");
    assert!(!sandbox.path(began).exists());
    assert!(sandbox.path(other).exists());
    user_files_are_kept();
    // The same in an index that was never complete.
    for name in ["seen/index.json", "seen/index.redb"] {
        fs::remove_file(sandbox.path(name)).unwrap();
    }
    begin();
    sandbox.stdout("index build seen old.jsonl");
    assert!(!sandbox.path(began).exists());
    assert!(sandbox.path(other).exists());
    user_files_are_kept();
}

/// Promise (The index): Very many queries from the command line are answered in input order
#[test]
fn very_many_queries_are_answered_in_input_order() {
    let sandbox = Sandbox::new();
    // More than one batch.
    let all: String = (0..140_000)
        .map(|number| line(&format!("n{number}"), &words(number % 70, 3)))
        .collect();
    sandbox.write("many.jsonl", all);
    sandbox.stdout("index build seen many.jsonl --method simhash:distance=0,stop-words=keep");
    for threads in [1, 2] {
        let command = format!("index query seen many.jsonl --limit 1 --threads {threads}");
        let answers = query(&sandbox, &format!("{command} -o answers{threads}"));
        assert_eq!(answers, Vec::<Value>::new());
    }
    let one = fs::read_to_string(sandbox.path("answers1")).unwrap();
    assert!(one == fs::read_to_string(sandbox.path("answers2")).unwrap());
    assert_eq!(one.lines().count(), 140_000);
    for (number, line) in one.lines().enumerate() {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer["id"], format!("n{number}"));
        assert_eq!(answer["verdict"], "unchanged");
        // The first of those with the same words.
        let first = number % 70;
        let is_kept = number == first;
        assert_eq!(answer["kept"], is_kept);
        let of = (!is_kept).then(|| format!("n{first}"));
        assert_eq!(answer["matches"][0]["id"], json!(of));
    }
}
