//! The trials of the settings of one tokenizer: what each threshold finds and proposes.

use std::collections::BTreeSet;

use super::grid::{Question, Rung, Setting, ladder};
use super::judge::Verdicts;
use super::prepared::{Prepared, cost, scores};
use super::proposals::{Joined, Proposals, bit_means};
use super::source::TruthSource;
use crate::Result;
use simtool_batch::dedup::Verification;
use simtool_batch::matching::usable;
use simtool_core::sketch::accidental::Chance;
use simtool_core::sketch::registry::Spec;
use simtool_core::sketch::{Method, Score};
use simtool_core::text::{Choice, LeastSimilarity};
use simtool_engine::collection::{Counts, Inputs};
use simtool_engine::memory_account::MemoryAccount;
use simtool_engine::sketcher::Sketched;
use simtool_engine::{Stage, Workers};
use simtool_evaluate::{
    Cost, Interval, Pair, PairSample, Proportion, Stratum, Truth, right_share, wrong_pairs,
};

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

/// What is common to all tokenizers: the documents and what is to be found.
pub struct Base {
    /// The documents and the truth of the first tokenizer, without sketches.
    pub prepared: Prepared,
    /// Whether each document is searched: the first one with its words, and no planted copy.
    pub leaders: Vec<bool>,
    /// The pairs to be found.
    pub to_find: Vec<Pair>,
}

/// A setting with its thresholds, before its proposals are judged.
pub struct Tried {
    tokenizer: Choice,
    /// The thresholds, with the number of found pairs, strictest first.
    rungs: Vec<(Rung, u64)>,
    to_find: u64,
    /// What thresholds up to the given place propose; the last place first.
    proposals: Vec<(usize, Proposals)>,
    /// The share of set bits of fingerprints.
    means: Option<Vec<f64>>,
    cost: Cost,
}

/// What the trials of all tokenizers have in common.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// What the setting is for.
    pub question: Question,
    /// The source of the truth.
    pub truth: &'a TruthSource,
    /// Whether pairs that the truth does not list are wrong.
    pub closed_world: bool,
    /// The seed of the samples.
    pub seed: u64,
}

/// What the trials of a tokenizer have in common.
struct Trials<'a> {
    plan: Plan<'a>,
    inputs: &'a Inputs<'a>,
    account: &'a MemoryAccount,
    counts: &'a Counts,
    base: &'a Base,
}

/// Sketches the documents with the words of one tokenizer by all `settings`, and joins them. `base`
/// is that of an earlier tokenizer, and made by the first one.
///
/// # Errors
/// Errors of building methods, of the truth and of reading;
/// [`Memory`](crate::ErrorKind::Memory) if sketches or indices do not fit.
pub fn of_tokenizer(
    plan: Plan<'_>,
    inputs: &Inputs<'_>,
    settings: &[Setting],
    base: &mut Option<Base>,
    workers: &Workers,
) -> Result<Vec<Tried>> {
    let ladders: Vec<Vec<Rung>> = settings.iter().map(ladder).collect();
    let normalized = Spec::parse("normalized")?;
    let first = ladders.iter().map(|ladder| ladder[0].spec.clone());
    let specs: Vec<Spec> = first.chain([normalized]).collect();
    let counts = inputs.counts(&specs)?;
    let build = |spec: &Spec| counts.build(spec, inputs.common());
    let methods: Vec<Box<dyn Method>> = specs.iter().map(build).collect::<Result<_>>()?;
    let account = inputs.memory_account()?;
    if let Some(base) = base {
        account.reserve(base.prepared.collection.bytes(), "ids of documents")?;
    }
    let mut prepared =
        (plan.truth).prepare(plan.closed_world, *inputs, &methods, workers, &account)?;
    let mut all_sketched = std::mem::take(&mut prepared.collection.sketched);
    let normalized = all_sketched.pop().unwrap_or_default();
    let base = base.get_or_insert_with(|| {
        let originals = prepared.collection.members.len() - prepared.planted.len();
        prepared.planted.clear();
        Base {
            leaders: leaders(&*methods[methods.len() - 1], &normalized, originals),
            to_find: to_find(&prepared.truth),
            prepared,
        }
    });
    drop(normalized);
    if base.to_find.is_empty() {
        return Ok(Vec::new());
    }
    let trials = Trials {
        plan,
        inputs,
        account: &account,
        counts: &counts,
        base,
    };
    inputs.progress.begin(Stage::Search, inputs.bytes());
    let settings = ladders.into_iter().zip(all_sketched);
    let tried = settings.map(|(ladder, sketched)| workers.install(|| trials.of(ladder, sketched)));
    let tried = tried.collect::<Result<_>>()?;
    inputs.progress.end(inputs.bytes());
    Ok(tried)
}

impl Trials<'_> {
    /// Finds and joins by one setting.
    fn of(&self, ladder: Vec<Rung>, mut sketched: Sketched) -> Result<Tried> {
        let method = self.build(&ladder[0].spec)?;
        let to_find = self.base.to_find.iter().copied();
        let scores = scores(&*method, &sketched, to_find, self.inputs.progress)?;
        let rungs = self.useful(ladder, &scores)?;
        let cost = cost(&sketched);
        // With the numbers of the joined documents.
        let bytes = sketched.bytes() + size_of::<u32>() * sketched.usable.len();
        for (number, usable) in sketched.usable.iter_mut().enumerate() {
            *usable &= self.base.leaders.get(number) == Some(&true);
        }
        let means = {
            let sketches = sketched.sketches.all(&*method).iter();
            let joined = sketches.zip(&sketched.usable);
            let joined = joined.filter(|(_, joined)| **joined);
            bit_means(method.shape(), joined.map(|(sketch, _)| sketch))
        };
        let (numbers, list) = usable(&*method, sketched, self.account)?;
        let joined = Joined::new(numbers, list, self.plan.seed);
        self.account
            .reserve(joined.bytes(), "the order of a join")?;
        let proposals = self.proposals(&rungs, &joined)?;
        self.account.release(bytes + joined.bytes());
        Ok(Tried {
            tokenizer: self.inputs.settings.tokenizer,
            rungs,
            to_find: self.base.to_find.len() as u64,
            proposals,
            means,
            cost,
        })
    }

    fn build(&self, spec: &Spec) -> Result<Box<dyn Method>> {
        self.counts.build(spec, self.inputs.common())
    }

    /// The thresholds at which more is found than at stricter ones, with the number of found pairs;
    /// the loosest one if none finds anything.
    fn useful(&self, mut ladder: Vec<Rung>, scores: &[Option<Score>]) -> Result<Vec<(Rung, u64)>> {
        let mut rungs = Vec::new();
        let (mut most, last) = (0, ladder.len() - 1);
        for (place, rung) in ladder.drain(..).enumerate() {
            let method = self.build(&rung.spec)?;
            let accepts =
                |score: &&Option<Score>| score.is_some_and(|score| method.accepts(&score));
            let hits = scores.iter().filter(accepts).count() as u64;
            if hits > most || place == last && rungs.is_empty() {
                rungs.push((rung, hits));
                most = hits;
            }
        }
        Ok(rungs)
    }

    /// What the thresholds propose. The pairs of stricter ones are among those of the loosest whose
    /// join is not refused; where that searches few documents, they are searched for in more.
    fn proposals(&self, rungs: &[(Rung, u64)], joined: &Joined) -> Result<Vec<(usize, Proposals)>> {
        let mut all = Vec::new();
        let mut places = Some(rungs.len() - 1);
        while let Some(place) = places {
            let found = self.propose(&rungs[..=place], joined)?;
            let is_enough = found.as_ref().is_some_and(|found| !found.is_partial);
            all.extend(found.map(|found| (place, found)));
            places = place.checked_sub(place.div_ceil(3).max(1));
            places = places.filter(|_| !is_enough);
        }
        Ok(all)
    }

    /// What the last threshold proposes, in strata by the strictest threshold that accepts a pair.
    fn propose(&self, rungs: &[(Rung, u64)], joined: &Joined) -> Result<Option<Proposals>> {
        let Some(((last, _), stricter)) = rungs.split_last() else {
            return Ok(None);
        };
        let stricter = stricter.iter().map(|(rung, _)| rung.threshold);
        let stricter: Vec<Score> = stricter.flatten().collect();
        let method = self.build(&last.spec)?;
        // Whatever an exact join costs, MinHash finds candidates for `dedup` and an index.
        let how = (self.plan.seed, self.plan.question != Question::Match);
        joined.propose(&*method, &stricter, how, self.inputs, self.account)
    }
}

impl Tried {
    /// Adds the sampled pairs of all thresholds.
    pub fn add_pairs(&self, pairs: &mut BTreeSet<Pair>) {
        let strata = self.proposals.iter().flat_map(|(_, found)| &found.strata);
        strata.for_each(|sample| pairs.extend(sample.pairs()));
    }

    /// The threshold with the wanted `precision` that is worth most, the loosest of these, unless too
    /// few pairs were searched; or the strictest one with the reason to leave it out.
    pub fn best(&self, verdicts: &Verdicts, precision: Proportion) -> (Trial, Option<Rejection>) {
        let trials = (0..self.rungs.len()).map(|place| self.trial(place, verdicts));
        let judged = trials.map(|trial| {
            let reason = rejection(&trial, precision);
            (trial, reason)
        });
        let mut judged: Vec<_> = judged.collect();
        let mut best = None;
        for (place, (trial, reason)) in judged.iter().enumerate() {
            let worth = trial.worth(precision);
            let is_better = match best {
                None => true,
                Some((_, most)) if trial.is_unproven() => worth > most,
                Some((_, most)) => worth >= most,
            };
            if reason.is_none() && is_better {
                best = Some((place, worth));
            }
        }
        judged.swap_remove(best.map_or(0, |(place, _)| place))
    }

    fn trial(&self, place: usize, verdicts: &Verdicts) -> Trial {
        let (rung, hits) = &self.rungs[place];
        let found = self.proposals.iter().rev();
        let mut found = found.filter(|(last, _)| place <= *last);
        let chance = match (rung.threshold, &self.means) {
            (Some(Score::Distance(bits)), Some(means)) => {
                Some(Chance::with_means(means, bits).probability())
            }
            _ => None,
        };
        Trial {
            tokenizer: self.tokenizer,
            spec: rung.spec.clone(),
            recall: Proportion::new(*hits, self.to_find),
            proposed: found
                .next()
                .map(|(_, found)| judged(found, place, verdicts)),
            chance,
            cost: self.cost,
        }
    }
}

/// What a threshold proposes, by the pairs of its strata that were judged.
fn judged(proposals: &Proposals, place: usize, verdicts: &Verdicts) -> Proposed {
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
fn rejection(trial: &Trial, precision: Proportion) -> Option<Rejection> {
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

/// The near pairs of a truth.
fn to_find(truth: &Truth) -> Vec<Pair> {
    let near = (0..truth.pairs().len()).filter(|index| truth.is_near(*index));
    near.map(|index| truth.pairs()[index].pair).collect()
}

/// Whether each of the first `count` documents is the first one with its words.
fn leaders(normalized: &dyn Method, sketched: &Sketched, count: usize) -> Vec<bool> {
    let sketches = sketched.sketches.all(normalized);
    let mut known = BTreeSet::new();
    (0..count)
        .map(|number| sketched.usable[number] && known.insert(sketches.get(number)))
        .collect()
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
