//! The output of the command: places of ranges, the list of passages, explanations.

use serde_json::json;

use crate::passages::command::sandbox;

const TEXTS: [&str; 2] = ["One two three four.", "Some one, TWO three five."];

#[test]
fn ranges_and_passages_have_their_places() {
    let sandbox = sandbox(&[], &TEXTS);
    sandbox.stderr("spans in.jsonl -o out --min 3w");
    let range = &sandbox.lines("out/spans.jsonl")[0]["ranges"][0];
    let found = ["start", "end", "words", "copies"].map(|name| &range[name]);
    assert_eq!(json!(found), json!([5, 19, 3, 2]));
    let kept = &range["kept_at"];
    let found = ["id", "start", "text_start", "text_end"].map(|name| &kept[name]);
    assert_eq!(json!(found), json!(["d0", 0, 0, 13]));
    // The place of a document has the same fields everywhere; no field is there twice.
    let line = sandbox.read("out/spans.jsonl");
    let kept = line.split("\"kept_at\":{").nth(1).unwrap();
    let kept = kept.split('}').next().unwrap();
    for name in ["start", "length", "text_start", "text_end"] {
        assert_eq!(kept.matches(&format!("\"{name}\":")).count(), 1, "{kept}");
    }
    let [listed] = &sandbox.lines("out/repeated.jsonl")[..] else {
        panic!("not one passage");
    };
    let found = ["text", "removed", "documents", "sites"].map(|name| &listed[name]);
    assert_eq!(json!(found), json!(["One two three", 1, 2, 2]));
    assert!(sandbox.read("out/page.html").contains("Repeated passages"));
}

#[test]
fn a_range_is_explained_beside_the_text_that_stays() {
    let sandbox = sandbox(&[], &TEXTS);
    sandbox.stderr("spans in.jsonl -o out --min 3w");
    let text = sandbox.stdout("explain --hit out/spans.jsonl --id d1");
    // The ranges alone, without what is around them; they differ in case and in a comma.
    for part in [
        "14 bytes, 3 words",
        "13 bytes, 3 words",
        "normalized words          equal",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("five") && !text.contains("four"), "{text}");
}
