//! Streaming decompression of files, with reports of damage.

mod blocks;
mod buffer;
mod codec;
mod inflaters;
mod members;
mod read_ahead;
mod section;
mod stream;
#[cfg(test)]
mod tests;

pub(super) use blocks::Blocks;
#[cfg(feature = "parquet")]
pub(super) use blocks::changed;
pub(super) use buffer::{Damage, DecodedBuffer, FillOutcome};
pub(super) use codec::{GZIP_MAGIC, ZSTD_MAGIC, is_zstd};
pub use inflaters::Inflaters;
pub(super) use stream::Stream;
