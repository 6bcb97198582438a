//! The evaluation of outcomes against a truth.

use crate::Result;
use crate::inputs::outcome::{Cost, Outcome};
use crate::inputs::truth::{Class, Truth};
use crate::measures::agreement::{Comparison, PairSet};
use crate::measures::bootstrap::{Verdicts, f1_intervals};
use crate::measures::clusters::ClusterScores;
use crate::measures::count::ConfusionMatrix;
use crate::measures::histogram::Histogram;
use crate::measures::mistakes::{Mistake, Mistakes};
use crate::measures::proportion::{Interval, Proportion};
use crate::measures::sweep::{Point, Sweep};
use crate::sketch::Score;

/// The settings of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationSettings {
    /// The number of bootstrap resamples for the interval of F1; 0 for no intervals.
    pub draws: u32,
    /// The seed of the bootstrap.
    pub seed: u64,
    /// The precision for which an operating point is reported.
    pub wanted_precision: Option<Proportion>,
    /// The maximum number of false hits, and of misses, listed for each method.
    pub mistakes: usize,
}

impl Default for EvaluationSettings {
    fn default() -> EvaluationSettings {
        EvaluationSettings {
            draws: 1000,
            seed: 1,
            wanted_precision: None,
            mistakes: 5,
        }
    }
}

/// The evaluation of one method.
#[derive(Clone, Debug)]
pub struct MethodResult {
    /// The name of the method.
    pub name: String,
    /// The parameters of the method, by name.
    pub parameters: Vec<(String, String)>,
    /// The counts of hits and mistakes.
    pub counts: ConfusionMatrix,
    /// The 95 % bootstrap interval of F1.
    pub f1_interval: Option<Interval>,
    /// For each class of the truth, the proportion of its pairs that were found.
    pub classes: Vec<Proportion>,
    /// The farthest score of a found listed pair, if no listed pair with an equal or nearer score
    /// was rejected. It is the threshold of a method that decides by the score alone.
    pub threshold: Option<Score>,
    /// The number of listed pairs without a score.
    pub without_score: u64,
    /// Measures of its clusters: the connected components of the found pairs.
    pub clusters: Option<ClusterScores>,
    /// The precision-recall curve over all thresholds.
    pub sweep: Sweep,
    /// The point with the largest F1.
    pub best: Option<Point>,
    /// The point with the largest recall at the required precision.
    pub wanted: Option<Point>,
    /// The distribution of the scores of near and far pairs.
    pub histogram: Option<Histogram>,
    /// The worst mistakes.
    pub mistakes: Mistakes,
    /// The measured cost.
    pub cost: Cost,
}

/// The evaluation of several methods on the same pairs.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The classes of the truth.
    pub classes: Vec<Class>,
    /// The number of pairs of each class.
    pub class_sizes: Vec<u64>,
    /// The methods, in the order of their outcomes.
    pub methods: Vec<MethodResult>,
    /// Whether precision is meaningful: some far pairs are listed, or known from the truth and
    /// methods reported all pairs.
    pub measures_precision: bool,
    /// The settings of the evaluation.
    pub settings: EvaluationSettings,
    /// The comparison of each method with each later one, row by row.
    comparisons: Vec<Comparison>,
}

impl Evaluation {
    /// The comparison of two methods by index; `None` if they are the same or do not exist.
    pub fn comparison(&self, first: usize, second: usize) -> Option<Comparison> {
        let count = self.methods.len();
        if first >= count || second >= count || first == second {
            return None;
        }
        let (low, high) = (first.min(second), first.max(second));
        // Rows before this one have count - 1, count - 2, … comparisons.
        let before = low * (2 * count - low - 1) / 2;
        let found = self.comparisons[before + high - low - 1];
        Some(if first < second {
            found
        } else {
            found.mirrored()
        })
    }
}

impl Comparison {
    fn mirrored(self) -> Comparison {
        Comparison {
            only_first: self.only_second,
            only_second: self.only_first,
            first_right: self.second_right,
            second_right: self.first_right,
            ..self
        }
    }
}

/// Evaluates the outcomes of methods against a truth.
///
/// Pairs that the truth does not judge are ignored. Methods are compared with each other only on
/// the listed pairs. If the truth [judges unlisted pairs](Truth::judges_unlisted), all pairs that a
/// method reports count, and its curve ends at the farthest score that it reports. Deterministic.
///
/// # Errors
/// [`Parameter`](crate::ErrorKind::Parameter) if an outcome does not fit the truth: too many or too few
/// scores or verdicts, or scores of two kinds.
pub fn evaluate(
    truth: &Truth,
    outcomes: &[Outcome],
    settings: EvaluationSettings,
) -> Result<Evaluation> {
    for outcome in outcomes {
        outcome.check(truth)?;
    }
    let verdicts: Vec<Verdicts> = outcomes.iter().map(|o| verdicts(truth, o)).collect();
    let intervals = f1_intervals(truth, &verdicts, settings.draws, settings.seed);
    let methods = outcomes.iter().zip(intervals);
    let mut indices = 0..truth.pairs().len();
    let lists_far = indices.any(|index| !truth.is_near(index));
    let asks_for_all = outcomes.iter().any(|outcome| outcome.found.is_some());
    let mut sizes = truth.classes().iter().zip(truth.class_sizes());
    let knows_far = sizes.any(|(class, size)| !class.is_near && size > 0);
    Ok(Evaluation {
        measures_precision: lists_far || (asks_for_all && knows_far),
        classes: truth.classes().to_vec(),
        class_sizes: truth.class_sizes(),
        methods: methods
            .map(|(outcome, interval)| measure(truth, outcome, interval, &settings))
            .collect(),
        settings,
        comparisons: comparisons(truth, outcomes),
    })
}

fn verdicts(truth: &Truth, outcome: &Outcome) -> Verdicts {
    let listed = outcome.accepted.iter().enumerate();
    let accepted = listed
        .filter(|&(_, &accepted)| accepted)
        .map(|(index, _)| index);
    let (hits, false_hits): (Vec<usize>, Vec<usize>) =
        accepted.partition(|&index| truth.is_near(index));
    let pair = |index: usize| truth.pairs()[index].pair;
    let unlisted = outcome.unlisted(truth).map(|(found, _)| found.pair);
    Verdicts {
        hits: hits.into_iter().map(pair).collect(),
        false_hits: false_hits.into_iter().map(pair).chain(unlisted).collect(),
    }
}

fn comparisons(truth: &Truth, outcomes: &[Outcome]) -> Vec<Comparison> {
    let count = truth.pairs().len();
    let near = PairSet::new((0..count).map(|index| truth.is_near(index)));
    let sets = outcomes
        .iter()
        .map(|outcome| PairSet::new(outcome.accepted.iter().copied()));
    let sets: Vec<PairSet> = sets.collect();
    let mut comparisons = Vec::new();
    for (number, first) in sets.iter().enumerate() {
        let later = sets[number + 1..].iter();
        comparisons.extend(later.map(|second| first.compare(second, &near, count as u64)));
    }
    comparisons
}

fn measure(
    truth: &Truth,
    outcome: &Outcome,
    f1_interval: Option<Interval>,
    settings: &EvaluationSettings,
) -> MethodResult {
    let mut classes: Vec<Proportion> = truth
        .class_sizes()
        .into_iter()
        .map(|n| Proportion::new(0, n))
        .collect();
    let (mut false_hits, mut misses) = (Vec::new(), Vec::new());
    for (index, labelled) in truth.pairs().iter().enumerate() {
        let accepted = outcome.accepted[index];
        classes[labelled.class].part += u64::from(accepted);
        let mistakes = match truth.is_near(index) {
            true => &mut misses,
            false => &mut false_hits,
        };
        if accepted != truth.is_near(index) {
            mistakes.push(Mistake {
                pair: labelled.pair,
                class: labelled.class,
                score: outcome.scores[index],
            });
        }
    }
    for (found, class) in outcome.unlisted(truth) {
        classes[class].part += 1;
        false_hits.push(Mistake {
            pair: found.pair,
            class,
            score: found.score,
        });
    }
    let counts = counts(truth, &classes);
    let scored = all_scores(truth, outcome);
    let sweep = Sweep::new(scored.iter().copied());
    MethodResult {
        name: outcome.name.clone(),
        parameters: outcome.parameters.clone(),
        counts,
        f1_interval,
        classes,
        threshold: threshold(outcome),
        without_score: outcome
            .scores
            .iter()
            .filter(|score| score.is_none())
            .count() as u64,
        clusters: cluster_scores(truth, outcome),
        best: sweep.best(),
        wanted: settings
            .wanted_precision
            .and_then(|wanted| sweep.with_precision(wanted)),
        sweep,
        histogram: Histogram::new(&scored),
        mistakes: Mistakes::new(false_hits, misses, settings.mistakes),
        cost: outcome.cost,
    }
}

fn threshold(outcome: &Outcome) -> Option<Score> {
    let scored = || {
        let verdicts = outcome.scores.iter().zip(&outcome.accepted);
        verdicts.filter_map(|(score, &accepted)| Some(((*score)?, accepted)))
    };
    let farthest = scored()
        .filter(|scored| scored.1)
        .map(|scored| scored.0)
        .max()?;
    let nearest_left_out = scored()
        .filter(|scored| !scored.1)
        .map(|scored| scored.0)
        .min();
    nearest_left_out
        .is_none_or(|nearest| nearest > farthest)
        .then_some(farthest)
}

fn counts(truth: &Truth, classes: &[Proportion]) -> ConfusionMatrix {
    let mut counts = ConfusionMatrix::default();
    for (class, found) in truth.classes().iter().zip(classes) {
        let rest = found.whole - found.part;
        match class.is_near {
            true => (counts.hits, counts.misses) = (counts.hits + found.part, counts.misses + rest),
            false => {
                counts.false_hits += found.part;
                counts.rejections += rest;
            }
        }
    }
    counts
}

/// The scores for a sweep: those of the listed pairs, and of reported unlisted pairs if the truth
/// judges these. Unlisted pairs beyond the farthest reported score are unknown, so scores beyond it
/// are left out.
fn all_scores(truth: &Truth, outcome: &Outcome) -> Vec<(Option<Score>, bool)> {
    let mut scored: Vec<_> = outcome.scored(truth).collect();
    if let Some(found) = outcome.found.as_ref().filter(|_| truth.judges_unlisted()) {
        let reach = found.pairs().iter().filter_map(|found| found.score).max();
        for (score, _) in &mut scored {
            *score = score.filter(|&score| Some(score) <= reach);
        }
        scored.extend(
            outcome
                .unlisted(truth)
                .map(|(found, _)| (found.score, false)),
        );
    }
    scored
}

fn cluster_scores(truth: &Truth, outcome: &Outcome) -> Option<ClusterScores> {
    let found = outcome.found.as_ref()?.clusters();
    let mut documents = truth.documents();
    if let Some(all) = truth.closed_documents() {
        documents.extend(found.members().iter().map(|member| member.0));
        documents.sort_unstable();
        documents.dedup();
        let others = all.saturating_sub(documents.len() as u64);
        return ClusterScores::new(truth.clusters(), &found, &documents, others);
    }
    ClusterScores::new(truth.clusters(), &found, &documents, 0)
}
