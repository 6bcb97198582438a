//! Rules for the sources that the compiler does not check: which folder of a crate may import
//! which, what the pure folders may not use, where `unsafe`, threads and printing belong, and that
//! files do not import each other in circles. What crates may import is in their `Cargo.toml`.
//!
//! The sources are read as text, without comments and without the tests at the end of a file.

mod circles;
mod folders;
mod names;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The sources of each crate, and the folder that its root counts as: the root of the crate `index`
/// is `index::`, that of `core` is the root of simtool, which re-exports its modules.
const CRATES: [(&str, &str); 14] = [
    ("crates/core/src", ""),
    ("crates/objects/src", "objects/"),
    ("crates/files/src", "files/"),
    ("crates/corpus/src", "corpus/"),
    ("crates/engine/src", "engine/"),
    ("crates/report/src", "report/"),
    ("crates/batch/src", "batch/"),
    ("crates/lab/src", "lab/"),
    ("crates/evaluate/src", "evaluate/"),
    ("crates/index/src", "index/"),
    ("crates/serve/src", "serve/"),
    ("crates/cluster/src", "cluster/"),
    ("python/src", "python/"),
    ("src", ""),
];

/// Each folder or file of a crate with several, and what it may import besides itself. Documents
/// flow one way: corpus, text, vocabulary, sketch, search, report; the `engine` executes, and
/// `jobs` import them all.
const MAY_IMPORT: [(&str, &[&str]); 9] = [
    ("error", &[]),
    ("threads", &["error"]),
    ("kernel", &["error"]),
    ("text", &["error", "kernel"]),
    ("vocabulary", &["error", "kernel", "text"]),
    ("sketch", &["error", "kernel", "text", "vocabulary"]),
    ("search", &["error", "kernel", "sketch"]),
    ("dedup", &["error", "kernel", "text", "sketch", "search"]),
    (
        "facade",
        &[
            "error", "kernel", "text", "sketch", "search", "dedup", "index", "engine", "jobs",
        ],
    ),
];

/// Crates of one folder, and the roots of crates: Cargo says what they may import. For simtool, the
/// crate `files` is `io`, and `batch` is `jobs`.
const WHOLE_CRATES: [&str; 14] = [
    "batch", "cluster", "corpus", "engine", "evaluate", "files", "index", "io", "jobs", "lab",
    "lib", "objects", "python", "report",
];

/// The program and the Python package. They use the library from outside, and may print and read the
/// environment.
const PROGRAM: [&str; 5] = ["cli", "serve", "program", "main", "python"];

/// The pure folders, and the parts of the standard library that they must not use.
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

/// What only the program may do.
const PROGRAM_ONLY: [&str; 6] = [
    "print!",
    "println!",
    "eprint!",
    "eprintln!",
    "dbg!",
    "process::exit",
];

/// The only folders with `unsafe`, and the file that installs the truncation guard.
const UNSAFE: [&str; 3] = ["kernel", "files", "program"];
/// The calls of the Arrow C interface.
const UNSAFE_FILE: &str = "python/tables/import.rs";

/// The files outside `engine`, `batch`, `lab` and `facade/` that use rayon: each splits one large build,
/// search or output.
const PARALLEL: [&str; 8] = [
    "evaluate/synthetic/directory.rs",
    "index/entries.rs",
    "search/hamming/groups.rs",
    "search/hamming/self_join/join.rs",
    "search/hamming/tables.rs",
    "search/join/candidates/fold.rs",
    "search/join/self_join/key_join.rs",
    "search/join/table.rs",
];

const MAX_LINES: usize = 800;

/// A source file of a crate.
struct Source {
    /// The root of its crate in [`CRATES`].
    crate_root: &'static str,
    /// Relative to the sources of its crate and behind their folder in [`CRATES`], with slashes.
    path: String,
    /// The whole text.
    text: String,
    /// The text without comments and tests.
    code: String,
}

impl Source {
    /// The first name of its path, without `.rs`.
    fn folder(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// The depth of its module below the root of the crate.
    fn depth(&self) -> usize {
        let parts = self.path.split('/').count();
        match self.path.rsplit('/').next() {
            Some("mod.rs" | "lib.rs" | "main.rs") => parts - 1,
            _ => parts,
        }
    }

    /// Whether its code contains `name` as a word of its own.
    fn mentions(&self, name: &str) -> bool {
        let part = |byte: Option<&u8>| {
            byte.is_some_and(|&byte| byte == b'_' || byte.is_ascii_alphanumeric())
        };
        let code = self.code.as_bytes();
        let mut offsets = self.code.match_indices(name).map(|(offset, _)| offset);
        offsets.any(|offset| {
            let before = offset.checked_sub(1).and_then(|before| code.get(before));
            let after = code.get(offset + name.len());
            !part(before) && (name.ends_with('!') || !part(after))
        })
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    for (own_root, prefix) in CRATES {
        let crate_root = root.join(own_root);
        let mut folders: Vec<PathBuf> = vec![crate_root.clone()];
        let before = sources.len();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    let path = path.strip_prefix(&crate_root).unwrap().to_str().unwrap();
                    let root_name = format!("crate::{}", prefix.replace('/', "::"));
                    sources.push(Source {
                        crate_root: own_root,
                        path: format!("{prefix}{}", path.replace('\\', "/")),
                        code: code(&text).replace("crate::", &root_name),
                        text,
                    });
                }
            }
        }
        assert!(
            sources.len() > before + 10,
            "the sources are not at {}",
            crate_root.display()
        );
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

/// The text up to its tests, without comments and without white space around `::` and braces.
fn code(text: &str) -> String {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text[..tests]
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().trim());
    lines.collect::<Vec<_>>().join("\n")
}

/// The names after each `root::` in some code: one, or those of a list in braces.
fn names_behind(code: &str, root: &str) -> BTreeSet<String> {
    let is_name = |byte: char| byte == '_' || byte.is_ascii_alphanumeric();
    let first_name = |text: &str| {
        text.chars()
            .take_while(|&byte| is_name(byte))
            .collect::<String>()
    };
    let mut names = BTreeSet::new();
    for (offset, _) in code.match_indices(root) {
        let is_longer = code[..offset].chars().next_back().is_some_and(is_name);
        let Some(behind) = code[offset + root.len()..]
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
                for (offset, byte) in list.char_indices() {
                    match byte {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => at_start = true,
                        _ if depth == 0 && at_start && is_name(byte) => {
                            names.insert(first_name(&list[offset..]));
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

/// The folder of a name in the root of the crate.
fn folder_of(name: &str) -> &str {
    match name {
        "Error" | "ErrorKind" | "Result" => "error",
        folder => folder,
    }
}

/// Fails with all complaints.
fn none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

/// Fails with the complaint about each source for which there is one.
fn no_source(complaint: impl Fn(&Source) -> Option<String>) {
    let complaints = sources().into_iter().filter_map(|source| {
        let complaint = complaint(&source)?;
        Some(format!("{}: {complaint}", source.path))
    });
    none(complaints.collect());
}

#[test]
fn folders_import_only_what_they_may() {
    let mut complaints = Vec::new();
    for source in sources() {
        let folder = source.folder();
        if PROGRAM.contains(&folder) || WHOLE_CRATES.contains(&folder) {
            continue;
        }
        let Some((_, allowed)) = MAY_IMPORT.iter().find(|(known, _)| *known == folder) else {
            complaints.push(format!(
                "{}: say in MAY_IMPORT what {folder} may import",
                source.path
            ));
            continue;
        };
        for name in names_behind(&source.code, "crate") {
            let known = folder_of(&name);
            if known != folder && !allowed.contains(&known) {
                complaints.push(format!("{}: {folder} must not import {known}", source.path));
            }
        }
        if !names_behind(&source.code, "simtool").is_empty() {
            complaints.push(format!("{}: the library calls itself crate", source.path));
        }
    }
    none(complaints);
}

#[test]
fn no_path_leaves_a_folder_through_its_parent() {
    no_source(|source| {
        let up = "super::".repeat(source.depth().max(1));
        let leaves = source.folder() != "lib" && source.code.contains(&up);
        leaves.then(|| "super:: up to the root of the crate".into())
    });
}

#[test]
fn what_may_be_imported_has_no_circle() {
    // The folders in a row must be listed above it.
    for (row, (folder, allowed)) in MAY_IMPORT.iter().enumerate() {
        for known in *allowed {
            let above = MAY_IMPORT[..row].iter().any(|(above, _)| above == known)
                || WHOLE_CRATES.contains(known);
            assert!(
                above,
                "{folder} may import {known}, which is listed below it"
            );
        }
    }
}

#[test]
fn pure_folders_use_nothing_outside() {
    let mut complaints = Vec::new();
    for source in sources() {
        let touched = names_behind(&source.code, "std");
        let impure = touched
            .iter()
            .filter(|name| IMPURE.contains(&name.as_str()));
        let is_generator = source.path.starts_with("evaluate/synthetic/");
        for name in impure.filter(|_| PURE.contains(&source.folder()) && !is_generator) {
            complaints.push(format!("{}: std::{name} in a pure folder", source.path));
        }
    }
    none(complaints);
}

/// Promise (Errors and interruptions): The library neither prints nor exits nor reads the
/// environment
#[test]
fn only_the_program_prints_exits_and_reads_the_environment() {
    let mut complaints = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| !PROGRAM.contains(&source.folder()))
    {
        for name in PROGRAM_ONLY.iter().filter(|name| source.mentions(name)) {
            complaints.push(format!("{}: {name} in the library", source.path));
        }
        // Credentials of object stores are in the environment, as for all their clients.
        let is_settings = source.path == "objects/environment.rs";
        if !is_settings && names_behind(&source.code, "std").contains("env") {
            complaints.push(format!("{}: std::env in the library", source.path));
        }
    }
    none(complaints);
}

#[test]
fn unsafe_stays_in_its_folders() {
    no_source(|source| {
        let may = UNSAFE.contains(&source.folder()) || source.path == UNSAFE_FILE;
        let outside = source.mentions("unsafe") && !may;
        outside.then(|| "unsafe".into())
    });
}

#[test]
fn threads_belong_to_the_engine_and_jobs() {
    no_source(|source| {
        let named = PARALLEL.contains(&source.path.as_str());
        // The program shows progress and reads the number of processors.
        let may = ["threads", "engine", "batch", "lab", "facade"].contains(&source.folder())
            || PROGRAM.contains(&source.folder())
            || named;
        let outside = !may && (source.mentions("rayon") || source.mentions("thread"));
        outside.then(|| "threads outside engine and jobs".into())
    });
}

#[test]
fn files_are_short() {
    no_source(|source| {
        let lines = source.text.lines().count();
        (lines > MAX_LINES).then(|| format!("{lines} lines, at most {MAX_LINES}"))
    });
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
