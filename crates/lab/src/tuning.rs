//! Recommendation of methods and thresholds by what they find and what they propose.
//!
//! ```text
//! settings ─► thresholds ─► recall of the truth or of planted copies
//!                       └─► join of the collection ─► sample by threshold ─► judge
//! ```

use std::collections::BTreeSet;

use super::judge::{Judge, judging_methods};
use super::prepared::{Prepared, cost, scores};
use super::proposals::{Joined, Proposals, bit_means, pairs};
use super::settings::{Rung, ladder};
use super::source::TruthSource;
use crate::Result;
use simtool_batch::matching::usable;
use simtool_core::sketch::accidental::Chance;
use simtool_core::sketch::registry::Spec;
use simtool_core::sketch::{Method, Score};
use simtool_core::text::LeastSimilarity;
use simtool_engine::collection::{Counts, Inputs};
use simtool_engine::doubts::Doubts;
use simtool_engine::memory_account::MemoryAccount;
use simtool_engine::sketcher::Sketched;
use simtool_engine::{Stage, Workers};
use simtool_evaluate::{Cost, Interval, Pair, Proportion, Stratum, right_share, wrong_pairs};

/// The most wrong pairs among all pairs of the collection.
pub const MAX_WRONG: f64 = 1e-6;
/// Settings that find at least this share, in hundredths, of what the best one finds are equally
/// good; the one with the smallest sketches comes first.
const EQUALLY_GOOD: u64 = 99;

/// What to try, and what to require.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// The settings. Of those with a threshold, all thresholds are tried.
    pub settings: Vec<Spec>,
    /// The source of the truth.
    pub truth: TruthSource,
    /// Whether pairs that the truth does not list are wrong.
    pub closed_world: bool,
    /// The least similarity of duplicates.
    pub similarity: LeastSimilarity,
    /// The least share of proposed pairs that are right.
    pub precision: Proportion,
    /// The seed of the samples.
    pub seed: u64,
}

/// The result of tuning.
#[derive(Debug)]
pub struct Tuned {
    /// The number of documents, without planted copies.
    pub documents: u64,
    /// The number of these with different words. They are joined.
    pub distinct: u64,
    /// The number of pairs to be found.
    pub to_find: u64,
    /// How many of these have the least similarity.
    pub similar: u64,
    /// The settings that can be recommended, the best first.
    pub recommended: Vec<Trial>,
    /// The other settings, in the order in which they were tried.
    pub left_out: Vec<(Trial, Rejection)>,
    /// The number of documents that could not be read.
    pub skipped: u64,
    /// Documents whose characters may be wrong.
    pub doubts: Doubts,
    /// Further facts, by name.
    pub facts: Vec<(String, String)>,
}

/// A setting at a threshold.
#[derive(Clone, Debug)]
pub struct Trial {
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

/// The pairs that a setting proposes among the documents with different words.
#[derive(Clone, Copy, Debug)]
pub struct Proposed {
    /// The number of pairs; estimated if not all documents were searched.
    pub pairs: f64,
    /// The share of all pairs that was searched.
    pub covered: f64,
    /// The number of judged pairs.
    pub judged: u64,
    /// The share of right pairs, with an interval; `None` without pairs.
    pub precision: Option<(f64, Interval)>,
    /// The estimated number of wrong pairs.
    pub wrong: f64,
    /// The estimated number of those with a long run of words in common.
    pub with_runs: f64,
}

/// Why a setting is not recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It finds nothing of what is to be found.
    FindsNothing,
    /// Too few of the proposed pairs are right.
    Imprecise,
    /// Too many of all pairs are wrong.
    Wrong,
    /// Fingerprints of unrelated documents are near too often.
    Accidental,
    /// It compares too many of all pairs.
    Square,
}

impl Tuning {
    /// Tries all settings. Deterministic except for the costs.
    ///
    /// Of a setting, the loosest threshold is joined at which the cost does not grow with the square
    /// of the collection; the pairs of stricter ones are among these.
    ///
    /// # Errors
    /// [`Content`](crate::ErrorKind::Content) for a malformed truth; [`Memory`](crate::ErrorKind::Memory) if sketches or indices do not fit; those of building methods
    /// and of reading.
    pub fn run(&self, inputs: Inputs<'_>) -> Result<Tuned> {
        let ladders = self.settings.iter();
        let ladders: Vec<Vec<Rung>> = ladders
            .map(|setting| ladder(setting, self.similarity))
            .collect();
        let width = inputs.settings.tokenizer.usual_width();
        let [similar, runs] = judging_methods(self.similarity, width)?;
        let normalized = Spec::parse("normalized")?;
        let first = ladders.iter().map(|ladder| ladder[0].spec.clone());
        let specs: Vec<Spec> = first.chain([similar, runs, normalized]).collect();
        let counts = inputs.counts(&specs)?;
        let build = |spec: &Spec| counts.build(spec, inputs.common());
        let methods: Vec<Box<dyn Method>> = specs.iter().map(build).collect::<Result<_>>()?;
        let workers = Workers::new(inputs.resources.threads)?;
        let account = inputs.memory_account()?;
        let Prepared {
            mut collection,
            truth,
            planted,
            facts,
            ..
        } = self
            .truth
            .prepare(self.closed_world, inputs, &methods, &workers, &account)?;
        let mut all_sketched = std::mem::take(&mut collection.sketched);
        let mut judging = all_sketched.split_off(ladders.len());
        let originals = collection.members.len() - planted.len();
        let leaders = judging.pop().map_or(Vec::new(), |sketched| {
            leaders(&*methods[methods.len() - 1], &sketched, originals)
        });
        let judge = Judge {
            methods: &methods[ladders.len()..],
            sketched: judging,
            truth: &truth,
        };
        let near = (0..truth.pairs().len()).filter(|index| truth.is_near(*index));
        let near: Vec<Pair> = near.map(|index| truth.pairs()[index].pair).collect();
        let is_planted = matches!(self.truth, TruthSource::Planted(_));
        let similar = near.iter().filter(|pair| judge.is_similar(**pair)).count();
        let to_find: Vec<Pair> = near
            .into_iter()
            .filter(|pair| !is_planted || judge.is_similar(*pair))
            .collect();
        let mut tuned = Tuned {
            documents: originals as u64,
            distinct: leaders.iter().filter(|leads| **leads).count() as u64,
            to_find: to_find.len() as u64,
            similar: similar as u64,
            recommended: Vec::new(),
            left_out: Vec::new(),
            skipped: collection.skipped.len() as u64,
            doubts: collection.doubts,
            facts,
        };
        if to_find.is_empty() {
            return Ok(tuned);
        }
        let trials = Trials {
            tuning: self,
            inputs: &inputs,
            account: &account,
            counts: &counts,
            judge: &judge,
            leaders: &leaders,
            to_find: &to_find,
            all_pairs: pairs(tuned.distinct) as f64,
        };
        inputs.progress.begin(Stage::Search, inputs.bytes());
        for (ladder, sketched) in ladders.into_iter().zip(all_sketched) {
            match workers.install(|| trials.of_setting(ladder, sketched))? {
                (trial, None) => tuned.recommended.push(trial),
                (trial, Some(reason)) => tuned.left_out.push((trial, reason)),
            }
        }
        inputs.progress.end(inputs.bytes());
        best_first(&mut tuned.recommended);
        Ok(tuned)
    }
}

/// What all trials have in common.
struct Trials<'a> {
    tuning: &'a Tuning,
    inputs: &'a Inputs<'a>,
    account: &'a MemoryAccount,
    counts: &'a Counts,
    judge: &'a Judge<'a>,
    /// Whether each document is joined.
    leaders: &'a [bool],
    to_find: &'a [Pair],
    all_pairs: f64,
}

impl Trials<'_> {
    /// The best trial of a setting, or its strictest one with the reason to leave it out.
    fn of_setting(
        &self,
        ladder: Vec<Rung>,
        mut sketched: Sketched,
    ) -> Result<(Trial, Option<Rejection>)> {
        let method = self.build(&ladder[0].spec)?;
        let to_find = self.to_find.iter().copied();
        let scores = scores(&*method, &sketched, to_find, self.inputs.progress)?;
        let rungs = self.useful(ladder, &scores)?;
        let cost = cost(&sketched);
        // With the numbers of the joined documents.
        let bytes = sketched.bytes() + size_of::<u32>() * sketched.usable.len();
        for (number, usable) in sketched.usable.iter_mut().enumerate() {
            *usable &= self.leaders.get(number) == Some(&true);
        }
        let means = {
            let sketches = sketched.sketches.all(&*method).iter();
            let joined = sketches
                .zip(&sketched.usable)
                .filter(|(_, joined)| **joined);
            bit_means(method.shape(), joined.map(|(sketch, _)| sketch))
        };
        let (numbers, list) = usable(&*method, sketched, self.account)?;
        let joined = Joined::new(numbers, list, self.tuning.seed);
        self.account
            .reserve(joined.bytes(), "the order of a join")?;
        let trial = |(rung, hits): &(Rung, u64), proposed| Trial {
            spec: rung.spec.clone(),
            recall: Proportion::new(*hits, self.to_find.len() as u64),
            proposed,
            chance: match (rung.threshold, &means) {
                (Some(Score::Distance(bits)), Some(means)) => {
                    Some(Chance::with_means(means, bits).probability())
                }
                _ => None,
            },
            cost,
        };
        let strictest = |proposed| {
            let trial = trial(&rungs[0], proposed);
            let reason = self.rejection(&trial);
            (trial, reason)
        };
        let mut found = self.loosest(&rungs, &joined)?;
        let result = loop {
            let Some((last, proposals)) = found else {
                break strictest(None);
            };
            let is_partial = proposals.is_partial;
            let proposed = self.judged(proposals);
            let fits = |place: &usize| {
                let trial = trial(&rungs[*place], Some(proposed[*place]));
                self.rejection(&trial).is_none()
            };
            found = match (0..=last).rev().find(fits) {
                None => break strictest(proposed.first().copied()),
                // Fewer pairs can be searched for in more documents.
                Some(place) if place < last && is_partial => {
                    let proposals = self.propose(&rungs[..=place], &joined)?;
                    proposals.map(|proposals| (place, proposals))
                }
                Some(place) => break (trial(&rungs[place], Some(proposed[place])), None),
            };
        };
        self.account.release(bytes + joined.bytes());
        Ok(result)
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

    /// What the loosest threshold proposes whose join does not cost the square of the collection,
    /// with its place. Stricter thresholds cost less.
    fn loosest(
        &self,
        rungs: &[(Rung, u64)],
        joined: &Joined,
    ) -> Result<Option<(usize, Proposals)>> {
        let (mut low, mut high) = (0, rungs.len());
        let (mut found, mut place) = (None, rungs.len() - 1);
        while low < high {
            match self.propose(&rungs[..=place], joined)? {
                Some(proposals) => (found, low) = (Some((place, proposals)), place + 1),
                None => high = place,
            }
            place = (low + high) / 2;
        }
        Ok(found)
    }

    /// What the last threshold proposes, in strata by the strictest threshold that accepts a pair.
    fn propose(&self, rungs: &[(Rung, u64)], joined: &Joined) -> Result<Option<Proposals>> {
        let Some(((last, _), stricter)) = rungs.split_last() else {
            return Ok(None);
        };
        let stricter = stricter.iter().map(|(rung, _)| rung.threshold);
        let stricter: Vec<Score> = stricter.flatten().collect();
        let method = self.build(&last.spec)?;
        joined.propose(
            &*method,
            &stricter,
            self.tuning.seed,
            self.inputs,
            self.account,
        )
    }

    /// What each threshold proposes, up to that of the proposals.
    fn judged(&self, proposals: Proposals) -> Vec<Proposed> {
        let covered = proposals.covered.max(f64::MIN_POSITIVE);
        let (mut strata, mut with_runs) = (Vec::new(), Vec::new());
        let upto = |(all, runs): (Stratum, Stratum)| {
            strata.push(all);
            with_runs.push(runs);
            let sum = |of: fn(&Stratum) -> u64| strata.iter().map(of).sum::<u64>();
            Proposed {
                pairs: sum(|stratum| stratum.count) as f64 / covered,
                covered,
                judged: sum(|stratum| stratum.judged),
                precision: right_share(&strata, covered >= 1.0),
                wrong: wrong_pairs(&strata) / covered,
                with_runs: wrong_pairs(&with_runs) / covered,
            }
        };
        let samples = proposals.strata.into_iter();
        samples
            .map(|sample| self.judge.judge(sample))
            .map(upto)
            .collect()
    }

    fn rejection(&self, trial: &Trial) -> Option<Rejection> {
        if trial.recall.part == 0 {
            return Some(Rejection::FindsNothing);
        }
        let Some(proposed) = &trial.proposed else {
            return Some(Rejection::Square);
        };
        let wanted = self.tuning.precision.value().unwrap_or(0.0);
        match proposed.precision {
            _ if trial.chance > Some(MAX_WRONG) => Some(Rejection::Accidental),
            _ if proposed.wrong > MAX_WRONG * self.all_pairs => Some(Rejection::Wrong),
            Some((right, _)) if right < wanted => Some(Rejection::Imprecise),
            _ => None,
        }
    }
}

/// Whether each of the first `count` documents is the first one with its words.
fn leaders(normalized: &dyn Method, sketched: &Sketched, count: usize) -> Vec<bool> {
    let sketches = sketched.sketches.all(normalized);
    let mut known = BTreeSet::new();
    (0..count)
        .map(|number| sketched.usable[number] && known.insert(sketches.get(number)))
        .collect()
}

/// Settings that find about as much as the best one first, the one with the smallest sketches first;
/// then the others, by what they find. Measured times do not matter, so that equal runs give equal
/// recommendations.
fn best_first(trials: &mut [Trial]) {
    let most = trials.iter().map(|trial| trial.recall.part).max();
    let good = most.unwrap_or(0) * EQUALLY_GOOD;
    trials.sort_by(|a, b| {
        let bytes = |trial: &Trial| trial.cost.bytes_per_document.unwrap_or(f64::MAX);
        let wrong = |trial: &Trial| trial.proposed.map_or(0.0, |proposed| proposed.wrong);
        let is_good = |trial: &Trial| 100 * trial.recall.part >= good;
        let recall = || match is_good(a) {
            true => std::cmp::Ordering::Equal,
            false => b.recall.part.cmp(&a.recall.part),
        };
        (is_good(b).cmp(&is_good(a)))
            .then_with(recall)
            .then(bytes(a).total_cmp(&bytes(b)))
            .then(wrong(a).total_cmp(&wrong(b)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_sketches_first_among_those_that_find_as_much() {
        let trial = |name: &str, found, bytes, seconds| Trial {
            spec: Spec::parse(name).unwrap(),
            recall: Proportion::new(found, 1000),
            proposed: None,
            chance: None,
            cost: Cost {
                seconds_per_document: Some(seconds),
                bytes_per_document: Some(bytes),
            },
        };
        for clock in [1.0, -1.0] {
            let mut trials = [
                trial("fusion", 900, 1.0, 3.0 + clock),
                trial("shingles", 1000, 900.0, 3.0 - clock),
                trial("exact", 989, 1.0, 3.0 + clock),
                trial("minhash", 990, 168.0, 3.0),
            ];
            best_first(&mut trials);
            let names = trials.map(|trial| trial.spec.name());
            assert_eq!(names, ["minhash", "shingles", "exact", "fusion"]);
        }
    }
}
