//! The flags of `simtool dedup` about written documents.

use clap::Args;
use simtool::jobs::dedup::{
    DumpSettings, ShardName, ShardSettings, SkippedRecords, WriteFormat, WriteMode,
};
use simtool::{Error, ErrorKind, Result};

use super::size::parse_size;
use super::values;

/// The flags about written documents.
#[derive(Args, Clone, Debug)]
pub struct WriteArgs {
    /// What to write besides the reports: ids (of the kept documents), kept (the documents without
    /// duplicates), annotated (all of them, with marks on duplicates) or text (the texts that were
    /// compared, with URL, date and language); removed writes the duplicates, alone or with one of
    /// these: kept,removed
    #[arg(
        long, value_name = "WHAT", default_value = "none", value_parser = values::write(written),
        hide_possible_values = true, help_heading = "Output"
    )]
    write: Written,

    /// How documents are written: input (a file for each input, in its own format), or one stream of
    /// records, cut into shards: jsonl, jsonl.gz, jsonl.zst or parquet [default: input; jsonl.zst for
    /// text]
    #[arg(
        long,
        value_name = "FORMAT",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    write_format: Option<WriteFormat>,

    /// A shard ends with the record that reaches this size, before compression: a number of bytes, or
    /// 200M, 1G [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Output")]
    shard_size: Option<u64>,

    /// The names of shards; the format is appended. {number:03} has at least three digits [default:
    /// part-{number}]
    #[arg(long, value_name = "NAME", value_parser = shard_name, help_heading = "Output")]
    shard_name: Option<ShardName>,

    /// The field with the input file that each record of a shard gets [default: source]
    #[arg(long, value_name = "FIELD", help_heading = "Output")]
    source_field: Option<String>,

    /// What kept and annotated do with records that could not be read [default: keep]
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    skipped: Option<SkippedRecords>,

    /// Compress written documents with this level: gzip 0 to 9, zstd (Parquet too) 1 to 19 [default:
    /// copy unchanged members of inputs; gzip 6 and zstd 3 for all others]
    #[arg(long, value_name = "LEVEL", help_heading = "Output")]
    compression_level: Option<u32>,
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

/// Parses the value of --shard-name; the message is for clap.
fn shard_name(text: &str) -> std::result::Result<ShardName, String> {
    ShardName::parse(text).map_err(|error| error.to_string())
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
        self.write_format.unwrap_or(match self.mode() {
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
        Ok(DumpSettings {
            skipped: self.skipped.unwrap_or_default(),
            compression_level: self.compression_level,
        })
    }

    /// How documents are written as shards.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a flag without effect, and for a format that does not fit.
    pub fn shards(&self) -> Result<ShardSettings> {
        let format = self.format();
        match (self.mode(), self.write_format) {
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
        let of_shards = [
            ("--shard-size", self.shard_size.is_some()),
            ("--shard-name", self.shard_name.is_some()),
            ("--source-field", self.source_field.is_some()),
        ];
        let given = of_shards.iter().find(|(_, is_given)| *is_given);
        if let (Some((flag, _)), WriteFormat::Input) = (given, format) {
            return Err(refuse(&format!(
                "{flag} has an effect only on shards: add --write-format jsonl, jsonl.gz, jsonl.zst \
                 or parquet"
            )));
        }
        let default = ShardSettings::default();
        Ok(ShardSettings {
            format,
            bytes: self.shard_size.unwrap_or(default.bytes),
            name: self.shard_name.clone().unwrap_or(default.name),
            source_field: self.source_field.clone().unwrap_or(default.source_field),
        })
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
