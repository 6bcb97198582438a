use std::ops::Range;

use crate::sketch::Sketches;

/// Sketches with the ranks of their documents, ascending.
#[derive(Clone, Copy, Debug)]
pub struct Documents<'d> {
    sketches: Sketches<'d>,
    ranks: Ranks<'d>,
    partitions: &'d [u64],
}

#[derive(Clone, Copy, Debug)]
enum Ranks<'d> {
    From(u64),
    Each(&'d [u64]),
}

impl<'d> Documents<'d> {
    /// Documents of the consecutive ranks from `first` on.
    ///
    /// `partitions` has a value for each, and only those of one value are ever compared (the
    /// copies of one site, for example); or it is empty, and all are.
    ///
    /// # Panics
    /// If there are neither none nor as many partitions as sketches.
    pub fn block(sketches: Sketches<'d>, first: u64, partitions: &'d [u64]) -> Documents<'d> {
        Documents::new(sketches, Ranks::From(first), partitions)
    }

    /// Documents of the given ranks, ascending; `partitions` as in [`block`](Self::block).
    ///
    /// # Panics
    /// If there are not as many ranks as sketches, or neither none nor as many partitions.
    pub fn listed(
        sketches: Sketches<'d>,
        ranks: &'d [u64],
        partitions: &'d [u64],
    ) -> Documents<'d> {
        let documents = Documents::new(sketches, Ranks::Each(ranks), partitions);
        assert_eq!(documents.count() as usize, ranks.len());
        documents
    }

    fn new(sketches: Sketches<'d>, ranks: Ranks<'d>, partitions: &'d [u64]) -> Documents<'d> {
        let documents = Documents {
            sketches,
            ranks,
            partitions,
        };
        assert!(partitions.is_empty() || documents.count() as usize == partitions.len());
        documents
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.sketches.count() as u32
    }

    /// All numbers.
    pub(super) fn numbers(&self) -> Range<u32> {
        0..self.count()
    }

    /// The sketch of document `number`.
    pub(super) fn sketch(&self, number: u32) -> &'d [u8] {
        self.sketches.get(number as usize)
    }

    /// The rank of document `number`.
    pub(super) fn rank(&self, number: u32) -> u64 {
        match self.ranks {
            Ranks::From(first) => first + u64::from(number),
            Ranks::Each(ranks) => ranks[number as usize],
        }
    }

    /// The partition of document `number`, if there are any.
    pub(super) fn partition(&self, number: u32) -> Option<u64> {
        self.partitions.get(number as usize).copied()
    }
}
