//! The flags of every command that searches for passages.

use clap::Args;
use simtool::jobs::dedup::{DumpSettings, SkippedRecords};
use simtool::jobs::passages::{Action, Remains};
use simtool::jobs::shards::WriteFormat;
use simtool::text::Choice;
use simtool::{Error, ErrorKind, Result};

use crate::cli::batch::RunArgs;
use crate::cli::output::shard_flags::ShardArgs;
use crate::cli::reading::reading_flags::DocumentReadingArgs;
use crate::cli::values;

/// What happens to what is found.
#[derive(Args, Clone, Debug)]
pub struct ActionArgs {
    /// What happens to what is found: mark (they are only reported), cut, mask (their characters
    /// become blanks of the same length) or drop-document:SHARE (documents with at least this share
    /// of their text in such passages are dropped, others stay as they are)
    #[arg(
        long, value_name = "ACTION", default_value = "mark",
        value_parser = values::action(action), hide_possible_values = true, help_heading = "Decision"
    )]
    pub action: Action,

    /// Drop documents of which fewer words than this remain after a cut [default: those of which
    /// only white space remains]
    #[arg(long, value_name = "COUNT", help_heading = "Decision")]
    pub min_words: Option<u64>,

    /// Drop documents of which fewer sentences than this remain after a cut
    #[arg(long, value_name = "COUNT", help_heading = "Decision")]
    pub min_sentences: Option<u64>,
}

/// What is written and reported, and with what resources.
#[derive(Args, Clone, Debug)]
pub struct OutputArgs {
    #[command(flatten)]
    pub shards: ShardArgs,

    /// What happens to records that could not be read where inputs are written again in their own
    /// format [default: keep]
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    pub skipped: Option<SkippedRecords>,

    /// Compress written documents with this level: gzip 0 to 9, zstd (Parquet too) 1 to 19 [default:
    /// copy unchanged members of inputs; gzip 6 and zstd 3 for all others]
    #[arg(long, value_name = "LEVEL", help_heading = "Output")]
    pub compression_level: Option<u32>,

    /// Write an empty file for an input whose documents are all dropped [default: no file]
    #[arg(long, help_heading = "Output")]
    pub empty_files: bool,

    /// Do not write page.html, which shows what goes: totals, sources, what is most frequent, and
    /// the documents that lose most, side by side
    #[arg(long, help_heading = "Output")]
    pub no_page: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

impl ActionArgs {
    /// What has to remain of a document, in words of `tokenizer`.
    pub fn remains(&self, tokenizer: Option<Choice>) -> Remains {
        Remains {
            words: self.min_words.unwrap_or_default(),
            sentences: self.min_sentences.unwrap_or_default(),
            tokenizer: tokenizer.unwrap_or_default(),
        }
    }
}

impl OutputArgs {
    /// How inputs are written again.
    pub fn dump(&self) -> DumpSettings {
        DumpSettings {
            skipped: self.skipped.unwrap_or_default(),
            compression_level: self.compression_level,
            empty_files: self.empty_files,
        }
    }

    /// The format of written documents.
    pub fn format(&self) -> WriteFormat {
        self.shards.write_format.unwrap_or_default()
    }
}

/// Refuses flags without effect.
///
/// # Errors
/// [`ErrorKind::Parameter`] naming the flag.
pub fn check_effect(
    reading: &DocumentReadingArgs,
    action: &ActionArgs,
    output: &OutputArgs,
) -> Result<()> {
    let refuse = |message: String| Err(Error::new(ErrorKind::Parameter, message));
    if reading.fields.date_field != "date" && output.format() != WriteFormat::Parquet {
        return refuse(
            "--date-field has an effect only on the dates in shards of Parquet: no others are read"
                .to_owned(),
        );
    }
    let of_cuts = [
        ("--min-words", action.min_words.is_some()),
        ("--min-sentences", action.min_sentences.is_some()),
    ];
    let of_files = [
        ("--skipped", output.skipped.is_some()),
        ("--compression-level", output.compression_level.is_some()),
        ("--empty-files", output.empty_files),
        ("--write-format", output.shards.write_format.is_some()),
    ];
    let given = |flags: &[(&'static str, bool)]| {
        let mut flags = flags.iter();
        flags.find(|(_, is_given)| *is_given).map(|(flag, _)| *flag)
    };
    match (given(&of_cuts), given(&of_files)) {
        (Some(flag), _) if action.action != Action::Cut => refuse(format!(
            "{flag} has an effect only with --action cut: add that"
        )),
        (_, Some(flag)) if action.action == Action::Mark => refuse(format!(
            "{flag} has an effect only where documents are written: add --action cut, mask or \
             drop-document:SHARE"
        )),
        _ if output.skipped.is_some() && output.format() != WriteFormat::Input => refuse(
            "--skipped has an effect only with --write-format input: records that could not be read \
             are in no shard"
                .to_owned(),
        ),
        _ => Ok(()),
    }
}

/// Parses the value of --action; the message is for clap.
fn action(text: &str) -> std::result::Result<Action, String> {
    Action::parse(text).map_err(|error| error.to_string())
}
