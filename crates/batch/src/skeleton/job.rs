//! The trait of the jobs that read documents into a table, decide about them, report, and write
//! edited copies.

use super::reading_memory::least_memory_bytes;
use crate::shards;
use std::path::PathBuf;

use serde_json::Value;

use super::context::RunContext;
use super::invocation::{Against, Invocation};
use super::settings::{BatchSettings, WrittenDocuments};
use crate::Result;
use crate::write::targets;
use simtool_corpus::Source;

/// A job with a work directory, which resumes after an interruption.
///
/// The settings and the inputs determine every byte of the output. The trait is for the commands of
/// simtool; its methods may change.
pub trait BatchJob: Sync + Sized {
    /// The counts of a finished run.
    type Summary: Send;

    /// The settings that every job has.
    fn batch(&self) -> BatchSettings<'_>;

    /// The settings that determine the output, as JSON.
    fn settings(&self) -> Value;

    /// Refuses impossible settings, besides those of [`batch`](Self::batch).
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) naming the setting and what is
    /// expected of it.
    fn check(&self) -> Result<()>;

    /// Refuses documents to compare with that the settings exclude.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter).
    fn check_against(&self, against: Against<'_>) -> Result<()>;

    /// Refuses inputs that cannot be written as the settings require, besides those that no job
    /// can write.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) naming the input.
    fn check_inputs(&self, _inputs: &[Source]) -> Result<()> {
        Ok(())
    }

    /// Refuses a complete output that breaks a rule which is no part of the settings.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter).
    fn check_finished(&self, _: &Invocation<'_>, _: &Self::Summary) -> Result<()> {
        Ok(())
    }

    /// The least memory bound of its own stages with `threads` threads; 0 if reading and writing need
    /// more.
    fn stages_memory_bytes(&self, _threads: usize) -> u64 {
        0
    }

    /// The least memory bound of a run with `threads` threads.
    fn least_memory_bytes(&self, threads: usize) -> u64 {
        let BatchSettings {
            reading, shards, ..
        } = self.batch();
        let reading = least_memory_bytes(threads, reading.max_document_bytes);
        let groups = shards::least_bytes(shards.format, self.written().streams.len());
        self.stages_memory_bytes(threads).max(reading + groups)
    }

    /// The documents that the run writes.
    fn written(&self) -> WrittenDocuments;

    /// The names of the other files in the output directory.
    fn reports(&self) -> Vec<&'static str>;

    /// Runs all stages; returns the summary and the text of `summary.json`. The results of finished
    /// stages are loaded from the work directory.
    ///
    /// # Errors
    /// Errors of reading and writing; changed inputs, too little memory and interruption.
    fn stages(&self, run: RunContext<'_>) -> Result<(Self::Summary, String)>;

    /// The counts of a parsed `summary.json`; `None` if one is missing, or if they do not add up.
    fn parse_summary(text: &Value) -> Option<Self::Summary>;

    /// The files that a run on `sources` writes, relative to the output directory.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) if two inputs would be written to one
    /// file.
    fn outputs(&self, sources: &[Source]) -> Result<Vec<PathBuf>> {
        let mut names: Vec<PathBuf> = self.reports().into_iter().map(PathBuf::from).collect();
        for directory in self.written().files {
            names.extend(targets::of_sources(sources, directory)?);
        }
        Ok(names)
    }
}
