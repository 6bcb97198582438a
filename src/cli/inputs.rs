//! The four kinds of input, opened.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, Builder, ScopedJoinHandle};
use std::time::Duration;

use simtool::io::{Input, InputFiles};
use simtool::run::Progress;
use simtool::run::matching;
use simtool::{Error, ErrorKind, Result};

/// The name that stands for standard input.
const STANDARD_INPUT: &str = "-";
/// How often inputs are verified during a run; it takes about a microsecond for each.
const INTERVAL: Duration = Duration::from_millis(50);

/// Where the inputs are.
#[derive(Debug)]
pub struct Sources {
    pub articles: Vec<PathBuf>,
    pub samples: Vec<PathBuf>,
    pub stop_words: PathBuf,
    pub hash_table: PathBuf,
}

/// The inputs, opened.
pub struct Inputs {
    articles: Vec<Input>,
    samples: Vec<Input>,
    stop_words: Input,
    hash_table: Input,
}

impl Sources {
    /// Checks that standard input is asked for once at most.
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

    /// The files, so that no output replaces them.
    pub fn files(&self) -> InputFiles {
        let others = [&self.stop_words, &self.hash_table];
        let mut files = InputFiles::default();
        let all = self.articles.iter().chain(&self.samples).chain(others);
        all.for_each(|path| files.add(path));
        files
    }

    /// Opens all; what is not a file is copied into `temporary`.
    ///
    /// # Errors
    /// Those of [`Input::open`] and [`Input::spool`].
    pub fn open(&self, temporary: &Path) -> Result<Inputs> {
        let open = |path: &PathBuf| match is_standard_input(path) {
            true => Input::spool("standard input", io::stdin(), temporary),
            false => Input::open(path, temporary),
        };
        // The small ones first: a mistake in their names shows before anything is copied.
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

    /// The bytes, as the job takes them.
    pub fn bytes(&self) -> matching::Inputs<'_> {
        matching::Inputs {
            articles: self.articles.iter().map(Input::bytes).collect(),
            samples: self.samples.iter().map(Input::bytes).collect(),
            stop_words: self.stop_words.bytes(),
            hash_table: self.hash_table.bytes(),
        }
    }

    /// What comes of a run over these inputs: its own answer, unless an input changes meanwhile,
    /// which explains any other failure. Errors in the hash table get its name.
    ///
    /// Inputs are verified while the run goes on, too. Where one has changed, all that follows is
    /// wrong and may be of any length (a truncated file reads as zeros, one page with a long id),
    /// so the run is stopped through `progress`.
    ///
    /// # Errors
    /// Those of the run; [`ErrorKind::Changed`] as [`Input::verify`].
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
            // Without this thread the run ends with the same error, but later.
            let verifier = Builder::new().spawn_scoped(scope, repeatedly).ok();
            let outcome = run();
            drop(end);
            (outcome, verifier.map(ScopedJoinHandle::join))
        });
        if let Some(Ok(unchanged)) = unchanged {
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

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == STANDARD_INPUT
}
