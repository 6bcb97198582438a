//! From what methods made of a truth to what they are worth.

use super::agreement::{Comparison, PairSet};
use super::bootstrap::{Verdicts, f1_intervals};
use super::clusters::ClusterScores;
use super::count::Counts;
use super::histogram::Histogram;
use super::mistakes::{Mistake, Mistakes};
use super::outcome::{Cost, Outcome};
use super::share::{Interval, Share};
use super::sweep::{Point, Sweep};
use super::truth::{Class, Truth};
use crate::Result;
use crate::sketch::Score;

/// How an evaluation is made.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How often documents are drawn for the interval of F1; 0 for no intervals.
    pub draws: u32,
    /// What the draws depend on.
    pub seed: u64,
    /// The precision for which an operating point is wanted.
    pub wanted_precision: Option<Share>,
    /// How many false hits and how many misses are listed of each method.
    pub mistakes: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            draws: 1000,
            seed: 1,
            wanted_precision: None,
            mistakes: 5,
        }
    }
}

/// What a method is worth.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What it is called.
    pub name: String,
    /// Its settings.
    pub parameters: Vec<(String, String)>,
    /// Hits and mistakes.
    pub counts: Counts,
    /// The 95 % interval of F1, from drawing documents again.
    pub f1_interval: Option<Interval>,
    /// Of each class of the truth, how many pairs were found.
    pub classes: Vec<Share>,
    /// The farthest score of a listed pair that was found, if none that is as near was left out:
    /// the threshold of a method whose score decides alone.
    pub threshold: Option<Score>,
    /// How many listed pairs have no score.
    pub without_score: u64,
    /// How good its clusters are: the components of what was found.
    pub clusters: Option<ClusterScores>,
    /// All thresholds.
    pub sweep: Sweep,
    /// The point of the largest F1.
    pub best: Option<Point>,
    /// The point of the largest recall with the wanted precision.
    pub wanted: Option<Point>,
    /// The scores of near and far pairs.
    pub histogram: Option<Histogram>,
    /// The worst mistakes.
    pub mistakes: Mistakes,
    /// What it cost.
    pub cost: Cost,
}

/// What several methods are worth on the same pairs.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The classes of the truth.
    pub classes: Vec<Class>,
    /// How many pairs there are of each.
    pub class_sizes: Vec<u64>,
    /// The methods, in the order of their outcomes.
    pub methods: Vec<Measured>,
    /// Whether there were pairs that ought not to be found, so that precision means something:
    /// listed ones, or known ones where methods were asked for all pairs.
    pub measures_precision: bool,
    /// How it was made.
    pub settings: Settings,
    /// The comparison of each method with each later one, by rows.
    comparisons: Vec<Comparison>,
}

impl Evaluation {
    /// The comparison of two methods by number; `None` if they are one or there is no such method.
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

/// Says what methods are worth, by a truth.
///
/// Pairs of which nothing is known count nowhere. Methods are compared with each other on the
/// listed pairs only. Where the truth knows more than it lists, all that a method reports counts,
/// and its curve ends at the farthest score that it reports. Deterministic.
///
/// # Errors
/// [`Parameter`](crate::ErrorKind::Parameter) if an outcome does not fit the truth: too many or too few
/// scores or verdicts, or scores of two kinds.
pub fn evaluate(truth: &Truth, outcomes: &[Outcome], settings: Settings) -> Result<Evaluation> {
    for outcome in outcomes {
        outcome.check(truth)?;
    }
    let verdicts: Vec<Verdicts> = outcomes.iter().map(|o| verdicts(truth, o)).collect();
    let intervals = f1_intervals(truth, &verdicts, settings.draws, settings.seed);
    let methods = outcomes.iter().zip(intervals);
    let mut places = 0..truth.pairs().len();
    let lists_far = places.any(|place| !truth.is_near(place));
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
        .map(|(place, _)| place);
    let (hits, false_hits): (Vec<usize>, Vec<usize>) =
        accepted.partition(|&place| truth.is_near(place));
    let pair = |place: usize| truth.pairs()[place].pair;
    let unlisted = outcome.unlisted(truth).map(|(found, _)| found.pair);
    Verdicts {
        hits: hits.into_iter().map(pair).collect(),
        false_hits: false_hits.into_iter().map(pair).chain(unlisted).collect(),
    }
}

fn comparisons(truth: &Truth, outcomes: &[Outcome]) -> Vec<Comparison> {
    let count = truth.pairs().len();
    let near = PairSet::new((0..count).map(|place| truth.is_near(place)));
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
    settings: &Settings,
) -> Measured {
    let mut classes: Vec<Share> = truth
        .class_sizes()
        .into_iter()
        .map(|n| Share::new(0, n))
        .collect();
    let (mut false_hits, mut misses) = (Vec::new(), Vec::new());
    for (place, labelled) in truth.pairs().iter().enumerate() {
        let accepted = outcome.accepted[place];
        classes[labelled.class].part += u64::from(accepted);
        let mistakes = match truth.is_near(place) {
            true => &mut misses,
            false => &mut false_hits,
        };
        if accepted != truth.is_near(place) {
            mistakes.push(Mistake {
                pair: labelled.pair,
                class: labelled.class,
                score: outcome.scores[place],
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
    Measured {
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

fn counts(truth: &Truth, classes: &[Share]) -> Counts {
    let mut counts = Counts::default();
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

/// The scores that a sweep sees: those of the listed pairs; and where the truth knows more, those
/// of reported pairs that it does not list. Beyond the farthest of what was reported, others that
/// are not listed may lie: scores there are left out.
fn all_scores(truth: &Truth, outcome: &Outcome) -> Vec<(Option<Score>, bool)> {
    let mut scored: Vec<_> = outcome.scored(truth).collect();
    if let Some(found) = outcome
        .found
        .as_ref()
        .filter(|_| truth.knows_more_than_it_lists())
    {
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
