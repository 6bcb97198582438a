//! The memory of the first reading, which all jobs need alike.

use simtool_engine::Resources;
use simtool_engine::pipeline::Pipeline;

/// Memory of a run that does not depend on the input.
pub const BASE_BYTES: u64 = 32 << 20;
/// The most memory of a chunk: its bytes, and its rows if it has as many documents as possible.
const BUFFER_BYTES: u64 = 16 << 20;
/// The memory of the longest document as a multiple of its size: raw bytes, text, word hashes.
const GIANT_FACTOR: u64 = 8;
/// The least memory of the stages after the first reading.
pub const LEAST_ROOM_BYTES: u64 = 192 << 20;

/// The least memory bound of a run with `threads` threads and documents of up to
/// `max_document_bytes`.
pub fn least_memory_bytes(threads: usize, max_document_bytes: u64) -> u64 {
    let buffers = Pipeline::buffers(threads, 1) as u64;
    let reading = buffers * BUFFER_BYTES + GIANT_FACTOR * max_document_bytes;
    BASE_BYTES + reading.max(LEAST_ROOM_BYTES)
}

/// The memory that reading with one reader leaves.
pub fn spare_bytes(resources: &Resources, max_document_bytes: u64) -> u64 {
    let least = least_memory_bytes(resources.threads, max_document_bytes);
    resources.memory_bytes.saturating_sub(least)
}

/// How many readers fit the memory bound: at least one, and at most one for each thread.
pub fn readers(resources: &Resources, max_document_bytes: u64) -> usize {
    let threads = resources.threads;
    let spare = spare_bytes(resources, max_document_bytes);
    let each = BUFFER_BYTES + GIANT_FACTOR * max_document_bytes;
    let more = usize::try_from(spare / each).unwrap_or(usize::MAX);
    more.saturating_add(1).min(threads)
}

#[cfg(test)]
mod tests {
    use simtool_core::kernel::Level;

    use super::*;

    #[test]
    fn readers_are_added_while_memory_allows_them() {
        let resources = |memory_bytes| Resources {
            threads: 4,
            memory_bytes,
            temporary: "/tmp".into(),
            level: Level::Scalar,
        };
        let readers = |memory_bytes| readers(&resources(memory_bytes), 1 << 20);
        let (least, each) = (least_memory_bytes(4, 1 << 20), BUFFER_BYTES + (8 << 20));
        assert_eq!([readers(0), readers(least)], [1, 1]);
        assert_eq!(readers(least + 2 * each), 3);
        assert_eq!(readers(u64::MAX), 4);
    }
}
