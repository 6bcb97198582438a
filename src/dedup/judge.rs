use super::Verdict;
use crate::Result;

/// Whoever can compare two documents exactly; they are called by their ranks.
pub trait Judge: Sync {
    /// The exact comparison.
    ///
    /// # Errors
    /// Whatever keeps it from being made.
    fn verify(&self, earlier: u64, later: u64) -> Result<Verdict>;

    /// Called before very many pairs will be judged of which probably few are copies.
    ///
    /// # Errors
    /// Whatever stands in the way of preparations.
    fn prepare(&self) -> Result<()> {
        Ok(())
    }

    /// Appends those of `later`, in their order, that might be copies of `earlier`; may leave out
    /// only what [`verify`](Self::verify) would refuse.
    fn sift(&self, earlier: u64, later: &[u64], possible: &mut Vec<u64>) {
        let _ = earlier;
        possible.extend_from_slice(later);
    }

    /// Whether a refusal is to be told of; the others are only counted.
    ///
    /// Of each `later`, refusals are told by ascending `earlier`, never while this is asked: a
    /// judge that hears of them can say no as soon as it has enough, though more may be under way.
    fn is_told(&self, earlier: u64, later: u64) -> bool {
        let _ = (earlier, later);
        true
    }
}
