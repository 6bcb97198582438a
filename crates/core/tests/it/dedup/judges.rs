//! Judges of a case.

use simtool_core::Result;
use simtool_core::dedup::{Judge, Sets, Verdict};
use simtool_core::text::LeastSimilarity;
use std::sync::Mutex;

use super::case::{Case, LEAST, scramble};
/// Judges a case, records the compared pairs, and may filter some refusals out beforehand.
pub struct Trial<'c> {
    pub case: &'c Case,
    pub compared: Mutex<Vec<(u64, u64)>>,
    /// Whether `filter` leaves out half of the refused pairs.
    pub sifts: bool,
    /// Whether refusals are reported.
    pub reports: bool,
}

impl<'c> Trial<'c> {
    pub fn new(case: &'c Case, (sifts, reports): (bool, bool)) -> Trial<'c> {
        Trial {
            case,
            compared: Mutex::default(),
            sifts,
            reports,
        }
    }

    pub fn is_sifted(&self, a: u64, b: u64) -> bool {
        let is_refused = self.case.verdict(a, b) == Verdict::Refused;
        self.sifts && is_refused && scramble(a ^ b << 20).is_multiple_of(2)
    }

    /// The compared pairs, sorted.
    pub fn compared(self) -> Vec<(u64, u64)> {
        let mut compared = self.compared.into_inner().unwrap();
        compared.sort();
        compared
    }
}

impl Judge for Trial<'_> {
    fn verify(&self, earlier: u64, later: u64) -> Result<Verdict> {
        self.compared.lock().unwrap().push((earlier, later));
        Ok(self.case.verdict(earlier, later))
    }

    fn filter(&self, earlier: u64, later: &[u64], possible: &mut Vec<u64>) {
        possible.extend(
            later
                .iter()
                .filter(|later| !self.is_sifted(earlier, **later)),
        );
    }

    fn reports_refusals(&self) -> bool {
        self.reports
    }

    fn sets(&self) -> Option<&dyn Sets> {
        (!self.case.sets.is_empty()).then_some(self)
    }
}

impl Sets for Trial<'_> {
    fn read(&self, rank: u64, set: &mut Vec<u64>) -> Result<()> {
        set.clone_from(&self.case.sets[rank as usize]);
        Ok(())
    }

    fn least(&self) -> LeastSimilarity {
        LeastSimilarity::resemblance(LEAST)
    }

    fn index_bytes(&self) -> usize {
        // Enough for all of some cases, and for a part of others.
        (2 << 20) + 9 * (self.case.one_in.min(1000) as usize * 200)
    }
}

/// A judge that only compares, with a function.
pub struct Comparison<F>(pub F);

impl<F: Fn(u64, u64) -> Result<Verdict> + Sync> Judge for Comparison<F> {
    fn verify(&self, earlier: u64, later: u64) -> Result<Verdict> {
        (self.0)(earlier, later)
    }
}
