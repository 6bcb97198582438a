//! Documents of files, and what a command that reads them may use.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use simtool::corpus::{HtmlText, Reading, Source};
use simtool::index::Options;
use simtool::io::InputFiles;
use simtool::run::collection::{Inputs, Manner};
use simtool::run::seen::{Added, Seen};
use simtool::run::streams::spool;
use simtool::run::{Progress, Resources};
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

/// Documents of files.
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

/// What a command says besides its output.
#[derive(Args, Clone, Copy, Debug)]
pub struct ReportArgs {
    #[command(flatten)]
    log: LogArgs,

    /// Nothing but errors: no progress, no messages, no result line
    #[arg(long, help_heading = "Reports")]
    quiet: bool,
}

impl ReportArgs {
    /// How progress and result are told.
    pub fn log(self) -> Log {
        self.log.log(self.quiet)
    }
}

/// What a command works with.
pub struct Working {
    pub resources: Resources,
    pub progress: Arc<Progress>,
    _watch: Watch,
    _stoppable: Stoppable,
}

/// Where documents come from.
pub struct Sources {
    sources: Vec<Source>,
    /// Gone with this.
    _copies: Option<TempDir>,
}

impl DocumentArgs {
    /// The inputs, as they were named.
    pub fn inputs(&self) -> &[PathBuf] {
        &self.inputs
    }

    /// Where skipped documents are listed, if they are.
    pub fn skipped_report(&self) -> Option<&Path> {
        self.skipped_report.as_deref()
    }

    /// The directory of temporary files, if the user names one.
    pub fn temp_dir(&self) -> Option<&Path> {
        self.resources.temp_dir.as_deref()
    }

    /// How progress and result are told.
    pub fn log(&self) -> Log {
        self.reports.log()
    }

    /// How they are read, but for what an index has frozen.
    pub fn reading(&self) -> Reading {
        self.fields.reading(HtmlText::default(), self.max_document)
    }

    /// What may be used; temporary files go beside the index unless told otherwise.
    ///
    /// # Errors
    /// Those of resources that do not suffice.
    pub fn resources(&self, index: &Path) -> Result<Resources> {
        let temporary = match index.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        self.resources.resources(self.max_document, temporary)
    }

    /// Begins the work.
    ///
    /// # Errors
    /// Those of resources that do not suffice.
    pub fn begin(&self, index: &Path) -> Result<Working> {
        let resources = self.resources(index)?;
        let progress = Arc::new(Progress::new());
        Ok(Working {
            _stoppable: stoppable(&progress),
            _watch: Watch::start(&progress, self.log(), None),
            resources,
            progress,
        })
    }
}

impl Sources {
    /// Finds `inputs`, and adds them to `files`; streams are copied into a temporary directory.
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
        let mut sources = discover(inputs, &[], reading)?;
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

impl Working {
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

    /// Inputs that are read with it.
    pub fn inputs<'a>(&'a self, sources: &'a [Source], manner: &'a Manner) -> Inputs<'a> {
        Inputs {
            sources,
            manner,
            resources: &self.resources,
            progress: &self.progress,
        }
    }

    /// How the index is opened for changes.
    pub fn options(&self) -> Options {
        Options {
            memory_bytes: usize::try_from(self.resources.memory_bytes / 2).unwrap_or(usize::MAX),
            ..Options::default()
        }
    }
}

/// How an index is opened that is to be read.
pub fn read_only() -> Options {
    Options {
        read_only: true,
        ..Options::default()
    }
}

/// How an index is opened that is to be changed.
pub fn writable() -> Options {
    Options {
        memory_bytes: usize::try_from(machine::half_of_memory().min(4 << 30)).unwrap_or(1 << 30),
        ..Options::default()
    }
}

/// Tells what was added.
///
/// # Errors
/// Those of [`tell_result`].
pub fn tell(added: &Added, log: Log, screen_is_taken: bool) -> Result<Finish> {
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
    tell_result(log, &text, &fields, screen_is_taken)?;
    Ok(finish(added.skipped))
}

/// Tells what an index was built of; its documents were not looked for.
///
/// # Errors
/// Those of [`tell_result`].
pub fn tell_built(built: &Added, log: Log, screen_is_taken: bool) -> Result<Finish> {
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
    tell_result(log, &text, &fields, screen_is_taken)?;
    Ok(finish(built.skipped))
}

/// Tells the result of a command in one line: on standard output, or on standard error if standard
/// output has lines. As a JSON object it goes to standard error, as that of every command.
///
/// # Errors
/// Those of standard output.
pub fn tell_result(log: Log, text: &str, fields: &Value, screen_is_taken: bool) -> Result<()> {
    match log.form {
        Form::None | Form::Bar | Form::Text if !screen_is_taken => screen::print(text.as_bytes()),
        _ => {
            log.result(text, fields);
            Ok(())
        }
    }
}

/// Says how many accidental hits to expect, if they are many.
pub fn tell_accidents(seen: &Seen) {
    if let Some(text) = seen.accidents() {
        message::say(&text);
    }
}

/// How a command ends that skipped so many documents.
pub fn finish(skipped: u64) -> Finish {
    match skipped {
        0 => Finish::Complete,
        _ => Finish::Skipped,
    }
}
