//! The search for input files: names, directories, patterns and lists.

use super::companions;
use super::file_filter::{FileFilter, FoundFile, Listing, compare_bytes, directory_id};
use super::identities::{Identities, Identity};
use super::left_out::{LeftOut, LeftOutReason};
use super::lists;
use super::remote_files::{self, RemoteFiles, RemoteInput, RequestedInput, RequestsAhead};
use crate::detect::{Detected, Opened, unread_error};
use crate::reading::{FileChoice, Reading};
use crate::source::{STANDARD_INPUT, Source};
use crate::{Error, ErrorKind, Result};
use globset::GlobBuilder;
use simtool_files::input::is_sizeless_stream;
use simtool_files::remote;
use simtool_files::{InputPath, read_error};
use simtool_objects::Client;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The files that inputs refer to.
#[derive(Debug)]
pub struct Discovery {
    /// The files to read.
    pub sources: Vec<Source>,
    /// Files found in directories or by patterns that are not read.
    pub left_out: Vec<LeftOut>,
    /// The names in inputs or lists of the directory [`FileChoice::except_directory`] itself, from
    /// which nothing is read.
    pub excepted: Vec<PathBuf>,
    /// The patterns of [`Reading::files`] that no file matched.
    pub unmatched: FileChoice,
}

/// How far a discovery is, for observers in other threads.
#[derive(Debug, Default)]
pub struct DiscoveryProgress {
    /// The number of files found, those that are not read included.
    pub found: AtomicU64,
    /// The number of files that were opened to detect their format.
    pub opened: AtomicU64,
}

/// The sources of [`Discovery::of`], with a client of their own.
///
/// # Errors
/// Errors of [`Discovery::of`].
pub fn discover(inputs: &[PathBuf], lists: &[PathBuf], reading: &Reading) -> Result<Vec<Source>> {
    let progress = DiscoveryProgress::default();
    Ok(Discovery::of(inputs, lists, reading, &Client::new(), &progress)?.sources)
}

impl Discovery {
    /// The sources of `inputs`, followed by those of the files named in `lists`.
    ///
    /// An input is a file, a directory (all its files, recursively, except hidden ones), a pattern
    /// such as `crawl/*.warc.gz` if no file has that name (`**` matches any number of directories),
    /// or `-` for standard input. Objects of servers have names such as `s3://bucket/key`; a prefix
    /// and a slash is a directory. A list has the name of one input per line, and may be compressed
    /// or on a server; the list `-` is read from standard input. Inputs keep their order; the files
    /// of a directory or pattern are in the order of the bytes of their paths. Each file is opened
    /// to detect its format. Streams are not opened, because they [cannot be read
    /// twice](Source::is_stream). A file with content but without a size (in `/proc`) is a stream.
    ///
    /// [`Reading::files`] filters the files. Of the files found in a directory or by a pattern, these
    /// are left out:
    /// * files that are not text, or whose compression is not supported;
    /// * files that are one document, such as a `README.md`, if their directory or one below it has
    ///   JSON Lines, Parquet, WARC or ARC files, and if no pattern of [`FileChoice::include`]
    ///   matches them;
    /// * hard or symbolic links to a file that is read already.
    ///
    /// The time and memory are in proportion to the number of files: besides the listing, a file
    /// takes the system calls to open, examine, read and close it once. Servers are asked by
    /// `client`. `progress` counts the files.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if a file, directory or list cannot be read; it names the file, and the
    /// list that names it; [`ErrorKind::Parameter`] if a pattern is invalid or matches no file, if
    /// a name is remote and [cannot be read](remote::check_input), or if a file is named twice,
    /// even by different names; [`ErrorKind::Content`] for a file that contradicts the given
    /// format, or that was named and is not text or has an unsupported compression, and if files
    /// were found but none is read.
    pub fn of(
        inputs: &[PathBuf],
        lists: &[PathBuf],
        reading: &Reading,
        client: &Client,
        progress: &DiscoveryProgress,
    ) -> Result<Discovery> {
        reading.check()?;
        let mut collector = Collector {
            filter: FileFilter::of(&reading.files)?,
            candidates: Vec::new(),
            left_out: Vec::new(),
            excepted: Vec::new(),
            groups: 0,
            line: None,
            client,
            progress,
        };
        for input in inputs {
            if stands_for_names(input) {
                collector.add_pattern(input)?;
            } else {
                collector.add(input, None)?;
            }
        }
        for (number, list) in (0..).zip(lists) {
            collector.add_list(list, number)?;
        }
        collector.detect_all(lists, reading)
    }
}

/// A file found, before it is opened.
struct Candidate {
    path: PathBuf,
    is_stream: bool,
    /// Whether it is a symbolic link.
    is_link: bool,
    /// The number of the directory or pattern in which it was found; `None` if it was named.
    group: Option<u32>,
    line: Option<ListLine>,
    /// Where it is, if it is on a server.
    remote: Option<RemoteInput>,
}

/// The number of a list, and of a line of it.
#[derive(Clone, Copy)]
struct ListLine {
    list: u32,
    line: u32,
}

impl Candidate {
    /// Its identity; `opened` is the open file, unless it is a stream.
    fn identity(&self, opened: Option<&Opened>, known: &mut Identities) -> Result<Identity> {
        if self.path.as_os_str() == STANDARD_INPUT || self.remote.is_some() {
            return Ok(Identities::of_name(&self.path));
        }
        let unreadable = |cause| read_error(&self.path, cause);
        let metadata = match opened.and_then(Opened::metadata) {
            Some(metadata) => metadata,
            None => &fs::metadata(&self.path).map_err(unreadable)?,
        };
        let identity = known.of(&self.path, self.is_link, metadata);
        identity.map_err(unreadable)
    }
}

/// Collects the files of the inputs.
struct Collector<'a> {
    candidates: Vec<Candidate>,
    filter: FileFilter,
    left_out: Vec<LeftOut>,
    excepted: Vec<PathBuf>,
    /// The number of directories and patterns so far.
    groups: u32,
    /// The line of a list that names the present input.
    line: Option<ListLine>,
    client: &'a Client,
    progress: &'a DiscoveryProgress,
}

impl Collector<'_> {
    /// Opens each file and detects its format, and leaves out those that are not read.
    fn detect_all(mut self, lists: &[PathBuf], reading: &Reading) -> Result<Discovery> {
        let candidates = std::mem::take(&mut self.candidates);
        let remote = candidates.iter().enumerate();
        let remote = remote.filter_map(|(place, one)| Some((place, one.remote.clone()?)));
        let mut ahead = RequestsAhead::new(self.client, remote);
        let mut identities = Identities::default();
        let mut sources = Vec::new();
        for (number, candidate) in candidates.iter().enumerate() {
            let path = &candidate.path;
            let opened = match (candidate.is_stream, ahead.take(number)?) {
                (true, _) => None,
                (false, None) => Some(Opened::of(path.into())?),
                (false, Some(requested)) => {
                    let object = Some(&requested.wait()?);
                    Some(Opened::of(InputPath { path, object })?)
                }
            };
            self.progress.opened.fetch_add(1, Ordering::Relaxed);
            let identity = candidate.identity(opened.as_ref(), &mut identities)?;
            if let Some(first) = identities.insert(identity, number as u32) {
                self.leave_known_out(candidate, &candidates[first as usize].path, lists)?;
                continue;
            }
            let Some(opened) = opened else {
                sources.push((Source::stream(path.clone(), reading), None));
                continue;
            };
            match (opened.detect(path.clone(), None, reading)?, candidate.group) {
                (
                    Detected {
                        unread: Some(why), ..
                    },
                    Some(_),
                ) => self.leave_out(path.clone(), LeftOutReason::Format, why),
                (detected, group) => sources.push((detected.checked()?.source()?, group)),
            }
        }
        if reading.format.is_none() {
            companions::leave_out(&mut sources, &self.filter, &mut self.left_out);
        }
        self.check_sources(sources.is_empty())?;
        // Hidden files are many and rarely of interest, so they come last.
        self.left_out
            .sort_by_key(|file| file.reason == LeftOutReason::Hidden);
        Ok(Discovery {
            sources: sources.into_iter().map(|(source, _)| source).collect(),
            left_out: self.left_out,
            excepted: self.excepted,
            unmatched: self.filter.unmatched(),
        })
    }

    /// Refuses inputs of which no file is read, unless there are no files.
    fn check_sources(&self, is_empty: bool) -> Result<()> {
        let first = |is_such: fn(LeftOutReason) -> bool| {
            let mut files = self.left_out.iter().filter(|_| is_empty);
            files.find(|file| is_such(file.reason))
        };
        if let Some(file) = first(|reason| reason == LeftOutReason::Unreadable) {
            return Err(Error::new(ErrorKind::Read, &*file.why).in_file(&file.path));
        }
        let is_file = |reason| matches!(reason, LeftOutReason::Format | LeftOutReason::Companion);
        match first(is_file) {
            Some(file) => Err(unread_error(&file.path, &file.why)),
            None => Ok(()),
        }
    }

    /// Leaves out a file that is read already, as `first`; refuses it if it was named.
    fn leave_known_out(
        &mut self,
        candidate: &Candidate,
        first: &Path,
        lists: &[PathBuf],
    ) -> Result<()> {
        let path = &candidate.path;
        if candidate.group.is_some() {
            if first != path {
                let why = format!("the same file as {}", first.display());
                self.leave_out(path.clone(), LeftOutReason::SameFile, why);
            }
            return Ok(());
        }
        let message = if first == path {
            "is given twice: name it once".to_owned()
        } else {
            format!("is the same file as {}: name it once", first.display())
        };
        let error = Error::new(ErrorKind::Parameter, message).in_file(path);
        Err(match candidate.line {
            Some(ListLine { list, line }) => named_in(&lists[list as usize], line, error),
            None => error,
        })
    }

    fn leave_out(&mut self, path: PathBuf, reason: LeftOutReason, why: String) {
        self.left_out.push(LeftOut { path, reason, why });
    }

    /// Leaves out directories that cannot be read. Leaves out links that cannot be followed, named
    /// pipes, sockets and devices, if `is_meant` returns `true` for them.
    fn leave_unreadable_out(
        &mut self,
        unreadable: Vec<(PathBuf, io::Error)>,
        is_meant: impl Fn(&Path) -> bool,
    ) {
        for (path, cause) in unreadable {
            let filter = &self.filter;
            let found = fs::symlink_metadata(&path).ok();
            let is_link = found.is_some_and(|found| found.is_symlink());
            let is_special = cause.kind() == io::ErrorKind::Unsupported;
            let is_chosen = match is_link || is_special {
                true => filter.accepts(&path) && is_meant(&path),
                false => !filter.excludes(&path),
            };
            if !is_chosen {
                continue;
            }
            let why = match (is_special, is_link) {
                (true, _) => cause.to_string(),
                (false, true) => format!("a symbolic link that cannot be followed: {cause}"),
                (false, false) => format!("cannot be read: {cause}"),
            };
            self.leave_out(path, LeftOutReason::Unreadable, why);
        }
    }

    /// Adds a file, a directory, or standard input; an object may have been `requested`.
    fn add(&mut self, path: &Path, requested: Option<RequestedInput>) -> Result<()> {
        if path.as_os_str() == STANDARD_INPUT {
            self.add_file(FoundFile::local(path.to_owned(), false), true, None);
            return Ok(());
        }
        if remote::is_remote(path) {
            return self.add_remote(path, requested);
        }
        let unreadable = |cause| read_error(path, cause);
        let named = fs::symlink_metadata(path).map_err(unreadable)?;
        let is_link = named.is_symlink();
        let kind = match is_link {
            true => fs::metadata(path).map_err(unreadable)?,
            false => named,
        };
        if kind.is_dir() {
            if self.filter.except == Some(directory_id(&kind)) {
                self.excepted.push(path.to_owned());
            }
            let Listing {
                files,
                hidden,
                unreadable,
            } = self.filter.list(path, usize::MAX, &self.progress.found)?;
            if files.is_empty() {
                let why = "a directory without files".to_owned();
                self.leave_out(path.to_owned(), LeftOutReason::Empty, why);
            }
            self.leave_unreadable_out(unreadable, |_| true);
            self.leave_hidden_out(hidden);
            self.add_sorted(files);
            return Ok(());
        }
        let is_stream = if kind.is_file() && kind.len() == 0 {
            let file = File::open(path).map_err(unreadable)?;
            is_sizeless_stream(path, &file, &kind)?
        } else {
            !kind.is_file()
        };
        self.add_named(FoundFile::local(path.to_owned(), is_link), is_stream);
        Ok(())
    }

    /// Adds an object of a server, those below a prefix, or those that match a pattern.
    fn add_remote(&mut self, path: &Path, requested: Option<RequestedInput>) -> Result<()> {
        match remote_files::find(self.client, path, requested)? {
            RemoteFiles::One(input) => self.add_named(FoundFile::remote(input), false),
            RemoteFiles::Several { files, hidden } => {
                self.progress
                    .found
                    .fetch_add(files.len() as u64, Ordering::Relaxed);
                self.leave_hidden_out(hidden);
                let inputs = files.into_iter().map(RemoteInput::Open);
                self.add_sorted(inputs.map(FoundFile::remote).collect());
            }
        }
        Ok(())
    }

    fn leave_hidden_out(&mut self, hidden: Vec<PathBuf>) {
        for path in hidden {
            if !self.filter.excludes(&path) {
                self.leave_out(path, LeftOutReason::Hidden, "hidden".to_owned());
            }
        }
    }

    /// Adds a file that was named, unless it is excluded.
    fn add_named(&mut self, file: FoundFile, is_stream: bool) {
        self.progress.found.fetch_add(1, Ordering::Relaxed);
        if !self.filter.excludes(&file.path) {
            self.add_file(file, is_stream, None);
        }
    }

    fn add_file(&mut self, file: FoundFile, is_stream: bool, group: Option<u32>) {
        self.candidates.push(Candidate {
            path: file.path,
            is_stream,
            is_link: file.is_link,
            group,
            line: self.line,
            remote: file.remote,
        });
    }

    fn add_sorted(&mut self, mut files: Vec<FoundFile>) {
        files.sort_unstable_by(|a, b| compare_bytes(&a.path, &b.path));
        let group = Some(self.groups);
        self.groups += 1;
        for file in files {
            if self.filter.accepts(&file.path) {
                self.add_file(file, false, group);
            }
        }
    }

    fn add_pattern(&mut self, pattern: &Path) -> Result<()> {
        let wrong = |message: String| Error::new(ErrorKind::Parameter, message).in_file(pattern);
        let text = pattern
            .to_str()
            .ok_or_else(|| wrong("is neither a file nor a pattern: it is not UTF-8".into()))?;
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let glob = glob.map_err(|cause| {
            wrong(format!(
                "is neither a file nor a valid pattern: {}",
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
        let top = if is_here { Path::new(".") } else { &root };
        // A pattern does not match hidden files.
        let Listing {
            mut files,
            mut unreadable,
            ..
        } = self.filter.list(top, depth, &self.progress.found)?;
        let unreadable_names = unreadable.iter_mut().map(|(path, _)| path);
        let names = files.iter_mut().map(|file| &mut file.path);
        for name in names.chain(unreadable_names).filter(|_| is_here) {
            *name = name.strip_prefix(".").unwrap_or(name).to_owned();
        }
        files.retain(|file| matcher.is_match(&file.path));
        self.leave_unreadable_out(unreadable, |link| matcher.is_match(link));
        if files.is_empty() {
            return Err(wrong("matches no file (check the pattern)".into()));
        }
        self.add_sorted(files);
        Ok(())
    }

    /// Adds the files and directories named in the list `list`, one per line; it is the list with the
    /// number `number`.
    fn add_list(&mut self, list: &Path, number: u32) -> Result<()> {
        let names = lists::names(self.client, list, self.filter.take.as_ref())?;
        let remote = names.iter().enumerate();
        let remote = remote
            .filter_map(|(place, named)| Some((place, remote_files::may_be_prefix(&named.path)?)));
        let mut ahead = RequestsAhead::new(self.client, remote);
        for (place, named) in names.iter().enumerate() {
            let requested = ahead.take(place)?;
            let line = named.line;
            self.line = Some(ListLine { list: number, line });
            let added = self.add(&named.path, requested);
            added.map_err(|error| named_in(list, line, error))?;
        }
        self.line = None;
        Ok(())
    }
}

fn named_in(list: &Path, line: u32, error: Error) -> Error {
    let message = format!("line {line}: {error}");
    Error::new(error.kind(), message).in_file(list)
}

fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Whether an input is a pattern of local names. A file with such a name comes first.
fn stands_for_names(input: &Path) -> bool {
    is_pattern(input)
        && !remote::is_remote(input)
        && input.as_os_str() != STANDARD_INPUT
        && is_missing(input)
}

/// The file or directory that an input names; of a pattern, the directory in which names are compared
/// with it.
pub fn searched(input: &Path) -> PathBuf {
    match stands_for_names(input) {
        true => fixed_part(input),
        false => input.to_owned(),
    }
}

fn is_pattern(path: &Path) -> bool {
    let special = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'{');
    path.as_os_str().as_bytes().iter().any(special)
}

/// The directories at the start of a pattern that have no wildcards.
fn fixed_part(pattern: &Path) -> PathBuf {
    pattern
        .parent()
        .into_iter()
        .flat_map(Path::components)
        .take_while(|part| !is_pattern(part.as_ref()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileChoice, Format};

    fn directory(files: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for file in files {
            let path = directory.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"{\"text\": 1}\n").unwrap();
        }
        directory
    }

    fn of(inputs: &[PathBuf], reading: &Reading) -> Result<Discovery> {
        Discovery::of(
            inputs,
            &[],
            reading,
            &Client::new(),
            &DiscoveryProgress::default(),
        )
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

    /// Promise (Deduplication): In a directory with data files, only …
    #[test]
    fn other_files_next_to_data_files_are_left_out() {
        let directory = directory(&["d/data.jsonl", "t/b.txt"]);
        let root = directory.path();
        for (name, content) in [
            ("d/README.md", &b"# A data set"[..]),
            ("d/page.html", b"<html>a"),
            ("d/photo.png", b"\x89PNG\r\n\x1a\n"),
            ("d/infos.json", b"{\n \"a\": 1}"),
            ("t/b.txt", b"text"),
            ("t/README.md", b"text"),
            ("t/pages", b"one\n\x0ctwo\n"),
        ] {
            fs::write(root.join(name), content).unwrap();
        }
        assert_eq!(
            found(&["d", "t"], root),
            ["d/data.jsonl", "t/README.md", "t/b.txt", "t/pages"]
        );
        assert_eq!(found(&["d/README.md"], root), ["d/README.md"]);
        // Where nearly all files are texts, a data file makes no data set of them.
        for number in 0..25 {
            fs::create_dir_all(root.join("n/deep")).unwrap();
            fs::write(root.join(format!("n/{number:02}.txt")), b"text").unwrap();
        }
        fs::write(root.join("n/deep/a.jsonl"), b"{\"text\":\"a\"}\n").unwrap();
        fs::write(root.join("n/deep/b.jsonl"), b"{\"text\":\"b\"}\n").unwrap();
        assert_eq!(found(&["n"], root).len(), 27);
        fs::write(root.join("n/deep/c.jsonl"), "{\"text\":\"c\"}\n".repeat(10)).unwrap();
        assert_eq!(
            found(&["n"], root),
            ["n/deep/a.jsonl", "n/deep/b.jsonl", "n/deep/c.jsonl"]
        );
        fs::remove_dir_all(root.join("n")).unwrap();
        // In a tree, files next to or above data files are left out.
        fs::write(root.join("README.md"), b"text").unwrap();
        let all = ["d/data.jsonl", "t/README.md", "t/b.txt", "t/pages"];
        assert_eq!(found(&[""], root), all);
        let discovered = |input: &str, include: &[&str], exclude: &[&str]| {
            let own = |globs: &[&str]| globs.iter().map(|&glob| glob.to_owned()).collect();
            let reading = Reading {
                files: FileChoice {
                    include: own(include),
                    exclude: own(exclude),
                    except_directory: None,
                    take: None,
                },
                ..Reading::default()
            };
            let found = of(&[root.join(input)], &reading).unwrap();
            let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
            let sources = found.sources.iter().map(|source| name(&source.path));
            let left_out = found.left_out.iter().map(|file| name(&file.path));
            (sources.collect::<Vec<_>>(), left_out.collect::<Vec<_>>())
        };
        let (sources, left_out) = discovered("d", &[], &[]);
        assert_eq!(sources, ["data.jsonl"]);
        assert_eq!(
            left_out,
            ["infos.json", "photo.png", "README.md", "page.html"]
        );
        let (sources, left_out) = discovered("d", &["*.jsonl", "*.md"], &[]);
        assert_eq!(sources, ["README.md", "data.jsonl"]);
        assert!(left_out.is_empty());
        assert_eq!(discovered("t", &[], &["README*"]).0, ["b.txt", "pages"]);
        assert_eq!(discovered("t", &[], &["**/t/*"]).0, [""; 0]);
        assert_eq!(discovered("t/b.txt", &["*.jsonl"], &[]).0, ["b.txt"]);
        // An input of which every file is left out is an error.
        let error = refused(&[&root.join("d/*.p*")]);
        assert!(error.to_string().contains("PNG"), "{error}");
    }

    /// Promise (Deduplication): A file with several names, by hard or symbolic links, is read once
    #[test]
    fn a_file_with_several_names_is_read_once() {
        let directory = directory(&["a", "b", "d/e", "f", ".h", ".git/x", "d/.i"]);
        let root = directory.path();
        fs::hard_link(root.join("a"), root.join("d/a")).unwrap();
        std::os::unix::fs::symlink("b", root.join("c")).unwrap();
        let discovered = |inputs: &[&str]| {
            let inputs: Vec<_> = inputs.iter().map(|input| root.join(input)).collect();
            let found = of(&inputs, &Reading::default())?;
            let name = |path: &Path| {
                path.strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned()
            };
            let sources: Vec<_> = found
                .sources
                .iter()
                .map(|source| name(&source.path))
                .collect();
            let left_out = found.left_out.iter();
            let left_out: Vec<_> = left_out
                .map(|file| (name(&file.path), file.reason.name(), file.why.clone()))
                .collect();
            Ok::<_, Error>((sources, left_out))
        };
        let same = |path: &str, of: &str| {
            let why = format!("the same file as {}", root.join(of).display());
            (path.to_owned(), "same_file", why)
        };
        let hidden = |path: &str| (path.to_owned(), "hidden", "hidden".to_owned());
        let (sources, left_out) = discovered(&[""]).unwrap();
        assert_eq!(sources, ["a", "b", "d/e", "f"]);
        let expected = [
            same("c", "b"),
            same("d/a", "a"),
            hidden(".git"),
            hidden(".h"),
            hidden("d/.i"),
        ];
        assert_eq!(left_out, expected);
        // Other names of a named file are left out in a directory, and refused if named too.
        let (sources, left_out) = discovered(&["a", "d"]).unwrap();
        assert_eq!(sources, ["a", "d/e"]);
        assert_eq!(left_out, [same("d/a", "a"), hidden("d/.i")]);
        assert_eq!(discovered(&["f", "*"]).unwrap().0, ["f", "a", "b"]);
        for twice in [["a", "d/a"], ["d", "a"], ["b", "c"]] {
            let error = discovered(&twice).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            assert!(error.to_string().contains("name it once"), "{error}");
        }
    }

    #[test]
    fn files_that_are_not_read_are_refused_if_named() {
        let directory = directory(&["a"]);
        let root = directory.path();
        fs::write(root.join("a.png"), b"\x89PNG\r\n\x1a\n").unwrap();
        fs::write(root.join("a.csv"), b"id,text\n1,a\n").unwrap();
        for name in ["a.png", "a.csv"] {
            let error = refused(&[&root.join(name)]);
            assert_eq!(error.kind(), ErrorKind::Content);
            assert!(error.to_string().contains("--exclude"), "{error}");
        }
        let error = refused(&[Path::new("ftp://host/x")]);
        assert!(error.to_string().contains("download"), "{error}");
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

    /// Promise (Deduplication): A symbolic link to a missing target or in a circle, below a
    /// directory or a pattern, is left out with the reason; on the command line it is an error
    #[test]
    fn errors_name_missing_and_repeated_inputs() {
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
        std::os::unix::fs::symlink("nowhere", root.join("d/dangling")).unwrap();
        std::os::unix::fs::symlink("itself", root.join("d/itself")).unwrap();
        let left_out = |inputs: &[&Path], files: FileChoice| {
            let inputs: Vec<PathBuf> = inputs.iter().map(|&input| input.to_owned()).collect();
            let reading = Reading {
                files,
                ..Reading::default()
            };
            let found = of(&inputs, &reading).unwrap();
            assert!(!found.sources.is_empty());
            let named = |file: &LeftOut| {
                let name = file.path.strip_prefix(root).unwrap().display().to_string();
                (name, file.reason.name(), file.why.clone())
            };
            let files = found.left_out.iter().map(named);
            let unreadable = files.filter(|(_, reason, _)| *reason == "unreadable");
            unreadable
                .map(|(name, _, why)| (name, why))
                .collect::<Vec<_>>()
        };
        let found = left_out(&[root], FileChoice::default());
        let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["d/circle", "d/dangling", "d/itself"]);
        assert!(
            found[0].1.contains("leads back to a directory above"),
            "{found:?}"
        );
        assert!(found[1].1.contains("No such file"), "{found:?}");
        let excluded = FileChoice {
            exclude: vec!["dang*".to_owned(), "circle".to_owned()],
            ..FileChoice::default()
        };
        assert_eq!(left_out(&[root], excluded).len(), 1);
        // Only links that a pattern matches are reported.
        let pattern = root.join("**/[ab]");
        assert_eq!(left_out(&[&pattern], FileChoice::default()), []);
        let pattern = root.join("**/*[ag]");
        assert_eq!(left_out(&[&pattern], FileChoice::default()).len(), 1);
        // A named link that cannot be followed is an error, and so is a directory with no other files.
        assert_eq!(refused(&[&root.join("d/dangling")]).kind(), ErrorKind::Read);
        fs::create_dir(root.join("only")).unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("only/dangling")).unwrap();
        assert_eq!(refused(&[&root.join("only")]).kind(), ErrorKind::Read);
    }

    #[test]
    fn errors_name_the_list_and_line() {
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
        let opened = crate::ChunkReader::open(
            &sources[0],
            0,
            &Reading::default(),
            crate::Position::default(),
        );
        assert_eq!(
            opened.err().map(|error| error.kind()),
            Some(ErrorKind::Read)
        );
    }
}
