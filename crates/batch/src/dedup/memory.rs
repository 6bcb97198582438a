//! The memory of a run: estimates for reading, and the shares of the later stages.

use crate::{Error, ErrorKind, Result};
use simtool_engine::Resources;
use simtool_engine::spill_space::{Share, SpillSpace};

use crate::skeleton::reading_memory::{BASE_BYTES, LEAST_ROOM_BYTES};

/// Memory that a chunk takes until the end of a run: its [`ChunkEntry`](crate::table::segment::ChunkEntry)
/// and the number of its first document.
const CHUNK_ENTRY_BYTES: u64 = 44;
/// The most [bit sets](crate::table::bits::Bits) of all documents at the same time.
const BIT_SETS: u64 = 5;

/// Memory for the tables of all chunks and documents, from the first reading to the end of a run.
pub fn table_bytes(chunks: u64, documents: u64) -> u64 {
    CHUNK_ENTRY_BYTES * chunks + (BIT_SETS * documents).div_ceil(8)
}

/// The bytes of [`table_bytes`], if they leave enough for the stages after the first reading.
///
/// # Errors
/// [`ErrorKind::Memory`] with the bound that suffices.
pub fn reserve_tables(resources: &Resources, chunks: u64, documents: u64) -> Result<u64> {
    let tables = table_bytes(chunks, documents);
    let least = BASE_BYTES + LEAST_ROOM_BYTES / 2 + tables;
    if resources.memory_bytes < least {
        let message = format!(
            "a memory bound of {} MiB is too small: the tables of {documents} documents in {chunks} \
             chunks take {} MiB, so at least {} MiB are needed (give more --memory; nothing has to be \
             read again)",
            resources.memory_bytes >> 20,
            tables.div_ceil(1 << 20),
            least.div_ceil(1 << 20),
        );
        return Err(Error::new(ErrorKind::Memory, message));
    }
    Ok(tables)
}

/// The memory and temporary space of the stages after the first reading, without the `tables` of
/// chunks and documents. They divide it into the shares below.
pub fn space(resources: &Resources, tables: u64) -> SpillSpace<'_> {
    let bytes = resources.memory_bytes.saturating_sub(BASE_BYTES + tables);
    SpillSpace {
        directory: &resources.temporary,
        memory_bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
    }
}

/// Documents near known ones, while the known documents are queried.
pub const HITS: Share = Share(16);
/// Ids in answers of the known documents, over all threads.
pub const ANSWERS: Share = Share(8);
/// Documents that are dropped for a known one, until all decisions are made.
pub const KNOWN_DECISIONS: Share = Share(1);
/// Documents by their keep keys, if there are several.
pub const KEYS: Share = Share(32);
/// Ranks in keep order, by document.
pub const KEY_RANKS: Share = Share(16);
/// Documents by digest.
pub const GROUPINGS: Share = Share(32);
/// Digests that may be repeated, while documents are grouped.
pub const REPEATS: Share = Share(8);
/// Followers by leader, until all decisions are made.
pub const FOLLOWERS: Share = Share(8);
/// Leaders in keep order, until they are stored with their sketches.
pub const LEADERS: Share = Share(8);
/// Ranks by document, in the second reading.
pub const RANKS: Share = Share(8);
/// Extents of shingle sets by document, and by rank.
pub const EXTENTS: Share = Share(8);
/// A block of leaders with its index, and everything that is held beside it while pairs are
/// searched, except the lists of pairs.
pub const BLOCKS: Share = Share(47);
/// Bitmaps of shingle sets, a part of [`BLOCKS`].
pub const BITMAPS: Share = Share(8);
/// An index of shingle sets, a part of [`BLOCKS`].
pub const SET_INDEX: Share = Share(8);
/// Dropped leaders.
pub const LEADER_DECISIONS: Share = Share(4);
/// Refused pairs for the list, before they are compared exactly.
pub const LISTED_PAIRS: Share = Share(4);
/// Refused pairs for the list, with their exact similarity.
pub const REFUSED: Share = Share(4);
/// All decisions, by document.
pub const DECISIONS: Share = Share(21);
/// Members of clusters, for their sizes.
pub const CLUSTERS: Share = Share(32);
/// The sources and sites of members of clusters.
pub const ORIGINS: Share = Share(16);
/// Members of clusters, for a report.
pub const MEMBERS: Share = Share(21);
/// Documents by site, for the page.
pub const SITES: Share = Share(21);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::reading_memory::least_memory_bytes;
    use crate::table::segment::ChunkEntry;

    #[test]
    fn the_shares_of_each_stage_fit_the_memory() {
        let stages: [(&str, &[Share]); 16] = [
            ("query of known documents", &[HITS, ANSWERS]),
            ("decisions about hits", &[HITS, KNOWN_DECISIONS]),
            (
                "grouping",
                &[KNOWN_DECISIONS, REPEATS, GROUPINGS, FOLLOWERS, LEADERS],
            ),
            ("captures of one page", &[GROUPINGS, FOLLOWERS]),
            ("marking", &[KNOWN_DECISIONS, FOLLOWERS, BLOCKS]),
            (
                "second reading",
                &[KNOWN_DECISIONS, FOLLOWERS, RANKS, EXTENTS, EXTENTS],
            ),
            (
                "verification",
                &[
                    KNOWN_DECISIONS,
                    FOLLOWERS,
                    BLOCKS,
                    LEADER_DECISIONS,
                    LISTED_PAIRS,
                ],
            ),
            (
                "comparison of refused pairs",
                &[
                    KNOWN_DECISIONS,
                    FOLLOWERS,
                    BITMAPS,
                    LEADER_DECISIONS,
                    LISTED_PAIRS,
                    REFUSED,
                ],
            ),
            (
                "decisions about followers",
                &[
                    KNOWN_DECISIONS,
                    FOLLOWERS,
                    LEADER_DECISIONS,
                    REFUSED,
                    DECISIONS,
                ],
            ),
            ("decisions about captures", &[REFUSED, DECISIONS, DECISIONS]),
            (
                "decisions about clusters of few sources",
                &[REFUSED, DECISIONS, DECISIONS, ORIGINS],
            ),
            ("clusters", &[CLUSTERS, ORIGINS]),
            ("clusters of a compared scope", &[DECISIONS, CLUSTERS]),
            ("ranks in keep order", &[KEYS, KEY_RANKS]),
            ("reports", &[MEMBERS]),
            ("page", &[SITES]),
        ];
        for (stage, shares) in stages {
            let sum: usize = shares.iter().map(|share| share.0).sum();
            assert!(
                sum <= Share::WHOLE.0,
                "{stage}: {sum} of {}",
                Share::WHOLE.0
            );
        }
        const { assert!(BITMAPS.0 + SET_INDEX.0 < BLOCKS.0) };
    }

    fn resources(memory_bytes: u64) -> Resources {
        Resources {
            threads: 4,
            memory_bytes,
            temporary: "/tmp".into(),
            level: simtool_core::kernel::Level::Scalar,
        }
    }

    /// Promise (Bounded memory): The tables of chunks and documents of `dedup` are a part of
    /// `--memory`
    #[test]
    fn tables_are_within_the_bound() {
        const { assert!(size_of::<ChunkEntry>() + size_of::<u32>() == CHUNK_ENTRY_BYTES as usize) };
        let least = least_memory_bytes(1, 1 << 20);
        let tables = reserve_tables(&resources(least), 1000, 1_000_000).unwrap();
        assert_eq!(tables, 44_000 + 625_000);
        let space = |tables| space(&resources(least), tables).memory_bytes as u64;
        assert_eq!(space(0) - space(tables), tables);
        // 10 TB in 2 * 10^7 chunks, with 3 * 10^9 documents.
        let (chunks, documents) = (20_000_000, 3_000_000_000);
        let refused = reserve_tables(&resources(least), chunks, documents).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("224 MiB is too small"), "{text}");
        assert!(text.contains("at least 2756 MiB"), "{text}");
        assert!(reserve_tables(&resources(2756 << 20), chunks, documents).is_ok());
    }
}
