//! docs/RELIABILITY.md names a test or a script for each promise, the table of CONTRIBUTING.md names
//! files, and docs/ARCHITECTURE.md follows a document from function to function: do they exist?
//!
//! In docs/RELIABILITY.md every code span with `::` is a file below the package's root and a test in
//! it, and every other one that has a slash or ends in `.rs` is a file.

use std::fs;
use std::path::{Path, PathBuf};

fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The code spans of a page, without its fenced blocks.
fn code_spans(page: &str) -> impl Iterator<Item = &str> {
    let prose = page.split("```").step_by(2);
    prose.flat_map(|text| text.split('`').skip(1).step_by(2))
}

/// What is wrong with the reference in a code span: nothing where it is none.
fn complaint(span: &str, package: &Path) -> Option<String> {
    let (file, test) = match span.split_once("::") {
        Some((file, test)) => (file, Some(test)),
        None if span.contains('/') || span.ends_with(".rs") => (span, None),
        None => return None,
    };
    let Ok(source) = fs::read_to_string(package.join(file)) else {
        return Some(format!("{file}: there is no such file"));
    };
    let is_test = |name: &str| {
        let before = source
            .find(&format!("fn {name}("))
            .map(|place| &source[..place]);
        let lines = before.unwrap_or_default().lines().rev().map(str::trim);
        let mut attributes = lines
            .skip_while(|line| line.is_empty())
            .take_while(|line| !line.is_empty() && *line != "}");
        attributes.any(|line| line == "#[test]" || line.starts_with("#[tokio::test"))
    };
    test.filter(|name| !is_test(name))
        .map(|name| format!("{file}: there is no test {name}"))
}

#[test]
fn every_test_and_script_named_exists() {
    let page = fs::read_to_string(package().join("docs/RELIABILITY.md")).unwrap();
    let tests = code_spans(&page).filter(|span| span.contains("::")).count();
    assert!(tests > 20, "only {tests} tests are named");
    let complaints: Vec<String> = code_spans(&page)
        .filter_map(|span| complaint(span, &package()))
        .collect();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn every_file_in_the_tables_for_contributors_exists() {
    let page = fs::read_to_string(package().join("CONTRIBUTING.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 5, "only {} rows", rows.len());
    let spans = rows
        .iter()
        .flat_map(|row| row.split('`').skip(1).step_by(2));
    let paths: Vec<&str> = spans.filter(|span| span.contains('/')).collect();
    for path in paths {
        assert!(
            package().join(path).exists(),
            "{path}: there is no such file"
        );
    }
}

#[test]
fn every_function_that_a_document_passes_exists() {
    let page = fs::read_to_string(package().join("docs/ARCHITECTURE.md")).unwrap();
    let section = page
        .split("\n## ")
        .find(|text| text.starts_with("One document"));
    let spans = code_spans(section.unwrap()).filter_map(|span| span.split_once("::"));
    let spans: Vec<(&str, &str)> = spans.collect();
    assert!(spans.len() >= 10, "only {} functions", spans.len());
    for (file, function) in spans {
        let source = fs::read_to_string(package().join(file)).unwrap_or_default();
        let starts = [format!("fn {function}("), format!("fn {function}<")];
        assert!(
            starts.iter().any(|start| source.contains(start)),
            "{file}: there is no function {function}"
        );
    }
}

#[test]
fn what_does_not_exist_is_found() {
    let spans = "a `tests/nowhere.rs::x` b `tests/it/reliability_page.rs::complaint` c `word` \
                 `tests/it/reliability_page.rs::what_does_not_exist_is_found` \
                 `tests/it/layers/mod.rs::folders_import_only_what_they_may` ```\n`no/file`\n```";
    let complaints: Vec<String> = code_spans(spans)
        .filter_map(|span| complaint(span, &package()))
        .collect();
    let expected = [
        "tests/nowhere.rs: there is no such file",
        "tests/it/reliability_page.rs: there is no test complaint",
    ];
    assert_eq!(complaints, expected);
}
