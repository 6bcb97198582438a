//! What a plan says of a run.

use crate::estimate::run_cost::RunCost;

/// An estimate of a run. The output does not depend on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassageEstimate {
    /// What the run takes.
    pub cost: RunCost,
    /// How often the documents are read before inputs are written again.
    pub readings: Readings,
    /// The index of the documents to compare with, if the search has one.
    pub index: Option<IndexSize>,
}

/// How often the documents are read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readings {
    /// The number of readings of all documents.
    pub whole: u32,
    /// The number of readings of some documents.
    pub partial: u32,
    /// What one reading keeps in memory, so that a second one is not necessary.
    pub kept: Option<KeptPlaces>,
}

/// Places that the first reading keeps in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeptPlaces {
    /// Their number.
    pub count: u64,
    /// The memory that they take.
    pub bytes: u64,
    /// The part of the memory that they may take.
    pub most_bytes: u64,
    /// A memory bound with which they fit.
    pub enough_memory_bytes: u64,
}

/// The size of an index of documents to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexSize {
    /// The items.
    pub items: u64,
    /// The words of all items.
    pub words: u64,
    /// The least memory bound of a run with this index.
    pub needed_bytes: u64,
}

impl KeptPlaces {
    /// Whether they fit.
    pub fn fit(&self) -> bool {
        self.bytes <= self.most_bytes
    }
}
