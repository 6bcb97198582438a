//! The names of output files, and their checks before reading and before writing.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::{Error, ErrorKind, Result};
use simtool_corpus::Source;
use simtool_files::remote;

/// The path without its root, `.` and `..`; `stdin` for `-`; of an object of a server, its bucket or
/// host and its key.
pub fn inside(path: &Path) -> PathBuf {
    if path == Path::new("-") {
        return "stdin".into();
    }
    let below = remote::below_scheme(path);
    let path = below.as_deref().unwrap_or(path);
    let names = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_)));
    names.collect()
}

/// The output file of each source, relative to the output directory: the source's own path below
/// `directory`.
///
/// # Errors
/// [`ErrorKind::Parameter`] if two sources would be written to one file, or one is a file where
/// another needs a directory.
pub fn of_sources(sources: &[Source], directory: &str) -> Result<Vec<PathBuf>> {
    let targets: Vec<PathBuf> = sources
        .iter()
        .map(|source| Path::new(directory).join(inside(&source.path)))
        .collect();
    let mut known: HashMap<&Path, &Source> = HashMap::new();
    let advice = "run simtool in a directory above both, so that their names differ, or run it \
                  for each with an -o of its own";
    for (target, source) in targets.iter().zip(sources) {
        if let Some(other) = known.insert(target, source) {
            let message = format!(
                "and {} would both be written to {} ({advice})",
                other.path.display(),
                target.display()
            );
            return Err(Error::new(ErrorKind::Parameter, message).in_file(&source.path));
        }
    }
    for (target, source) in targets.iter().zip(sources) {
        let mut above = target.ancestors().skip(1);
        if let Some(other) = above.find_map(|above| known.get(above)) {
            let message = format!(
                "would be written to {}, below the file that is written for {} ({advice})",
                target.display(),
                other.path.display(),
            );
            return Err(Error::new(ErrorKind::Parameter, message).in_file(&source.path));
        }
    }
    Ok(targets)
}

/// Refuses names of output files in `out` if a symbolic link, directory or file is in the way.
///
/// # Errors
/// [`ErrorKind::Write`] for a symbolic link, for a directory where a file is needed, and for
/// anything else where a directory is needed.
pub fn check(out: &Path, names: &[PathBuf]) -> Result<()> {
    let mut directories: HashSet<PathBuf> = HashSet::new();
    for name in names {
        let mut path = out.to_owned();
        let mut parts = name.components().peekable();
        while let Some(part) = parts.next() {
            path.push(part);
            let is_file = parts.peek().is_none();
            if !is_file && directories.contains(&path) {
                continue;
            }
            let Ok(found) = fs::symlink_metadata(&path) else {
                break;
            };
            let wrong = match (found.is_symlink(), found.is_dir(), is_file) {
                (true, ..) => "is a symbolic link, and nothing is written through links below -o",
                (_, true, true) => "is a directory where a file is needed",
                (_, false, false) => "is a file where a directory is needed",
                (_, true, false) => {
                    directories.insert(path.clone());
                    continue;
                }
                (_, false, true) => continue,
            };
            let message = format!("{wrong} (remove it, or choose another -o)");
            return Err(Error::new(ErrorKind::Write, message).in_file(path));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_corpus::{Compression, Format};
    use std::os::unix::fs::symlink;

    fn refusal(paths: &[&str]) -> Option<String> {
        let source = |path: &&str| Source {
            path: path.into(),
            bytes: Some(1),
            format: Format::Jsonl,
            compression: Compression::None,
            copy: None,
            object: None,
        };
        let sources: Vec<Source> = paths.iter().map(source).collect();
        let refused = of_sources(&sources, "kept").err()?;
        assert_eq!(refused.kind(), ErrorKind::Parameter);
        Some(refused.to_string())
    }

    #[test]
    fn targets_are_below_the_output_directory() {
        for (path, target) in [
            ("a/b.jsonl", "a/b.jsonl"),
            ("/data/../x.gz", "data/x.gz"),
            ("../../up", "up"),
            ("-", "stdin"),
        ] {
            assert_eq!(inside(Path::new(path)), Path::new(target));
        }
    }

    #[test]
    fn two_sources_with_one_target_are_refused() {
        for [first, second] in [
            ["../a/x", "a/x"],
            ["/abs/x", "./abs/x"],
            ["-", "stdin"],
            ["../a", "a/b"],
            ["a/b/c", "../a"],
        ] {
            let refused = refusal(&[first, "other", second]).unwrap();
            assert!(
                refused.contains(first) && refused.contains(second),
                "{refused}"
            );
        }
        assert_eq!(refusal(&["a/x", "a/y", "b/x", "a.b", "ab/a/x"]), None);
    }

    #[test]
    fn nothing_is_written_through_links() {
        let (out, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let place = |name: &str| out.path().join(name);
        fs::create_dir_all(place("kept/a")).unwrap();
        fs::write(place("kept/file"), "x").unwrap();
        symlink(outside.path(), place("kept/link")).unwrap();
        symlink(outside.path().join("new"), place("kept/a/new")).unwrap();
        symlink("kept/file", place("summary.json")).unwrap();
        let checked = |name: &str| check(out.path(), &[name.into()]);
        for name in ["kept/a/x", "kept/b/x", "kept/file", "duplicates.jsonl"] {
            assert!(checked(name).is_ok(), "{name}");
        }
        for (name, what) in [
            ("kept/link/x", "kept/link: is a symbolic link"),
            ("kept/a/new", "kept/a/new: is a symbolic link"),
            ("summary.json", "is a symbolic link"),
            ("kept/file/x", "is a file where a directory is needed"),
            ("kept/a", "is a directory where a file is needed"),
        ] {
            let refused = checked(name).unwrap_err().to_string();
            assert!(refused.contains(what), "{refused}");
        }
    }
}
