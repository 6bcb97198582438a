//! The flags of shards, which every command that writes documents has.

use clap::Args;
use simtool::jobs::shards::{ShardName, ShardSettings, WriteFormat};
use simtool::{Error, ErrorKind, Result};

use crate::cli::values::size::parse_size;

/// The flags of shards.
#[derive(Args, Clone, Debug)]
pub struct ShardArgs {
    /// How documents are written: input (a file for each input, in its own format), or one stream of
    /// records, cut into shards: jsonl, jsonl.gz, jsonl.zst or parquet [default: input]
    #[arg(
        long,
        value_name = "FORMAT",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    pub write_format: Option<WriteFormat>,

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

    /// Guess the language of documents whose input does not name it, for the field language
    #[arg(long, help_heading = "Output")]
    guess_language: bool,
}

/// Parses the value of --shard-name; the message is for clap.
fn shard_name(text: &str) -> std::result::Result<ShardName, String> {
    ShardName::parse(text).map_err(|error| error.to_string())
}

impl ShardArgs {
    /// How documents are written in `format`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a flag of shards, if the format has none.
    pub fn settings(&self, format: WriteFormat) -> Result<ShardSettings> {
        let of_shards = [
            ("--shard-size", self.shard_size.is_some()),
            ("--shard-name", self.shard_name.is_some()),
            ("--source-field", self.source_field.is_some()),
            ("--guess-language", self.guess_language),
        ];
        let given = of_shards.iter().find(|(_, is_given)| *is_given);
        if let (Some((flag, _)), WriteFormat::Input) = (given, format) {
            let message = format!(
                "{flag} has an effect only on shards: add --write-format jsonl, jsonl.gz, jsonl.zst \
                 or parquet"
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        let default = ShardSettings::default();
        Ok(ShardSettings {
            format,
            bytes: self.shard_size.unwrap_or(default.bytes),
            name: self.shard_name.clone().unwrap_or(default.name),
            source_field: self.source_field.clone().unwrap_or(default.source_field),
            guess_language: self.guess_language,
        })
    }
}
