//! Inputs and resources of commands that read documents for an index.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use simtool::corpus::{HtmlText, Reading, Source};
use simtool::engine::collection::{InputSettings, Inputs};
use simtool::engine::streams::spool;
use simtool::engine::{Progress, Resources};
use simtool::index::Options;
use simtool::io::InputFiles;
use simtool::jobs::seen::{AddCounts, Seen};
use simtool::{Error, ErrorKind, Result};
use tempfile::TempDir;

use crate::cli::exit::Finish;
use crate::cli::found::discover;
use crate::cli::interrupt::{Stoppable, stoppable};
use crate::cli::log::{Form, Log, LogArgs};
use crate::cli::reading_flags::FieldArgs;
use crate::cli::resource_flags::ResourceArgs;
use crate::cli::size::parse_size;
use crate::cli::watch::Watch;
use crate::cli::{machine, message, screen};

/// The flags of inputs.
#[derive(Args, Clone, Debug)]
pub struct DocumentArgs {
    /// Files, directories or patterns; - is standard input
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,

    #[command(flatten)]
    fields: FieldArgs,

    /// Documents larger than this are skipped and counted
    #[arg(
        long, value_name = "SIZE", default_value = "16M", value_parser = parse_size,
        help_heading = "Reading"
    )]
    max_document: u64,

    #[command(flatten)]
    resources: ResourceArgs,

    /// Write a JSON object a line for each document that is skipped: its id and place, the reason
    /// and a detail; - is standard output
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    skipped_report: Option<PathBuf>,

    #[command(flatten)]
    reports: ReportArgs,
}

/// The flags of messages.
#[derive(Args, Clone, Copy, Debug)]
pub struct ReportArgs {
    #[command(flatten)]
    log: LogArgs,

    /// Nothing but errors: no progress, no messages, no result line
    #[arg(long, help_heading = "Reports")]
    quiet: bool,
}

impl ReportArgs {
    /// How progress and result are reported.
    pub fn log(self) -> Log {
        self.log.log(self.quiet)
    }
}

/// The resources and the progress of a running command.
pub struct Session {
    pub resources: Resources,
    pub progress: Arc<Progress>,
    _watch: Watch,
    _stoppable: Stoppable,
}

/// Inputs, with the copies of streams among them.
pub struct Sources {
    sources: Vec<Source>,
    /// Removed when dropped.
    _copies: Option<TempDir>,
}

impl DocumentArgs {
    /// The inputs as they were given.
    pub fn inputs(&self) -> &[PathBuf] {
        &self.inputs
    }

    /// The file that lists skipped documents, if requested.
    pub fn skipped_report(&self) -> Option<&Path> {
        self.skipped_report.as_deref()
    }

    /// The directory of temporary files, if the user names one.
    pub fn temp_dir(&self) -> Option<&Path> {
        self.resources.temp_dir.as_deref()
    }

    /// How progress and result are reported.
    pub fn log(&self) -> Log {
        self.reports.log()
    }

    /// How documents are read, apart from the settings of an index.
    pub fn reading(&self) -> Reading {
        self.fields.reading(HtmlText::default(), self.max_document)
    }

    /// The resources. Temporary files are created next to the index by default.
    ///
    /// # Errors
    /// Those of insufficient resources.
    pub fn resources(&self, index: &Path) -> Result<Resources> {
        let temporary = match index.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        self.resources.resources(self.max_document, temporary)
    }

    /// Starts progress and interruption.
    ///
    /// # Errors
    /// Those of insufficient resources.
    pub fn begin(&self, index: &Path) -> Result<Session> {
        let resources = self.resources(index)?;
        let progress = Arc::new(Progress::new());
        Ok(Session {
            _stoppable: stoppable(&progress),
            _watch: Watch::start(&progress, self.log(), None),
            resources,
            progress,
        })
    }
}

impl Sources {
    /// Finds `inputs`, and adds them to `files`; streams are copied to a temporary directory.
    ///
    /// # Errors
    /// Those of finding and of copying them.
    pub fn find(
        inputs: &[PathBuf],
        reading: &Reading,
        resources: &Resources,
        progress: &Progress,
        files: &mut InputFiles,
    ) -> Result<Sources> {
        reading.check()?;
        let [mut sources] = discover([inputs], reading)?;
        sources.iter().for_each(|source| files.add(&source.path));
        let mut copies = None;
        if sources.iter().any(Source::is_stream) {
            let unwritable = |cause| {
                Error::new(ErrorKind::Write, "cannot hold the copy of a stream")
                    .in_file(&resources.temporary)
                    .caused_by(cause)
            };
            let directory = tempfile::tempdir_in(&resources.temporary).map_err(unwritable)?;
            spool(&mut sources, None, reading, directory.path(), progress)?;
            copies = Some(directory);
        }
        Ok(Sources {
            sources,
            _copies: copies,
        })
    }
}

impl Deref for Sources {
    type Target = [Source];

    fn deref(&self) -> &[Source] {
        &self.sources
    }
}

impl Session {
    /// The inputs of a command.
    ///
    /// # Errors
    /// Those of [`Sources::find`].
    pub fn sources(
        &self,
        documents: &DocumentArgs,
        reading: &Reading,
        files: &mut InputFiles,
    ) -> Result<Sources> {
        let (resources, progress) = (&self.resources, &self.progress);
        Sources::find(&documents.inputs, reading, resources, progress, files)
    }

    /// The sources with the resources to read them.
    pub fn inputs<'a>(
        &'a self,
        sources: &'a [Source],
        input_settings: &'a InputSettings,
    ) -> Inputs<'a> {
        Inputs {
            sources,
            settings: input_settings,
            resources: &self.resources,
            progress: &self.progress,
        }
    }

    /// The options to open the index for changes.
    pub fn options(&self) -> Options {
        Options {
            memory_bytes: usize::try_from(self.resources.memory_bytes / 2).unwrap_or(usize::MAX),
            ..Options::default()
        }
    }
}

/// The options to open an index for reading.
pub fn read_only() -> Options {
    Options {
        read_only: true,
        ..Options::default()
    }
}

/// The options to open an index for changes.
pub fn writable() -> Options {
    Options {
        memory_bytes: usize::try_from(machine::half_of_memory().min(4 << 30)).unwrap_or(1 << 30),
        ..Options::default()
    }
}

/// Reports the counts of added documents.
///
/// # Errors
/// Those of [`report_result`].
pub fn report_added(added: &AddCounts, log: Log, has_lines: bool) -> Result<Finish> {
    let text = format!(
        "{} documents: {} new, {} duplicate, {} unchanged, {} changed, {} empty; {} skipped\n",
        added.documents(),
        added.new,
        added.duplicate,
        added.unchanged,
        added.changed,
        added.empty,
        added.skipped,
    );
    let fields = json!({
        "documents": added.documents(),
        "new": added.new,
        "duplicate": added.duplicate,
        "unchanged": added.unchanged,
        "changed": added.changed,
        "empty": added.empty,
        "skipped": added.skipped,
    });
    report_result(log, &text, &fields, has_lines)?;
    Ok(Finish::of_skipped(added.skipped))
}

/// Reports the counts of a new index, whose documents were not looked up.
///
/// # Errors
/// Those of [`report_result`].
pub fn report_built(built: &AddCounts, log: Log, has_lines: bool) -> Result<Finish> {
    let documents = built.new + built.empty;
    let text = format!(
        "{documents} documents added, not compared with each other ({} with nothing to compare); \
         {} replaced by a later one of the same id; {} skipped\n",
        built.empty, built.changed, built.skipped,
    );
    let fields = json!({
        "documents": documents,
        "empty": built.empty,
        "replaced": built.changed,
        "skipped": built.skipped,
    });
    report_result(log, &text, &fields, has_lines)?;
    Ok(Finish::of_skipped(built.skipped))
}

/// Reports the result of a command in one line: on standard output, or on standard error if
/// standard output has lines. A JSON object is written to standard error by every command.
///
/// # Errors
/// Those of standard output.
pub fn report_result(log: Log, text: &str, fields: &Value, has_lines: bool) -> Result<()> {
    match log.form {
        Form::None | Form::Bar | Form::Text if !has_lines => screen::print(text.as_bytes()),
        _ => {
            log.result(text, fields);
            Ok(())
        }
    }
}

/// Warns of accidental hits, if there are many.
pub fn warn_of_accidents(seen: &Seen) {
    if let Some(text) = seen.accidents() {
        message::say(&text);
    }
}
