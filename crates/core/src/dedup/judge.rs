//! The exact comparison of documents, supplied by the caller.

use super::Verdict;
use crate::Result;
use crate::text::LeastSimilarity;

/// Exact comparison of documents, which are identified by their ranks.
pub trait Judge: Sync {
    /// Compares two documents exactly.
    ///
    /// # Errors
    /// Any error of the comparison, such as one of reading.
    fn verify(&self, earlier: u64, later: u64) -> Result<Verdict>;

    /// Called before very many pairs are judged of which probably few are copies.
    ///
    /// # Errors
    /// Any error of the preparation.
    fn prepare(&self) -> Result<()> {
        Ok(())
    }

    /// Appends those of `later`, in their order, that may be copies of `earlier`. May leave out
    /// only those that [`verify`](Self::verify) would refuse.
    fn filter(&self, earlier: u64, later: &[u64], possible: &mut Vec<u64>) {
        let _ = earlier;
        possible.extend_from_slice(later);
    }

    /// Whether refused pairs are passed to the sink; otherwise they are only counted.
    fn reports_refusals(&self) -> bool {
        true
    }

    /// The sets that [`verify`](Self::verify) compares, if it compares sets by their
    /// [resemblance](crate::text::Measure::Resemblance), and if they may be searched.
    fn sets(&self) -> Option<&dyn Sets> {
        None
    }
}

/// The sets by which documents are compared, each sorted and without repetitions.
pub trait Sets: Sync {
    /// Replaces the contents of `set` by the set of a document.
    ///
    /// # Errors
    /// Any error of reading.
    fn read(&self, rank: u64, set: &mut Vec<u64>) -> Result<()>;

    /// The least resemblance of copies.
    fn least(&self) -> LeastSimilarity;

    /// The memory in bytes that an index of sets may take.
    fn index_bytes(&self) -> usize;
}
