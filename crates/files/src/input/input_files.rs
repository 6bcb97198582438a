//! The files that a command reads, which its outputs must not replace.

use super::remote;
use crate::{Error, ErrorKind, Result};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of standard input, and of standard output.
const STREAM: &str = "-";
/// An output that several flags may share.
const NULL_DEVICE: &str = "/dev/null";
/// The maximum number of symbolic links that Linux follows in one path.
const MAX_LINKS: usize = 40;

/// The files that a command reads and those that it writes.
///
/// Every input must be added before the first output. A file is identified by its device and inode
/// number, so that other spellings, symbolic links and hard links are recognised. FIFOs, terminals
/// and other devices may be both read and written.
///
/// The metadata of inputs are read only if there is a file with the name of an output: an input costs no
/// system call before.
#[derive(Debug, Default)]
pub struct InputFiles {
    /// The path of each input, and its name if that differs.
    inputs: Vec<(PathBuf, Option<&'static str>)>,
    /// The number of each input, by device and inode number; made when it is needed.
    by_identity: OnceCell<HashMap<(u64, u64), usize>>,
    /// Directories whose files the command manages: the real path and the name of each.
    directories: Vec<(PathBuf, PathBuf)>,
    /// The flag that names each output, by its real path.
    outputs: HashMap<PathBuf, String>,
}

impl InputFiles {
    /// Adds an input; `-` is standard input. A path that is not a regular file has no effect.
    pub fn add(&mut self, input: &Path) {
        self.inputs.push(match input.as_os_str() == STREAM {
            true => ("/dev/stdin".into(), Some("standard input")),
            false => (input.to_owned(), None),
        });
        self.by_identity = OnceCell::new();
    }

    /// Adds a directory, such as that of an index, which must not contain an output.
    pub fn add_directory(&mut self, directory: &Path) {
        let real = real_path(directory, MAX_LINKS);
        self.directories.push((real, directory.to_owned()));
    }

    /// The name of the input that is the file at `path`, if one is.
    pub fn input_at(&self, path: &Path) -> Option<&Path> {
        let wanted = identity(path)?;
        let by_identity = self.by_identity.get_or_init(|| {
            let inputs = self.inputs.iter().enumerate();
            let known = inputs.filter_map(|(number, (path, _))| Some((identity(path)?, number)));
            known.collect()
        });
        let (path, name) = self.inputs.get(*by_identity.get(&wanted)?)?;
        Some(name.map_or(path.as_path(), Path::new))
    }

    /// Adds the output that `flag` names; `-` is standard output.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if `output` is [remote](remote::refuse_output), is an input, lies
    /// in an added directory, or is another output.
    pub fn claim(&mut self, output: &Path, flag: &str) -> Result<()> {
        let (path, name) = match output.as_os_str() == STREAM {
            true => (Path::new("/dev/stdout"), Path::new("standard output")),
            false => (output, output),
        };
        remote::refuse_output(path)?;
        let refuse = |message: String| {
            let error = Error::new(ErrorKind::Parameter, message);
            Err(error.in_file(name))
        };
        if let Some(input) = self.input_at(path) {
            return refuse(format!(
                "is the input {} as well (name another place with {flag})",
                input.display()
            ));
        }
        let real = real_path(path, MAX_LINKS);
        let mut around = self.directories.iter();
        if let Some((_, directory)) = around.find(|(directory, _)| real.starts_with(directory)) {
            return refuse(format!(
                "is inside {}, whose files the command needs (name another place with {flag})",
                directory.display()
            ));
        }
        match self.outputs.insert(real, flag.to_owned()) {
            Some(other) if path != Path::new(NULL_DEVICE) => {
                refuse(format!("{other} and {flag} are the same place (name two)"))
            }
            _ => Ok(()),
        }
    }
}

/// The device and inode number of the regular file at `path`.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((found.dev(), found.ino()))
}

/// The real path of `path`, which need not exist.
fn real_path(path: &Path, max_links: usize) -> PathBuf {
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    let parent = match path.parent() {
        None => return path.to_owned(),
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
    };
    let parent = real_path(parent, max_links);
    match (fs::read_link(path), path.file_name()) {
        (Ok(link), _) if max_links > 0 => real_path(&parent.join(link), max_links - 1),
        (_, name) => parent.join(name.map_or_else(OsString::new, OsString::from)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Creates a directory with `input`, `other`, an index and links.
    fn directory() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        fs::write(place("input"), "words").unwrap();
        fs::write(place("other"), "words").unwrap();
        fs::hard_link(place("input"), place("hard")).unwrap();
        symlink("input", place("soft")).unwrap();
        symlink(".", place("folder")).unwrap();
        fs::create_dir(place("index")).unwrap();
        symlink("index/new", place("dangling")).unwrap();
        symlink("circle", place("circle")).unwrap();
        directory
    }

    fn refusal(directory: &Path, outputs: &[&str]) -> Option<String> {
        let mut files = InputFiles::default();
        files.add(&directory.join("input"));
        files.add(&directory.join("missing"));
        files.add_directory(&directory.join("index"));
        let outputs = outputs.iter().map(|output| directory.join(output));
        let mut claims = outputs.map(|output| files.claim(&output, "--output"));
        claims.find_map(|claim| claim.err().map(|error| error.to_string()))
    }

    #[test]
    fn an_input_is_refused_under_every_name() {
        let directory = directory();
        for output in [
            "input",
            "./input",
            "folder/input",
            "folder/./folder/soft",
            "soft",
            "hard",
        ] {
            let refusal = refusal(directory.path(), &[output]).unwrap();
            assert!(refusal.contains("is the input"), "{refusal}");
            assert!(refusal.contains("with --output"), "{refusal}");
        }
        for output in ["other", "missing", "folder", "no/such/directory", "circle"] {
            assert_eq!(refusal(directory.path(), &[output]), None, "{output}");
        }
    }

    #[test]
    fn nothing_is_written_into_a_directory_that_is_needed() {
        let directory = directory();
        for output in ["index/a", "index/new/a", "folder/index/a", "dangling"] {
            let refusal = refusal(directory.path(), &[output]).unwrap();
            assert!(refusal.contains("is inside"), "{refusal}");
        }
        assert_eq!(refusal(directory.path(), &["index-2/a"]), None);
    }

    #[test]
    fn outputs_are_different_places() {
        let directory = directory();
        for outputs in [
            ["new", "folder/new"],
            ["no/a", "no/./a"],
            ["other", "other"],
        ] {
            let refusal = refusal(directory.path(), &outputs).unwrap();
            assert!(refusal.contains("the same place"), "{refusal}");
        }
        assert_eq!(refusal(directory.path(), &["new", "other"]), None);
        let mut files = InputFiles::default();
        files.claim(Path::new(NULL_DEVICE), "--output").unwrap();
        files.claim(Path::new(NULL_DEVICE), "--skipped").unwrap();
        files.claim(Path::new(STREAM), "--output").unwrap();
        let twice = files.claim(Path::new("/dev/stdout"), "--skipped");
        assert!(twice.is_err());
    }

    #[test]
    fn devices_and_fifos_are_read_and_written_under_one_name() {
        let mut files = InputFiles::default();
        files.add(Path::new(NULL_DEVICE));
        files.claim(Path::new(NULL_DEVICE), "--output").unwrap();
    }
}
