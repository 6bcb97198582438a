//! The pages for users, and their commands.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

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

/// Pages are checked by this many threads: commands wait for the disk more than for a processor.
const THREADS: usize = 4;

/// Runs and parses the commands of all pages of these files and directories.
fn check(places: &[&str]) {
    let pages = places.iter().flat_map(|place| {
        let path = package().join(place);
        match path.is_dir() {
            true => markdown(&path),
            false => vec![path],
        }
    });
    let pages: Vec<PathBuf> = pages.filter(|page| page.exists()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut complaints = Vec::new();
        while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            complaints.extend(check_page(page));
        }
        complaints
    };
    let mut complaints: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        let found = threads.into_iter().map(|thread| thread.join().unwrap());
        found.flatten().collect()
    });
    complaints.sort();
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
