//! Recommendation of tokenizers, methods and thresholds by what they find and what they propose.
//!
//! ```text
//! tokenizer ─► settings ─► thresholds ─► recall of the truth or of planted copies
//!                                   └─► join of the collection ─► sample by threshold ─► judge
//! the best ─► the method of the command ─► recall by label, cost
//! ```

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::grid::{Question, Setting};
use super::judge::{Alignment, Judge};
use super::prepared::{cost, scores};
use super::source::TruthSource;
use super::trial::{Rejection, Trial};
use super::trials::{Base, Plan, Tried, of_tokenizer};
use crate::{Error, ErrorKind, Result};
use simtool_batch::dedup::{DEFAULT_METHOD, spec_for_verification};
use simtool_core::sketch::Score;
use simtool_core::sketch::registry::Spec;
use simtool_core::text::Choice;
use simtool_engine::Workers;
use simtool_engine::collection::{InputSettings, Inputs};
use simtool_engine::doubts::Doubts;
use simtool_evaluate::{Cost, Pair, Proportion};

/// Settings that are worth at least this share of the best one are equally good; the one with the
/// smallest sketches comes first.
const EQUALLY_GOOD: f64 = 0.99;

/// What to try, and what to require.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// What the setting is for.
    pub question: Question,
    /// The tokenizers with their settings. Of those with a threshold, all thresholds are tried.
    pub settings: Vec<(Choice, Vec<Setting>)>,
    /// The source of the truth.
    pub truth: TruthSource,
    /// Whether pairs that the truth does not list are wrong.
    pub closed_world: bool,
    /// Which pairs are right where the truth says nothing.
    pub alignment: Alignment,
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
    /// Bytes of text of all documents.
    pub text_bytes: u64,
    /// The settings that can be recommended, the best first.
    pub recommended: Vec<Trial>,
    /// The other settings, in the order in which they were tried.
    pub left_out: Vec<(Trial, Rejection)>,
    /// The best setting as its command runs it.
    pub measured: Option<Measured>,
    /// The number of proposed pairs that were to be judged, of all settings, and of those that were.
    pub judged: [u64; 2],
    /// How many of these were aligned, and how many of these have a text of which only the first
    /// words and characters were.
    pub aligned: [u64; 2],
    /// The number of documents that could not be read.
    pub skipped: u64,
    /// Documents whose characters may be wrong.
    pub doubts: Doubts,
    /// Further facts, by name.
    pub facts: Vec<(String, String)>,
}

/// A setting as its command runs it.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The method that finds candidates.
    pub spec: Spec,
    /// The found pairs by label.
    pub labels: Vec<(String, Proportion)>,
    /// The found pairs.
    pub recall: Proportion,
    /// The cost of the method.
    pub cost: Cost,
}

impl Tuning {
    /// Tries all settings, with one pass over the documents for each tokenizer, one for the judged
    /// texts and one for the best setting. Deterministic except for the costs.
    ///
    /// # Errors
    /// [`Content`](crate::ErrorKind::Content) for a malformed truth; [`Memory`](crate::ErrorKind::Memory)
    /// if sketches, indices or judged texts do not fit; those of building methods and of reading.
    pub fn run(&self, inputs: Inputs<'_>) -> Result<Tuned> {
        let workers = Workers::new(inputs.resources.threads)?;
        let (mut base, mut tried) = (None, Vec::new());
        let plan = Plan {
            question: self.question,
            truth: &self.truth,
            closed_world: self.closed_world,
            seed: self.seed,
        };
        for (tokenizer, settings) in &self.settings {
            let words = with_tokenizer(&inputs, *tokenizer);
            let inputs = Inputs {
                settings: &words,
                ..inputs
            };
            tried.extend(of_tokenizer(plan, &inputs, settings, &mut base, &workers)?);
        }
        let Some(base) = base else {
            return Err(Error::new(ErrorKind::Parameter, "no settings to try"));
        };
        let judge = Judge {
            truth: &base.prepared.truth,
            alignment: self.alignment,
            members: &base.prepared.collection.members,
            seed: self.seed,
        };
        let mut pairs = BTreeSet::new();
        tried.iter().for_each(|tried| tried.add_pairs(&mut pairs));
        let verdicts = judge.judge(&pairs, &inputs, &workers)?;
        let trials = tried
            .iter()
            .map(|tried: &Tried| tried.best(&verdicts, self.precision));
        let (mut recommended, mut left_out) = (Vec::new(), Vec::new());
        for (trial, reason) in trials {
            match reason {
                None => recommended.push(trial),
                Some(reason) => left_out.push((trial, reason)),
            }
        }
        best_first(&mut recommended, self.precision);
        let best = recommended.first();
        let measured = best.map(|best| self.measured(best, &base, &inputs, &workers));
        let members = &base.prepared.collection.members[..base.leaders.len()];
        Ok(Tuned {
            documents: base.leaders.len() as u64,
            distinct: base.leaders.iter().filter(|leads| **leads).count() as u64,
            to_find: base.to_find.len() as u64,
            text_bytes: members.iter().map(|member| member.text_bytes).sum(),
            measured: measured.transpose()?,
            recommended,
            left_out,
            judged: [verdicts.asked, verdicts.right.len() as u64],
            aligned: [verdicts.aligned, verdicts.long],
            skipped: base.prepared.collection.skipped.len() as u64,
            doubts: base.prepared.collection.doubts,
            facts: base.prepared.facts,
        })
    }

    /// Runs a setting as its command does: `dedup` compares the shingles of the pairs that MinHash
    /// proposes, and an index does nearly the same by their signatures.
    fn measured(
        &self,
        best: &Trial,
        base: &Base,
        inputs: &Inputs<'_>,
        workers: &Workers,
    ) -> Result<Measured> {
        let words = with_tokenizer(inputs, best.tokenizer);
        let inputs = Inputs {
            settings: &words,
            ..*inputs
        };
        let verification = best.verification().filter(|verification| {
            self.question != Question::Match && !verification.least.is_containment()
        });
        let mut specs = vec![best.spec.clone()];
        if let Some(verification) = verification {
            specs.insert(0, spec_for_verification(DEFAULT_METHOD, verification)?);
        }
        let methods = inputs.methods(&specs)?;
        let account = inputs.memory_account()?;
        let prepared =
            (self.truth).prepare(self.closed_world, inputs, &methods, workers, &account)?;
        let mut found = vec![true; base.to_find.len()];
        for (method, sketched) in methods.iter().zip(&prepared.collection.sketched) {
            let pairs = base.to_find.iter().copied();
            let scores = scores(&**method, sketched, pairs, inputs.progress)?;
            for (found, score) in found.iter_mut().zip(scores) {
                *found &= score.is_some_and(|score: Score| method.accepts(&score));
            }
        }
        let count = |is_counted: &dyn Fn(Pair) -> bool| {
            let pairs = base.to_find.iter().zip(&found);
            let counted: Vec<bool> = pairs
                .filter(|(pair, _)| is_counted(**pair))
                .map(|(_, found)| *found)
                .collect();
            let part = counted.iter().filter(|found| **found).count();
            Proportion::new(part as u64, counted.len() as u64)
        };
        let truth = &base.prepared.truth;
        let class = |pair: Pair| truth.position(pair).map(|place| truth.pairs()[place].class);
        let labels = truth.classes().iter().enumerate();
        let labels = labels.filter(|(_, class)| class.is_near);
        let of_label = |(number, label): (usize, &simtool_evaluate::Class)| {
            let found = count(&|pair| class(pair) == Some(number));
            (label.name.clone(), found)
        };
        Ok(Measured {
            spec: specs.remove(0),
            labels: labels.map(of_label).collect(),
            recall: count(&|_| true),
            cost: cost(&prepared.collection.sketched[0]),
        })
    }
}

/// The settings of the inputs, with another tokenizer.
fn with_tokenizer(inputs: &Inputs<'_>, tokenizer: Choice) -> InputSettings {
    InputSettings {
        tokenizer,
        ..inputs.settings.clone()
    }
}

/// Settings that are worth about as much as the best one first: resemblance before containment, which
/// removes texts that are much shorter, then the smallest sketches; then the others. Measured times do
/// not matter, so that equal runs give equal recommendations. Settings
/// whose precision is unknown keep the order in which they were tried, which begins with the defaults.
fn best_first(trials: &mut [Trial], precision: Proportion) {
    let worth = |trial: &Trial| trial.worth(precision);
    let good = EQUALLY_GOOD * trials.iter().map(worth).fold(0.0, f64::max);
    trials.sort_by(|a, b| {
        let bytes = |trial: &Trial| match trial.is_unproven() {
            true => 0.0,
            false => trial.cost.bytes_per_document.unwrap_or(f64::MAX),
        };
        let wrong = |trial: &Trial| trial.proposed.map_or(0.0, |proposed| proposed.wrong);
        let contains = |trial: &Trial| {
            let verification = trial.verification();
            verification.is_some_and(|found| found.least.is_containment())
        };
        let [is_good, is_other_good] = [a, b].map(|trial| worth(trial) >= good);
        let by_worth = || match is_good {
            true => Ordering::Equal,
            false => worth(b).total_cmp(&worth(a)),
        };
        (is_other_good.cmp(&is_good))
            .then_with(by_worth)
            .then(contains(a).cmp(&contains(b)))
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
            tokenizer: Choice::Auto,
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
            best_first(&mut trials, Proportion::new(99, 100));
            let names = trials.map(|trial| trial.spec.name());
            assert_eq!(names, ["minhash", "shingles", "exact", "fusion"]);
        }
    }
}
