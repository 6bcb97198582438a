//! An evaluation as JSON, for programs.

use serde::{Serialize, Serializer};

use crate::verdicts::{NearnessFields, base64_if_needed};
use simtool_core::sketch::Score;
use simtool_evaluate::{
    ClusterScores, Comparison, ConfusionMatrix, Cost, Evaluation, Histogram, Ids, Interval,
    MethodResult, Mistake, Point, Proportion, Scale,
};

/// The evaluation as one object, ended by a line feed.
///
/// Proportions are objects of `part`, `whole`, `value`, `low` and `high`. A score is a `distance`,
/// or a `similarity` of numerator and denominator. A missing value is `null`. Fields may be added,
/// never renamed. Ids that are not UTF-8 have replacement characters, and their bytes are in
/// `a_base64` or `b_base64`.
///
/// # Panics
/// If `ids` are not those of the truth.
pub fn json(evaluation: &Evaluation, ids: &Ids) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer_pretty(&mut bytes, &All::new(evaluation, ids));
    bytes.push(b'\n');
    bytes
}

#[derive(Serialize)]
struct All<'a> {
    settings: Settings,
    measures_precision: bool,
    classes: Vec<Class<'a>>,
    methods: Vec<Method<'a>>,
    comparisons: Vec<Compared<'a>>,
}

#[derive(Serialize)]
struct Settings {
    confidence: f64,
    draws: u32,
    seed: u64,
    wanted_precision: Option<[u64; 2]>,
}

#[derive(Serialize)]
struct Class<'a> {
    label: &'a str,
    near: bool,
    pairs: u64,
}

#[derive(Serialize)]
struct Method<'a> {
    name: &'a str,
    #[serde(serialize_with = "as_object")]
    parameters: &'a [(String, String)],
    #[serde(flatten)]
    counts: ConfusionMatrix,
    precision: JsonProportion,
    recall: JsonProportion,
    f1: JsonProportion,
    classes: Vec<FoundOfClass<'a>>,
    without_score: u64,
    threshold: Option<NearnessFields>,
    clusters: Option<Clusters>,
    average_precision: Option<f64>,
    best: Option<Operating>,
    wanted: Option<Operating>,
    curve: Vec<CurvePoint>,
    histogram: Option<Bins>,
    false_hits_worst: Vec<Wrong<'a>>,
    misses_worst: Vec<Wrong<'a>>,
    #[serde(flatten)]
    cost: Cost,
}

#[derive(Serialize)]
struct JsonProportion {
    part: u64,
    whole: u64,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct FoundOfClass<'a> {
    label: &'a str,
    near: bool,
    #[serde(flatten)]
    found: JsonProportion,
}

#[derive(Serialize)]
struct Clusters {
    #[serde(flatten)]
    scores: ClusterScores,
    b_cubed_f1: f64,
}

#[derive(Serialize)]
struct Operating {
    threshold: NearnessFields,
    precision: JsonProportion,
    recall: JsonProportion,
    f1: f64,
}

#[derive(Serialize)]
struct CurvePoint {
    threshold: NearnessFields,
    hits: u64,
    false_hits: u64,
}

#[derive(Serialize)]
struct Bins {
    bins: Vec<Bin>,
    without_near: u64,
    without_far: u64,
}

#[derive(Serialize)]
struct Bin {
    from: f64,
    /// For distances the last one of the bin, for fractions the start of the next bin.
    to: f64,
    near: u64,
    far: u64,
}

#[derive(Serialize)]
struct Wrong<'a> {
    a: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    a_base64: Option<String>,
    b: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    b_base64: Option<String>,
    label: &'a str,
    score: Option<NearnessFields>,
}

#[derive(Serialize)]
struct Compared<'a> {
    first: usize,
    second: usize,
    first_name: &'a str,
    second_name: &'a str,
    both: u64,
    only_first: u64,
    only_second: u64,
    neither: u64,
    agreement: Option<f64>,
    kappa: Option<f64>,
    first_right: u64,
    second_right: u64,
    p_value: f64,
}

impl<'a> All<'a> {
    fn new(evaluation: &'a Evaluation, ids: &Ids) -> All<'a> {
        let settings = evaluation.settings;
        let count = evaluation.methods.len();
        let pairs =
            (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)));
        let compared = |(first, second)| {
            let comparison = evaluation.comparison(first, second)?;
            Some(Compared::new(evaluation, [first, second], comparison))
        };
        let classes = evaluation.classes.iter().zip(&evaluation.class_sizes);
        All {
            settings: Settings {
                confidence: 0.95,
                draws: settings.draws,
                seed: settings.seed,
                wanted_precision: settings
                    .wanted_precision
                    .map(|wanted| [wanted.part, wanted.whole]),
            },
            measures_precision: evaluation.measures_precision,
            classes: classes
                .map(|(class, &pairs)| Class {
                    label: &class.name,
                    near: class.is_near,
                    pairs,
                })
                .collect(),
            methods: (evaluation.methods.iter())
                .map(|method| Method::new(evaluation, method, ids))
                .collect(),
            comparisons: pairs.filter_map(compared).collect(),
        }
    }
}

impl<'a> Method<'a> {
    fn new(evaluation: &'a Evaluation, method: &'a MethodResult, ids: &Ids) -> Method<'a> {
        let wrong = |mistakes: &[Mistake]| {
            let mistakes = mistakes.iter();
            mistakes
                .map(|mistake| Wrong::new(evaluation, mistake, ids))
                .collect()
        };
        let classes = evaluation.classes.iter().zip(&method.classes);
        Method {
            name: &method.name,
            parameters: &method.parameters,
            counts: method.counts,
            precision: JsonProportion::wilson(method.counts.precision()),
            recall: JsonProportion::wilson(method.counts.recall()),
            f1: JsonProportion::new(method.counts.f1(), method.f1_interval),
            classes: classes
                .map(|(class, &found)| FoundOfClass {
                    label: &class.name,
                    near: class.is_near,
                    found: JsonProportion::wilson(found),
                })
                .collect(),
            without_score: method.without_score,
            threshold: method.threshold.map(nearness),
            clusters: method.clusters.map(|scores| Clusters {
                scores,
                b_cubed_f1: scores.b_cubed_f1(),
            }),
            average_precision: method.sweep.average_precision(),
            best: method.best.map(Operating::new),
            wanted: method.wanted.map(Operating::new),
            curve: (method.sweep.points().iter())
                .map(|point| CurvePoint {
                    threshold: nearness(point.threshold),
                    hits: point.hits,
                    false_hits: point.false_hits,
                })
                .collect(),
            histogram: method.histogram.as_ref().map(Bins::new),
            false_hits_worst: wrong(&method.mistakes.false_hits),
            misses_worst: wrong(&method.mistakes.misses),
            cost: method.cost,
        }
    }
}

impl JsonProportion {
    fn new(share: Proportion, interval: Option<Interval>) -> JsonProportion {
        JsonProportion {
            part: share.part,
            whole: share.whole,
            value: share.value(),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        }
    }

    fn wilson(share: Proportion) -> JsonProportion {
        JsonProportion::new(share, share.interval())
    }
}

fn nearness(score: Score) -> NearnessFields {
    NearnessFields::new(score, false)
}

impl Operating {
    fn new(point: Point) -> Operating {
        Operating {
            threshold: nearness(point.threshold),
            precision: JsonProportion::wilson(point.precision()),
            recall: JsonProportion::wilson(point.recall()),
            f1: point.f1().value().unwrap_or(0.0),
        }
    }
}

impl Bins {
    fn new(histogram: &Histogram) -> Bins {
        let edges = |bin: usize| match histogram.scale {
            Scale::Distance { width } => {
                let from = bin as f64 * f64::from(width);
                (from, from + f64::from(width) - 1.0)
            }
            Scale::Fraction { bins } => (
                bin as f64 / f64::from(bins),
                (bin + 1) as f64 / f64::from(bins),
            ),
        };
        let bins = histogram.bins.iter().enumerate();
        Bins {
            bins: bins
                .map(|(bin, &[near, far])| {
                    let (from, to) = edges(bin);
                    Bin {
                        from,
                        to,
                        near,
                        far,
                    }
                })
                .collect(),
            without_near: histogram.without_score[0],
            without_far: histogram.without_score[1],
        }
    }
}

impl<'a> Wrong<'a> {
    fn new(evaluation: &'a Evaluation, mistake: &Mistake, ids: &Ids) -> Wrong<'a> {
        let [a, b] = mistake.pair.documents().map(|document| ids.name(document));
        Wrong {
            a: String::from_utf8_lossy(a).into_owned(),
            a_base64: base64_if_needed(a),
            b: String::from_utf8_lossy(b).into_owned(),
            b_base64: base64_if_needed(b),
            label: &evaluation.classes[mistake.class].name,
            score: mistake.score.map(nearness),
        }
    }
}

impl<'a> Compared<'a> {
    fn new(evaluation: &'a Evaluation, [first, second]: [usize; 2], found: Comparison) -> Self {
        Compared {
            first,
            second,
            first_name: &evaluation.methods[first].name,
            second_name: &evaluation.methods[second].name,
            both: found.both,
            only_first: found.only_first,
            only_second: found.only_second,
            neither: found.neither,
            agreement: found.agreement().value(),
            kappa: found.kappa(),
            first_right: found.first_right,
            second_right: found.second_right,
            p_value: found.p_value(),
        }
    }
}

fn as_object<S: Serializer>(pairs: &[(String, String)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json as value};
    use simtool_evaluate::{EvaluationSettings, Outcome, Truth, evaluate};

    #[test]
    fn fields_are_those_that_others_rely_on() {
        let mut ids = Ids::open();
        let text = b"a\tb\tlabel\n\xff\t1\tminor\n2\t3\tunrelated\n";
        let truth = Truth::from_pairs(text, &mut ids).unwrap();
        let outcomes = [true, false].map(|found| Outcome {
            name: format!("finds: {found}"),
            parameters: vec![("k".to_owned(), "3".to_owned())],
            scores: vec![Some(Score::Distance(3)), None],
            accepted: vec![found, false],
            cost: Cost {
                seconds_per_document: Some(0.5),
                bytes_per_document: None,
            },
            ..Outcome::default()
        });
        let asked = EvaluationSettings {
            wanted_precision: Some(Proportion::new(9, 10)),
            ..EvaluationSettings::default()
        };
        let evaluation = evaluate(&truth, &outcomes, asked).unwrap();
        let bytes = json(&evaluation, &ids);
        assert_eq!(bytes.last(), Some(&b'\n'));
        let all: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(all["settings"]["wanted_precision"], value!([9, 10]));
        assert_eq!(
            all["classes"][1],
            value!({"label": "unrelated", "near": false, "pairs": 1})
        );
        let [finds, misses] = [0, 1].map(|number| &all["methods"][number]);
        assert_eq!(
            (&finds["hits"], &finds["precision"]["value"]),
            (&value!(1), &value!(1.0))
        );
        assert_eq!(
            misses["precision"],
            value!(
                {"part": 0, "whole": 0, "value": null, "low": null, "high": null}
            )
        );
        assert_eq!(finds["parameters"], value!({"k": "3"}));
        assert_eq!(
            finds["curve"],
            value!([{"threshold": {"distance": 3}, "hits": 1, "false_hits": 0}])
        );
        assert_eq!(finds["wanted"]["threshold"], value!({"distance": 3}));
        assert_eq!(finds["threshold"], value!({"distance": 3}));
        assert_eq!(finds["classes"][0]["label"], value!("minor"));
        assert_eq!(
            misses["misses_worst"],
            value!([{
                "a": "\u{fffd}", "a_base64": "/w==", "b": "1", "label": "minor", "score": {"distance": 3}
            }])
        );
        assert_eq!(
            (&finds["seconds_per_document"], &finds["clusters"]),
            (&value!(0.5), &Value::Null)
        );
        let compared = &all["comparisons"][0];
        assert_eq!(
            (&compared["only_first"], &compared["p_value"]),
            (&value!(1), &value!(1.0))
        );
    }
}
