//! The trials of the settings of one tokenizer: what each threshold finds and proposes.

use std::collections::BTreeSet;

use super::grid::{Question, Rung, Setting, ladder};
use super::judge::Verdicts;
use super::prepared::{Prepared, cost, scores};
use super::proposals::{Joined, Proposals, bit_means};
use super::source::TruthSource;
use super::trial::{Rejection, Trial, judged, rejection};
use crate::Result;
use simtool_batch::matching::usable;
use simtool_core::sketch::accidental::Chance;
use simtool_core::sketch::registry::Spec;
use simtool_core::sketch::{Method, Score};
use simtool_core::text::Choice;
use simtool_engine::collection::{Counts, Inputs};
use simtool_engine::memory_account::MemoryAccount;
use simtool_engine::sketcher::Sketched;
use simtool_engine::{Stage, Workers};
use simtool_evaluate::{Cost, Pair, Proportion, Truth};
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
