//! The memory of row groups of Parquet.

use super::shard_settings::WriteFormat;

/// The memory of a row group: its rows, and the same encoded.
const ROW_GROUP_BYTES: u64 = 160 << 20;

/// The least memory of `streams` streams of shards in a format, besides that for reading.
pub fn least_bytes(format: WriteFormat, streams: usize) -> u64 {
    match format {
        WriteFormat::Parquet => streams as u64 * ROW_GROUP_BYTES,
        _ => 0,
    }
}

/// How many row groups of each of `streams` streams are encoded at the same time, if reading leaves
/// `spare_bytes`: at least one, and at most one for each thread.
#[cfg(feature = "parquet")]
pub fn row_groups(spare_bytes: u64, streams: usize, threads: usize) -> usize {
    let each = ROW_GROUP_BYTES * streams.max(1) as u64;
    let groups = usize::try_from(spare_bytes / each).unwrap_or(usize::MAX);
    groups.clamp(1, threads.max(1))
}
