//! How documents are written as one stream of records, cut into shards.

use std::ops::Range;

use serde_json::{Value, json};

use crate::write::packing::levels;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::Compression;

/// The format of written documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum WriteFormat {
    /// One file for each input, in its own format.
    #[default]
    Input,
    /// JSON Lines.
    #[cfg_attr(feature = "cli", value(name = "jsonl"))]
    Jsonl,
    /// JSON Lines in gzip.
    #[cfg_attr(feature = "cli", value(name = "jsonl.gz"))]
    JsonlGzip,
    /// JSON Lines in zstd.
    #[cfg_attr(feature = "cli", value(name = "jsonl.zst"))]
    JsonlZstd,
    /// Parquet.
    #[cfg_attr(feature = "cli", value(name = "parquet"))]
    Parquet,
}

impl WriteFormat {
    /// The name that flags and reports use; of shards, also the ending of their names.
    pub fn name(self) -> &'static str {
        match self {
            WriteFormat::Input => "input",
            WriteFormat::Jsonl => "jsonl",
            WriteFormat::JsonlGzip => "jsonl.gz",
            WriteFormat::JsonlZstd => "jsonl.zst",
            WriteFormat::Parquet => "parquet",
        }
    }

    /// The compression of JSON Lines.
    pub fn compression(self) -> Compression {
        match self {
            WriteFormat::JsonlGzip => Compression::Gzip,
            WriteFormat::JsonlZstd => Compression::Zstd,
            WriteFormat::Input | WriteFormat::Jsonl | WriteFormat::Parquet => Compression::None,
        }
    }

    /// The levels of its compression; `None` if it has none of its own.
    fn levels(self) -> Option<Range<u32>> {
        match self {
            WriteFormat::Parquet => levels(Compression::Zstd),
            _ => levels(self.compression()),
        }
    }
}

/// How documents are cut into shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardSettings {
    /// The format; with [`WriteFormat::Input`], nothing else applies.
    pub format: WriteFormat,
    /// A shard ends with the record that reaches this number of bytes, before compression.
    pub bytes: u64,
    /// The names of the files.
    pub name: ShardName,
    /// The name of the field with the input file, which is added to each record.
    pub source_field: String,
    /// Whether the language of documents whose input does not name it is guessed.
    pub guess_language: bool,
}

impl Default for ShardSettings {
    fn default() -> ShardSettings {
        ShardSettings {
            format: WriteFormat::Input,
            bytes: 1 << 30,
            name: ShardName::default(),
            source_field: "source".to_owned(),
            guess_language: false,
        }
    }
}

impl ShardSettings {
    /// Whether documents are written as shards.
    pub fn is_used(&self) -> bool {
        self.format != WriteFormat::Input
    }

    /// The settings besides the format, as JSON; null if documents are not written as shards.
    pub fn json(&self) -> Value {
        let settings = self.is_used().then(|| {
            json!({
                "bytes": self.bytes,
                "name": self.name.to_string(),
                "source_field": self.source_field,
                "guess_language": self.guess_language,
            })
        });
        settings.into()
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a size of zero, a source field without a name or with that of
    /// another field, a level that the compression does not have, and Parquet in a build without it.
    pub fn check(&self, level: Option<u32>) -> Result<()> {
        let refuse = |message: String| Err(Error::new(ErrorKind::Parameter, message));
        if !self.is_used() {
            return Ok(());
        }
        if self.bytes == 0 {
            return refuse("shard_size 0: at least 1 byte".to_owned());
        }
        let name = &self.source_field;
        if name.is_empty() || name.len() > MOST_NAME_BYTES {
            return refuse(format!(
                "source_field {name:?}: expected a name of 1 to {MOST_NAME_BYTES} bytes"
            ));
        }
        if TEXT_FIELDS.contains(&name.as_str()) || name == FIELDS {
            return refuse(format!(
                "source_field {name:?} is the name of another field of the records: choose another"
            ));
        }
        if let (Some(level), format) = (level, self.format) {
            let levels = format.levels().unwrap_or(0..0);
            if !levels.contains(&level) {
                return refuse(match levels.is_empty() {
                    true => format!("compression_level has no effect on {}", format.name()),
                    false => format!(
                        "{} has no compression level {level}: choose {} to {}",
                        format.name(),
                        levels.start,
                        levels.end - 1
                    ),
                });
            }
        }
        if self.format == WriteFormat::Parquet && cfg!(not(feature = "parquet")) {
            let message = "this build writes no Parquet (build it with the feature parquet)";
            return refuse(message.to_owned());
        }
        Ok(())
    }
}

/// The fields of a document without fields of its own, besides that of the source.
pub const TEXT_FIELDS: [&str; 8] = [
    "id", "url", "date", "text", "language", "xxh3_128", "start", "member",
];
/// The Parquet column of all other fields.
pub const FIELDS: &str = "fields";

/// The most bytes of a name.
const MOST_NAME_BYTES: usize = 200;
/// The digits of a number without a width.
const DIGITS: usize = 5;

/// The names of shards: `part-{number}`, without the ending that the format has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardName {
    before: String,
    digits: usize,
    after: String,
}

impl Default for ShardName {
    fn default() -> ShardName {
        ShardName {
            before: "part-".to_owned(),
            digits: DIGITS,
            after: String::new(),
        }
    }
}

impl ShardName {
    /// Reads a name with `{number}`, or `{number:03}` for at least three digits (five otherwise).
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a name without a number or with two, with a slash, a control
    /// character or other braces, for a hidden file, and for one that is too long.
    pub fn parse(text: &str) -> Result<ShardName> {
        let refuse = |why: &str| {
            let message = format!("shard name {text:?}: {why}");
            Error::new(ErrorKind::Parameter, message)
        };
        let expected = "expected a name with {number} or {number:03}, such as part-{number}";
        let (before, rest) = text.split_once("{number").ok_or_else(|| refuse(expected))?;
        let (width, after) = rest.split_once('}').ok_or_else(|| refuse(expected))?;
        let digits = match width.strip_prefix(":0") {
            None if width.is_empty() => DIGITS,
            None => return Err(refuse(expected)),
            Some(digits) => match digits.parse::<usize>() {
                Ok(digits @ 1..=20) if width.len() <= 4 => digits,
                _ => return Err(refuse("a number has 1 to 20 digits, such as {number:03}")),
            },
        };
        let others = [before, after].concat();
        if others.contains(['{', '}']) {
            return Err(refuse(expected));
        }
        if others.contains('/') || others.chars().any(char::is_control) {
            return Err(refuse("a name has no slash and no control character"));
        }
        if before.starts_with('.') {
            return Err(refuse(
                "names that begin with a dot are of hidden files, which are not read",
            ));
        }
        if others.len() > MOST_NAME_BYTES {
            return Err(refuse("a name is too long"));
        }
        Ok(ShardName {
            before: before.to_owned(),
            digits,
            after: after.to_owned(),
        })
    }

    /// The name of the shard `number`, which counts from 0.
    pub fn file(&self, number: u32, format: WriteFormat) -> String {
        let ShardName {
            before,
            digits,
            after,
        } = self;
        format!("{before}{number:0digits$}{after}.{}", format.name())
    }

    /// Whether `file` is the name of a shard.
    pub fn is_of(&self, file: &str, format: WriteFormat) -> bool {
        let number = file
            .strip_prefix(&self.before)
            .and_then(|rest| rest.strip_suffix(format.name())?.strip_suffix('.'))
            .and_then(|rest| rest.strip_suffix(&self.after));
        let number = number.and_then(|digits| digits.parse().ok());
        number.is_some_and(|number| self.file(number, format) == file)
    }
}

/// In the format of [`ShardName::parse`].
impl std::fmt::Display for ShardName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ShardName {
            before,
            digits,
            after,
        } = self;
        match *digits == DIGITS {
            true => write!(out, "{before}{{number}}{after}"),
            false => write!(out, "{before}{{number:0{digits}}}{after}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_shards() {
        let format = WriteFormat::JsonlZstd;
        for (name, first, many) in [
            (
                "part-{number}",
                "part-00000.jsonl.zst",
                "part-123456.jsonl.zst",
            ),
            ("{number:03}", "000.jsonl.zst", "123456.jsonl.zst"),
            (
                "a b{number:01}\u{e9}.x",
                "a b0\u{e9}.x.jsonl.zst",
                "a b123456\u{e9}.x.jsonl.zst",
            ),
        ] {
            let parsed = ShardName::parse(name).unwrap();
            assert_eq!(parsed.to_string(), name);
            assert_eq!(parsed.file(0, format), first);
            assert_eq!(parsed.file(123_456, format), many);
            assert!(parsed.is_of(first, format) && parsed.is_of(many, format));
            for other in [
                "part-0.jsonl.zst",
                "00.jsonl.zst",
                "part-00000.jsonl",
                "x",
                "",
            ] {
                assert!(!parsed.is_of(other, format), "{name} {other}");
            }
        }
    }

    #[test]
    fn names_that_are_not_of_one_file_each_are_refused() {
        for name in [
            "",
            "part",
            "{number",
            "{number:3}",
            "{number:0}",
            "{number:021}",
            "{number:0x}",
            "{number}{number}",
            "{x}{number}",
            "a/{number}",
            "../{number}",
            "{number}/b",
            ".{number}",
            "a\n{number}",
            "a\0{number}",
            "{number:0003}",
        ] {
            let error = ShardName::parse(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter, "{name}");
        }
        assert!(ShardName::parse(&("x".repeat(200) + "{number}")).is_ok());
        assert!(ShardName::parse(&("x".repeat(201) + "{number}")).is_err());
    }

    #[test]
    fn settings_are_checked() {
        let settings = ShardSettings {
            format: WriteFormat::JsonlGzip,
            ..ShardSettings::default()
        };
        assert!(settings.check(None).is_ok() && settings.check(Some(9)).is_ok());
        assert!(settings.check(Some(10)).is_err());
        type Spoil = fn(&mut ShardSettings);
        let spoils: [Spoil; 4] = [
            |settings| settings.bytes = 0,
            |settings| settings.source_field = "text".to_owned(),
            |settings| settings.source_field = "fields".to_owned(),
            |settings| settings.source_field.clear(),
        ];
        for spoil in spoils {
            let mut spoiled = settings.clone();
            spoil(&mut spoiled);
            assert_eq!(
                spoiled.check(None).unwrap_err().kind(),
                ErrorKind::Parameter
            );
        }
    }
}
