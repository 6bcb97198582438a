//! Prefixes of sets: the shingles by which similar sets are found.
//!
//! The elements of all sets are sorted by one order, rare ones first. Sets x and y with a
//! resemblance of at least θ share at least θ (|x| + |y|) / (1 + θ) elements. If y is the smaller
//! one, at least 2θ |y| / (1 + θ) of these, so one is among the first |y| - ⌈2θ |y| / (1 + θ)⌉ + 1 of
//! y; it is also among the first |x| - ⌈θ |x|⌉ + 1 of x. So y is *found* by fewer elements than it
//! *finds* larger ones with. Pages of one template, each with some text of its own, are not found by
//! elements of the template: these are behind their own ones. Source: Bayardo, Ma and Srikant,
//! "Scaling Up All Pairs Similarity Search", WWW 2007; Xiao, Wang, Lin and Yu, "Efficient Similarity
//! Joins for Near Duplicate Detection", WWW 2008.

use std::collections::HashMap;

use arrow_array::{Array, RecordBatch};
use simtool_core::Result;

use super::entry::{Entry, NONE, REMOVED};
use crate::columns::{Columns, Packer, bytes, longs, optional_longs, present};
use crate::numbers::{mixed, read_set};
use crate::settings::Settings;
use crate::step::Step;

/// Computes the prefixes of sets.
struct Prefixes {
    thousandths: u64,
    /// The place of each frequent element in the order, behind all others.
    frequent: HashMap<u64, u32>,
    set: Vec<u64>,
    /// The prefix: the places and the elements.
    sorted: Vec<(u32, u64)>,
}

impl Prefixes {
    /// `frequent` has the frequent elements, little-endian, the most frequent one last.
    fn new(settings: &Settings, frequent: &[u8]) -> Prefixes {
        let (frequent, _) = frequent.as_chunks::<8>();
        let thousandths = settings.verification().map(|it| it.least.thousandths);
        Prefixes {
            thousandths: thousandths.unwrap_or(1000).into(),
            frequent: (1..)
                .zip(frequent)
                .map(|(place, element)| (u64::from_le_bytes(*element), place))
                .collect(),
            set: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// The size of a set; its prefix is in `sorted` then.
    fn read(&mut self, set: &[u8]) -> Result<u64> {
        read_set(set, &mut self.set)?;
        let size = self.set.len() as u64;
        let shared = (size * self.thousandths).div_ceil(1000).max(1);
        let length = (size + 1).saturating_sub(shared) as usize;
        let place = |element: &u64| self.frequent.get(element).copied().unwrap_or(0);
        let sorted = &mut self.sorted;
        sorted.clear();
        sorted.extend(self.set.iter().map(|element| (place(element), *element)));
        if (1..sorted.len()).contains(&length) {
            sorted.select_nth_unstable(length - 1);
            sorted.truncate(length);
        }
        sorted.sort_unstable();
        Ok(size)
    }
}

/// The step `prefix`: ranks and sets, perhaps with `label` and `frontier`, to the elements of each
/// set's prefix, in `parts` parts. Without `label`, no document has one; without `frontier`, all
/// documents search from the first one on.
pub struct Prefix {
    prefixes: Prefixes,
    components: bool,
    /// The number of tiles of very frequent elements.
    hot: HashMap<i64, i64>,
    made: Packer,
}

impl Prefix {
    /// The step; `frequent` as in [`Prefixes::new`].
    pub fn new(settings: &Settings, frequent: &[u8]) -> Prefix {
        Prefix {
            prefixes: Prefixes::new(settings, frequent),
            components: settings.components,
            hot: settings.hot.iter().copied().collect(),
            made: Packer::new(settings.parts),
        }
    }
}

impl Step for Prefix {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let (ranks, sets) = (longs(batch, "rank")?, bytes(batch, "set")?);
        let [labels, frontiers] = ["label", "frontier"].map(|name| {
            let found = batch.column_by_name(name);
            found.map(|_| optional_longs(batch, name)).transpose()
        });
        let (labels, frontiers) = (labels?, frontiers?);
        for (row, rank) in ranks.iter().enumerate() {
            let value = |array: &arrow_array::Int64Array| match array.is_valid(row) {
                true => array.value(row),
                false => NONE,
            };
            let label = labels.map_or(NONE, value);
            if !self.components && label == REMOVED {
                continue;
            }
            let frontier = frontiers.map_or(-1, value);
            let size = self.prefixes.read(present(&sets, row, "set")?)?;
            for (place, (_, element)) in (0..).zip(&self.prefixes.sorted) {
                let mut entry = Entry {
                    element: element.cast_signed(),
                    tile: 0,
                    rank: *rank,
                    label,
                    frontier,
                    size: u32::try_from(size).unwrap_or(u32::MAX),
                    place,
                };
                let hash = mixed(*element);
                let Some(tiles) = self.hot.get(&entry.element) else {
                    self.made.add(hash, &entry);
                    continue;
                };
                // Each tile has all documents, and each document searches in one.
                for tile in 0..*tiles {
                    entry.tile = tile;
                    entry.frontier = match tile == rank % tiles {
                        true => frontier,
                        false => NONE,
                    };
                    self.made.add(mixed(hash ^ tile.cast_unsigned()), &entry);
                }
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.made.end();
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        self.made.take()
    }
}

/// The step `hot`: sets to the frequent elements of their prefixes, and how many prefixes have each.
pub struct Counts {
    prefixes: Prefixes,
    counts: HashMap<u64, i64>,
    is_complete: bool,
}

impl Counts {
    /// The step; `frequent` as in [`Prefixes::new`].
    pub fn new(settings: &Settings, frequent: &[u8]) -> Counts {
        Counts {
            prefixes: Prefixes::new(settings, frequent),
            counts: HashMap::new(),
            is_complete: false,
        }
    }
}

impl Step for Counts {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let sets = bytes(batch, "set")?;
        for row in 0..batch.num_rows() {
            self.prefixes.read(present(&sets, row, "set")?)?;
            for (place, element) in &self.prefixes.sorted {
                if *place > 0 {
                    *self.counts.entry(*element).or_default() += 1;
                }
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.is_complete = true;
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        if !self.is_complete || self.counts.is_empty() {
            return Ok(None);
        }
        let counts = std::mem::take(&mut self.counts).into_iter();
        let (elements, counts) = counts
            .map(|(element, count)| (element.cast_signed(), count))
            .unzip();
        let columns = Columns::default().longs("element", elements);
        columns.longs("count", counts).batch().map(Some)
    }
}
