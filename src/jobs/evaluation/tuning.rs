//! Recommendation of methods and thresholds for a wanted precision.

use std::cmp::{Ordering, Reverse};

use super::job::Report;
use crate::evaluate::{Cost, Point};
use crate::sketch::Score;
use crate::sketch::registry::{SHARE_DENOMINATOR, Spec};

/// The most expected accidental neighbours of a document. A threshold with more is not recommended,
/// whatever its results on a few pairs.
const MOST_ACCIDENTS: f64 = 1.0;

/// The methods that are tried by default: those with graded scores.
pub const CANDIDATES: [&str; 13] = [
    "simhash",
    "simhash:stop-words=keep",
    "simhash:weights=log-tf",
    "simhash:bits=128",
    "simhash:features=2",
    "shingle-simhash",
    "lexicon-simhash",
    "fusion",
    "shingles:shingle=3",
    "shingles:shingle=5",
    "shingles:shingle=9",
    "spot-signatures",
    "characters",
];

/// A method with a threshold that has the wanted precision.
#[derive(Clone, Debug)]
pub struct Recommendation {
    /// The method with that threshold.
    pub spec: Spec,
    /// The results at that threshold.
    pub point: Point,
    /// The cost of the method.
    pub cost: Cost,
    /// For fingerprints: the expected number of accidental neighbours of a document within the
    /// threshold, from the bits of the collection.
    pub accidents: Option<f64>,
}

/// The result for every setting that was tried; empty if precision was not measured.
#[derive(Clone, Debug, Default)]
pub struct Tuning {
    /// The settings with the wanted precision, the best first.
    pub recommended: Vec<Recommendation>,
    /// The other settings, in the order in which they were tried.
    pub left_out: Vec<(Spec, Rejection)>,
}

/// Why a setting is not recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// No threshold has enough precision.
    Imprecise,
    /// Thresholds with enough precision have too many accidental neighbours.
    Accidental,
    /// It has no parameter for the threshold, or the parameter does not accept it.
    Fixed,
}

/// The methods of a report that reach the wanted precision, each at its best threshold. The one
/// with the highest recall comes first, then the one with the fewest false hits, then with the
/// fewest bytes per document, then the one that was tried first. Measured times do not matter, so
/// that equal runs give equal recommendations. For fingerprints, thresholds with too many
/// accidental neighbours in a collection of this size do not count.
///
/// Recommends nothing if the report [does not measure](crate::evaluate::Evaluation) precision. A
/// threshold that a method does not accept is [`Rejection::Fixed`].
pub fn recommend(report: &Report, specs: &[Spec]) -> Tuning {
    let mut tuning = Tuning::default();
    if !report.evaluation.measures_precision {
        return tuning;
    }
    let found = &mut tuning.recommended;
    for ((spec, measured), shape) in specs
        .iter()
        .zip(&report.evaluation.methods)
        .zip(&report.bits)
    {
        let wanted = report.evaluation.settings.wanted_precision;
        let accidents = |score: Score| shape.accidents(score, report.documents);
        let precise = measured.sweep.points().iter().filter(|point| {
            point.hits > 0 && wanted.is_none_or(|wanted| point.precision().is_at_least(wanted))
        });
        let points = precise
            .clone()
            .filter(|point| accidents(point.threshold).is_none_or(|hits| hits <= MOST_ACCIDENTS));
        let Some(point) = points.max_by_key(|point| (point.hits, Reverse(point.false_hits))) else {
            let reason = match precise.count() {
                0 => Rejection::Imprecise,
                _ => Rejection::Accidental,
            };
            tuning.left_out.push((spec.clone(), reason));
            continue;
        };
        match with_threshold(spec, point.threshold) {
            None => tuning.left_out.push((spec.clone(), Rejection::Fixed)),
            Some(spec) => found.push(Recommendation {
                spec,
                point: *point,
                cost: measured.cost,
                accidents: accidents(point.threshold),
            }),
        }
    }
    found.sort_by(best_first);
    tuning
}

/// The order of recommendations; equal ones keep their order.
fn best_first(a: &Recommendation, b: &Recommendation) -> Ordering {
    let bytes = |one: &Recommendation| one.cost.bytes_per_document.unwrap_or(f64::MAX);
    let hits = b.point.hits.cmp(&a.point.hits);
    hits.then(a.point.false_hits.cmp(&b.point.false_hits))
        .then(bytes(a).total_cmp(&bytes(b)))
}

/// The method with a threshold; `None` if it has no such parameter or does not accept the value.
fn with_threshold(spec: &Spec, threshold: Score) -> Option<Spec> {
    let (name, value) = match threshold {
        Score::Distance(bits) => ("distance", bits.to_string()),
        Score::Fraction(part, whole) => {
            let denominator = u128::from(SHARE_DENOMINATOR);
            // Rounded down, so that this score is still accepted.
            let millionths = u128::from(part) * denominator / u128::from(whole.max(1));
            let (ones, decimals) = (millionths / denominator, millionths % denominator);
            ("similarity", format!("{ones}.{decimals:06}"))
        }
    };
    let has_threshold = spec.list().iter().any(|(known, _)| known == name);
    match has_threshold {
        true => spec.with(name, &value).ok(),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_become_parameters() {
        let value = |text: &str, threshold, name: &str| {
            let spec = Spec::parse(text).unwrap();
            let spec = with_threshold(&spec, threshold)?;
            let list = spec.list();
            list.into_iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value)
        };
        let text = "simhash:bits=128,distance=3";
        let found = value(text, Score::Distance(11), "distance");
        assert_eq!(found.as_deref(), Some("11"));
        assert_eq!(
            value(text, Score::Distance(11), "bits").as_deref(),
            Some("128")
        );
        let found = value("shingles", Score::Fraction(2, 3), "similarity");
        assert_eq!(found.as_deref(), Some("0.666666"));
        // No threshold, or one that accepts everything.
        assert_eq!(value("exact", Score::Fraction(1, 1), "similarity"), None);
        assert_eq!(value("shingles", Score::Fraction(0, 3), "similarity"), None);
        assert_eq!(value("simhash", Score::Distance(99), "distance"), None);
    }

    #[test]
    fn times_do_not_affect_the_order_of_recommendations() {
        let one = |name: &str, hits, false_hits, bytes, seconds| Recommendation {
            spec: Spec::parse(name).unwrap(),
            point: Point {
                threshold: Score::Distance(3),
                hits,
                false_hits,
                near: 10,
            },
            cost: Cost {
                seconds_per_document: Some(seconds),
                bytes_per_document: Some(bytes),
            },
            accidents: None,
        };
        let expected = [
            "simhash:features=2",
            "fusion",
            "simhash",
            "lexicon-simhash",
            "characters",
            "spot-signatures",
        ];
        for clock in [1.0, -1.0] {
            let mut found = [
                one("spot-signatures", 8, 0, 1.0, 3.0 + clock),
                one("characters", 9, 1, 8.0, 3.0 - clock),
                one("simhash", 9, 0, 16.0, 3.0 + clock),
                one("lexicon-simhash", 9, 0, 16.0, 3.0),
                one("fusion", 9, 0, 8.0, 3.0 - clock),
                one("simhash:features=2", 10, 5, 64.0, 3.0),
            ];
            found.sort_by(best_first);
            let names = found.map(|one| one.spec.to_string());
            assert_eq!(
                names,
                expected.map(|name| Spec::parse(name).unwrap().to_string())
            );
        }
    }
}
