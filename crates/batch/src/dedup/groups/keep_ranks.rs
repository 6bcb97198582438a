//! Keep keys of orders with several policies: the rank of each document by all of them.
//!
//! The rows have the key of the first policy, and a file the keys of the others. Sorting by all of
//! them gives each document a rank, which takes the place of the key. Documents with equal keys
//! have the same rank.

use bytemuck::{Pod, Zeroable};

use crate::Result;
use simtool_core::dedup::keep::{LAST, MAX_POLICIES};
use simtool_engine::Progress;
use simtool_engine::spill_space::SpillSpace;
use simtool_files::Spooled;

use crate::dedup::memory;
use crate::dedup::settings::job::DedupJob;
use crate::table::document_table::DocumentTable;
use crate::table::row::{Flags, Row};

/// Rows that are read at a time.
const BLOCK: usize = 8192;

/// The keys of a document, by precedence, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Keys {
    keys: [[u8; 16]; MAX_POLICIES],
    document: u32,
}

/// The keep key of each document.
pub struct KeepKeys {
    /// The rank of each document, four bytes each; `None` if the rows have the keys.
    ranks: Option<Spooled>,
    /// For each policy that is compared, the documents of the input that were read and have no key.
    pub without: Vec<u64>,
}

impl KeepKeys {
    /// The keys of all documents. Sorts them if the job's order has several policies.
    ///
    /// # Errors
    /// Errors of reading and of temporary files; interruption.
    pub fn of(
        job: &DedupJob,
        table: &DocumentTable,
        space: &SpillSpace<'_>,
        progress: &Progress,
    ) -> Result<KeepKeys> {
        let policies = job.keep.compared().len();
        let mut without = vec![0; policies];
        if policies == 0 {
            return Ok(KeepKeys {
                ranks: None,
                without,
            });
        }
        let mut sorter = space.sorter::<Keys>(memory::KEYS);
        let columns = job.columns();
        let mut further = Vec::new();
        table.rows.for_each_block(BLOCK, |first, rows| {
            progress.check()?;
            if policies > 1 {
                columns.read_keys(table, first, rows.len(), &mut further)?;
            }
            for (place, row) in rows.iter().enumerate() {
                let mut keys = [[0; 16]; MAX_POLICIES];
                keys[0] = row.keep_key;
                let own = further.iter().skip(place * (policies.max(1) - 1));
                let others = keys[1..].iter_mut().take(policies.saturating_sub(1));
                others.zip(own).for_each(|(key, own)| *key = *own);
                let excluded = [Flags::SKIPPED, Flags::REFERENCE];
                if !excluded.iter().any(|flag| row.flags.has(*flag)) {
                    for (count, key) in without.iter_mut().zip(&keys) {
                        *count += u64::from(*key == LAST);
                    }
                }
                if policies > 1 {
                    let document = (first + place as u64) as u32;
                    sorter.push(Keys { keys, document })?;
                }
            }
            Ok(())
        })?;
        if policies < 2 {
            return Ok(KeepKeys {
                ranks: None,
                without,
            });
        }
        let mut ranked = space.sorter::<[u32; 2]>(memory::KEY_RANKS);
        let (mut last, mut rank) = (None, 0);
        for found in sorter.finish()? {
            let Keys { keys, document } = found?;
            if document.is_multiple_of(BLOCK as u32) {
                progress.check()?;
            }
            rank += u32::from(last.is_some_and(|last| last != keys));
            last = Some(keys);
            ranked.push([document, rank])?;
        }
        let mut ranks = space.spool()?;
        for found in ranked.finish()? {
            let [document, rank] = found?;
            if document.is_multiple_of(BLOCK as u32) {
                progress.check()?;
            }
            ranks.append(&rank.to_ne_bytes())?;
        }
        Ok(KeepKeys {
            ranks: Some(ranks.finish()?),
            without,
        })
    }

    /// The keys of the documents of consecutive rows.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn read(&self, first: u64, rows: &[Row], keys: &mut Vec<[u8; 16]>) -> Result<()> {
        keys.clear();
        let Some(ranks) = &self.ranks else {
            keys.extend(rows.iter().map(|row| row.keep_key));
            return Ok(());
        };
        let mut found = vec![0u32; rows.len()];
        ranks.fill_at(4 * first, bytemuck::cast_slice_mut(&mut found))?;
        keys.extend(found.into_iter().map(|rank| u128::from(rank).to_be_bytes()));
        Ok(())
    }
}
