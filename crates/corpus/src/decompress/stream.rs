//! The stream of decompressed bytes of a file.

use super::blocks::Blocks;
use super::buffer::{DecodedBuffer, FillOutcome};
use super::codec::Codec;
use super::inflaters::Inflaters;
use super::members::Members;
use crate::Result;
use crate::source::Compression;
use simtool_files::InputPath;

/// The decompressed bytes of a file.
///
/// The bytes depend on the file and on the start, not on the sizes of requests.
pub(crate) enum Stream {
    Plain(Blocks),
    Members(Box<Members>),
}

impl Stream {
    /// Opens a file of `size` bytes at `offset`. In a compressed file, `offset` counts decompressed
    /// bytes from the member that begins at `member`. Reads `block_bytes` at a time.
    pub(crate) fn open<'a>(
        path: impl Into<InputPath<'a>>,
        size: u64,
        compression: Compression,
        (member, offset): (u64, u64),
        block_bytes: usize,
    ) -> Result<Stream> {
        let blocks = Blocks::open(path, size, block_bytes)?;
        Stream::of(blocks, compression, (member, offset))
    }

    /// Like [`open`](Self::open), for an open file.
    pub(crate) fn of(
        mut blocks: Blocks,
        compression: Compression,
        (member, offset): (u64, u64),
    ) -> Result<Stream> {
        let codec = match compression {
            Compression::None => {
                blocks.seek(offset);
                return Ok(Stream::Plain(blocks));
            }
            Compression::Gzip => Codec::gzip(),
            Compression::Zstd => Codec::zstd(blocks.path())?,
        };
        blocks.seek(member);
        Ok(Stream::Members(Box::new(Members::new(
            blocks, codec, offset,
        ))))
    }

    /// Lets other threads decompress ahead if possible; the bytes are the same.
    pub(crate) fn helped_by(&mut self, inflaters: Inflaters) {
        if let Stream::Members(members) = self {
            members.helped_by(inflaters);
        }
    }

    /// Appends about `want` bytes, or all that are left.
    pub(crate) fn fill(&mut self, want: usize, output: &mut DecodedBuffer) -> Result<FillOutcome> {
        match self {
            Stream::Plain(blocks) => {
                output.reserve(want);
                Ok(match blocks.read(want, &mut output.bytes)? {
                    0 => FillOutcome::End,
                    _ => FillOutcome::More,
                })
            }
            Stream::Members(members) => members.fill(want, output),
        }
    }

    /// Adjusts to the removal of the first `length` bytes of the output.
    pub(crate) fn cut(&mut self, length: usize) {
        if let Stream::Members(members) = self {
            members.cut(length);
        }
    }

    /// The current offset in the file.
    pub(crate) fn file_offset(&self) -> u64 {
        match self {
            Stream::Plain(blocks) => blocks.offset(),
            Stream::Members(members) => members.file_offset(),
        }
    }
}
