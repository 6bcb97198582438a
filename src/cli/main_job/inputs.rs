//! The four kinds of input of the main job.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use simtool::corpus::not_plain_text;
use simtool::corpus::web::wide::Wide;
use simtool::engine::Progress;
use simtool::io::remote::{self, Client};
use simtool::io::{Input, InputFiles, SequentialReader};
use simtool::jobs::main_job;
use simtool::{Error, ErrorKind, Result, threads};

use crate::cli::screen::message;

/// The name of standard input.
const STANDARD_INPUT: &str = "-";
/// The interval of verification during a run. It takes about a microsecond for each input.
const INTERVAL: Duration = Duration::from_millis(50);
/// The most missing files that an error names besides the first.
const MAX_NAMED: usize = 10;
/// The bytes of a text that are examined to detect its character set.
const SAMPLE_BYTES: usize = 4096;

/// The paths of the inputs.
#[derive(Debug)]
pub struct InputPaths {
    pub articles: Vec<PathBuf>,
    pub samples: Vec<PathBuf>,
    pub stop_words: PathBuf,
    pub hash_table: PathBuf,
}

/// The opened inputs.
pub struct Inputs {
    articles: Vec<Input>,
    samples: Vec<Input>,
    stop_words: Input,
    hash_table: Input,
}

impl InputPaths {
    /// Checks that standard input is named once at most.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] otherwise.
    pub fn check(&self) -> Result<()> {
        let others = [&self.stop_words, &self.hash_table];
        let all = self.articles.iter().chain(&self.samples).chain(others);
        let times = all.filter(|path| is_standard_input(path)).count();
        if times > 1 {
            let message = format!("standard input (-) can be read once, not {times} times");
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        Ok(())
    }

    /// The files, which no output may replace.
    pub fn files(&self) -> InputFiles {
        let others = [&self.stop_words, &self.hash_table];
        let mut files = InputFiles::default();
        let all = self.articles.iter().chain(&self.samples).chain(others);
        all.for_each(|path| files.add(path));
        files
    }

    /// Refuses several inputs that are missing, with the names of all. One is left to be refused when
    /// it is opened.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    fn refuse_missing(&self) -> Result<()> {
        let is_missing = |path: &&PathBuf| {
            let is_file = !is_standard_input(path) && !remote::is_remote(path);
            let found = is_file.then(|| fs::metadata(path));
            found.is_some_and(|found| {
                found.is_err_and(|cause| cause.kind() == io::ErrorKind::NotFound)
            })
        };
        let small = [&self.hash_table, &self.stop_words];
        let all = self.articles.iter().chain(&self.samples).chain(small);
        let missing: Vec<&PathBuf> = all.filter(is_missing).collect();
        let [first, others @ ..] = missing.as_slice() else {
            return Ok(());
        };
        if others.is_empty() {
            return Ok(());
        }
        let named = others.iter().take(MAX_NAMED);
        let mut names: Vec<String> = named.map(|path| path.display().to_string()).collect();
        if others.len() > MAX_NAMED {
            names.push(format!("{} more", others.len() - MAX_NAMED));
        }
        let message = format!(
            "is missing, and so are {} (name a directory that has them with --dir, or the files with \
             --articles, --samples, --stopwords and --hashes)",
            names.join(", ")
        );
        Err(Error::new(ErrorKind::Read, message).in_file(first))
    }

    /// Opens all inputs; those that are not files, and objects, which `client` requests, are copied
    /// to `temporary`.
    ///
    /// # Errors
    /// Errors of [`Input::open`], [`Input::spool`] and [`remote::open`].
    pub fn open(&self, temporary: &Path, client: &Client) -> Result<Inputs> {
        self.refuse_missing()?;
        let open = |path: &PathBuf| {
            if is_standard_input(path) {
                return Input::spool("standard input", io::stdin(), temporary);
            }
            if remote::is_remote(path) {
                let name = remote::location(path)?.path();
                let reader = SequentialReader::new(remote::open(client, path)?.reader());
                return Input::spool(name, reader, temporary);
            }
            Input::open(path, temporary)
        };
        // The small ones are opened first: an error in their names is found before anything is
        // copied.
        let (stop_words, hash_table) = (open(&self.stop_words)?, open(&self.hash_table)?);
        Ok(Inputs {
            articles: self.articles.iter().map(open).collect::<Result<_>>()?,
            samples: self.samples.iter().map(open).collect::<Result<_>>()?,
            stop_words,
            hash_table,
        })
    }
}

impl Inputs {
    fn all(&self) -> impl Iterator<Item = &Input> {
        let others = [&self.stop_words, &self.hash_table];
        self.articles.iter().chain(&self.samples).chain(others)
    }

    /// Refuses articles and samples that are compressed or binary: their words would be noise.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] naming the first such file.
    pub fn refuse_binary(&self) -> Result<()> {
        for input in self.articles.iter().chain(&self.samples) {
            let bytes = input.bytes();
            let prefix = &bytes[..bytes.len().min(SAMPLE_BYTES)];
            if let Some(what) = not_plain_text(prefix) {
                let message = format!(
                    "is {what}, and this command reads plain text (convert it first, or take \
                     simtool match or dedup, which read compressed files and tables)"
                );
                return Err(Error::new(ErrorKind::Content, message).in_file(input.name()));
            }
        }
        Ok(())
    }

    /// Warns of files that are probably not what this command expects: JSON Lines, and texts with
    /// hardly any words. They are searched nevertheless.
    pub fn warn_of_doubtful_texts(&self) {
        for input in self.articles.iter().chain(&self.samples) {
            if let Some(what) = doubtful(input.bytes()) {
                message::warn(&format!("{}: {what}", input.name().display()));
            }
        }
    }

    /// The bytes for the job.
    pub fn bytes(&self) -> main_job::MainJobInputs<'_> {
        main_job::MainJobInputs {
            articles: self.articles.iter().map(Input::bytes).collect(),
            samples: self.samples.iter().map(Input::bytes).collect(),
            stop_words: self.stop_words.bytes(),
            hash_table: self.hash_table.bytes(),
        }
    }

    /// The result of a run over these inputs. If an input changes during it, that is the error, as
    /// it explains other failures. Errors in the hash table get its name.
    ///
    /// Inputs are also verified during the run. After a change, further results are wrong and may
    /// have any length (a truncated file reads as zeros, one page with a long id), so the run is
    /// stopped through `progress`.
    ///
    /// # Errors
    /// Errors of the run; [`ErrorKind::Changed`] as [`Input::verify`]; [`ErrorKind::Memory`] if the
    /// system does not start a thread.
    pub fn confirm<T>(&self, progress: &Progress, run: impl FnOnce() -> Result<T>) -> Result<T> {
        let (end, ended) = mpsc::channel::<()>();
        let verify = || self.all().try_for_each(Input::verify);
        let repeatedly = move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                verify().inspect_err(|_| progress.stop())?;
            }
            Ok(())
        };
        let (outcome, unchanged) = thread::scope(|scope| {
            let verifier = threads::start_scoped(scope, "verify", repeatedly)?;
            let outcome = run();
            drop(end);
            Ok((outcome, verifier.join()))
        })?;
        if let Ok(unchanged) = unchanged {
            unchanged?;
        }
        match outcome {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
            _ => verify()?,
        }
        outcome.map_err(|error| match (error.kind(), error.file()) {
            (ErrorKind::Content, None) => error.in_file(self.hash_table.name()),
            _ => error,
        })
    }
}

/// Why `text` is probably not meant, by its first bytes. Words are runs of ASCII letters, so a text
/// in UTF-16 or UTF-32 has hardly any, nor one with fewer ASCII letters than bytes outside ASCII.
fn doubtful(text: &[u8]) -> Option<String> {
    let sample = &text[..text.len().min(SAMPLE_BYTES)];
    if sample.starts_with(b"{\"") && !sample.contains(&b'\x0c') {
        return Some(
            "looks like JSON Lines, and is read as text whose pages are separated by form feeds \
             (simtool match and dedup read JSON Lines)"
                .to_owned(),
        );
    }
    if let Some(wide) = Wide::of(sample) {
        let name = wide.name();
        return Some(format!(
            "looks like {name}, and words are runs of ASCII letters here (convert it with iconv -f \
             {name} -t UTF-8)"
        ));
    }
    let count = |is_one: fn(&u8) -> bool| sample.iter().filter(|byte| is_one(byte)).count();
    let is_foreign = count(|byte| !byte.is_ascii()) > count(u8::is_ascii_alphabetic);
    is_foreign.then(|| {
        "begins with characters that are not ASCII, and words are runs of ASCII letters here \
         (simtool match and dedup know words of all scripts)"
            .to_owned()
    })
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}
