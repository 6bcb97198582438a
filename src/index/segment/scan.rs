//! The other way round: the tables are made of the queries, and the segment is read once.
//!
//! For many queries against fewer fingerprints: it costs as much for each fingerprint as a look-up
//! for each query (Manku, Jain and Das Sarma, WWW 2007, section 4).

use super::sections::values;
use super::tables::Tables;
use crate::Result;
use crate::index::permutation::Value;
use crate::index::plan::{Table, cost};
use crate::io::BlockFile;
use crate::kernel::Level;
use crate::search::hamming::{self, Index, Strategy};

/// Fingerprints that are searched among the queries at a time.
const SCANNED: usize = 1 << 14;
/// Memory that tables of the queries may take.
const SCAN_BYTES: usize = 1 << 30;

impl<F: Value> Tables<F> {
    /// How to search the queries for every fingerprint of the segment, if that is estimated to
    /// cost less than looking up every query.
    pub fn cheaper_scan(&self, queries: &[F]) -> Result<Option<Strategy>> {
        let queries: Vec<F> = queries
            .iter()
            .map(|query| self.permutation.apply(*query))
            .collect();
        let count = usize::try_from(self.distinct).unwrap_or(usize::MAX);
        let plan = hamming::plan(&queries, count, self.width, self.near.k, SCAN_BYTES)?;
        let look_up: f64 = self.look_up_nanoseconds() * queries.len() as f64;
        Ok((plan.seconds * 1e9 < look_up).then_some(plan.strategy))
    }

    /// What one query costs, were bits uniform.
    fn look_up_nanoseconds(&self) -> f64 {
        let of_table = |(table, patterns): (&Table, &Vec<u32>)| {
            let bucket = self.distinct as f64 / f64::from(table.directory_bits).exp2();
            patterns.len() as f64 * (cost::BUCKET + cost::COMPARISON * bucket)
        };
        self.tables.iter().zip(&self.patterns).map(of_table).sum()
    }

    /// Calls `visit` with query, distance and group of every group that is near a query, each
    /// once: every fingerprint of the segment is searched among the queries.
    pub fn scan(
        &self,
        file: &BlockFile,
        queries: &[F],
        strategy: Strategy,
        mut visit: impl FnMut(u32, u32, u32) -> Result<()>,
    ) -> Result<()> {
        let queries: Vec<F> = queries
            .iter()
            .map(|query| self.permutation.apply(*query))
            .collect();
        let index = Index::build(&queries, self.width, self.near.k, strategy, Level::best())?;
        let mut scratch = hamming::Scratch::default();
        let mut found = Vec::new();
        for first in (0..self.distinct).step_by(SCANNED) {
            let end = self.distinct.min(first + SCANNED as u64);
            let groups = file.values::<F>(values(0), first..end)?;
            index.search_batch(groups, &mut scratch, |group, hits| {
                let group = first as u32 + group as u32;
                found.extend(hits.iter().map(|hit| (hit.position, hit.distance, group)));
            });
            for (query, distance, group) in found.drain(..) {
                visit(query, distance, group)?;
            }
        }
        Ok(())
    }
}
