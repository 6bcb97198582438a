//! The four kinds of input, opened.

use std::io;
use std::path::{Path, PathBuf};

use simtool::io::{Input, InputFiles, remote};
use simtool::run::matching;
use simtool::{Error, ErrorKind, Result};

/// The name that stands for standard input.
const STANDARD_INPUT: &str = "-";

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
    /// Checks that standard input is asked for once at most, and that every file is here.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] otherwise.
    pub fn check(&self) -> Result<()> {
        let others = [&self.stop_words, &self.hash_table];
        let all = self.articles.iter().chain(&self.samples).chain(others);
        all.clone()
            .try_for_each(|path| remote::refuse_input(path))?;
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

    /// What came of a run over these inputs: its own answer, unless an input changed meanwhile,
    /// which explains any other failure. Errors in the hash table get its name.
    ///
    /// # Errors
    /// Those of the run; [`ErrorKind::Changed`] as [`Input::verify`].
    pub fn confirm<T>(&self, outcome: Result<T>) -> Result<T> {
        match outcome {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
            _ => self.all().try_for_each(Input::verify)?,
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
