//! The exact comparison of documents, supplied by the caller.

use super::Verdict;
use crate::Result;

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

    /// Whether a refused pair is passed to the sink; the others are only counted.
    ///
    /// For each `later`, refusals are reported by ascending `earlier`, never during this call. So
    /// an implementation can return `false` once it has enough; a batch in progress may still add
    /// some.
    fn reports_refusal(&self, earlier: u64, later: u64) -> bool {
        let _ = (earlier, later);
        true
    }
}
