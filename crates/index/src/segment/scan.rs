//! Search with tables of the queries, against which the whole segment is read once.
//!
//! It serves many queries against fewer fingerprints: each fingerprint costs as much as a query
//! costs in a look-up (Manku, Jain and Das Sarma, WWW 2007, section 4). Look-ups also read a table
//! once, in order, so a scan pays only if there are few fingerprints: a million queries against
//! 10⁵, 10⁶ and 10⁷ fingerprints took 0.7, 1.3 and 3 times as long as look-ups.

use super::look_up::{NearGroup, PAIRS};
use super::tables::Tables;
use crate::Result;
use crate::io::BlockFile;
use crate::kernel::Level;
use crate::permutation::Value;
use crate::search::hamming::{self, Index};

/// A scan pays with at least this number of queries for each fingerprint.
const QUERIES_EACH: u64 = 8;
/// Fewer queries are always looked up, as planning their tables takes some milliseconds.
const MANY: usize = 1 << 15;
/// Fingerprints searched among the queries at a time.
const SCANNED: u32 = 1 << 14;
/// The most memory of the tables.
const SCAN_BYTES: usize = 1 << 30;

impl<F: Value> Tables<F> {
    /// Whether a scan is cheaper than look-ups for this number of queries.
    pub fn should_scan(&self, queries: usize) -> bool {
        queries >= MANY && queries as u64 / QUERIES_EACH >= self.distinct
    }

    /// Calls `visit` with every group near a query, each once, many at a time: every fingerprint of
    /// the segment is searched among the queries.
    pub fn scan(
        &self,
        file: &BlockFile,
        queries: &[F],
        mut visit: impl FnMut(&[NearGroup]) -> Result<()>,
    ) -> Result<()> {
        let queries: Vec<F> = queries
            .iter()
            .map(|query| self.first_order(*query))
            .collect();
        let count = usize::try_from(self.distinct).unwrap_or(usize::MAX);
        let (width, k) = (self.width, self.near.k);
        let strategy = hamming::plan(&queries, count, width, k, SCAN_BYTES)?.strategy;
        let index = Index::build(&queries, width, k, strategy, Level::best())?;
        let (mut scratch, mut found) = (hamming::HammingScratch::default(), Vec::new());
        let mut visited = Ok(());
        self.for_each_piece(file, SCANNED, |first, groups| {
            index.search_batch(groups, &mut scratch, |group, hits| {
                found.extend(hits.iter().map(|hit| NearGroup {
                    query: hit.position,
                    distance: hit.distance,
                    group: first + group as u32,
                }));
                if found.len() >= PAIRS && visited.is_ok() {
                    visited = visit(&found);
                    found.clear();
                }
            });
            std::mem::replace(&mut visited, Ok(()))?;
            visit(&found)?;
            found.clear();
            Ok(())
        })
    }
}
