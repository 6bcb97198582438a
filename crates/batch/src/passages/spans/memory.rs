//! The memory of a run: the table of anchors, and the records of each stage.

use super::job::SpansJob;
use crate::skeleton::reading_memory::{least_memory_bytes, readers_beside, spare_for};
use simtool_corpus::Reading;
use simtool_engine::Resources;
use simtool_engine::spill_space::{Share, SpillSpace};

use super::job::Least;

/// What the readings need besides buffers.
const LEAST_BYTES: u64 = 64 << 20;
/// What is held besides the parts below: rows that are written, ranges that are read, places of one
/// anchor.
const BASE_BYTES: u64 = 24 << 20;

/// The table of anchors, during the first readings.
pub const TABLE: Share = Share(16);
/// Places of anchors that are kept in memory during the first reading.
pub const KEPT: Share = Share(20);
/// Places of anchors that are sorted, until they are grouped.
pub const PLACES: Share = Share(20);
/// Repeats, from the first reading to the stretches.
pub const REPEATS: Share = Share(8);
/// The leaders of groups, of all threads.
pub const GROUPS: Share = Share(8);
/// Leaders, while anchors are grouped.
pub const LEADERS: Share = Share(8);
/// Members, from the groups on until they are joined with their leaders.
pub const MEMBERS: Share = Share(8);
/// Parts, likewise.
pub const PARTS: Share = Share(8);
/// Hashes of windows.
pub const HASHES: Share = Share(24);
/// The first places of windows, by hash.
pub const WINDOWS: Share = Share(14);
/// Kept units and bytes, and passages.
pub const RANGES: Share = Share(20);

/// Copies, and what they add to occurrences.
pub const COPIES: Share = Share(8);

/// The least memory bound of a run with `threads` threads.
pub fn least_bytes(threads: usize, reading: &Reading, least: Least) -> u64 {
    reading_bytes(threads, reading, least) + LEAST_BYTES
}

/// The memory of buffers, and of the longest document with its anchors: 40 bytes for each unit, if
/// it was made to have very many.
fn reading_bytes(threads: usize, reading: &Reading, least: Least) -> u64 {
    let longest = reading.max_document_bytes;
    let factor = match least {
        Least::Words(_) => 20,
        Least::Bytes(_) => 40,
    };
    least_memory_bytes(threads, longest).saturating_add(longest.saturating_mul(factor))
}

/// A memory bound with which `kept` bytes of places are kept in memory.
pub fn enough_bytes(threads: usize, reading: &Reading, least: Least, kept: u64) -> u64 {
    let rest = kept.saturating_mul(Share::WHOLE.0 as u64) / KEPT.0 as u64;
    let rest = spare_for(rest, threads, reading.max_document_bytes);
    // A tenth more, as the number of places is estimated.
    let enough = (rest + rest / 10)
        .saturating_add(reading_bytes(threads, reading, least))
        .saturating_add(BASE_BYTES);
    enough.max(least_bytes(threads, reading, least))
}

/// The memory that buffers for reading leave, and the number of threads that read.
pub fn space<'a>(
    resources: &'a Resources,
    reading: &Reading,
    least: Least,
) -> (SpillSpace<'a>, usize) {
    let buffers = reading_bytes(resources.threads, reading, least);
    let rest = resources.memory_bytes.saturating_sub(buffers);
    let rest = rest.max(LEAST_BYTES).saturating_sub(BASE_BYTES);
    let (readers, rest) = readers_beside(rest, resources.threads, reading.max_document_bytes);
    let space = SpillSpace {
        directory: &resources.temporary,
        memory_bytes: usize::try_from(rest).unwrap_or(usize::MAX),
    };
    (space, readers)
}

/// The bytes of the table of the anchors of `text_bytes` bytes of text: four for each anchor of a
/// random text, and at most `most`.
pub fn table_bytes(job: &SpansJob, text_bytes: u64, most: usize) -> usize {
    let unit_bytes = match job.least {
        Least::Words(_) => 4,
        Least::Bytes(_) => 1,
    };
    // Two anchors for every window of grams, which is two thirds of the least length.
    let anchors = text_bytes.saturating_mul(3) / (job.least.units() as u64 * unit_bytes);
    let wanted = usize::try_from(anchors.saturating_mul(4)).unwrap_or(usize::MAX);
    wanted.clamp(1 << 16, most.max(1 << 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (Repeated stretches of text): Memory and threads change no byte, with …
    #[test]
    fn the_shares_of_each_stage_fit_the_memory() {
        let stages: [(&str, &[Share]); 6] = [
            ("first readings", &[TABLE, KEPT, PLACES, REPEATS]),
            (
                "groups",
                &[PLACES, GROUPS, LEADERS, MEMBERS, PARTS, REPEATS],
            ),
            ("windows", &[HASHES, WINDOWS, MEMBERS, PARTS, REPEATS]),
            ("stretches", &[REPEATS, RANGES, COPIES]),
            ("copies", &[RANGES, COPIES, COPIES]),
            ("ranges in bytes", &[RANGES, RANGES, COPIES]),
        ];
        for (stage, shares) in stages {
            let sum: usize = shares.iter().map(|share| share.0).sum();
            assert!(sum <= Share::WHOLE.0, "{stage}: {sum}");
        }
    }
}
