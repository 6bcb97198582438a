//! The lines `Promise (SECTION): TEXT` of all tests, and the tables of docs/RELIABILITY.md that
//! follow from them.
//!
//! A line above a test is about this test, one at the beginning of a file about the whole file. A
//! text that ends with `…`, and perhaps a note in parentheses, is the beginning of a text that
//! another place has in full: both places show that promise.

use std::fs;
use std::path::{Path, PathBuf};

/// Where tests are; the rows of a section are in the order of these, of files and of lines.
const ROOTS: [&str; 7] = [
    "tests",
    "crates",
    "src",
    "python/tests",
    "fuzz/fuzz_targets",
    "scripts",
    "lab",
];

/// A promise, or its beginning, and what shows it.
pub struct Promise {
    section: String,
    text: String,
    /// The file, with the test if it is one alone.
    place: String,
    note: String,
    is_beginning: bool,
}

/// The promises of all tests below the package's root.
pub fn all(package: &Path) -> Result<Vec<Promise>, String> {
    let mut promises = Vec::new();
    for root in ROOTS {
        for path in files(&package.join(root)) {
            let name = path.strip_prefix(package).unwrap_or(&path);
            // Some fixtures are not UTF-8.
            let Ok(source) = fs::read_to_string(&path) else {
                continue;
            };
            promises.extend(of_source(&name.to_string_lossy(), &source)?);
        }
    }
    Ok(promises)
}

/// All files of a directory, in order.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let inner = |path: PathBuf| match path.is_dir() {
        true => files(&path),
        false => vec![path],
    };
    paths.into_iter().flat_map(inner).collect()
}

/// The promises of a source, or what is wrong with one.
pub fn of_source(file: &str, source: &str) -> Result<Vec<Promise>, String> {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let comment = |line: &str| {
        let prefix = ["/// ", "//! ", "// ", "# "]
            .into_iter()
            .find(|prefix| line.starts_with(*prefix))?;
        Some((prefix, line[prefix.len()..].to_owned()))
    };
    let mut promises = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some((prefix, mut text)) = comment(lines[at]).filter(|(_, text)| begins(text)) else {
            at += 1;
            continue;
        };
        at += 1;
        while let Some((_, more)) = lines
            .get(at)
            .and_then(|line| comment(line))
            .filter(|(other, more)| *other == prefix && !begins(more))
        {
            text = format!("{text} {more}");
            at += 1;
        }
        let wrong = |what: &str| format!("{file}:{at}: {what}: {text}");
        let place = match prefix {
            "/// " => {
                let test = test_below(&lines[at..]).ok_or(wrong("not above a test"))?;
                let hand = if test.is_ignored { " (by hand)" } else { "" };
                format!("`{file}::{}`{hand}", test.name)
            }
            _ => format!("`{file}`"),
        };
        let parts = text.strip_prefix("Promise (").unwrap().split_once("): ");
        let (section, text) = parts.ok_or(wrong("no `Promise (SECTION): TEXT`"))?;
        let (text, note, is_beginning) = match text.split_once(" …") {
            Some((text, note)) => (text, note, true),
            None => (text, "", false),
        };
        promises.push(Promise {
            section: section.to_owned(),
            text: text.to_owned(),
            place,
            note: note.to_owned(),
            is_beginning,
        });
    }
    Ok(promises)
}

fn begins(text: &str) -> bool {
    text.starts_with("Promise (")
}

struct Test {
    name: String,
    is_ignored: bool,
}

/// The test that begins with these lines: after other comments and attributes, one of which says
/// that it is a test.
fn test_below(lines: &[&str]) -> Option<Test> {
    let end = lines.iter().position(|line| line.contains("fn "))?;
    let (above, line) = (&lines[..end], lines[end]);
    let has = |attribute: &str| above.iter().any(|line| line.starts_with(attribute));
    let is_other = |line: &&str| line.is_empty() || *line == "}";
    if !(has("#[test]") || has("#[tokio::test")) || above.iter().any(is_other) {
        return None;
    }
    let name = line.split("fn ").nth(1)?.split(['(', '<']).next()?;
    Some(Test {
        name: name.to_owned(),
        is_ignored: has("#[ignore"),
    })
}

/// The page with its tables made anew from the promises, or what is wrong with them.
pub fn page(page: &str, promises: &[Promise]) -> Result<String, String> {
    let mut complaints = Vec::new();
    let mut shown: Vec<(&Promise, Vec<String>)> = Vec::new();
    for whole in promises.iter().filter(|promise| !promise.is_beginning) {
        match shown
            .iter_mut()
            .find(|(other, _)| (&other.section, &other.text) == (&whole.section, &whole.text))
        {
            Some((_, places)) => places.push(whole.place.clone()),
            None => shown.push((whole, vec![whole.place.clone()])),
        }
    }
    for promise in promises.iter().filter(|promise| promise.is_beginning) {
        let is_meant = |whole: &Promise| {
            whole.section == promise.section && whole.text.starts_with(&promise.text)
        };
        let mut meant = shown.iter_mut().filter(|(whole, _)| is_meant(whole));
        match (meant.next(), meant.next()) {
            (Some((_, places)), None) => places.push(format!("{}{}", promise.place, promise.note)),
            (first, _) => complaints.push(format!(
                "{}: {} promise of {} begins with: {}",
                promise.place,
                first.map_or("no", |_| "more than one"),
                promise.section,
                promise.text
            )),
        }
    }
    let mut made = String::new();
    let (mut section, mut is_made) = ("", false);
    let mut sections = Vec::new();
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            (section, is_made) = (name, false);
            sections.push(name.to_owned());
        }
        if !line.starts_with('|') {
            made.push_str(&format!("{line}\n"));
        } else if !is_made {
            made.push_str("| promise | shown by |\n|---|---|\n");
            for (promise, places) in shown.iter().filter(|row| row.0.section == section) {
                made.push_str(&format!("| {} | {} |\n", promise.text, places.join(", ")));
            }
            is_made = true;
        }
    }
    let lost = shown
        .iter()
        .filter(|row| !sections.contains(&row.0.section));
    complaints.extend(
        lost.map(|(promise, _)| {
            format!("{}: there is no section {}", promise.place, promise.section)
        }),
    );
    match complaints.is_empty() {
        true => Ok(made),
        false => Err(complaints.join("\n")),
    }
}
