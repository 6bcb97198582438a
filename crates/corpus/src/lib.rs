//! Documents of input files: formats, decompression, chunks, parsing.
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! ```text
//! discover ─► Source ─► ChunkReader ─► Chunk ─► Parser ─► Document
//!  paths       file,     reads and     whole    one per    borrowed
//!              format    decompresses  records  worker     bytes
//! ```
//!
//! One [`ChunkReader`] cuts a [`Source`] into [`Chunk`]s of whole documents, in order. Any thread
//! with a [`Parser`] finds the documents of a chunk. A document borrows its bytes and has a
//! [`Place`]. Borders, places and numbers depend only on the bytes of the input and on the
//! [`Reading`], never on buffers or on where reading resumed. A document that cannot be read
//! becomes a [`Skip`] with its reason and place, not an error.
//!
//! Deliberately absent: words, and threads of its own (threads of the caller may decompress ahead
//! through [`Inflaters`]). Files are read here, never mapped, and none is written; copies of Parquet
//! files go to a writer of the caller.

pub mod chunk;
mod contained;
mod decompress;
mod detect;
mod discovery;
pub mod document;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod parser;
pub mod reader;
pub mod reading;
pub mod source;
mod text_formats;
mod visitor;
pub mod web;

pub use chunk::{Body, Chunk, Position, WholeMember};
pub use contained::is_contained;
pub use decompress::Inflaters;
pub use detect::not_plain_text;
pub use discovery::discover;
pub use discovery::discover::{Discovery, DiscoveryProgress, discover, searched};
pub use discovery::left_out::{LeftOut, LeftOutReason};
pub use discovery::remote_files::request_small_ahead;
pub use document::{Document, Doubt, FieldValue, FieldValues, MAX_FIELDS, NO_MEMBER};
pub use document::{Parsed, Place, Reason, Skip};
pub use parser::Parser;
pub use reader::ChunkReader;
pub use reader::border::border_behind;
pub use reading::{FileChoice, HtmlText, Reading};
pub use source::{Compression, Format, Source, SourceCopy};
pub use text_formats::raw_text::RawText;
pub use text_formats::{form_feed, json_text};

use simtool_core::{Error, ErrorKind, Result};

#[cfg(test)]
mod test_files;
#[cfg(test)]
mod tests;
