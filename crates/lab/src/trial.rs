//! A setting at a threshold: what it finds, what it proposes, and whether it can be recommended.

use super::judge::Verdicts;
use super::proposals::Proposals;
use simtool_batch::dedup::Verification;
use simtool_core::sketch::registry::Spec;
use simtool_core::text::{Choice, LeastSimilarity};
use simtool_evaluate::{Cost, Interval, PairSample, Proportion, Stratum, right_share, wrong_pairs};

/// The largest chance that fingerprints of two unrelated documents are near: a larger collection has
/// more pairs than this one, so what is proposed in this one does not show it.
const MAX_CHANCE: f64 = 1e-6;

/// With fewer searched pairs, that none is proposed says nothing of a threshold.
const FEW_SEARCHED: u64 = 1000;
/// The recall that counts then: a looser threshold is no better.
const ENOUGH_FOUND: f64 = 0.5;

/// A setting at a threshold.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The tokenizer.
    pub tokenizer: Choice,
    /// The method with its threshold.
    pub spec: Spec,
    /// The found pairs of those to be found.
    pub recall: Proportion,
    /// The pairs that it proposes, unless finding them costs the square of the collection.
    pub proposed: Option<Proposed>,
    /// For fingerprints: the chance that two unrelated documents are near.
    pub chance: Option<f64>,
    /// The cost of the method.
    pub cost: Cost,
}

impl Trial {
    /// The least similarity and the length of shingles, for a setting of shingles.
    pub fn verification(&self) -> Option<Verification> {
        let list = self.spec.list();
        let value = |wanted: &str| {
            let found = list.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.as_str())
        };
        let thousandths = (value("similarity")?.parse::<f64>().ok()? * 1000.0).round() as u32;
        let least = match value("measure")? {
            "containment" => LeastSimilarity::containment(thousandths),
            _ => LeastSimilarity::resemblance(thousandths),
        };
        Some(Verification {
            shingle: value("shingle")?.parse().ok()?,
            least,
        })
    }

    /// Whether too few pairs were searched to show what the threshold proposes.
    pub fn is_unproven(&self) -> bool {
        let few = |found: Proposed| found.precision.is_none() && found.searched < FEW_SEARCHED;
        self.proposed.is_some_and(few)
    }

    /// The recall, times the lower bound of the precision if that does not reach the wanted one: of
    /// two settings, one that finds a little more is no better if few judged pairs speak for it. A
    /// setting that proposes nothing counts like one with one right pair.
    pub fn worth(&self, precision: Proportion) -> f64 {
        let most = match self.is_unproven() {
            true => ENOUGH_FOUND,
            false => 1.0,
        };
        let proposed = self.proposed.and_then(|proposed| proposed.precision);
        let interval = proposed.map(|(_, interval)| interval);
        let interval = interval.or_else(|| Proportion::new(1, 1).interval());
        let low = interval.map_or(0.0, |interval| interval.low);
        let wanted = precision.value().unwrap_or(1.0);
        self.recall.value().unwrap_or(0.0).min(most) * (low / wanted).min(1.0)
    }
}

/// The pairs that a setting proposes among the documents with different words.
#[derive(Clone, Copy, Debug)]
pub struct Proposed {
    /// The number of pairs; estimated if not all documents were searched.
    pub pairs: f64,
    /// The share of all pairs that was searched.
    pub covered: f64,
    /// The number of these pairs.
    pub searched: u64,
    /// The number of judged pairs.
    pub judged: u64,
    /// The share of right pairs, with an interval; `None` without pairs.
    pub precision: Option<(f64, Interval)>,
    /// The estimated number of wrong pairs.
    pub wrong: f64,
}

/// Why a setting is not recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It finds nothing of what is to be found.
    FindsNothing,
    /// Too few of the proposed pairs are right.
    Imprecise,
    /// Fingerprints of unrelated documents are near too often.
    Accidental,
    /// It compares too many of all pairs.
    Square,
}
/// What a threshold proposes, by the pairs of its strata that were judged.
pub fn judged(proposals: &Proposals, place: usize, verdicts: &Verdicts) -> Proposed {
    let stratum = |sample: &PairSample| {
        let verdicts: Vec<bool> = sample
            .pairs()
            .filter_map(|pair| verdicts.right.get(&pair).copied())
            .collect();
        Stratum {
            count: sample.count,
            judged: verdicts.len() as u64,
            wrong: verdicts.iter().filter(|right| !**right).count() as u64,
        }
    };
    let strata: Vec<Stratum> = proposals.strata[..=place].iter().map(stratum).collect();
    let covered = proposals.covered.max(f64::MIN_POSITIVE);
    let sum = |of: fn(&Stratum) -> u64| strata.iter().map(of).sum::<u64>();
    Proposed {
        pairs: sum(|stratum| stratum.count) as f64 / covered,
        covered,
        searched: proposals.searched,
        judged: sum(|stratum| stratum.judged),
        precision: right_share(&strata),
        wrong: wrong_pairs(&strata) / covered,
    }
}

/// Why a trial cannot be recommended. The share of right pairs is the estimate, not the bound of its
/// interval, which few documents could not reach.
pub fn rejection(trial: &Trial, precision: Proportion) -> Option<Rejection> {
    if trial.recall.part == 0 {
        return Some(Rejection::FindsNothing);
    }
    let Some(proposed) = &trial.proposed else {
        return Some(Rejection::Square);
    };
    let wanted = precision.value().unwrap_or(0.0);
    match proposed.precision {
        _ if trial.chance > Some(MAX_CHANCE) => Some(Rejection::Accidental),
        Some((right, _)) if right < wanted => Some(Rejection::Imprecise),
        _ => None,
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_shingles_is_that_of_a_verification() {
        let trial = |text: &str| Trial {
            tokenizer: Choice::Chars,
            spec: Spec::parse(text).unwrap(),
            recall: Proportion::default(),
            proposed: None,
            chance: None,
            cost: Cost::default(),
        };
        let verification = trial("shingles:shingle=6,similarity=0.35").verification();
        let least = LeastSimilarity::resemblance(350);
        assert_eq!(verification, Some(Verification { shingle: 6, least }));
        let contained = trial("shingles:measure=containment,similarity=1").verification();
        assert_eq!(
            contained.map(|found| found.least),
            Some(LeastSimilarity::containment(1000))
        );
        assert_eq!(trial("exact").verification(), None);
        assert_eq!(trial("minhash").verification(), None);
    }
}
