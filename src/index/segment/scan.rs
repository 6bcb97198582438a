//! The other way round: the tables are made of the queries, and the segment is read once.
//!
//! For many queries against fewer fingerprints: it costs as much for each fingerprint as a look-up
//! for each query (Manku, Jain and Das Sarma, WWW 2007, section 4). Look-ups read a table once as
//! well, in order, so that the tables of the queries have to be small for that to pay: a million
//! queries against 10⁵, 10⁶ and 10⁷ fingerprints took 0.7, 1.3 and 3 times as long as looking up.

use super::look_up::{Near, PAIRS};
use super::tables::Tables;
use crate::Result;
use crate::index::permutation::Value;
use crate::io::BlockFile;
use crate::kernel::Level;
use crate::search::hamming::{self, Index};

/// So many queries for each fingerprint make it worth while.
const QUERIES_EACH: u64 = 8;
/// Fewer queries are always looked up: planning their tables takes some milliseconds.
const MANY: usize = 1 << 15;
/// Fingerprints that are searched among the queries at a time.
const SCANNED: u32 = 1 << 14;
/// Memory that tables of the queries may take.
const SCAN_BYTES: usize = 1 << 30;

impl<F: Value> Tables<F> {
    /// Whether scanning is the cheaper way for so many queries.
    pub fn should_scan(&self, queries: usize) -> bool {
        queries >= MANY && queries as u64 / QUERIES_EACH >= self.distinct
    }

    /// Calls `visit` with every group that is near a query, each once, many at a time: every
    /// fingerprint of the segment is searched among the queries.
    pub fn scan(
        &self,
        file: &BlockFile,
        queries: &[F],
        mut visit: impl FnMut(&[Near]) -> Result<()>,
    ) -> Result<()> {
        let queries: Vec<F> = queries
            .iter()
            .map(|query| self.first_order(*query))
            .collect();
        let count = usize::try_from(self.distinct).unwrap_or(usize::MAX);
        let (width, k) = (self.width, self.near.k);
        let strategy = hamming::plan(&queries, count, width, k, SCAN_BYTES)?.strategy;
        let index = Index::build(&queries, width, k, strategy, Level::best())?;
        let (mut scratch, mut found) = (hamming::Scratch::default(), Vec::new());
        let mut visited = Ok(());
        self.for_each_piece(file, SCANNED, |first, groups| {
            index.search_batch(groups, &mut scratch, |group, hits| {
                found.extend(hits.iter().map(|hit| Near {
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
