//! A folder has so few files that a look at their names finds the right one.
//!
//! The list of exceptions only becomes shorter: the test fails if a listed folder is no exception.

use std::collections::BTreeMap;

use super::{none, sources};

const MAX_FILES: usize = 15;

/// Folders with more files.
const LARGE: [&str; 1] = ["batch/passages/spans"];

/// The folder of the file at `path`; that of a crate's root is empty or the name of the crate.
fn folder_of_file(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[test]
fn no_folder_has_more_than_fifteen_files() {
    let sources = sources();
    let mut folders: BTreeMap<_, usize> = BTreeMap::new();
    for source in &sources {
        let folder = (source.crate_root, folder_of_file(&source.path));
        *folders.entry(folder).or_default() += 1;
    }
    folders.retain(|_, files| *files > MAX_FILES);
    let is_large = |listed: &str| folders.keys().any(|(_, folder)| *folder == listed);
    let solved = LARGE.iter().filter(|listed| !is_large(listed));
    let solved = solved.map(|listed| format!("{listed}: few files now; take it off the list"));
    let new = folders
        .iter()
        .filter(|((_, folder), _)| !LARGE.contains(folder));
    let new = new.map(|((root, folder), files)| {
        format!("{root}: {folder}/ has {files} files, at most {MAX_FILES}: group them in folders")
    });
    none(new.chain(solved).collect());
}
