//! What the start of every run with a work directory has in common.

use std::path::PathBuf;

use serde_json::Value;

use crate::Result;
use simtool_corpus::{Reading, Source};
use simtool_engine::Progress;
use simtool_engine::streams::{OpenedStream, spool};

use super::invocation::Invocation;
use crate::workdir::{StartOptions, Work};

/// The results of the checks before a run.
pub struct CheckedJob {
    /// The values that must be equal for another run to resume this one.
    pub identity: Value,
    /// Whether a source is a stream.
    pub has_stream: bool,
    /// The files that the run writes, relative to the output directory.
    pub outputs: Vec<PathBuf>,
    /// The files that the command reads.
    pub reads: Vec<PathBuf>,
}

impl CheckedJob {
    /// The results for a run of `invocation` that writes `outputs`, after the checks of
    /// [`Work::check`].
    ///
    /// # Errors
    /// Errors of [`Work::check`].
    pub fn new(
        invocation: &Invocation<'_>,
        identity: Value,
        outputs: Vec<PathBuf>,
    ) -> Result<CheckedJob> {
        let sources = || {
            let references = invocation.against.documents().iter();
            references.chain(invocation.sources)
        };
        let checked = CheckedJob {
            identity,
            has_stream: sources().any(Source::is_stream),
            outputs,
            reads: sources()
                .map(|source| &source.path)
                .chain(invocation.also_read)
                .cloned()
                .collect(),
        };
        let start = checked.start_options(invocation);
        Work::check(invocation.out, &checked.identity, start)?;
        Ok(checked)
    }

    /// How the run starts.
    pub fn start_options<'a>(&'a self, invocation: &Invocation<'a>) -> StartOptions<'a> {
        StartOptions {
            restart: invocation.restart,
            has_stream: self.has_stream,
            outputs: &self.outputs,
            reads: &self.reads,
            remote: invocation.remote,
        }
    }
}

/// Opens the first stream before a restart removes earlier output: if the stream cannot be read,
/// that output is kept.
///
/// # Errors
/// Errors of [`OpenedStream::begin`].
pub fn first_stream(
    invocation: &Invocation<'_>,
    reading: &Reading,
) -> Result<Option<OpenedStream>> {
    let references = invocation.against.documents().iter();
    let mut all = references.chain(invocation.sources);
    match all
        .find(|source| source.is_stream())
        .filter(|_| invocation.restart && invocation.out.is_dir())
    {
        Some(stream) => OpenedStream::begin(stream, reading, invocation.out, || Ok(())).map(Some),
        None => Ok(None),
    }
}

/// All sources, those to compare with first, with streams copied to the work directory. `check`
/// gets them after that; if it fails, the directory is removed.
///
/// # Errors
/// Errors of [`spool`] and of `check`.
pub fn spooled_sources(
    invocation: &Invocation<'_>,
    stream: Option<OpenedStream>,
    reading: &Reading,
    work: Work,
    progress: &Progress,
    check: impl FnOnce(&[Source]) -> Result<()>,
) -> Result<(Vec<Source>, Work)> {
    let mut sources = [invocation.against.documents(), invocation.sources].concat();
    if sources.iter().any(Source::is_stream) {
        let spooled = spool(&mut sources, stream, reading, work.directory(), progress);
        if let Err(error) = spooled.and_then(|()| check(&sources)) {
            work.abandon()?;
            return Err(error);
        }
    }
    Ok((sources, work))
}
