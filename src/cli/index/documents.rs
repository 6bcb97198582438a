//! Commands that read documents for an index: their inputs, resources and reports.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use simtool::corpus::{HtmlText, Reading, Source};
use simtool::engine::Resources;
use simtool::engine::collection::{InputSettings, Inputs};
use simtool::engine::streams::spool;
use simtool::index::Options;
use simtool::io::InputFiles;
use simtool::io::remote::Client;
use simtool::jobs::seen::{AddCounts, ExpectedSettings, LineSink, Seen};
use simtool::{Error, ErrorKind, Result};
use tempfile::TempDir;

use super::line_file::LineFile;
use crate::cli::output::directory_of;
use crate::cli::process::exit::Finish;
use crate::cli::process::machine;
use crate::cli::process::resource_flags::ResourceArgs;
use crate::cli::process::session::{Running, Session};
use crate::cli::reading::found::discover;
use crate::cli::reading::reading_flags::FieldArgs;
use crate::cli::screen;
use crate::cli::screen::amount::counted;
use crate::cli::screen::log::{Form, Log, LogArgs};
use crate::cli::values::size::parse_size;

/// The flags of inputs.
#[derive(Args, Clone, Debug)]
pub struct DocumentArgs {
    /// Files, directories or patterns; - is standard input
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub fields: FieldArgs,

    /// Documents larger than this are skipped and counted
    #[arg(
        long, value_name = "SIZE", default_value = "16M", value_parser = parse_size,
        help_heading = "Reading"
    )]
    pub max_document: u64,

    #[command(flatten)]
    pub resources: ResourceArgs,

    /// The default directory of temporary files; `None` for the parent of the index.
    #[arg(skip)]
    pub temporary: Option<PathBuf>,

    /// Write a JSON object a line for each document that is skipped: its id and place, the reason
    /// and a detail; - is standard output
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    pub skipped_report: Option<PathBuf>,

    #[command(flatten)]
    pub reports: ReportArgs,
}

/// The flags of messages.
#[derive(Args, Clone, Copy, Debug)]
pub struct ReportArgs {
    #[command(flatten)]
    pub log: LogArgs,

    /// Nothing but errors: no progress, no messages, no result line
    #[arg(long, help_heading = "Reports")]
    pub quiet: bool,
}

impl ReportArgs {
    /// How progress and result are reported.
    pub fn log(self) -> Log {
        self.log.log(self.quiet)
    }

    /// Reports the result of a command that writes nothing else.
    ///
    /// # Errors
    /// Errors of [`report_result`].
    pub fn report(self, text: &str, fields: &Value) -> Result<()> {
        self.report_beside(text, fields, false)
    }

    /// Reports the result of a command that may have written lines on standard output.
    ///
    /// # Errors
    /// Errors of [`report_result`].
    pub fn report_beside(self, text: &str, fields: &Value, has_lines: bool) -> Result<()> {
        report_result(self.log(), text, fields, has_lines)
    }
}

/// A command that reads documents for an index, from its start.
pub struct DocumentSession<'a> {
    args: &'a DocumentArgs,
    index: &'a Path,
    session: Session,
    running: Running,
    /// The resources of the command.
    pub resources: Resources,
}

/// The result of a command that processed documents, and their sources.
pub struct Processed<T> {
    /// The result.
    pub result: T,
    /// Where the documents were read from.
    pub sources: Sources,
    /// Whether standard output has lines.
    pub has_lines: bool,
    /// The session, of which progress is no longer shown.
    pub session: Session,
}

/// Inputs, with the copies of streams among them.
pub struct Sources {
    sources: Vec<Source>,
    /// Removed when dropped.
    _copies: Option<TempDir>,
}

impl DocumentArgs {
    /// How progress and result are reported.
    pub fn log(&self) -> Log {
        self.reports.log()
    }

    /// How documents are read, apart from the settings of an index.
    pub fn reading(&self) -> Reading {
        self.fields.reading(HtmlText::default(), self.max_document)
    }

    /// Starts progress and interruption. Temporary files are created next to the index by default.
    ///
    /// # Errors
    /// Errors of insufficient resources.
    pub fn begin<'a>(&'a self, index: &'a Path, client: &Client) -> Result<DocumentSession<'a>> {
        let temporary = self.temporary.as_deref();
        let temporary = temporary.unwrap_or_else(|| directory_of(index)).to_owned();
        let resources = self
            .resources
            .resources(self.max_document, temporary, client)?;
        let session = Session::new(self.log(), client);
        Ok(DocumentSession {
            args: self,
            index,
            running: session.start(None)?,
            session,
            resources,
        })
    }
}

impl Sources {
    /// Finds `inputs`, and adds them to `files`; streams are copied to a temporary directory.
    ///
    /// # Errors
    /// Errors of finding and of copying them.
    pub fn find(
        inputs: &[PathBuf],
        reading: &Reading,
        resources: &Resources,
        session: &Session,
        files: &mut InputFiles,
    ) -> Result<Sources> {
        reading.check()?;
        let [mut sources] = discover([inputs], reading, session)?;
        sources.iter().for_each(|source| files.add(&source.path));
        let mut copies = None;
        if sources.iter().any(Source::is_stream) {
            let unwritable = |cause| {
                Error::new(ErrorKind::Write, "cannot hold the copy of a stream")
                    .in_file(&resources.temporary)
                    .caused_by(cause)
            };
            let directory = tempfile::tempdir_in(&resources.temporary).map_err(unwritable)?;
            spool(
                &mut sources,
                None,
                reading,
                directory.path(),
                &session.progress,
            )?;
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

impl DocumentSession<'_> {
    /// Finds the documents and passes them to `job`, with the destinations of lines for `output`
    /// and of lines about skipped documents. The lines are published if the job succeeds. `files`
    /// has the files that the command reads besides.
    ///
    /// # Errors
    /// Errors of [`Sources::find`], of the files of lines, and of `job`.
    pub fn process<T>(
        self,
        settings: &InputSettings,
        mut files: InputFiles,
        output: Option<&Path>,
        job: impl FnOnce(Inputs<'_>, LineSink<'_>, LineSink<'_>) -> Result<T>,
    ) -> Result<Processed<T>> {
        let (args, resources, progress) = (self.args, &self.resources, &self.session.progress);
        files.add_directory(self.index);
        let reading = &settings.reading;
        let sources = Sources::find(&args.inputs, reading, resources, &self.session, &mut files)?;
        let temp_dir = args.resources.temp_dir.as_deref();
        let output = LineFile::new(output, "--output", &mut files, temp_dir)?;
        let skipped = args.skipped_report.as_deref();
        let skipped = LineFile::new(skipped, "--skipped-report", &mut files, temp_dir)?;
        let (mut lines, mut skips) = (output.begin()?, skipped.begin()?);
        let inputs = Inputs {
            sources: &sources,
            settings,
            resources,
            progress,
        };
        let result = job(inputs, &mut |more| lines.write(more), &mut |more| {
            skips.write(more)
        })?;
        lines.publish()?;
        skips.publish()?;
        drop(self.running);
        Ok(Processed {
            result,
            sources,
            has_lines: output.is_screen() || skipped.is_screen(),
            session: self.session,
        })
    }

    /// The options to open the index for changes.
    pub fn options(&self) -> Options {
        Options {
            memory_bytes: usize::try_from(self.resources.memory_bytes / 2).unwrap_or(usize::MAX),
            ..Options::default()
        }
    }
}

/// Opens an index, whatever its settings.
///
/// # Errors
/// Errors of [`Seen::open`]; [`ErrorKind::Parameter`] for an unknown instruction set.
pub fn open(index: &Path, options: &Options) -> Result<Seen> {
    let wanted = ExpectedSettings::default();
    Seen::open(index, &wanted, machine::level()?, options)
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
/// Errors of [`report_result`].
pub fn report_added(added: &AddCounts, log: Log, has_lines: bool) -> Result<Finish> {
    let text = format!(
        "{}: {} new, {} duplicate, {} unchanged, {} changed, {} empty; {} skipped\n",
        counted(added.documents(), "document"),
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

/// Reports the result of a command in one line: on standard output, or on standard error if
/// standard output has lines. With `--log json`, it is a JSON object on standard error instead.
///
/// # Errors
/// Errors of standard output.
fn report_result(log: Log, text: &str, fields: &Value, has_lines: bool) -> Result<()> {
    match log.form {
        Form::None | Form::Bar | Form::Text if !has_lines => screen::print(text.as_bytes()),
        _ => {
            log.result(text, fields);
            Ok(())
        }
    }
}
