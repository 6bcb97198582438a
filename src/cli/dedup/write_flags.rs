//! The flags of `simtool dedup` about written documents.

use clap::Args;
use simtool::jobs::dedup::{DumpSettings, SkippedRecords, WriteMode};
use simtool::jobs::shards::{ShardSettings, WriteFormat};
use simtool::{Error, ErrorKind, Result};

use crate::cli::output::shard_flags::ShardArgs;
use crate::cli::values;

/// The flags about written documents.
#[derive(Args, Clone, Debug)]
pub struct WriteArgs {
    /// What to write besides the reports: ids (of the kept documents), kept (the documents without
    /// duplicates), annotated (all of them, with marks on duplicates) or text (the texts that were
    /// compared, with URL, date and language, as jsonl.zst unless --write-format is another); removed
    /// writes the duplicates, alone or with one of these: kept,removed
    #[arg(
        long, value_name = "WHAT", default_value = "none", value_parser = values::write(written),
        hide_possible_values = true, help_heading = "Output"
    )]
    write: Written,

    #[command(flatten)]
    shards: ShardArgs,

    /// What kept and annotated do with records that could not be read [default: keep]
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    skipped: Option<SkippedRecords>,

    /// Compress written documents with this level: gzip 0 to 9, zstd (Parquet too) 1 to 19 [default:
    /// copy unchanged members of inputs; gzip 6 and zstd 3 for all others]
    #[arg(long, value_name = "LEVEL", help_heading = "Output")]
    compression_level: Option<u32>,

    /// Write an empty file for an input none of whose documents belongs there [default: no file]
    #[arg(long, help_heading = "Output")]
    empty_files: bool,
}

/// The value of --write.
#[derive(Clone, Copy, Debug)]
struct Written {
    mode: WriteMode,
    removed: bool,
}

/// The names of modes.
const MODES: [WriteMode; 5] = [
    WriteMode::None,
    WriteMode::Ids,
    WriteMode::Kept,
    WriteMode::Annotated,
    WriteMode::Text,
];
const REMOVED: &str = "removed";

/// Parses the value of --write; the message is for clap.
fn written(text: &str) -> std::result::Result<Written, String> {
    let mut written = Written {
        mode: WriteMode::None,
        removed: false,
    };
    let mut modes = 0;
    for name in text.split(',') {
        if name == REMOVED && !written.removed {
            written.removed = true;
            continue;
        }
        let mode = MODES.into_iter().find(|mode| mode.name() == name);
        written.mode = mode.filter(|_| modes == 0).ok_or(
            "expected none, ids, kept, annotated or text, removed, or one of these and removed, such \
             as kept,removed",
        )?;
        modes += 1;
    }
    Ok(written)
}

impl WriteArgs {
    /// What is written besides the reports.
    pub fn mode(&self) -> WriteMode {
        self.write.mode
    }

    /// Whether the removed documents are written.
    pub fn removed(&self) -> bool {
        self.write.removed
    }

    fn format(&self) -> WriteFormat {
        self.shards.write_format.unwrap_or(match self.mode() {
            WriteMode::Text => WriteFormat::JsonlZstd,
            _ => WriteFormat::Input,
        })
    }

    fn writes_documents(&self) -> bool {
        self.removed() || !matches!(self.mode(), WriteMode::None | WriteMode::Ids)
    }

    /// How the files of the inputs are written.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a flag without effect.
    pub fn dump(&self) -> Result<DumpSettings> {
        let has_files = matches!(self.mode(), WriteMode::Kept | WriteMode::Annotated);
        if self.skipped.is_some() && !(has_files && self.format() == WriteFormat::Input) {
            return Err(refuse(
                "--skipped has an effect only with --write kept or annotated in the format of the \
                 input: records that could not be read are in no other file",
            ));
        }
        if self.compression_level.is_some() && !self.writes_documents() {
            return Err(refuse(
                "--compression-level has an effect only with --write kept or annotated, text or \
                 removed: add that",
            ));
        }
        let writes_files = has_files || self.removed();
        if self.empty_files && !(writes_files && self.format() == WriteFormat::Input) {
            return Err(refuse(
                "--empty-files has an effect only with --write kept, annotated or removed in the \
                 format of the input: add that",
            ));
        }
        Ok(DumpSettings {
            skipped: self.skipped.unwrap_or_default(),
            compression_level: self.compression_level,
            empty_files: self.empty_files,
        })
    }

    /// How documents are written as shards.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a flag without effect, and for a format that does not fit.
    pub fn shards(&self) -> Result<ShardSettings> {
        let format = self.format();
        match (self.mode(), self.shards.write_format) {
            (_, Some(_)) if !self.writes_documents() => {
                return Err(refuse(
                    "--write-format has an effect only with --write kept, text or removed: add that",
                ));
            }
            (WriteMode::Annotated, Some(format)) if format != WriteFormat::Input => {
                return Err(refuse(
                    "--write annotated marks the documents in their own format, so it has no other \
                     --write-format (choose --write kept,removed, which writes the duplicates apart)",
                ));
            }
            (WriteMode::Text, Some(WriteFormat::Input)) => {
                return Err(refuse(
                    "--write text has no format of the input: choose --write-format jsonl, jsonl.gz, \
                     jsonl.zst or parquet",
                ));
            }
            _ => {}
        }
        self.shards.settings(format)
    }
}

fn refuse(message: &str) -> Error {
    Error::new(ErrorKind::Parameter, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mode_and_removed() {
        for (text, mode, removed) in [
            ("none", WriteMode::None, false),
            ("kept", WriteMode::Kept, false),
            ("removed", WriteMode::None, true),
            ("kept,removed", WriteMode::Kept, true),
            ("removed,text", WriteMode::Text, true),
        ] {
            let written = written(text).unwrap();
            assert_eq!((written.mode, written.removed), (mode, removed), "{text}");
        }
        for text in [
            "",
            "all",
            "kept,ids",
            "removed,removed",
            "kept,",
            "kept, removed",
        ] {
            assert!(
                written(text).unwrap_err().starts_with("expected none"),
                "{text}"
            );
        }
    }
}
