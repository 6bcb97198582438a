//! Immutable files of checksummed blocks, read by mapping.
//!
//! A file consists of blocks of 4096 bytes. The first is the header. Sections follow, each aligned
//! to a block and padded with zeros. At the end is a checksum for each preceding block: the 64-bit
//! xxh3 of its bytes, seeded with its number; 0 for the header. All numbers are little-endian.
//!
//! | bytes of the header | |
//! |---|---|
//! | 0..8 | the magic number, `simtool` and a zero |
//! | 8..12 | version of this layout, 1 |
//! | 12..16 | kind of the contents, a number defined by the user of this module |
//! | 16..24 | length of the file |
//! | 24..32 | xxh3 of the checksums |
//! | 32..36 | number of sections, s, at most 32 |
//! | 36..40 | number of bytes of attributes, a |
//! | 40..40+16s | first byte and length of each section |
//! | then a bytes | attributes, defined by the user of this module |
//! | 4088..4096 | xxh3 of bytes 0..4088: the identity of the file |
//!
//! A block is verified against its checksum when something in it is read for the first time.

mod header;
mod read;
mod write;

pub use header::BLOCK_BYTES;
pub use read::{BlockFile, Source};
pub use write::BlockWriter;

#[cfg(test)]
mod tests;
