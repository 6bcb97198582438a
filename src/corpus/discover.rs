//! Which files are meant.

use super::reading::Reading;
use super::source::{Source, unreadable};
use crate::{Error, ErrorKind, Result};
use globset::GlobBuilder;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// The sources that `inputs`, and behind them the files named in `lists`, stand for.
///
/// An input is a file, a directory (all files in it and below, but for hidden ones), a pattern
/// such as `crawl/*.warc.gz` if there is no file of that name (`**` goes down any number of
/// directories), or `-` for standard input. A list holds the name of a file or a directory a line;
/// the list `-` is read from standard input. Inputs come in the order given, the files of a
/// directory or pattern in that of the bytes of their paths. Opens each file to find its format.
/// Streams are not touched: they [cannot be read twice](Source::is_stream).
///
/// # Errors
/// [`ErrorKind::Read`] if something cannot be read, naming it and the list that named it;
/// [`ErrorKind::Parameter`] if a pattern is none or stands for no file, or if a file is given
/// twice, under whatever names; [`ErrorKind::Content`] for a file that cannot be decompressed.
pub fn discover(inputs: &[PathBuf], lists: &[PathBuf], reading: &Reading) -> Result<Vec<Source>> {
    reading.check()?;
    let mut found = Found::default();
    for input in inputs {
        if input.as_os_str() != STANDARD_INPUT && is_missing(input) && is_pattern(input) {
            found.add_pattern(input)?;
        } else {
            found.add(input)?;
        }
    }
    for list in lists {
        found.add_list(list)?;
    }
    let sources = found.paths.into_iter().map(|(path, is_stream)| {
        if is_stream {
            Ok(Source::stream(path, reading))
        } else {
            Source::of_file(&path, reading)
        }
    });
    sources.collect()
}

/// What was found so far.
#[derive(Default)]
struct Found {
    /// Each path, and whether it is a stream.
    paths: Vec<(PathBuf, bool)>,
    /// The path that each file was given by, by the one that all its names lead to.
    known: HashMap<PathBuf, PathBuf>,
}

impl Found {
    /// Adds a file, a directory, or standard input.
    fn add(&mut self, path: &Path) -> Result<()> {
        if path.as_os_str() == STANDARD_INPUT {
            return self.add_one(path, PathBuf::from(STANDARD_INPUT), true);
        }
        let kind = fs::metadata(path).map_err(|cause| unreadable(path, cause))?;
        if kind.is_dir() {
            return self.add_sorted(files_below(path, usize::MAX)?);
        }
        self.add_file(path, !kind.is_file())
    }

    fn add_file(&mut self, path: &Path, is_stream: bool) -> Result<()> {
        let real = fs::canonicalize(path).map_err(|cause| unreadable(path, cause))?;
        self.add_one(path, real, is_stream)
    }

    fn add_one(&mut self, path: &Path, real: PathBuf, is_stream: bool) -> Result<()> {
        if let Some(before) = self.known.insert(real, path.to_owned()) {
            let message = if before == path {
                "is given twice: name it once".to_owned()
            } else {
                format!(
                    "is the file that is given as {} too: name it once",
                    before.display()
                )
            };
            return Err(Error::new(ErrorKind::Parameter, message).in_file(path));
        }
        self.paths.push((path.to_owned(), is_stream));
        Ok(())
    }

    fn add_sorted(&mut self, mut files: Vec<PathBuf>) -> Result<()> {
        files.sort_unstable_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
        files.iter().try_for_each(|file| self.add_file(file, false))
    }

    fn add_pattern(&mut self, pattern: &Path) -> Result<()> {
        let wrong = |message: String| Error::new(ErrorKind::Parameter, message).in_file(pattern);
        let text = pattern.to_str().ok_or_else(|| {
            wrong("is no file, and no pattern either because it is not UTF-8".into())
        })?;
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let glob = glob.map_err(|cause| {
            wrong(format!(
                "is no file, and no pattern either: {}",
                cause.kind()
            ))
        })?;
        let matcher = glob.compile_matcher();
        let root = fixed_part(pattern);
        let below = pattern.components().count() - root.components().count();
        let depth = if text.contains("**") {
            usize::MAX
        } else {
            below
        };
        let is_here = root.as_os_str().is_empty();
        let mut files = files_below(if is_here { Path::new(".") } else { &root }, depth)?;
        for file in files.iter_mut().filter(|_| is_here) {
            *file = file.strip_prefix(".").unwrap_or(file).to_owned();
        }
        files.retain(|file| matcher.is_match(file));
        if files.is_empty() {
            return Err(wrong(
                "no file is called like that (check the pattern)".into(),
            ));
        }
        self.add_sorted(files)
    }

    /// Adds what a list of names, one a line, names.
    fn add_list(&mut self, list: &Path) -> Result<()> {
        let names = read_list(list).map_err(|cause| unreadable(list, cause))?;
        for (number, line) in names.split(|&byte| byte == b'\n').enumerate() {
            let name = line.strip_suffix(b"\r").unwrap_or(line);
            if name.is_empty() {
                continue;
            }
            self.add(Path::new(OsStr::from_bytes(name)))
                .map_err(|error| named_in(list, number + 1, error))?;
        }
        Ok(())
    }
}

fn read_list(list: &Path) -> io::Result<Vec<u8>> {
    let mut names = Vec::new();
    if list.as_os_str() == STANDARD_INPUT {
        io::stdin().lock().read_to_end(&mut names)?;
    } else {
        File::open(list)?.read_to_end(&mut names)?;
    }
    Ok(names)
}

fn named_in(list: &Path, line: usize, error: Error) -> Error {
    let message = format!("line {line}: {error}");
    Error::new(error.kind(), message).in_file(list)
}

fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn is_pattern(path: &Path) -> bool {
    let special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'{');
    path.as_os_str().as_bytes().iter().any(special)
}

/// The directories at the start of a pattern that stand for themselves.
fn fixed_part(pattern: &Path) -> PathBuf {
    pattern
        .parent()
        .into_iter()
        .flat_map(Path::components)
        .take_while(|part| !is_pattern(part.as_ref()))
        .collect()
}

/// All files in a directory and below, at most `depth` names down, that are not hidden; in no
/// order.
fn files_below(directory: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let walk = WalkDir::new(directory).follow_links(true).max_depth(depth);
    let is_hidden = |name: &OsStr| name.as_bytes().starts_with(b".");
    let entries = walk
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry.file_name()));
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(directory).to_owned();
            let circle = || io::Error::other("a symbolic link leads back to a directory above it");
            unreadable(&path, error.into_io_error().unwrap_or_else(circle))
        })?;
        if entry.file_type().is_file() {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::source::Format;

    fn directory(files: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for file in files {
            let path = directory.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"{}\n").unwrap();
        }
        directory
    }

    fn found(inputs: &[&str], root: &Path) -> Vec<String> {
        let inputs: Vec<_> = inputs.iter().map(|input| root.join(input)).collect();
        let sources = discover(&inputs, &[], &Reading::default()).unwrap();
        let name = |source: &Source| {
            let name = source.path.strip_prefix(root).unwrap();
            name.to_str().unwrap().to_owned()
        };
        sources.iter().map(name).collect()
    }

    fn refused(inputs: &[&Path]) -> Error {
        let inputs: Vec<_> = inputs.iter().map(|input| input.to_path_buf()).collect();
        discover(&inputs, &[], &Reading::default()).unwrap_err()
    }

    #[test]
    fn directories_and_patterns_are_sorted_and_inputs_are_not() {
        let files = ["b/z", "b.txt", "b/a/x", "a", ".hidden", "b/.h/x", "b[1]"];
        let directory = directory(&files);
        let root = directory.path();
        assert_eq!(found(&[""], root), ["a", "b.txt", "b/a/x", "b/z", "b[1]"]);
        assert_eq!(found(&["b", "a"], root), ["b/a/x", "b/z", "a"]);
        assert_eq!(found(&["*"], root), ["a", "b.txt", "b[1]"]);
        assert_eq!(found(&["b/**/*", "b.???"], root), ["b/a/x", "b/z", "b.txt"]);
        assert_eq!(found(&["b[1]", "[a]"], root), ["b[1]", "a"]);
    }

    #[test]
    fn what_is_missing_or_given_twice_is_named() {
        let directory = directory(&["a", "d/b"]);
        let root = directory.path();
        let error = refused(&[&root.join("a"), &root.join("d/../a")]);
        assert_eq!(error.kind(), ErrorKind::Parameter);
        assert!(error.to_string().contains("d/../a"), "{error}");
        assert_eq!(
            refused(&[Path::new("-"), Path::new("-")]).kind(),
            ErrorKind::Parameter
        );
        assert_eq!(refused(&[&root.join("*.gz")]).kind(), ErrorKind::Parameter);
        assert_eq!(refused(&[&root.join("[")]).kind(), ErrorKind::Parameter);
        assert_eq!(refused(&[&root.join("no")]).kind(), ErrorKind::Read);
        let error = refused(&[&root.join("no/*.gz")]);
        assert_eq!(error.kind(), ErrorKind::Read);
        let text = error.to_string();
        assert!(
            text.contains("/no: cannot be read (check the spelling of its name): No such file"),
            "{text}"
        );
        std::os::unix::fs::symlink(".", root.join("d/circle")).unwrap();
        let text = refused(&[root]).to_string();
        assert!(
            text.ends_with("cannot be read: a symbolic link leads back to a directory above it"),
            "{text}"
        );
    }

    #[test]
    fn lists_name_files_and_are_named_when_they_are_wrong() {
        let directory = directory(&["a", "d/b"]);
        let root = directory.path();
        let list = root.join("list");
        let names = format!("{0}/d\r\n\n{0}/a\n", root.display());
        fs::write(&list, &names).unwrap();
        let sources = discover(&[], std::slice::from_ref(&list), &Reading::default()).unwrap();
        assert_eq!(sources.len(), 2);
        assert!(sources[0].path.ends_with("d/b"));
        assert_eq!(sources[1].format, Format::Jsonl);
        fs::write(&list, names + "/no/such/file").unwrap();
        let error = discover(&[], std::slice::from_ref(&list), &Reading::default()).unwrap_err();
        assert_eq!(error.file(), Some(&*list));
        assert!(
            error.to_string().contains("line 4: /no/such/file"),
            "{error}"
        );
    }

    #[test]
    fn standard_input_is_a_stream() {
        let sources = discover(&["-".into()], &[], &Reading::default()).unwrap();
        assert!(sources[0].is_stream());
        let opened = crate::corpus::ChunkReader::open(
            &sources[0],
            0,
            &Reading::default(),
            crate::corpus::Position::default(),
        );
        assert_eq!(
            opened.err().map(|error| error.kind()),
            Some(ErrorKind::Read)
        );
    }
}
