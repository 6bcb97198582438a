//! The command: references, their fields and formats, explanations, plans.

use serde_json::{Value, json};

use crate::passages::command::sandbox;
use crate::passages::plan::plan;
use crate::sandbox::stderr;

#[test]
fn a_range_has_its_place_and_that_of_the_item() {
    let sandbox = sandbox(&["One two three four."], &["Some ONE, two three.", "five"]);
    sandbox.stderr("decontaminate in.jsonl --reference items.jsonl -o out --min 3w");
    let range = &sandbox.lines("out/spans.jsonl")[0]["ranges"][0];
    let found = ["start", "end", "words", "ngrams"].map(|name| &range[name]);
    assert_eq!(json!(found), json!([5, 20, 3, 1]));
    let reference = &range["reference"];
    let found = ["file", "id", "text_start", "text_end"].map(|name| &reference[name]);
    assert_eq!(json!(found), json!(["items.jsonl", "d0", 0, 13]));
}

/// Promise (Parts of evaluation sets): Items are found with HTML entities left in, in the document or
/// in the item; ranges have the bytes as they are
#[test]
fn entities_are_characters() {
    let items = [
        "He said &quot;caf&#233;&quot; &amp; left",
        "one &lt;two&gt; three",
    ];
    let documents = [
        "So: he said 'café' & left.",
        "x one <two> &#116;hree y",
        "none",
    ];
    let sandbox = sandbox(&items, &documents);
    sandbox.stderr("decontaminate in.jsonl --reference items.jsonl -o out --min 3w");
    let lines = sandbox.lines("out/spans.jsonl");
    let places = lines.iter().map(|line| {
        let range = &line["ranges"][0];
        let reference = &range["reference"];
        let found = ["start", "end"].map(|name| range[name].as_u64().unwrap() as usize);
        let there =
            ["text_start", "text_end"].map(|name| reference[name].as_u64().unwrap() as usize);
        let number: usize = line["id"].as_str().unwrap()[1..].parse().unwrap();
        (
            &documents[number][found[0]..found[1]],
            &items[number][there[0]..there[1]],
        )
    });
    let expected = [
        (
            "he said 'café' & left.",
            "He said &quot;caf&#233;&quot; &amp; left",
        ),
        ("one <two> &#116;hree", "one &lt;two&gt; three"),
    ];
    assert!(places.eq(expected), "{lines:?}");
}

/// A replaced word is in five n-grams of five.
#[test]
fn olmo_finds_items_of_which_one_word_in_twenty_is_replaced() {
    let word = |number: u64| format!("w{:x} ", (number as u32).wrapping_mul(0x9e37_79b9));
    let item: String = (0..80).map(word).collect();
    let edited: String = (0..80)
        .map(|n| word(if n % 20 == 10 { n + 900 } else { n }))
        .collect();
    let sandbox = sandbox(&[&item], &[&edited]);
    for (flags, found) in [("", 1), ("--min-share 0.8 --max-gap 10", 0)] {
        let line = "decontaminate in.jsonl --reference items.jsonl --restart -o out --profile olmo";
        sandbox.stderr(&format!("{line} {flags}"));
        assert_eq!(sandbox.lines("out/spans.jsonl").len(), found, "{flags}");
    }
}

/// Promise (Parts of evaluation sets): Edited items are found by default, but with no profile and no
/// rule that says what counts
#[test]
fn edited_items_are_found_by_default() {
    let item = "zero one two three four five six seven eight nine ten eleven twelve thirteen";
    let edited = [
        item.replace("seven", "other"),
        item.replace("seven", "seven more"),
    ];
    let other = item.replace("four", "other").replace("twelve", "other");
    // Each of its 15 characters is a word.
    let chinese = "一二三四五六七八九十百千萬億兆";
    let unspaced = chinese.replace("八", "人");
    let texts = [&edited[0], &edited[1], &other, &unspaced].map(String::as_str);
    let sandbox = sandbox(&[item, chinese], &texts);
    let json = |name: &str| serde_json::from_str::<Value>(&sandbox.read(name)).unwrap();
    let run = |flags: &str| {
        let line = "decontaminate in.jsonl --reference items.jsonl --restart -o out";
        sandbox.stderr(&format!("{line} {flags}"));
        let settings = &json("out/run.json")["job"]["settings"];
        let lines = sandbox.lines("out/spans.jsonl");
        let ids: Vec<String> = lines.iter().map(|line| line["id"].to_string()).collect();
        (settings["edited"]["min_share"].clone(), ids.concat())
    };
    let found = |share: f64, ids: &str| (json!(share), ids.to_owned());
    assert_eq!(run(""), found(0.5, "\"d0\"\"d1\""));
    let range = &sandbox.lines("out/spans.jsonl")[0]["ranges"][0];
    let place = ["start", "end", "words", "ngrams"].map(|name| &range[name]);
    assert_eq!(json!(place), json!([0, edited[0].len(), 14, 5]));
    let reference = ["id", "text_start", "text_end"].map(|name| &range["reference"][name]);
    assert_eq!(json!(reference), json!(["d0", 0, item.len()]));
    assert_eq!(range["why"], "edited");
    let items = sandbox.lines("out/items.jsonl");
    let counts = ["edited", "ngrams", "found", "documents"].map(|name| &items[0][name]);
    assert_eq!(json!(counts), json!([true, 10, 6, 2]));
    assert_eq!(json("out/summary.json")["found_items"], 1);
    assert!(
        sandbox
            .read("out/page.html")
            .contains(", edited; in 2 documents")
    );
    assert_eq!(run("--min 13w --min-item 5w").0, json!(0.5));
    assert_eq!(run("--min 12w --edited 0.5"), found(0.5, "\"d0\"\"d1\""));
    assert_eq!(run("--edited 0.3"), found(0.3, "\"d0\"\"d1\"\"d2\""));
    for flags in [
        "--edited none",
        "--min 12w",
        "--min-share 0.9",
        "--max-documents 9",
        "--profile gpt3",
        "--profile lm-eval",
        "--profile olmo --min-share 0.9",
        "--tokenizer code",
    ] {
        assert_eq!(run(flags), (json!(null), String::new()), "{flags}");
    }
    sandbox.refuse_each(
        "decontaminate in.jsonl --reference items.jsonl -o new --edited 0.5",
        "--min-share 0.5 => --edited has no effect
        --profile olmo => --edited has no effect
        --profile gpt3 => --max-documents none
        --min 5w => --edited has no effect
        --max-documents 3 => --max-documents none",
    );
    let line = "decontaminate in.jsonl --reference items.jsonl -o out --edited";
    sandbox.refuse(&format!("{line} 0"), &["0.001 to 1", "or none"]);
    sandbox.refuse(&format!("{line} 0.6"), &["settings.edited was"]);
}

#[test]
fn a_reference_without_the_field_names_its_own_flag() {
    let sandbox = sandbox(&[], &[]);
    sandbox.write("in.jsonl", "{\"text\":\"a b c\"}\n");
    sandbox.write("exam.jsonl", "{\"id\":\"q\",\"question\":\"a b c\"}\n");
    sandbox.refuse(
        "decontaminate in.jsonl --reference exam.jsonl -o out",
        &[
            "--reference-field \"text\"",
            "try --reference-field question",
        ],
    );
}

/// Promise (Parts of evaluation sets): With the memory that the plan says its index needs, a
/// reference is searched
#[test]
fn a_plan_says_how_much_memory_the_reference_needs() {
    let word = |number: u64| format!("{:x} ", (number as u32).wrapping_mul(0x9e37_79b9));
    for count in [8, 3000] {
        let items: Vec<String> = (0..count)
            .map(|item| (0..100).map(|number| word(item * 100 + number)).collect())
            .collect();
        let items: Vec<&str> = items.iter().map(String::as_str).collect();
        let sandbox = sandbox(&items, &[items[7], "some other text"]);
        let line = "decontaminate in.jsonl -o out --reference items.jsonl --threads 1";
        let plan = plan(sandbox.std_command(line));
        let planned = |name: &str| plan["index"][name].as_u64().unwrap();
        let about = |found: u64, all: u64| found.abs_diff(all) <= all / 30;
        assert!(about(planned("items"), count), "{plan}");
        assert!(about(planned("words"), count * 100), "{plan}");
        // The estimate of a large reference may be wrong by a little.
        let more = u64::from(count > 8);
        let memory = planned("needed_memory").div_ceil(1 << 20) + more;
        sandbox.stderr(&format!("{line} --memory {memory}M"));
    }
}

#[test]
fn lists_of_strings_in_the_reference_are_read() {
    let sandbox = sandbox(&[], &["so it says alpha beta gamma delta here"]);
    let item = r#"{"question": "Which one?", "choices": ["alpha beta", "gamma delta"]}"#;
    sandbox.write("items.jsonl", format!("{item}\n"));
    for fields in [
        "--reference-field choices",
        "--reference-field question --reference-field choices",
    ] {
        let flags = "--reference items.jsonl --min 4w --restart";
        sandbox.stderr(&format!("decontaminate in.jsonl -o out {flags} {fields}"));
        let range = &sandbox.lines("out/spans.jsonl")[0]["ranges"][0];
        assert_eq!(json!([range["start"], range["end"]]), json!([11, 33]));
    }
}

#[test]
fn fields_and_formats_of_references_are_read() {
    let texts = [
        "so one two three it is",
        "red green blue too",
        "five six seven",
    ];
    let sandbox = sandbox(&[], &texts);
    let lines = "{\"name\": 1, \"question\": \"One two\", \"answer\": {\"text\": \"three\"}}\n\
                 {\"name\": 2, \"question\": \"zzz\"}\n";
    sandbox.write("fields.jsonl", lines);
    let pages = "first\nred green blue\n\x0csecond\nnothing here now\n";
    sandbox.write("pages.txt", pages);
    let message = sandbox.stderr(
        "decontaminate in.jsonl -o out --min 3w --min-item 3w --reference-field question \
         --reference-field answer.text --reference-id-field name --reference fields.jsonl pages.txt",
    );
    let spans = sandbox.lines("out/spans.jsonl");
    let references = spans.iter().map(|span| &span["ranges"][0]["reference"]);
    let found: Vec<_> = references
        .map(|item| json!([item["file"], item["id"]]))
        .collect();
    let expected = json!([["fields.jsonl", "1"], ["pages.txt", "first"]]);
    assert_eq!(json!(found), expected);
    // The item is of both fields, with a line break between them.
    assert_eq!(spans[0]["ranges"][0]["reference"]["text_end"], 13);
    let short = "--min-item 3w: 1 of 4 reference items";
    assert!(message.contains(short), "{message}");
}

/// Promise (Parts of evaluation sets): A range is explained beside its item, read as the run did
#[test]
fn a_hit_is_explained_beside_its_item() {
    let sandbox = sandbox(&[], &["x one two three y one two three", "z"]);
    let lines = "{\"id\": 1, \"question\": \"One two\", \"answer\": \"three four\"}\n";
    sandbox.write("fields.jsonl", lines);
    sandbox.stderr(
        "decontaminate in.jsonl -o out --min 3w --min-item 3w --reference-field question \
         --reference-field answer --reference fields.jsonl",
    );
    let explain = "explain --hit out/spans.jsonl";
    let text = sandbox.stdout(&format!("{explain} --id d0 --range 2"));
    for part in ["{+four+}", "fields.jsonl"] {
        assert!(text.contains(part), "{text}");
    }
    // N-grams are compared without regard to case.
    assert!(!text.contains("[-one") && !text.contains("{+One"), "{text}");
    sandbox.refuse_each(
        explain,
        "--id d0 --range 3 => it has 2 ranges
        --id d1 => no line is about it",
    );
    sandbox.refuse(explain, &["--id"]);
    sandbox.write("fields.jsonl", "{\"other\": \"a\"}\n");
    let refused = sandbox.run(&format!("{explain} --id d0"));
    let message = stderr(&refused);
    assert!(
        message.contains("--reference-field \"question\""),
        "{message}"
    );
}
