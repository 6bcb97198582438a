//! A folder has so few files that a look at their names finds the right one.

use std::collections::BTreeMap;

use super::{none, sources};

const MAX_FILES: usize = 15;

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
    let complaint = |((root, folder), files): (&(&str, &str), &usize)| {
        format!("{root}: {folder}/ has {files} files, at most {MAX_FILES}: group them in folders")
    };
    none(folders.iter().map(complaint).collect());
}
