//! The commands of `console` blocks, which no test runs: does the program know their flags and values?

use std::process::Command;

use super::PROGRAM;
use super::fences::Fence;
use super::script::commands;

/// What is wrong with the commands of a block.
pub fn complaints(block: &Fence) -> Vec<String> {
    let lines: Vec<String> = block
        .lines
        .iter()
        .map(|line| without_prompt(line))
        .collect();
    let called = commands(&lines);
    let calls = called.iter().flat_map(|command| calls(command));
    calls.filter_map(|words| complaint(&words)).collect()
}

fn without_prompt(line: &str) -> String {
    line.strip_prefix("$ ").unwrap_or(line).to_owned()
}

/// What the program says about these arguments; nothing if it would run.
fn complaint(arguments: &[String]) -> Option<String> {
    let mut arguments = arguments.to_vec();
    let end = arguments.iter().position(|word| word == "--");
    arguments.insert(end.unwrap_or(arguments.len()), "--help".to_owned());
    let output = Command::new(PROGRAM).args(&arguments).output().unwrap();
    let message = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
    (!output.status.success()).then(|| format!("simtool {}: {}", arguments.join(" "), message()))
}

/// The arguments of each call of simtool in a command line.
fn calls(line: &str) -> Vec<Vec<String>> {
    let mut calls: Vec<Vec<String>> = Vec::new();
    let mut is_open = false;
    for word in words(line) {
        match word {
            Word::Separator => is_open = false,
            Word::Text(text) if is_open => calls.last_mut().unwrap().push(text),
            Word::Text(text) if text == "simtool" => {
                calls.push(Vec::new());
                is_open = true;
            }
            Word::Text(_) => {}
        }
    }
    calls
}

#[derive(Debug, PartialEq)]
enum Word {
    Text(String),
    /// What ends a command or its arguments: a pipe, a semicolon, a redirection, a comment.
    Separator,
}

/// The words of a command line as a shell reads them, without expansions.
fn words(line: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('\n') | None => {}
                Some(next) => word.get_or_insert_default().push(next),
            },
            '\'' | '"' => {
                let text = word.get_or_insert_default();
                text.extend(letters.by_ref().take_while(|&next| next != letter));
            }
            // A variable or a command in place of a text.
            '$' if letters.peek() == Some(&'(') => {
                let inner: String = letters.by_ref().take_while(|&next| next != ')').collect();
                word.get_or_insert_default().push_str(&format!("${inner})"));
            }
            '#' if word.is_none() => {
                letters.by_ref().take_while(|&next| next != '\n').count();
                words.push(Word::Separator);
            }
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '\n' => {
                // The number of a redirected file: 2>
                let is_number = |text: &String| text.len() == 1 && "012".contains(text.as_str());
                let last = word
                    .take()
                    .filter(|text| !("<>".contains(letter) && is_number(text)));
                words.extend(last.map(Word::Text));
                words.push(Word::Separator);
            }
            _ if letter.is_whitespace() => words.extend(word.take().map(Word::Text)),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word.map(Word::Text));
    words
}

#[test]
fn calls_are_found() {
    let line = "zcat a.gz | RUST_BACKTRACE=1 simtool dedup - -o 'my out' \\\n --write kept 2> log # simtool x";
    assert_eq!(
        calls(line),
        [["dedup", "-", "-o", "my out", "--write", "kept"]]
    );
    let line = "sudo simtool serve seen && simtool index info $(cat \"name of\")";
    assert_eq!(
        calls(line),
        [
            vec!["serve", "seen"],
            vec!["index", "info", "$(cat \"name of\")"]
        ]
    );
    let block = |line: &str| Fence {
        language: "console".to_owned(),
        line: 1,
        lines: vec![line.to_owned()],
        begins_section: false,
    };
    for (line, expected) in [
        ("$ simtool dedup s3://bucket/x -o out --write kept", 0),
        ("cargo install simtool", 0),
        ("simtool dedup x -o out --no-such-flag", 1),
        ("simtool dedup x --html nothing", 1),
        ("simtool deduplicate x && simtool index create x", 2),
    ] {
        assert_eq!(complaints(&block(line)).len(), expected, "{line}");
    }
}
