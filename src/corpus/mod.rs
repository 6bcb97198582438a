//! Where do documents come from?
//!
//! ```text
//! discover ─► Source ─► ChunkReader ─► Chunk ─► Parser ─► Document
//!  paths       file,     reads and     whole    a worker's   a view
//!              format    decompresses  records  own          of bytes
//! ```
//!
//! A [`Source`] is cut into [`Chunk`]s of whole documents, in order, by one [`ChunkReader`]; what
//! is in a chunk is found by whoever has a [`Parser`]. Documents are borrowed views with a
//! [`Place`]. Borders, places and numbers depend on the bytes of the input and on the [`Reading`]
//! alone, never on buffers or on where reading resumed. Whatever cannot be read becomes a [`Skip`]
//! with its reason and place; only what the system says about a file is an error.
//!
//! Deliberately absent: words and threads, though those of others may help a reader as
//! [`Inflaters`]; files are read here, never mapped, and written by `synthetic` alone, which makes
//! corpora up.

mod below;
mod border;
mod byte_reader;
pub mod chunk;
mod contained;
mod cut;
mod decompress;
mod detect;
pub mod discover;
pub mod document;
pub mod form_feed;
mod json_line;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod parser;
mod raw_text;
pub mod reader;
pub mod reading;
mod records;
pub mod source;
pub mod synthetic;
mod unread;
pub mod web;

pub use border::border_behind;
pub use chunk::{Body, Chunk, Position, WholeMember};
pub use contained::is_contained;
pub use decompress::Inflaters;
pub use discover::{Discovery, LeftOut, LeftOutReason, discover};
pub use document::{Document, Doubt, FieldValue, NO_MEMBER, Parsed, Place, Reason, Skip};
pub use parser::Parser;
pub use reader::ChunkReader;
pub use reading::{FileChoice, HtmlText, Reading};
pub use source::{Compression, Format, Source};

#[cfg(test)]
mod test_files;
#[cfg(test)]
mod tests;
