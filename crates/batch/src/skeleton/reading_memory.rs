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
    let spare = spare_bytes(resources, max_document_bytes);
    readers_within(spare, resources.threads, max_document_bytes)
}

/// How many readers there are if all but one have `spare` bytes together.
pub fn readers_within(spare: u64, threads: usize, max_document_bytes: u64) -> usize {
    let more = usize::try_from(spare / reader_bytes(max_document_bytes)).unwrap_or(usize::MAX);
    more.saturating_add(1).min(threads)
}

/// The readers of a job that holds other data in `spare` bytes meanwhile, and what it has left for
/// these: a quarter is for further readers, if there are enough threads.
pub fn readers_beside(spare: u64, threads: usize, max_document_bytes: u64) -> (usize, u64) {
    let readers = readers_within(spare / 4, threads, max_document_bytes);
    let further = readers.saturating_sub(1) as u64;
    (readers, spare - further * reader_bytes(max_document_bytes))
}

/// The spare memory that a job needs if [`readers_beside`] is to leave it at least `rest`.
pub fn spare_for(rest: u64, threads: usize, max_document_bytes: u64) -> u64 {
    let most = reader_bytes(max_document_bytes).saturating_mul(threads.saturating_sub(1) as u64);
    rest.saturating_add((rest / 3).min(most))
}

/// The memory of a reader beside the first.
fn reader_bytes(max_document_bytes: u64) -> u64 {
    BUFFER_BYTES + GIANT_FACTOR * max_document_bytes
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

    #[test]
    fn readers_leave_most_of_the_memory_for_other_data() {
        for rest in [0, 1, 100 << 20, 10 << 30] {
            for threads in [1, 2, 16] {
                let (_, left) = readers_beside(rest, threads, 1 << 20);
                assert!(left <= rest && left >= rest / 4 * 3);
                let spare = spare_for(rest, threads, 1 << 20);
                assert!(readers_beside(spare, threads, 1 << 20).1 >= rest);
            }
        }
        assert_eq!(readers_beside(10 << 30, 16, 1 << 20).0, 16);
    }
}
