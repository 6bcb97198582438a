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

use arrow_array::RecordBatch;
use simtool::Result;

use super::batch::{Columns, bytes, longs, present};
use super::sets::read_set;
use super::settings::Settings;
use super::stage::Stage;

/// The least number of elements that sets of these sizes share.
pub fn least_shared(a: u64, b: u64, thousandths: u64) -> u64 {
    ((a + b) * thousandths).div_ceil(1000 + thousandths)
}

/// The step `elements`: sets to their elements, to be counted.
#[derive(Default)]
pub struct Sample {
    made: Option<RecordBatch>,
}

impl Stage for Sample {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let sets = bytes(batch, "set")?;
        let (mut elements, mut set) = (Vec::new(), Vec::new());
        for row in 0..batch.num_rows() {
            read_set(present(&sets, row, "set")?, &mut set)?;
            elements.extend(set.iter().map(|element| element.cast_signed()));
        }
        self.made = Some(Columns::default().longs("element", elements).batch()?);
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.made.take())
    }
}

/// The step `prefix`: ranks and sets to the elements of each set's prefix, with the size of the set
/// and the place of the element in the order.
pub struct Prefix {
    thousandths: u64,
    /// The place of each frequent element in the order, behind all others.
    frequent: HashMap<u64, u32>,
    made: Option<RecordBatch>,
}

impl Prefix {
    /// The step; `frequent` has the frequent elements, little-endian, the most frequent one last.
    pub fn new(settings: &Settings, frequent: &[u8]) -> Prefix {
        let (frequent, _) = frequent.as_chunks::<8>();
        let thousandths = settings.verification().map(|it| it.least.thousandths);
        Prefix {
            thousandths: thousandths.unwrap_or(1000).into(),
            frequent: (1..)
                .zip(frequent)
                .map(|(place, element)| (u64::from_le_bytes(*element), place))
                .collect(),
            made: None,
        }
    }
}

impl Stage for Prefix {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let (ranks, sets) = (longs(batch, "rank")?, bytes(batch, "set")?);
        let mut set = Vec::new();
        let mut sorted: Vec<(u32, u64)> = Vec::new();
        let [mut elements, mut of, mut sizes, mut places] = [(); 4].map(|()| Vec::new());
        for (row, rank) in ranks.iter().enumerate() {
            read_set(present(&sets, row, "set")?, &mut set)?;
            let size = set.len() as u64;
            let shared = (size * self.thousandths).div_ceil(1000).max(1);
            let length = (size + 1).saturating_sub(shared) as usize;
            let place = |element: &u64| self.frequent.get(element).copied().unwrap_or(0);
            sorted.clear();
            sorted.extend(set.iter().map(|element| (place(element), *element)));
            if (1..sorted.len()).contains(&length) {
                sorted.select_nth_unstable(length - 1);
                sorted.truncate(length);
            }
            sorted.sort_unstable();
            for (place, (_, element)) in (0..).zip(&sorted) {
                elements.push(element.cast_signed());
                of.push(*rank);
                sizes.push(size.cast_signed());
                places.push(place);
            }
        }
        let batch = Columns::default()
            .longs("element", elements)
            .longs("rank", of)
            .longs("size", sizes)
            .longs("place", places)
            .batch()?;
        self.made = Some(batch);
        Ok(())
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.made.take())
    }
}
