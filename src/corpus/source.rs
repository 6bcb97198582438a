//! A file that documents come from.

use crate::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// A file that documents come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The name it was given by; `-` is standard input.
    pub path: PathBuf,
    /// Its size; `None` for a stream (standard input, a pipe), which can be read only once: it has
    /// to be [spooled](Source::spooled) before anything else.
    pub bytes: Option<u64>,
    /// What is in it; of a stream, a guess until it is spooled.
    pub format: Format,
    /// How the file as a whole is compressed; of a stream, a guess until it is spooled.
    pub compression: Compression,
    /// The file to which a stream was copied.
    pub copy: Option<PathBuf>,
}

impl Source {
    /// The file to open: the stream's copy, if there is one.
    pub fn file(&self) -> &Path {
        self.copy.as_deref().unwrap_or(&self.path)
    }

    /// Whether it can be read only once, and has not been copied yet.
    pub fn is_stream(&self) -> bool {
        self.bytes.is_none()
    }
}

/// What is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Pages separated by form feeds, each headed by a line with its id.
    FormFeed,
    /// One document.
    WholeFile,
    /// One document, an HTML page.
    Html,
    /// A JSON object a line.
    Jsonl,
    /// Web archive records, WET files among them.
    Warc,
    /// The web archives of before 2009.
    Arc,
    /// A table in Parquet.
    Parquet,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 7] = [
        Format::FormFeed,
        Format::WholeFile,
        Format::Html,
        Format::Jsonl,
        Format::Warc,
        Format::Arc,
        Format::Parquet,
    ];

    /// The name that flags and reports use.
    pub fn name(self) -> &'static str {
        match self {
            Format::FormFeed => "form_feed",
            Format::WholeFile => "whole_file",
            Format::Html => "html",
            Format::Jsonl => "jsonl",
            Format::Warc => "warc",
            Format::Arc => "arc",
            Format::Parquet => "parquet",
        }
    }

    /// The byte that ends each document but possibly the last, in formats that have one.
    pub fn separator(self) -> Option<u8> {
        match self {
            Format::FormFeed => Some(b'\x0c'),
            Format::Jsonl => Some(b'\n'),
            Format::WholeFile | Format::Html | Format::Warc | Format::Arc | Format::Parquet => None,
        }
    }

    /// Whether a file is one document.
    pub fn is_whole_file(self) -> bool {
        matches!(self, Format::WholeFile | Format::Html)
    }
}

/// How a file as a whole is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// It is not.
    None,
    /// Gzip, of one or many members.
    Gzip,
    /// Zstandard, of one or many frames.
    Zstd,
}

impl Compression {
    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        }
    }
}

/// The error of an input that cannot be opened or read, with what to do about the usual causes.
pub(super) fn unreadable(input: &Path, cause: io::Error) -> Error {
    let message = match cause.kind() {
        io::ErrorKind::NotFound => "cannot be read (check the spelling of its name)",
        io::ErrorKind::PermissionDenied => "cannot be read (ask its owner for read permission)",
        _ => "cannot be read",
    };
    Error::new(ErrorKind::Read, message)
        .in_file(input)
        .caused_by(cause)
}
