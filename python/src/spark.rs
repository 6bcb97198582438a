//! A job on a cluster: its driver, and its tasks.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use simtool::dedup::keep::Policy;
use simtool::engine::Progress;
use simtool::index::is_index;
use simtool::io::remote::Client;
use simtool::jobs::dedup::{Scope, UrlRule};
use simtool::program::{DedupCall, dedup_call};
use simtool::text::listed_stop_words;
use simtool::{Error, ErrorKind, Result};
use simtool_cluster::{
    Called, Documents, Facts, Inputs, Job, MARK, Plan, Request, StoredJob, Work, check,
};

use crate::error::exception;
use crate::job;
use crate::tables::table::Table;

/// The driver of a job.
#[pyclass(module = "simtool_dedup", frozen)]
pub struct ClusterJob(Job);

#[pymethods]
impl ClusterJob {
    /// Begins a job in a directory, or goes on with it. `request` is JSON.
    ///
    /// # Errors
    /// `ValueError` for settings, and for a directory of another job; `OSError`.
    #[new]
    fn new(py: Python<'_>, directory: PathBuf, request: &str) -> PyResult<ClusterJob> {
        py.detach(|| open(&directory, request))
            .map(ClusterJob)
            .map_err(|error| exception(&error))
    }

    /// The name of the next stage and the number of its tasks; `None` if the job is finished.
    fn next(&self, py: Python<'_>) -> PyResult<Option<(String, usize)>> {
        let stage = py.detach(|| self.0.next());
        let stage = stage.map_err(|error| exception(&error))?;
        Ok(stage.map(|stage| (stage.name, stage.tasks)))
    }

    /// Records that a stage is finished, with what its tasks returned, in their order. Gives the number
    /// of tasks that were finished before.
    fn finish(&self, py: Python<'_>, stage: &str, found: Vec<String>) -> PyResult<u64> {
        let finish = || {
            let found = found.iter().map(|text| parse::<Facts>(text));
            let found = found.collect::<Result<_>>()?;
            self.0.finish(stage, found)
        };
        let facts = py.detach(finish).map_err(|error| exception(&error))?;
        Ok(facts.found)
    }

    /// The counts of a finished job, by the names of `summary.json`.
    fn summary(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, u64)>> {
        py.detach(|| self.0.summary())
            .map_err(|error| exception(&error))
    }

    /// The number of tasks that read the input.
    fn tasks(&self) -> usize {
        self.0.plan().tasks.len()
    }

    /// The tasks that read the input, without those that read what it is compared with.
    fn own_tasks(&self) -> (usize, usize) {
        let plan = self.0.plan();
        (plan.reference_tasks, plan.tasks.len())
    }
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|cause| Error::new(ErrorKind::Parameter, cause.to_string()))
}

fn called(request: &Request) -> Result<DedupCall> {
    let words = request.words.iter().map(OsString::from);
    let mut call = dedup_call(words.collect(), &Client::new())?;
    if let Some(list) = &request.stop_words {
        call.job.stop_words = listed_stop_words(list.as_bytes());
    }
    Ok(call)
}

fn open(directory: &Path, request: &str) -> Result<Job> {
    let request: Request = parse(request)?;
    let call = called(&request)?;
    let inputs = Inputs {
        inputs: &call.inputs,
        lists: &call.lists,
        references: &call.against,
        known: call.known.as_deref(),
    };
    Job::open(directory, request, call.job, inputs)
}

/// Checks the settings of a command line of `simtool dedup` for a cluster. Gives, as JSON, the `fields`
/// of documents that policies and groups need, those that may be missing, and what else they `need`.
///
/// # Errors
/// `ValueError`.
#[pyfunction]
pub fn checked(words: Vec<String>) -> PyResult<String> {
    let words = words.iter().map(OsString::from).collect();
    let call = dedup_call(words, &Client::new()).and_then(|call| {
        check(&call.job, !call.against.is_empty())?;
        Ok(call)
    });
    let job = call.map_err(|error| exception(&error))?.job;
    let has = |policy: &Policy| job.keep.policies().contains(policy);
    let needs = [
        ("method url", job.url != UrlRule::Ignored),
        ("keep shortest-url", has(&Policy::ShortestUrl)),
        ("keep newest", has(&Policy::Newest)),
        ("within site", job.within == Scope::Site),
        ("within source", job.within == Scope::Source),
        ("within extension", job.within == Scope::Extension),
    ];
    let needs = needs.iter().filter(|(_, is_needed)| *is_needed);
    let optional = match job.within {
        Scope::Language => job.within.fields(),
        _ => Vec::new(),
    };
    let facts = serde_json::json!({
        "fields": job.fields(),
        "optional": optional,
        "needs": needs.map(|(setting, _)| *setting).collect::<Vec<_>>(),
    });
    Ok(facts.to_string())
}

/// Runs a task of a stage of the job in a directory; what it found, as JSON.
///
/// # Errors
/// `ValueError`, `OSError` or `Error`, by what happened.
#[pyfunction]
pub fn cluster_task(
    py: Python<'_>,
    directory: PathBuf,
    stage: &str,
    task: usize,
) -> PyResult<String> {
    let progress = Arc::new(Progress::new());
    job::run(py, &progress, None, |_| {
        let stored = StoredJob::open(&directory)?;
        let DedupCall { job, known, .. } = called(stored.request())?;
        let called = Called {
            job: &job,
            known: known.as_deref(),
        };
        let found = stored.run(called, (stage, task), &temporary(), &progress)?;
        serde_json::to_string(&found)
            .map_err(|cause| Error::new(ErrorKind::Content, cause.to_string()))
    })
}

/// Takes a directory for a job, which must be empty or have been taken before. Gives the name of the
/// file that says so.
///
/// # Errors
/// `ValueError` if it has files of others; `OSError`.
#[pyfunction]
pub fn claim_work(py: Python<'_>, directory: PathBuf) -> PyResult<&'static str> {
    py.detach(|| Work::open(&directory)?.claim())
        .map_err(|error| exception(&error))?;
    Ok(MARK)
}

/// Writes a file of the directory of a job: `content`, or what the file `source` has.
///
/// # Errors
/// `OSError`.
#[pyfunction]
#[pyo3(signature = (directory, name, content = None, source = None))]
pub fn write_work(
    py: Python<'_>,
    directory: PathBuf,
    name: &str,
    content: Option<&[u8]>,
    source: Option<PathBuf>,
) -> PyResult<()> {
    let write = || {
        let work = Work::open(&directory)?;
        match source {
            Some(source) => work.create(name)?.publish_copy(&source),
            None => work.write(name, content.unwrap_or_default()),
        }
    };
    py.detach(write).map_err(|error| exception(&error))
}

/// Copies an index to the directory of a job, unless it is there. `False` if `path` is no index.
///
/// # Errors
/// `ValueError` if the directory is in an object store, or has another index of this name; `OSError`.
#[pyfunction]
pub fn write_index(
    py: Python<'_>,
    directory: PathBuf,
    name: &str,
    path: PathBuf,
) -> PyResult<bool> {
    py.detach(|| copied(&directory, name, &path))
        .map_err(|error| exception(&error))
}

fn copied(directory: &Path, name: &str, path: &Path) -> Result<bool> {
    if !is_index(path) {
        return Ok(false);
    }
    let work = Work::open(directory)?;
    let refuse = |message: &str| Err(Error::new(ErrorKind::Parameter, message).in_file(path));
    if work.is_remote() {
        return refuse(
            "is an index, which tasks read on a disk: choose a work directory on one that all \
             machines share",
        );
    }
    let source = std::path::absolute(path).map_err(|cause| Error::unreadable(path, cause))?;
    let (record, source) = (format!("{name}.json"), source.to_string_lossy());
    match work.read(&record)? {
        Some(found) if found == source.as_bytes() => return Ok(true),
        Some(_) => return refuse("the work directory has another job (with another index)"),
        None => {}
    }
    // An open index is not changed by others.
    let words = ["dedup", "--against"].map(OsString::from).into_iter();
    let words = words
        .chain([path.into()])
        .chain(["-o", "-", "--", "-"].map(OsString::from));
    let _open = dedup_call(words.collect(), &Client::new())?;
    let mut directories = vec![path.to_owned()];
    while let Some(next) = directories.pop() {
        let unreadable = |cause| Error::unreadable(&next, cause);
        for entry in std::fs::read_dir(&next).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?.path();
            let below = entry.strip_prefix(path).unwrap_or(&entry).to_string_lossy();
            match entry.is_dir() {
                true => directories.push(entry),
                false => work
                    .create(&format!("{name}/{below}"))?
                    .publish_copy(&entry)?,
            }
        }
    }
    work.write(&record, source.as_bytes())?;
    Ok(true)
}

/// The contents of a file of the directory of a job; `None` if it is not there.
///
/// # Errors
/// `OSError`.
#[pyfunction]
pub fn read_work(py: Python<'_>, directory: PathBuf, name: &str) -> PyResult<Option<Py<PyBytes>>> {
    let read = || Work::open(&directory)?.read(name);
    let bytes = py.detach(read).map_err(|error| exception(&error))?;
    Ok(bytes.map(|bytes| PyBytes::new(py, &bytes).unbind()))
}

/// The documents of the files of a task, as batches.
#[pyclass(module = "simtool_dedup", frozen)]
pub struct TaskDocuments(Mutex<Documents>);

/// How the files of a request are divided into tasks: their number, and the plan as JSON.
///
/// # Errors
/// `ValueError` for settings; `OSError` for files.
#[pyfunction]
pub fn planned(py: Python<'_>, request: &str) -> PyResult<(usize, String)> {
    let planned = || {
        let request: Request = parse(request)?;
        let call = called(&request)?;
        let inputs = Inputs {
            inputs: &call.inputs,
            lists: &call.lists,
            references: &[],
            known: None,
        };
        let plan = Plan::of(&call.job, inputs, &request)?;
        let text = serde_json::to_string(&plan);
        let text = text.map_err(|cause| Error::new(ErrorKind::Content, cause.to_string()))?;
        Ok((plan.tasks.len(), text))
    };
    py.detach(planned).map_err(|error| exception(&error))
}

#[pymethods]
impl TaskDocuments {
    /// All documents of a task of a request and its plan.
    #[new]
    fn new(py: Python<'_>, request: &str, plan: &str, task: usize) -> PyResult<TaskDocuments> {
        let open = || Documents::of_task(&parse(plan)?, &called(&parse(request)?)?.job, task);
        made(py.detach(open))
    }

    /// Those that stay after a finished job in a directory.
    #[staticmethod]
    fn kept(py: Python<'_>, directory: PathBuf, task: usize) -> PyResult<TaskDocuments> {
        let open = || {
            let stored = StoredJob::open(&directory)?;
            Documents::kept(&stored, &called(stored.request())?.job, task)
        };
        made(py.detach(open))
    }

    /// The next documents, or `None`.
    fn take(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let take = || {
            let mut documents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            documents.take()
        };
        let batch = py.detach(take).map_err(|error| exception(&error))?;
        Ok(batch.map(Table::from))
    }
}

fn made(documents: Result<Documents>) -> PyResult<TaskDocuments> {
    documents
        .map(|documents| TaskDocuments(Mutex::new(documents)))
        .map_err(|error| exception(&error))
}

/// Where a worker may write: the directories that Spark names, or the usual one.
fn temporary() -> PathBuf {
    let named = std::env::var_os("SPARK_LOCAL_DIRS");
    let first = named.and_then(|named| {
        let text = named.to_str()?;
        let first = text.split(',').next().filter(|path| !path.is_empty())?;
        Some(PathBuf::from(first)).filter(|path| path.is_dir())
    });
    first.unwrap_or_else(std::env::temp_dir)
}
