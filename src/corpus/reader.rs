//! Reads a source and cuts it into chunks.

use super::byte_reader::ByteReader;
use super::chunk::{Chunk, Position};
use super::decompress::Inflaters;
#[cfg(feature = "parquet")]
use super::parquet::RowReader;
use super::reading::Reading;
use super::source::{Format, Source};
use crate::{Error, ErrorKind, Result};

/// Reads a source from its start or from any [`Position`], chunk by chunk.
///
/// Decompresses on the thread that calls it, unless it is [helped](ChunkReader::helped_by). Holds at most one chunk, which is as long as
/// [`Reading::chunk_bytes`] and one document, and 2 MiB; for zstd, the frame's window besides, at
/// most 128 MiB; of a table, a batch of rows and the pages it comes from.
pub struct ChunkReader(Reader);

enum Reader {
    Bytes(Box<ByteReader>),
    #[cfg(feature = "parquet")]
    Rows(Box<RowReader>),
}

impl ChunkReader {
    /// Opens a source, which goes by `number`, to read the chunk that begins at `from` and all
    /// that come behind it.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if the file cannot be read or is a stream without a copy;
    /// [`ErrorKind::Changed`] if it is not of the size that the source says;
    /// [`ErrorKind::Parameter`] if it is a table without the column of the text.
    pub fn open(
        source: &Source,
        number: u32,
        reading: &Reading,
        from: Position,
    ) -> Result<ChunkReader> {
        let Some(bytes) = source.bytes else {
            let message = "can be read only once: it has to be copied to a file before";
            return Err(Error::new(ErrorKind::Read, message).in_file(&source.path));
        };
        let reader = match source.format {
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let reader = RowReader::open(source, bytes, number, reading, from)?;
                Reader::Rows(Box::new(reader))
            }
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(super::detect::without_parquet(&source.path)),
            _ => {
                let reader = ByteReader::open(source, bytes, number, reading, from)?;
                Reader::Bytes(Box::new(reader))
            }
        };
        Ok(ChunkReader(reader))
    }

    /// The same, with members and frames of a compressed file decompressed ahead by others, as far
    /// as they have nothing else to do. Its chunks are the same.
    pub fn helped_by(mut self, inflaters: Inflaters) -> ChunkReader {
        match &mut self.0 {
            Reader::Bytes(reader) => reader.helped_by(inflaters),
            #[cfg(feature = "parquet")]
            Reader::Rows(_) => {}
        }
        self
    }

    /// The same, but records that are longer than documents may be are not passed over: they come
    /// in [parts](super::Body::Part) of a bounded length, each as a chunk. What damage cuts off is
    /// passed over all the same. The other chunks are the same, but for what they say was skipped.
    pub fn in_parts(mut self) -> ChunkReader {
        match &mut self.0 {
            Reader::Bytes(reader) => reader.give_parts(),
            #[cfg(feature = "parquet")]
            Reader::Rows(_) => {}
        }
        self
    }

    /// The offset in the file that reading has come to, for showing progress.
    pub fn file_offset(&self) -> u64 {
        match &self.0 {
            Reader::Bytes(reader) => reader.file_offset(),
            #[cfg(feature = "parquet")]
            Reader::Rows(reader) => reader.file_offset(),
        }
    }

    /// Decompressed bytes that were read ahead of the last chunk.
    pub fn bytes_ahead(&self) -> usize {
        match &self.0 {
            Reader::Bytes(reader) => reader.bytes_ahead(),
            #[cfg(feature = "parquet")]
            Reader::Rows(_) => 0,
        }
    }

    /// The next chunk, in `buffer`; `None` behind the last one.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if the system cannot read the file, [`ErrorKind::Changed`] if the file
    /// shrank. Damage within it is no error, but told in [`Chunk::skipped`].
    pub fn next(&mut self, buffer: Vec<u8>) -> Result<Option<Chunk>> {
        match &mut self.0 {
            Reader::Bytes(reader) => reader.next(buffer),
            #[cfg(feature = "parquet")]
            Reader::Rows(reader) => Ok(reader.next()),
        }
    }
}
