//! What a job reads, and how it is divided into tasks.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simtool_batch::KnownDocuments;
use simtool_batch::dedup::DedupJob;
use simtool_core::{Error, ErrorKind, Result};
use simtool_corpus::{Compression, Format, Source, discover};
use simtool_engine::units::units;
use simtool_files::read_error;

/// The most files of a task.
const MOST_FILES: usize = 4096;

/// What a job was asked for.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct Request {
    /// The command line of `simtool dedup`.
    pub words: Vec<String>,
    /// Bytes of text that a task reads, about.
    pub task_bytes: u64,
    /// Which keys decide which of two documents comes first.
    #[serde(default)]
    pub keys: Keys,
    /// Documents with one rare shingle that one task searches; more are divided over several.
    #[serde(default)]
    pub most_documents: Option<u64>,
    /// A list of stop words, one in a line, instead of those of the command line.
    #[serde(default)]
    pub stop_words: Option<String>,
}

/// What the words of a request name.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The inputs.
    pub inputs: &'a [PathBuf],
    /// Files with the names of further inputs.
    pub lists: &'a [PathBuf],
    /// Documents with which the input is compared.
    pub references: &'a [PathBuf],
    /// Indexes with which it is compared.
    pub known: Option<&'a dyn KnownDocuments>,
}

/// The files that a job reads, by tasks.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct Plan {
    /// All files, those that the input is compared with first.
    pub files: Vec<PlannedFile>,
    /// How many of the files are those.
    pub references: u32,
    /// What each task reads; the first ones read those files.
    pub tasks: Vec<Vec<Piece>>,
    /// How many tasks read them.
    pub reference_tasks: usize,
    /// Which keys decide which of two documents comes first.
    pub keys: Keys,
    /// The documents with one rare shingle that one task searches.
    pub most_documents: Option<u64>,
    /// The state of the indexes that the input is compared with.
    #[serde(default)]
    pub known: Option<Value>,
}

/// Keys of documents. Ids begin with them: hexadecimal digits, and a colon.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Keys {
    /// No keys: documents of files.
    #[default]
    None,
    /// Whole numbers of 64 bits, most significant byte first, with the sign inverted.
    Whole,
    /// Texts.
    Text,
}

/// A file as it was when the job began.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct PlannedFile {
    path: PathBuf,
    bytes: u64,
    format: Format,
    compression: Compression,
    /// When it was changed, in nanoseconds.
    changed: Option<u64>,
}

/// Consecutive files, or a section of one.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct Piece {
    /// The first file.
    pub first: u32,
    /// The number of files.
    pub count: u32,
    /// The only section that is read.
    pub section: Option<u64>,
}

impl Plan {
    /// Finds the files of the inputs, and divides them into tasks.
    ///
    /// # Errors
    /// Errors of finding files; [`ErrorKind::Parameter`] for streams, which are read twice.
    pub fn of(
        job: &DedupJob,
        Inputs {
            inputs,
            lists,
            references,
            known,
        }: Inputs<'_>,
        request: &Request,
    ) -> Result<Plan> {
        let task_bytes = request.task_bytes;
        let mut sources = match references {
            [] => Vec::new(),
            references => discover(references, &[], &job.reading)?,
        };
        let count = sources.len();
        sources.extend(discover(inputs, lists, &job.reading)?);
        let files = sources.iter().map(PlannedFile::of).collect::<Result<_>>()?;
        let section_bytes = job.reading.section_bytes;
        let mut tasks = tasks(&sources[..count], 0, section_bytes, task_bytes);
        let reference_tasks = tasks.len();
        tasks.extend(tasks_behind(&sources, count, section_bytes, task_bytes));
        Ok(Plan {
            files,
            references: count as u32,
            tasks,
            reference_tasks,
            keys: request.keys,
            most_documents: request.most_documents,
            known: known.map(KnownDocuments::state).transpose()?,
        })
    }

    /// Whether documents have keys: those of the rows of a frame.
    pub fn is_keyed(&self) -> bool {
        self.keys != Keys::None
    }

    /// The files as sources. Only those that a task reads can be opened.
    ///
    /// # Errors
    /// Errors of finding objects of a server.
    pub fn sources(&self, job: &DedupJob, task: usize) -> Result<Vec<Source>> {
        let mut sources: Vec<Source> = self.files.iter().map(PlannedFile::source).collect();
        for piece in self.tasks.get(task).into_iter().flatten() {
            for number in piece.first..piece.first + piece.count {
                self.files[number as usize].find(job, &mut sources[number as usize])?;
            }
        }
        Ok(sources)
    }
}

fn tasks_behind(sources: &[Source], from: usize, section_bytes: u64, most: u64) -> Vec<Vec<Piece>> {
    tasks(&sources[from..], from as u32, section_bytes, most)
}

/// Divides files, of which the first one has the number `first`.
fn tasks(sources: &[Source], first: u32, section_bytes: u64, most: u64) -> Vec<Vec<Piece>> {
    let mut tasks: Vec<Vec<Piece>> = Vec::new();
    let (mut held, mut files) = (u64::MAX, 0);
    let mut add = |piece: Piece, bytes: u64| {
        let sum = held.saturating_add(bytes);
        files += piece.count as usize;
        match tasks.last_mut() {
            Some(task) if sum <= most && files <= MOST_FILES => {
                task.push(piece);
                held = sum;
            }
            _ => {
                files = piece.count as usize;
                held = bytes;
                tasks.push(vec![piece]);
            }
        }
    };
    for unit in units(sources) {
        let sections = match unit.len() {
            1 => sources[unit.start as usize].sections(section_bytes),
            _ => 1,
        };
        if sections > 1 {
            for section in 0..sections {
                let piece = Piece {
                    first: first + unit.start,
                    count: 1,
                    section: Some(section),
                };
                add(piece, section_bytes);
            }
            continue;
        }
        for number in unit {
            let source = &sources[number as usize];
            let factor = match source.compression {
                Compression::None => 1,
                _ => 4,
            };
            let piece = Piece {
                first: first + number,
                count: 1,
                section: None,
            };
            add(
                piece,
                source.bytes.unwrap_or_default().saturating_mul(factor),
            );
        }
    }
    tasks
}

impl PlannedFile {
    fn of(source: &Source) -> Result<PlannedFile> {
        let Some(bytes) = source.bytes.filter(|_| !source.is_stream()) else {
            let message =
                "is a stream, and a job on a cluster reads its files twice: copy it to a file";
            return Err(Error::new(ErrorKind::Parameter, message).in_file(&source.path));
        };
        let changed = match source.object {
            Some(_) => None,
            None => Some(changed(&source.path)?),
        };
        Ok(PlannedFile {
            path: source.path.clone(),
            bytes,
            format: source.format,
            compression: source.compression,
            changed,
        })
    }

    fn source(&self) -> Source {
        Source {
            path: self.path.clone(),
            bytes: Some(self.bytes),
            format: self.format,
            compression: self.compression,
            copy: None,
            object: None,
        }
    }

    /// Finds the object of a server.
    fn find(&self, job: &DedupJob, source: &mut Source) -> Result<()> {
        if self.changed.is_none() && source.object.is_none() {
            let found = discover(std::slice::from_ref(&self.path), &[], &job.reading)?.pop();
            source.object = found.and_then(|found| found.object);
        }
        Ok(())
    }
}

fn changed(path: &Path) -> Result<u64> {
    let found = std::fs::metadata(path).and_then(|found| found.modified());
    let found = found.map_err(|cause| read_error(path, cause))?;
    let since = found.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(since.as_nanos() as u64)
}
