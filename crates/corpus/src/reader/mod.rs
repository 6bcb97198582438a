//! The reader of a source, which cuts it into chunks.

pub(super) mod border;
mod byte_reader;
pub(super) mod cut;

use super::chunk::{Chunk, Position};
use super::decompress::Inflaters;
#[cfg(feature = "parquet")]
use super::parquet::RowReader;
use super::reading::Reading;
use super::source::{Format, Source};
use crate::{Error, ErrorKind, Result};
use byte_reader::ByteReader;

/// Reads a source from its start or from any [`Position`], chunk by chunk.
///
/// Decompresses on the calling thread, unless it is [helped](ChunkReader::helped_by). Its memory is
/// at most one chunk ([`Reading::chunk_bytes`] and one document) and 2 MiB. Zstd needs the window
/// of the frame in addition, at most 128 MiB; a table needs a batch of rows and its pages.
pub struct ChunkReader(FormatReader);

enum FormatReader {
    Bytes(Box<ByteReader>),
    #[cfg(feature = "parquet")]
    Rows(Box<RowReader>),
}

impl ChunkReader {
    /// Opens the source with the number `number`, to read the chunks from position `from` on.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if the file cannot be read or is a stream without a copy;
    /// [`ErrorKind::Changed`] if its size is not that of the source;
    /// [`ErrorKind::Parameter`] if it is a table without the text column.
    pub fn open(
        source: &Source,
        number: u32,
        reading: &Reading,
        from: Position,
    ) -> Result<ChunkReader> {
        let Some(bytes) = source.bytes else {
            let message = "can be read only once: copy it to a file first";
            return Err(Error::new(ErrorKind::Read, message).in_file(&source.path));
        };
        let reader = match source.format {
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let reader = RowReader::open(source, bytes, number, reading, from)?;
                FormatReader::Rows(Box::new(reader))
            }
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(super::detect::without_parquet(&source.path)),
            _ => {
                let reader = ByteReader::open(source, bytes, number, reading, from)?;
                FormatReader::Bytes(Box::new(reader))
            }
        };
        Ok(ChunkReader(reader))
    }

    /// The same reader, for which idle threads decompress members and frames ahead. The chunks are
    /// the same.
    pub fn helped_by(mut self, inflaters: Inflaters) -> ChunkReader {
        match &mut self.0 {
            FormatReader::Bytes(reader) => reader.helped_by(inflaters),
            #[cfg(feature = "parquet")]
            FormatReader::Rows(_) => {}
        }
        self
    }

    /// The same reader, but records over the length limit are not skipped: they are returned in
    /// [parts](super::Body::Part) of a bounded length, each as a chunk. Records cut off by damage are
    /// still skipped. The other chunks are the same, except for their lists of skipped records.
    pub fn in_parts(mut self) -> ChunkReader {
        match &mut self.0 {
            FormatReader::Bytes(reader) => reader.return_parts(),
            #[cfg(feature = "parquet")]
            FormatReader::Rows(_) => {}
        }
        self
    }

    /// The same reader, which ends where the [section](Position::of_section) with this number does.
    pub fn within_section(mut self, section: u64) -> ChunkReader {
        match &mut self.0 {
            FormatReader::Bytes(reader) => reader.within_section(section),
            #[cfg(feature = "parquet")]
            FormatReader::Rows(reader) => reader.within_section(section),
        }
        self
    }

    /// The current offset in the file, for showing progress.
    pub fn file_offset(&self) -> u64 {
        match &self.0 {
            FormatReader::Bytes(reader) => reader.file_offset(),
            #[cfg(feature = "parquet")]
            FormatReader::Rows(reader) => reader.file_offset(),
        }
    }

    /// The number of decompressed bytes already read after the last chunk.
    pub fn bytes_ahead(&self) -> usize {
        match &self.0 {
            FormatReader::Bytes(reader) => reader.bytes_ahead(),
            #[cfg(feature = "parquet")]
            FormatReader::Rows(_) => 0,
        }
    }

    /// The next chunk, in `buffer`; `None` after the last one.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if the system cannot read the file, [`ErrorKind::Changed`] if the file
    /// shrank. Damage in the file is not an error: it becomes skipped documents.
    pub fn next(&mut self, buffer: Vec<u8>) -> Result<Option<Chunk>> {
        match &mut self.0 {
            FormatReader::Bytes(reader) => reader.next(buffer),
            #[cfg(feature = "parquet")]
            FormatReader::Rows(reader) => reader.next(),
        }
    }
}
