//! The pages for users, and their commands.

use std::fs;
use std::path::{Path, PathBuf};

use super::console;
use super::fences::fences;
use super::run::Run;
use super::{is_written, package};

/// All Markdown files of a directory and the directories in it, in order.
pub fn markdown(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let files = paths.into_iter().flat_map(|path| match path.is_dir() {
        true => markdown(&path),
        false => vec![path],
    });
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect()
}

/// Runs and parses the commands of all pages of these files and directories.
fn check(places: &[&str]) {
    let mut complaints = Vec::new();
    for place in places {
        let path = package().join(place);
        let pages = match path.is_dir() {
            true => markdown(&path),
            false => vec![path],
        };
        for page in pages.iter().filter(|page| page.exists()) {
            complaints.extend(check_page(page));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

fn check_page(path: &Path) -> Vec<String> {
    let name = path.strip_prefix(package()).unwrap().display().to_string();
    let page = fs::read_to_string(path).unwrap();
    let blocks = fences(&page);
    let mut complaints = Vec::new();
    for block in blocks.iter().filter(|block| block.language == "console") {
        let found = console::complaints(block).into_iter();
        complaints.extend(found.map(|text| format!("{name}:{}: {text}", block.line)));
    }
    // The README's first commands build the program: tests/it/readme.rs.
    let is_run = |language: &str, text: &str| {
        language != "sh" || !(text.contains("cargo run") || text.contains("scripts/test"))
    };
    let blocks = blocks.into_iter();
    let blocks = blocks
        .filter(|block| is_run(&block.language, &block.text()))
        .collect();
    let run = Run::new(blocks);
    complaints.extend(run.complaints().iter().map(|text| format!("{name}:{text}")));
    if is_written() {
        let real = run.with_real_output(&page);
        if real != page {
            fs::write(path, real).unwrap();
        }
    }
    complaints
}

/// Promise (Correct answers): Every command in the pages of docs/ for users runs as it is shown there,
/// and prints what is shown
#[test]
fn commands_of_tutorials_run() {
    check(&[
        "README.md",
        "docs/README.md",
        "docs/install.md",
        "docs/faq.md",
        "docs/tutorial",
    ]);
}

/// Promise (Correct answers): Every command in the pages of docs/ …
#[test]
fn commands_of_how_to_pages_run() {
    check(&["docs/how-to"]);
}

/// Promise (Correct answers): Every command in the pages of docs/ …
#[test]
fn commands_of_other_pages_run() {
    check(&["docs/choosing", "docs/reference"]);
}
