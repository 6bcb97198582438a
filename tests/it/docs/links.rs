//! Links of all Markdown files, and paths of pages in all other files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::fences::prose;
use super::package;

/// What is no part of the sources.
const SKIPPED: [&str; 6] = [
    "target",
    ".git",
    "node_modules",
    "shared",
    "__pycache__",
    "site",
];
/// Files that mention pages of earlier versions.
const HISTORY: &str = "CHANGELOG.md";

/// All files of the package, without what is built.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if SKIPPED.contains(&name.as_str()) || path.is_symlink() {
            continue;
        }
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md")
}

/// A line without its code spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("code")
}

/// The targets of the links of a page, each with the number of its line.
fn links(page: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (number, line) in prose(page) {
        let line = without_code(line);
        let mut rest = line.as_str();
        while let Some((_, after)) = rest.split_once("](") {
            let end = after.find([')', ' ']).unwrap_or(after.len());
            links.push((number, after[..end].to_owned()));
            rest = &after[end..];
        }
        if let Some((_, target)) = line.split_once("]: ").filter(|_| line.starts_with('[')) {
            links.push((number, target.trim().to_owned()));
        }
    }
    links
}

/// The anchors of a page: of its headings, as GitHub and mdBook make them, and named ones.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in prose(page) {
        let text = line.trim_start_matches('#');
        if text.len() < line.len() && text.starts_with(' ') {
            let anchor = anchor(text.trim());
            let count = counts.entry(anchor.clone()).or_default();
            anchors.insert(match count {
                0 => anchor,
                _ => format!("{anchor}-{count}"),
            });
            *count += 1;
        }
        for start in ["id=\"", "name=\""] {
            let named = line.split(start).skip(1);
            anchors.extend(named.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
        }
    }
    anchors
}

fn anchor(heading: &str) -> String {
    // Of a link, the text counts.
    let mut text = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    let letters = text.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then_some(letter),
    });
    letters.flat_map(char::to_lowercase).collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            _ => plain.push(part),
        }
    }
    plain
}

/// What is wrong with a link.
fn complaint(page: &Path, target: &str) -> Option<String> {
    let target = target.trim_start_matches('<').trim_end_matches('>');
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, wanted) = target.split_once('#').unwrap_or((target, ""));
    let path = match file {
        "" => page.to_owned(),
        _ => plain(&page.parent().unwrap().join(file)),
    };
    if !path.exists() {
        return Some(format!("{target}: there is no such file"));
    }
    if wanted.is_empty() || !is_markdown(&path) {
        return None;
    }
    let text = fs::read_to_string(&path).unwrap();
    (!anchors(&text).contains(wanted)).then(|| format!("{target}: there is no such heading"))
}

/// Promise (Correct answers): Every link between the pages in the repository leads to a file and a
/// heading
#[test]
fn links_lead_to_files_and_headings() {
    let package = package();
    let mut complaints = Vec::new();
    for path in files(&package).iter().filter(|path| is_markdown(path)) {
        let page = fs::read_to_string(path).unwrap();
        let name = path.strip_prefix(&package).unwrap().display();
        for (line, target) in links(&page) {
            complaints
                .extend(complaint(path, &target).map(|text| format!("{name}:{line}: {text}")));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// The paths `docs/….md` in a text.
fn paths(text: &str) -> BTreeSet<&str> {
    let is_path = |letter: char| letter.is_ascii_alphanumeric() || "/_-.".contains(letter);
    let starts = text.match_indices("docs/").map(|(start, _)| start);
    let starts = starts.filter(|&start| !text[..start].ends_with(is_path));
    let paths = starts.filter_map(|start| {
        let rest = &text[start..];
        let end = rest.find(|letter| !is_path(letter)).unwrap_or(rest.len());
        let path = rest[..end].trim_end_matches('.');
        path.ends_with(".md").then_some(path)
    });
    paths.collect()
}

#[test]
fn pages_that_sources_name_exist() {
    let package = package();
    let mut complaints = Vec::new();
    for path in files(&package) {
        // Some fixtures are no text.
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let name = path.strip_prefix(&package).unwrap();
        if name == Path::new(HISTORY) || name.starts_with("tests/it/docs") {
            continue;
        }
        let missing = paths(&text)
            .into_iter()
            .filter(|page| !package.join(page).exists());
        complaints.extend(missing.map(|page| format!("{}: there is no {page}", name.display())));
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// The site has every page, once.
#[test]
fn every_page_is_in_the_summary() {
    let docs = package().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut listed: Vec<PathBuf> = links(&summary)
        .into_iter()
        // A group of pages has none of its own.
        .filter(|(_, target)| !target.is_empty())
        .map(|(_, target)| docs.join(target))
        .collect();
    listed.sort();
    let mut pages: Vec<PathBuf> = files(&docs)
        .into_iter()
        .filter(|path| is_markdown(path))
        .collect();
    pages.retain(|path| !path.ends_with("SUMMARY.md"));
    let names = |paths: &[PathBuf]| -> Vec<String> {
        let names = paths
            .iter()
            .map(|path| path.strip_prefix(&docs).unwrap().display());
        names.map(|name| name.to_string()).collect()
    };
    let (listed, pages) = (names(&listed), names(&pages));
    let lost: Vec<&String> = pages.iter().filter(|page| !listed.contains(page)).collect();
    assert!(lost.is_empty(), "not in SUMMARY.md: {lost:#?}");
    assert_eq!(listed, pages);
}

#[test]
fn wrong_links_are_found() {
    let page = "# The `a --b` page: 1, 2\n\n## Same\n## Same\n[x](a.md) and [y](b.md#c \"title\") `[z](no.md)`\n\
                ```text\n[z](no.md)\n```\n[w]: d.md\n";
    let found: Vec<(usize, String)> = links(page);
    let expected = [(5, "a.md"), (5, "b.md#c"), (9, "d.md")];
    assert_eq!(
        found,
        expected.map(|(line, target)| (line, target.to_owned()))
    );
    let found: Vec<String> = anchors(page).into_iter().collect();
    assert_eq!(found, ["same", "same-1", "the-a---b-page-1-2"]);
    let readme = package().join("README.md");
    let wrong = |target| complaint(&readme, target).is_some();
    for target in [
        "https://example.org/",
        "#quick-start",
        "docs/../LICENSE-MIT",
        "fuzz/README.md",
    ] {
        assert!(!wrong(target), "{target}");
    }
    assert!(wrong("#no-heading") && wrong("docs/no-page.md") && wrong("fuzz/README.md#no"));
    let text = "see docs/a.md, docs/b/c-d.md#e and https://x.example/docs/f.md. (docs/g)";
    assert_eq!(
        paths(text).into_iter().collect::<Vec<_>>(),
        ["docs/a.md", "docs/b/c-d.md"]
    );
}
