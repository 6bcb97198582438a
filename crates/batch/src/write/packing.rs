//! Output chunks in the compression of their source.
//!
//! Unchanged members are copied in compressed form, unless a level is requested. Everything else is
//! compressed again: each WARC record as a member of its own; in other formats, the bytes between
//! copied members.

use std::io::{self, Write};
use std::ops::Range;

use flate2::write::GzEncoder;

use crate::{Error, ErrorKind, Result};
use simtool_corpus::web::warc::{self, Next};
use simtool_corpus::{Body, Chunk, Compression, Format, Source, WholeMember};
use simtool_files::InputFile;

/// The default levels of gzip and zstd.
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: u32 = 3;
/// The highest zstd level for long records: higher levels take hundreds of megabytes of memory.
const MOST_LONG_ZSTD_LEVEL: u32 = 9;

/// The levels of a compression; `None` if it has none.
pub fn levels(compression: Compression) -> Option<Range<u32>> {
    match compression {
        Compression::None => None,
        Compression::Gzip => Some(0..10),
        Compression::Zstd => Some(1..20),
    }
}

/// Appends a gzip member or zstd frame with the content `part`, which may be empty; or `part` itself
/// without a compression.
///
/// # Errors
/// Errors of the compressor.
pub fn compress(
    compression: Compression,
    level: Option<u32>,
    part: &[u8],
    out: &mut Vec<u8>,
) -> io::Result<()> {
    match compression {
        Compression::None => {
            out.extend_from_slice(part);
            Ok(())
        }
        Compression::Gzip => {
            let level = flate2::Compression::new(level.unwrap_or(GZIP_LEVEL));
            let mut encoder = GzEncoder::new(out, level);
            encoder.write_all(part)?;
            encoder.finish().map(drop)
        }
        Compression::Zstd => {
            let level = level.unwrap_or(ZSTD_LEVEL);
            zstd::bulk::compress(part, level.cast_signed())
                .map(|frame| out.extend_from_slice(&frame))
        }
    }
}

/// A piece of the output.
pub enum OutputPiece {
    /// Bytes of the chunk.
    Same(Range<usize>),
    /// Other bytes.
    New(Vec<u8>),
}

/// How the output for a source is compressed.
#[derive(Clone, Copy)]
pub struct Packing<'a> {
    /// The source.
    pub source: &'a Source,
    /// The requested level; with one, everything is compressed again.
    pub level: Option<u32>,
}

impl Packing<'_> {
    /// Joins and compresses the pieces of a chunk.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if the source became shorter; those of reading and of the compressor.
    pub fn pack(&self, chunk: &Chunk, pieces: Vec<OutputPiece>) -> Result<Vec<u8>> {
        let bytes = chunk.bytes();
        if self.source.compression == Compression::None {
            let mut out = Vec::with_capacity(bytes.len());
            for piece in pieces {
                match piece {
                    OutputPiece::Same(range) => out.extend_from_slice(&bytes[range]),
                    OutputPiece::New(new) => out.extend_from_slice(&new),
                }
            }
            return Ok(out);
        }
        let whole: &[WholeMember] = match &chunk.body {
            Body::Bytes { whole, .. } if self.level.is_none() => whole,
            _ => &[],
        };
        let (mut out, mut pending) = (Vec::new(), Vec::new());
        for piece in pieces {
            let range = match piece {
                OutputPiece::Same(range) => range,
                OutputPiece::New(new) => {
                    pending.extend_from_slice(&new);
                    continue;
                }
            };
            let first = whole.partition_point(|member| member.bytes.start < range.start);
            let rest = &whole[first..];
            let within = rest.partition_point(|member| member.bytes.end <= range.end);
            let mut at = range.start;
            let is_next = |a: &WholeMember, b: &WholeMember| {
                (a.bytes.end, a.file.end) == (b.bytes.start, b.file.start)
            };
            for members in rest[..within].chunk_by(is_next) {
                if let (Some(first), Some(last)) = (members.first(), members.last()) {
                    pending.extend_from_slice(&bytes[at..first.bytes.start]);
                    self.compress(&mut pending, &mut out)?;
                    self.copy(first.file.start..last.file.end, &mut out)?;
                    at = last.bytes.end;
                }
            }
            pending.extend_from_slice(&bytes[at..range.end]);
        }
        self.compress(&mut pending, &mut out)?;
        Ok(out)
    }

    /// Appends a range of the source's file.
    fn copy(&self, mut range: Range<u64>, out: &mut Vec<u8>) -> Result<()> {
        let path = self.source.file();
        let failed = |cause| Error::unreadable(&self.source.path, cause);
        let mut reader = InputFile::open_regular(path)?.reader();
        while range.start < range.end {
            let want = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
            match reader.append_at(range.start, want, out) {
                Ok(0) => {
                    let message = "shrank while it was read";
                    return Err(Error::new(ErrorKind::Changed, message).in_file(&self.source.path));
                }
                Ok(read) => range.start += read as u64,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(failed(cause)),
            }
        }
        Ok(())
    }

    /// Compresses `pending` to `out`, and clears it.
    fn compress(&self, pending: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<()> {
        let mut rest = pending.as_slice();
        while !rest.is_empty() {
            let length = match self.source.format {
                Format::Warc => record_length(rest),
                _ => rest.len(),
            };
            let (part, behind) = rest.split_at(length);
            rest = behind;
            self.member(part, out)?;
        }
        pending.clear();
        Ok(())
    }

    /// Appends a member with the content `part`, which may be empty.
    ///
    /// # Errors
    /// Errors of the compressor.
    pub fn member(&self, part: &[u8], out: &mut Vec<u8>) -> Result<()> {
        compress(self.source.compression, self.level, part, out).map_err(|cause| self.error(cause))
    }

    fn error(&self, cause: io::Error) -> Error {
        Error::new(ErrorKind::Write, "cannot be compressed")
            .in_file(&self.source.path)
            .caused_by(cause)
    }

    /// A member for a record that is read in parts.
    ///
    /// # Errors
    /// Errors of the compressor.
    pub fn long_member(&self) -> Result<LongMember> {
        Ok(match self.source.compression {
            Compression::None => LongMember::Plain(Vec::new()),
            Compression::Gzip => {
                let level = flate2::Compression::new(self.level.unwrap_or(GZIP_LEVEL));
                LongMember::Gzip(GzEncoder::new(Vec::new(), level))
            }
            Compression::Zstd => {
                let level = self.level.unwrap_or(ZSTD_LEVEL).min(MOST_LONG_ZSTD_LEVEL);
                let encoder = zstd::Encoder::new(Vec::new(), level.cast_signed());
                LongMember::Zstd(encoder.map_err(|cause| self.error(cause))?)
            }
        })
    }
}

/// A member for a record that is longer than documents may be.
pub enum LongMember {
    /// Of a source that is not compressed.
    Plain(Vec<u8>),
    /// A gzip member.
    Gzip(GzEncoder<Vec<u8>>),
    /// A zstd frame.
    Zstd(zstd::Encoder<'static, Vec<u8>>),
}

impl LongMember {
    /// Compresses the next part; returns the bytes to write.
    ///
    /// # Errors
    /// Errors of the compressor.
    pub fn part(&mut self, part: &[u8]) -> io::Result<Vec<u8>> {
        Ok(std::mem::take(match self {
            LongMember::Plain(out) => {
                out.extend_from_slice(part);
                out
            }
            LongMember::Gzip(encoder) => {
                encoder.write_all(part)?;
                encoder.get_mut()
            }
            LongMember::Zstd(encoder) => {
                encoder.write_all(part)?;
                encoder.get_mut()
            }
        }))
    }

    /// Ends the member; returns the remaining bytes.
    ///
    /// # Errors
    /// Errors of the compressor.
    pub fn end(self) -> io::Result<Vec<u8>> {
        match self {
            LongMember::Plain(out) => Ok(out),
            LongMember::Gzip(encoder) => encoder.finish(),
            LongMember::Zstd(encoder) => encoder.finish(),
        }
    }
}

/// The length of the first record, or of all bytes if there is no whole record.
fn record_length(bytes: &[u8]) -> usize {
    match warc::next_record(bytes, true) {
        Next::Record(record) if !record.raw.is_empty() => {
            let behind = record.raw.as_ptr() as usize - bytes.as_ptr() as usize;
            (behind + record.raw.len()).min(bytes.len())
        }
        _ => bytes.len(),
    }
}
