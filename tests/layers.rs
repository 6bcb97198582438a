//! The house rules that the compiler does not keep: which folder of `src/` may know which, what
//! the pure ones may not touch, and where `unsafe`, threads and the screen belong.
//!
//! Read from the sources line by line: comments and the tests at the end of a file do not count.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each folder or file below `src/`, and what it may know besides itself. Documents flow one way:
/// corpus, text, vocabulary, sketch, search, report; `evaluate` looks at what methods made of them,
/// and `run` sees them all.
const MAY_KNOW: [(&str, &[&str]); 14] = [
    ("error", &[]),
    ("io", &["error"]),
    ("kernel", &["error"]),
    ("corpus", &["error", "kernel", "io"]),
    ("text", &["error", "kernel"]),
    ("vocabulary", &["error", "kernel", "text"]),
    ("sketch", &["error", "kernel", "text", "vocabulary"]),
    ("search", &["error", "kernel", "sketch"]),
    ("dedup", &["error", "kernel", "sketch", "search"]),
    ("evaluate", &["error", "text", "sketch", "search"]),
    ("index", &["error", "kernel", "io", "sketch", "search"]),
    ("report", &["error", "io", "corpus", "sketch", "evaluate"]),
    (
        "run",
        &[
            "error",
            "kernel",
            "io",
            "corpus",
            "text",
            "vocabulary",
            "sketch",
            "search",
            "dedup",
            "evaluate",
            "index",
            "report",
        ],
    ),
    // The crate's root declares the rooms and knows what everyone calls by its short name.
    ("lib", &["error"]),
];

/// The program: it sees the library from outside, and may print and read its environment.
const PROGRAM: [&str; 3] = ["cli", "serve", "main"];

/// The pure folders, and the parts of the standard library that they may not touch.
const PURE: [&str; 7] = [
    "text",
    "vocabulary",
    "sketch",
    "search",
    "dedup",
    "evaluate",
    "kernel",
];
const IMPURE: [&str; 7] = ["env", "fs", "io", "net", "process", "thread", "time"];

/// What only the program does.
const PROGRAM_ONLY: [&str; 6] = [
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "dbg!",
    "process::exit",
];

/// Where `unsafe` is, and nowhere else.
const UNSAFE: [&str; 2] = ["kernel", "io"];

/// The files outside `run/` that use rayon: each splits one large build or one large output.
const PARALLEL: [&str; 3] = [
    "corpus/synthetic/directory.rs",
    "search/hamming/groups.rs",
    "search/hamming/tables.rs",
];

const MOST_LINES: usize = 800;

/// A file of `src/`.
struct Source {
    /// Below `src/`, with slashes.
    path: String,
    /// All of it.
    text: String,
    /// Without comments and tests.
    code: String,
}

impl Source {
    /// The first part of its path, without `.rs`.
    fn room(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// How many modules down from the crate's root it is.
    fn depth(&self) -> usize {
        let parts = self.path.split('/').count();
        match self.path.rsplit('/').next() {
            Some("mod.rs" | "lib.rs" | "main.rs") => parts - 1,
            _ => parts,
        }
    }

    /// Whether `name` stands in its code as a word of its own.
    fn mentions(&self, name: &str) -> bool {
        let part = |byte: Option<&u8>| {
            byte.is_some_and(|&byte| byte == b'_' || byte.is_ascii_alphanumeric())
        };
        let code = self.code.as_bytes();
        let mut places = self.code.match_indices(name).map(|(place, _)| place);
        places.any(|place| {
            let before = place.checked_sub(1).and_then(|before| code.get(before));
            let after = code.get(place + name.len());
            !part(before) && (name.ends_with('!') || !part(after))
        })
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let path = path
                    .strip_prefix(&root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace('\\', "/");
                sources.push(Source {
                    path,
                    code: code(&text),
                    text,
                });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(
        sources.len() > 10,
        "the sources are not at {}",
        root.display()
    );
    sources
}

/// The text up to its tests, without comments and without white space around `::` and braces.
fn code(text: &str) -> String {
    let tests = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    let lines = text[..tests]
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().trim());
    lines.collect::<Vec<_>>().join("\n")
}

/// The names behind each `root::` of some code: one, or those of a list in braces.
fn names_behind(code: &str, root: &str) -> BTreeSet<String> {
    let is_name = |byte: char| byte == '_' || byte.is_ascii_alphanumeric();
    let first_name = |text: &str| {
        text.chars()
            .take_while(|&byte| is_name(byte))
            .collect::<String>()
    };
    let mut names = BTreeSet::new();
    for (place, _) in code.match_indices(root) {
        let is_longer = code[..place].chars().next_back().is_some_and(is_name);
        let Some(behind) = code[place + root.len()..]
            .strip_prefix("::")
            .filter(|_| !is_longer)
        else {
            continue;
        };
        match behind.strip_prefix('{') {
            None => drop(names.insert(first_name(behind))),
            Some(list) => {
                let mut depth = 0;
                let mut at_start = true;
                for (place, byte) in list.char_indices() {
                    match byte {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => at_start = true,
                        _ if depth == 0 && at_start && is_name(byte) => {
                            names.insert(first_name(&list[place..]));
                            at_start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    names
}

/// The folder that a name of the crate's root stands for.
fn room_of(name: &str) -> &str {
    match name {
        "Error" | "ErrorKind" | "Result" => "error",
        room => room,
    }
}

/// Fails with all complaints at once.
fn none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn folders_know_only_what_they_may() {
    let mut complaints = Vec::new();
    for source in sources() {
        let room = source.room();
        if PROGRAM.contains(&room) {
            continue;
        }
        let Some((_, allowed)) = MAY_KNOW.iter().find(|(known, _)| *known == room) else {
            complaints.push(format!(
                "{}: say in MAY_KNOW what {room} may know",
                source.path
            ));
            continue;
        };
        for name in names_behind(&source.code, "crate") {
            let known = room_of(&name);
            if known != room && !allowed.contains(&known) {
                complaints.push(format!("{}: {room} must not know {known}", source.path));
            }
        }
        if !names_behind(&source.code, "simtool").is_empty() {
            complaints.push(format!("{}: the library calls itself crate", source.path));
        }
    }
    none(complaints);
}

#[test]
fn nobody_leaves_a_folder_by_its_parent() {
    let leaves = |source: &Source| {
        let up = "super::".repeat(source.depth().max(1));
        source.room() != "lib" && source.code.contains(&up)
    };
    let complaints = sources().into_iter().filter(leaves);
    none(
        complaints
            .map(|source| format!("{}: super:: up to the crate's root", source.path))
            .collect(),
    );
}

#[test]
fn what_may_be_known_has_no_circle() {
    // Whoever is named in a row stands above it.
    for (place, (room, allowed)) in MAY_KNOW.iter().enumerate() {
        for known in *allowed {
            let above = MAY_KNOW[..place].iter().any(|(above, _)| above == known);
            assert!(above, "{room} may know {known}, which stands below it");
        }
    }
}

#[test]
fn pure_folders_touch_nothing_outside() {
    let mut complaints = Vec::new();
    for source in sources() {
        let touched = names_behind(&source.code, "std");
        let impure = touched
            .iter()
            .filter(|name| IMPURE.contains(&name.as_str()));
        for name in impure.filter(|_| PURE.contains(&source.room())) {
            complaints.push(format!("{}: std::{name} in a pure folder", source.path));
        }
    }
    none(complaints);
}

#[test]
fn only_the_program_prints_exits_and_reads_the_environment() {
    let mut complaints = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| !PROGRAM.contains(&source.room()))
    {
        for name in PROGRAM_ONLY.iter().filter(|name| source.mentions(name)) {
            complaints.push(format!("{}: {name} in the library", source.path));
        }
        if names_behind(&source.code, "std").contains("env") {
            complaints.push(format!("{}: std::env in the library", source.path));
        }
    }
    none(complaints);
}

#[test]
fn unsafe_stays_in_its_rooms() {
    let outside = |source: &Source| source.mentions("unsafe") && !UNSAFE.contains(&source.room());
    let complaints = sources().into_iter().filter(outside);
    none(
        complaints
            .map(|source| format!("{}: unsafe", source.path))
            .collect(),
    );
}

#[test]
fn threads_belong_to_run() {
    let outside = |source: &Source| {
        let named = PARALLEL.contains(&source.path.as_str());
        // The program draws progress and asks how many processors there are.
        let may = source.room() == "run" || PROGRAM.contains(&source.room()) || named;
        !may && (source.mentions("rayon") || source.mentions("thread"))
    };
    let complaints = sources().into_iter().filter(outside);
    none(
        complaints
            .map(|source| format!("{}: threads outside run", source.path))
            .collect(),
    );
}

#[test]
fn files_are_short() {
    let lines = |source: &Source| source.text.lines().count();
    let complaints = sources()
        .into_iter()
        .filter(|source| lines(source) > MOST_LINES);
    none(
        complaints
            .map(|source| {
                format!(
                    "{}: {} lines, at most {MOST_LINES}",
                    source.path,
                    lines(&source)
                )
            })
            .collect(),
    );
}

#[test]
fn names_are_found_in_every_kind_of_path() {
    let code = code(
        "use crate::{Error, text::{Window, Windows}, io};\n// crate::no\nfn f() -> crate::Result<()> {}\n\
         use supercrate::no; use crate::kernel::Level;\n#[cfg(test)]\nmod tests { use crate::no; }",
    );
    let names: Vec<String> = names_behind(&code, "crate").into_iter().collect();
    assert_eq!(names, ["Error", "Result", "io", "kernel", "text"]);
}
