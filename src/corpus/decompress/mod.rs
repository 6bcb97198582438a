//! A file's bytes, decompressed, piece by piece, with what damage there is.

mod ahead;
mod blocks;
mod codec;
mod inflaters;
mod members;
mod stretch;
#[cfg(test)]
mod tests;

use super::chunk::WholeMember;
use super::source::Compression;
use crate::Result;
pub(super) use blocks::Blocks;
#[cfg(feature = "parquet")]
pub(super) use blocks::changed;
use codec::Codec;
pub(super) use codec::{GZIP_MAGIC, ZSTD_MAGIC, is_zstd};
pub use inflaters::Inflaters;
use members::Members;
use std::path::Path;

/// Decompressed bytes as they pile up.
#[derive(Debug, Default)]
pub(super) struct Pile {
    /// The bytes.
    pub(super) bytes: Vec<u8>,
    /// For each member that begins in the bytes: the index at which it does, and its offset in
    /// the file. A member that cannot be read is not among them.
    pub(super) members: Vec<(usize, u64)>,
    /// Of these, members that end in the bytes, if they are neither short nor long.
    pub(super) whole: Vec<WholeMember>,
}

impl Pile {
    /// Makes room for `more` bytes; what a long document takes stays near its length.
    pub(super) fn reserve(&mut self, more: usize) {
        let spare = self.bytes.capacity() - self.bytes.len();
        if spare < more {
            self.bytes.reserve_exact(more.max(self.bytes.len() / 8));
        }
    }

    /// Keeps the first `length` bytes and gives the others, with the members that begin in them.
    pub(super) fn split_off(&mut self, length: usize) -> Pile {
        let bytes = self.bytes[length..].to_vec();
        self.bytes.truncate(length);
        let kept = self.members.partition_point(|&(begin, _)| begin < length);
        let members = self.members.split_off(kept);
        let kept = self
            .whole
            .partition_point(|member| member.bytes.start < length);
        let mut whole = self.whole.split_off(kept);
        for member in &mut whole {
            member.bytes = member.bytes.start - length..member.bytes.end - length;
        }
        // One that is cut in two is whole nowhere.
        self.whole.pop_if(|member| member.bytes.end > length);
        Pile {
            bytes,
            whole,
            members: members
                .into_iter()
                .map(|(begin, member)| (begin - length, member))
                .collect(),
        }
    }
}

/// What happened when bytes were asked for.
#[derive(Debug)]
pub(super) enum Step {
    /// There are more bytes now.
    More,
    /// The file ended; there are no new bytes.
    End,
    /// Bytes are lost behind those that are there now, which may be new.
    Broken(Break),
}

/// Where decompression failed. The stream stands behind what is lost.
#[derive(Debug)]
pub(super) struct Break {
    /// Whether the file ended within the member; it is damaged otherwise.
    pub(super) is_truncated: bool,
    /// The index among the bytes at which the member begins, if it begins there.
    pub(super) begin: Option<usize>,
    /// What was wrong and what is lost, with offsets.
    pub(super) detail: String,
}

/// The decompressed bytes of a file.
///
/// What it gives depends on the file and on where it started, not on how much is asked for.
pub(super) enum Stream {
    Plain(Blocks),
    Members(Box<Members>),
}

impl Stream {
    /// Opens a file of `size` bytes at `offset`; of compressed ones, in what the member that
    /// begins at `member` decompresses to. Reads `block_bytes` at a time.
    pub(super) fn open(
        path: &Path,
        size: u64,
        compression: Compression,
        (member, offset): (u64, u64),
        block_bytes: usize,
    ) -> Result<Stream> {
        let blocks = Blocks::open(path, size, block_bytes)?;
        Stream::of(blocks, compression, (member, offset))
    }

    /// The same, of a file that is open.
    pub(super) fn of(
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

    /// Has what is ahead decompressed by others too, where that can be; it gives the same.
    pub(super) fn helped_by(&mut self, inflaters: Inflaters) {
        if let Stream::Members(members) = self {
            members.helped_by(inflaters);
        }
    }

    /// Appends about `want` bytes, or what there is.
    pub(super) fn fill(&mut self, want: usize, pile: &mut Pile) -> Result<Step> {
        match self {
            Stream::Plain(blocks) => {
                pile.reserve(want);
                Ok(match blocks.read(want, &mut pile.bytes)? {
                    0 => Step::End,
                    _ => Step::More,
                })
            }
            Stream::Members(members) => members.fill(want, pile),
        }
    }

    /// Is told that the first `length` bytes left the pile.
    pub(super) fn cut(&mut self, length: usize) {
        if let Stream::Members(members) = self {
            members.cut(length);
        }
    }

    /// The offset in the file that the stream has come to.
    pub(super) fn file_offset(&self) -> u64 {
        match self {
            Stream::Plain(blocks) => blocks.offset(),
            Stream::Members(members) => members.file_offset(),
        }
    }
}
