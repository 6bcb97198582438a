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

mod border;
mod byte_reader;
pub mod chunk;
mod companions;
mod contained;
mod cut;
mod decompress;
mod detect;
pub mod discover;
pub mod document;
mod file_filter;
mod first_object;
pub mod form_feed;
mod identities;
mod json_line;
pub mod json_text;
mod left_out;
mod lists;
mod mail;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod parser;
mod raw_text;
pub mod reader;
pub mod reading;
mod records;
mod remote_files;
pub mod source;
mod unread;
mod visitor;
pub mod web;

pub use border::border_behind;
pub use chunk::{Body, Chunk, Position, WholeMember};
pub use contained::is_contained;
pub use decompress::Inflaters;
pub use detect::not_plain_text;
pub use discover::{Discovery, DiscoveryProgress, discover, searched};
pub use document::{Document, Doubt, FieldValue, FieldValues, MAX_FIELDS, NO_MEMBER};
pub use document::{Parsed, Place, Reason, Skip};
pub use left_out::{LeftOut, LeftOutReason};
pub use parser::Parser;
pub use raw_text::RawText;
pub use reader::ChunkReader;
pub use reading::{FileChoice, HtmlText, Reading};
pub use remote_files::request_small_ahead;
pub use source::{Compression, Format, Source};

use simtool_core::{Error, ErrorKind, Result};

#[cfg(test)]
mod test_files;
#[cfg(test)]
mod tests;
