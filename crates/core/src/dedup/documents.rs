//! The documents of a block or of a list: sketches, ranks and partitions.

use std::ops::Range;

use super::{Event, Verdict};
use crate::search::join::SketchIndex;
use crate::sketch::Sketches;

/// A document of a block, and an earlier document whose sketch is near.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NearPair {
    /// The position of the document in the block.
    pub member: u32,
    /// The number of the earlier document in the list of queries.
    pub centre: u32,
}

/// The documents of a block, and the index of their sketches.
#[derive(Clone, Copy)]
pub struct IndexedBlock<'d> {
    /// The index of the sketches of `documents`.
    pub index: &'d SketchIndex<'d>,
    /// The documents, of consecutive ranks.
    pub documents: Documents<'d>,
}

impl IndexedBlock<'_> {
    /// The event of a pair whose centre is a document of `centres`.
    pub(super) fn event(&self, centres: &Documents<'_>, pair: NearPair, verdict: Verdict) -> Event {
        let (a, b) = (
            centres.sketch(pair.centre),
            self.documents.sketch(pair.member),
        );
        Event {
            member: self.documents.rank(pair.member),
            centre: centres.rank(pair.centre),
            score: self.index.method().score(a, b),
            verdict,
        }
    }
}

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
    /// `partitions` has a value for each document, and only documents with equal values are
    /// compared (those of one site, for example). If it is empty, all are.
    ///
    /// # Panics
    /// If `partitions` is neither empty nor as long as `sketches`.
    pub fn block(sketches: Sketches<'d>, first: u64, partitions: &'d [u64]) -> Documents<'d> {
        Documents::new(sketches, Ranks::From(first), partitions)
    }

    /// Documents of the given ranks, ascending; `partitions` as in [`block`](Self::block).
    ///
    /// # Panics
    /// If `ranks` is not as long as `sketches`, or `partitions` is neither empty nor as long.
    pub fn with_ranks(
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

    /// The number of documents.
    pub fn count(&self) -> u32 {
        self.sketches.count() as u32
    }

    /// The numbers of all documents.
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
