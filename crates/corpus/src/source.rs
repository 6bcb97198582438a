//! Input files, their formats and compressions.

#[cfg(feature = "parquet")]
use super::parquet::MemoryRows;
use serde::{Deserialize, Serialize};
use simtool_files::InputPath;
use simtool_objects::Object;
use std::path::PathBuf;
use std::sync::Arc;

/// An input file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name, as given by the user or as found in a directory or by a pattern; `-` is standard
    /// input.
    pub path: PathBuf,
    /// The size of the [file to open](Source::file), or of the texts in memory; `None` for a stream (standard input, a pipe),
    /// which can be read only once, until it is [spooled](Source::spooled).
    pub bytes: Option<u64>,
    /// Its format; for a stream, a guess until it is spooled.
    pub format: Format,
    /// The compression of the whole file; for a stream, a guess until it is spooled.
    pub compression: Compression,
    /// What is read instead of the file with its name, if anything.
    pub copy: Option<SourceCopy>,
    /// The object, if it is on a server.
    pub object: Option<Arc<Object>>,
}

/// What is read instead of the file with the name of a source.
#[derive(Clone, Debug)]
pub enum SourceCopy {
    /// The file to which a stream was copied.
    File(PathBuf),
    /// Rows in memory, which are read as a [table](Format::Parquet).
    #[cfg(feature = "parquet")]
    Rows(Arc<MemoryRows>),
}

impl Source {
    /// Rows in memory, which reports call `path`.
    #[cfg(feature = "parquet")]
    pub fn of_rows(path: PathBuf, rows: MemoryRows) -> Source {
        Source {
            path,
            bytes: Some(rows.text_bytes()),
            format: Format::Parquet,
            compression: Compression::None,
            copy: Some(SourceCopy::Rows(Arc::new(rows))),
            object: None,
        }
    }

    /// The file to open: the copy of the stream, if there is one. Rows in memory have none.
    pub fn file(&self) -> InputPath<'_> {
        match &self.copy {
            Some(SourceCopy::File(copy)) => copy.into(),
            _ => InputPath {
                path: &self.path,
                object: self.object.as_ref(),
            },
        }
    }

    /// Whether it has a file or an object, and not rows in memory.
    pub fn has_file(&self) -> bool {
        matches!(self.copy, None | Some(SourceCopy::File(_)))
    }

    /// The number of its [sections](super::Position::of_section): one, unless documents can be found
    /// from any place on without what precedes them.
    pub fn sections(&self, section_bytes: u64) -> u64 {
        match self.bytes {
            Some(bytes) if self.has_sections() => {
                bytes.div_ceil(section_bytes.max(1)).clamp(1, MOST_SECTIONS)
            }
            _ => 1,
        }
    }

    /// Whether it may have several sections. An object of a server has one, for which many ranges are
    /// requested ahead.
    pub(super) fn has_sections(&self) -> bool {
        let is_found = self.format.separator().is_some() || self.format == Format::Parquet;
        is_found && self.compression == Compression::None && self.object.is_none()
    }

    /// Whether it is a stream that has not been copied yet.
    pub fn is_stream(&self) -> bool {
        self.bytes.is_none()
    }
}

/// The most sections of a source; the last one has the rest. A sparse file may seem to be of any size.
pub(super) const MOST_SECTIONS: u64 = 1 << 16;

/// The name of standard input.
pub(super) const STANDARD_INPUT: &str = "-";

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Pages separated by form feeds; the first line of a page is its id.
    FormFeed,
    /// One document, plain text.
    WholeFile,
    /// One document, an HTML page.
    Html,
    /// JSON Lines: one object per line.
    Jsonl,
    /// Web archive records, including WET files.
    Warc,
    /// The format of web archives before WARC (2009).
    Arc,
    /// A Parquet file, also called a table.
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

    /// The byte that ends each document, except possibly the last, if the format has one.
    pub fn separator(self) -> Option<u8> {
        match self {
            Format::FormFeed => Some(b'\x0c'),
            Format::Jsonl => Some(b'\n'),
            Format::WholeFile | Format::Html | Format::Warc | Format::Arc | Format::Parquet => None,
        }
    }

    /// Whether documents have named fields, such as those of [`Reading`](super::Reading).
    pub fn has_fields(self) -> bool {
        matches!(self, Format::Jsonl | Format::Parquet)
    }

    /// Whether a file is one document, as plain text or as HTML.
    pub fn is_whole_file(self) -> bool {
        matches!(self, Format::WholeFile | Format::Html)
    }
}

/// The compression of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// None.
    None,
    /// Gzip, one or more members.
    Gzip,
    /// Zstandard, one or more frames.
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
