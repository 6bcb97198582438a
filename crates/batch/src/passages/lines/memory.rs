//! The memory of a run: the table of units, occurrences, removed ranges.

use super::job::LinesJob;
use bytemuck::Pod;
use rayon::slice::ParallelSliceMut;

use crate::skeleton::reading_memory::{least_memory_bytes, readers_beside, spare_for};
use simtool_core::text::units::UnitKind;
use simtool_corpus::Reading;
use simtool_engine::Resources;
use simtool_engine::spill_space::SpillSpace;
use simtool_files::Sorter;

/// What the readings need besides buffers.
const LEAST_BYTES: u64 = 64 << 20;
/// What is held besides the parts below: rows that are written, ranges that are read.
const BASE_BYTES: u64 = 16 << 20;

/// The least memory bound of a run with `threads` threads.
pub fn least_bytes(threads: usize, kind: UnitKind, reading: &Reading) -> u64 {
    reading_bytes(threads, kind, reading) + LEAST_BYTES
}

/// The memory of buffers, and of the longest document with its occurrences: 40 bytes for each unit.
/// A unit may have two bytes, and each line may begin a run and end another one.
fn reading_bytes(threads: usize, kind: UnitKind, reading: &Reading) -> u64 {
    let longest = reading.max_document_bytes;
    let factor = match kind {
        UnitKind::Run(_) => 40,
        UnitKind::Line | UnitKind::Paragraph | UnitKind::Sentences(_) => 20,
    };
    least_memory_bytes(threads, longest).saturating_add(longest.saturating_mul(factor))
}

/// A memory bound with which `kept` bytes of occurrences are kept in memory.
pub fn enough_bytes(threads: usize, kind: UnitKind, reading: &Reading, kept: u64) -> u64 {
    let rest = spare_for(
        kept.saturating_mul(8) / 3,
        threads,
        reading.max_document_bytes,
    );
    let least = least_bytes(threads, kind, reading);
    let buffers = reading_bytes(threads, kind, reading) + BASE_BYTES;
    // A tenth more, as the number of occurrences is estimated.
    let enough = (rest + rest / 10).saturating_add(buffers);
    enough.max(least)
}

/// The parts of the memory that buffers for reading leave, in bytes.
pub struct Shares<'a> {
    /// The table of units, during the readings.
    pub table: usize,
    /// Occurrences that are kept in memory during the first reading.
    pub kept: usize,
    /// Occurrences that are sorted, from the first reading to the end of counting.
    pub occurrences: usize,
    /// Removed ranges that are sorted, during counting.
    pub ranges: usize,
    /// The directory of temporary files, and all of the memory.
    pub space: SpillSpace<'a>,
    /// The threads that read.
    pub readers: usize,
}

impl Shares<'_> {
    /// The parts for these resources.
    pub fn of<'a>(resources: &'a Resources, kind: UnitKind, reading: &Reading) -> Shares<'a> {
        let buffers = reading_bytes(resources.threads, kind, reading);
        let rest = resources.memory_bytes.saturating_sub(buffers);
        let rest = rest.max(LEAST_BYTES).saturating_sub(BASE_BYTES);
        let (readers, rest) = readers_beside(rest, resources.threads, reading.max_document_bytes);
        let rest = usize::try_from(rest).unwrap_or(usize::MAX);
        Shares {
            readers,
            // The table and the kept occurrences are freed before ranges are sorted.
            table: rest / 4,
            kept: rest / 8 * 3,
            occurrences: rest / 8 * 3,
            ranges: rest / 2,
            space: SpillSpace {
                directory: &resources.temporary,
                memory_bytes: rest,
            },
        }
    }

    /// A sorter that uses `bytes` of memory.
    pub fn sorter<R: Pod + Ord + Send>(&self, bytes: usize) -> Sorter<R> {
        Sorter::with_sort(self.space.directory, bytes, <[R]>::par_sort_unstable)
    }
}

/// The bytes of the table of the units of `text_bytes` bytes of text: enough for units of 64 bytes, and at most `most`.
pub fn table_bytes(job: &LinesJob, text_bytes: u64, most: usize) -> usize {
    if job.is_by_list() {
        return 0;
    }
    let wanted = usize::try_from(text_bytes / 16).unwrap_or(usize::MAX);
    wanted.clamp(1 << 16, most.max(1 << 16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_core::kernel::Level;

    /// Promise (Repeated units): Memory and threads change no byte, with …
    #[test]
    fn the_parts_of_each_stage_fit_the_memory() {
        let resources = |memory_bytes| Resources {
            threads: 2,
            memory_bytes,
            temporary: "/tmp".into(),
            level: Level::Scalar,
        };
        let reading = Reading::default();
        for kind in [UnitKind::Line, UnitKind::Run(30)] {
            let least = least_bytes(2, kind, &reading);
            for memory_bytes in [least, least + 1, 2 * least, 1 << 40] {
                let resources = resources(memory_bytes);
                let shares = Shares::of(&resources, kind, &reading);
                let buffers = reading_bytes(2, kind, &reading) as usize;
                let readings = shares.table + shares.kept + shares.occurrences;
                let counting = shares.occurrences + shares.ranges;
                for stage in [readings, counting] {
                    assert!(buffers + BASE_BYTES as usize + stage <= memory_bytes as usize);
                }
                assert!(shares.occurrences >= 16 << 20);
            }
        }
    }
}
