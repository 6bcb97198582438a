//! The tables of docs/RELIABILITY.md are made of lines above the tests; its text names other tests
//! and scripts, the table of CONTRIBUTING.md names files, and docs/ARCHITECTURE.md follows a document
//! from function to function: do they exist?
//!
//! In docs/RELIABILITY.md every code span with `::` is a file below the package's root and a test in
//! it, and every other one that has a slash or ends in `.rs` is a file.

mod promises;

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

/// The tables are made of the lines `Promise (SECTION): TEXT` above the tests.
#[test]
fn promises_are_those_of_the_tests() {
    let path = package().join("docs/RELIABILITY.md");
    let page = fs::read_to_string(&path).unwrap();
    let promises = promises::all(&package()).unwrap();
    assert!(promises.len() > 700, "only {} promises", promises.len());
    let made = promises::page(&page, &promises).unwrap_or_else(|complaints| panic!("{complaints}"));
    if std::env::var_os("SIMTOOL_PROMISES").is_some() {
        fs::write(&path, made).unwrap();
        return;
    }
    let differs = page.lines().zip(made.lines()).find(|(old, new)| old != new);
    assert!(
        page == made,
        "docs/RELIABILITY.md is not up to date: run SIMTOOL_PROMISES=write cargo test --test it -- \
         promises\n{differs:?}"
    );
}

#[test]
fn every_test_and_script_named_exists() {
    let page = fs::read_to_string(package().join("docs/RELIABILITY.md")).unwrap();
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
    let spans = "a `tests/nowhere.rs::x` b `tests/it/reliability_page/mod.rs::complaint` c `word` \
                 `tests/it/reliability_page/mod.rs::what_does_not_exist_is_found` \
                 `tests/it/layers/mod.rs::folders_import_only_what_they_may` ```\n`no/file`\n```";
    let complaints: Vec<String> = code_spans(spans)
        .filter_map(|span| complaint(span, &package()))
        .collect();
    let expected = [
        "tests/nowhere.rs: there is no such file",
        "tests/it/reliability_page/mod.rs: there is no test complaint",
    ];
    assert_eq!(complaints, expected);
}

#[test]
fn promises_are_read_and_shown() {
    let source = "//! Tests.\n//! Promise (A): The first\n\n/// A test.\n/// Promise (A): The second has\n\
                  /// two lines\n/// Promise (B): Another …\n#[test]\nfn shows() {}\n";
    let script = "# Promise (A): The first … (by hand)\n# Promise (B): Another one\n";
    let mut all = promises::of_source("a.rs", source).unwrap();
    all.extend(promises::of_source("b", script).unwrap());
    let page = "## A\n\n| old |\n| rows |\n\n## B\n| |\n";
    let made = promises::page(page, &all).unwrap();
    let head = "| promise | shown by |\n|---|---|\n";
    let expected = format!(
        "## A\n\n{head}| The first | `a.rs`, `b` (by hand) |\n| The second has two lines | \
         `a.rs::shows` |\n\n## B\n{head}| Another one | `b`, `a.rs::shows` |\n"
    );
    assert_eq!(made, expected);
    let complaint = |page, file, source| {
        let found = promises::of_source(file, source)?;
        promises::page(page, &found).map(drop)
    };
    for (page, source, expected) in [
        (
            "## A\n",
            "/// Promise (A): X\nfn no_test() {}",
            "not above a test",
        ),
        (
            "## A\n",
            "//! Promise (A) X",
            "no `Promise (SECTION): TEXT`",
        ),
        (
            "## A\n",
            "//! Promise (A): X …",
            "no promise of A begins with: X",
        ),
        ("## A\n", "//! Promise (B): X", "there is no section B"),
    ] {
        let error = complaint(page, "a.rs", source).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
