//! An evaluation as comma-separated values (RFC 4180), for spreadsheets and plots.
//!
//! Every text except the fixed column names is quoted. Names are untrusted, so a text that a
//! spreadsheet would interpret as a formula is prefixed with an apostrophe. A missing value is an
//! empty field.

use simtool_core::sketch::Score;
use simtool_evaluate::{Evaluation, Ids, Interval, Outcome, Proportion, Truth};

/// A line for each method: counts, proportions, intervals, the best point, clusters, costs, and the
/// pairs found of each class.
pub fn methods_csv(evaluation: &Evaluation) -> Vec<u8> {
    let mut lines = Lines::default();
    for name in [
        "method",
        "parameters",
        "hits",
        "false_hits",
        "misses",
        "rejections",
        "precision",
        "precision_low",
        "precision_high",
        "recall",
        "recall_low",
        "recall_high",
        "f1",
        "f1_low",
        "f1_high",
        "average_precision",
        "best_f1",
        "best_threshold",
        "recall_at_wanted_precision",
        "threshold_at_wanted_precision",
        "without_score",
        "adjusted_rand",
        "b_cubed_precision",
        "b_cubed_recall",
        "b_cubed_f1",
        "seconds_per_document",
        "bytes_per_document",
    ] {
        lines.plain(name);
    }
    for class in &evaluation.classes {
        lines.text(format!("found of {}", class.name).as_bytes());
        lines.text(format!("pairs of {}", class.name).as_bytes());
    }
    lines.end();
    for method in &evaluation.methods {
        lines.text(method.name.as_bytes());
        lines.text(parameters(&method.parameters).as_bytes());
        let counts = method.counts;
        for count in [
            counts.hits,
            counts.false_hits,
            counts.misses,
            counts.rejections,
        ] {
            lines.plain(count);
        }
        lines.share(counts.precision(), counts.precision().interval());
        lines.share(counts.recall(), counts.recall().interval());
        lines.share(counts.f1(), method.f1_interval);
        lines.number(method.sweep.average_precision());
        lines.number(method.best.and_then(|best| best.f1().value()));
        lines.score(method.best.map(|best| best.threshold));
        lines.number(method.wanted.and_then(|wanted| wanted.recall().value()));
        lines.score(method.wanted.map(|wanted| wanted.threshold));
        lines.plain(method.without_score);
        lines.number(method.clusters.map(|clusters| clusters.adjusted_rand));
        lines.number(method.clusters.map(|clusters| clusters.b_cubed_precision));
        lines.number(method.clusters.map(|clusters| clusters.b_cubed_recall));
        lines.number(method.clusters.map(|clusters| clusters.b_cubed_f1()));
        lines.number(method.cost.seconds_per_document);
        lines.number(method.cost.bytes_per_document);
        for class in &method.classes {
            lines.plain(class.part);
            lines.plain(class.whole);
        }
        lines.end();
    }
    lines.bytes
}

/// A line for each threshold of each method.
pub fn curves_csv(evaluation: &Evaluation) -> Vec<u8> {
    let mut lines = Lines::default();
    for name in [
        "method",
        "parameters",
        "threshold",
        "hits",
        "false_hits",
        "near",
        "precision",
        "recall",
        "f1",
    ] {
        lines.plain(name);
    }
    lines.end();
    for method in &evaluation.methods {
        for point in method.sweep.points() {
            lines.text(method.name.as_bytes());
            lines.text(parameters(&method.parameters).as_bytes());
            lines.score(Some(point.threshold));
            for count in [point.hits, point.false_hits, point.near] {
                lines.plain(count);
            }
            for share in [point.precision(), point.recall(), point.f1()] {
                lines.number(share.value());
            }
            lines.end();
        }
    }
    lines.bytes
}

/// A line for each listed pair and method: the class, the score of the method, and whether it was
/// found (1) or not (0).
///
/// # Panics
/// If `ids` or the outcomes are not those of the truth.
pub fn scores_csv(truth: &Truth, outcomes: &[Outcome], ids: &Ids) -> Vec<u8> {
    let mut lines = Lines::default();
    for name in [
        "a",
        "b",
        "label",
        "near",
        "method",
        "parameters",
        "score",
        "found",
    ] {
        lines.plain(name);
    }
    lines.end();
    for (place, labelled) in truth.pairs().iter().enumerate() {
        for outcome in outcomes {
            for document in labelled.pair.documents() {
                lines.text(ids.name(document));
            }
            lines.text(truth.classes()[labelled.class].name.as_bytes());
            lines.plain(u8::from(truth.is_near(place)));
            lines.text(outcome.name.as_bytes());
            lines.text(parameters(&outcome.parameters).as_bytes());
            lines.score(outcome.scores[place]);
            lines.plain(u8::from(outcome.accepted[place]));
            lines.end();
        }
    }
    lines.bytes
}

/// `bits=64 distance=3`.
fn parameters(parameters: &[(String, String)]) -> String {
    let pairs: Vec<String> = parameters
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join(" ")
}

#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
}

impl Lines {
    fn plain(&mut self, value: impl std::fmt::Display) {
        self.bytes.extend_from_slice(format!("{value},").as_bytes());
    }

    fn number(&mut self, value: Option<f64>) {
        match value {
            Some(value) => self.plain(value),
            None => self.bytes.push(b','),
        }
    }

    fn share(&mut self, share: Proportion, interval: Option<Interval>) {
        self.number(share.value());
        self.number(interval.map(|interval| interval.low));
        self.number(interval.map(|interval| interval.high));
    }

    fn score(&mut self, score: Option<Score>) {
        match score {
            Some(score) => self.plain(score),
            None => self.bytes.push(b','),
        }
    }

    fn text(&mut self, text: &[u8]) {
        self.bytes.push(b'"');
        if matches!(
            text.first(),
            Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r')
        ) {
            self.bytes.push(b'\'');
        }
        for &byte in String::from_utf8_lossy(text).as_bytes() {
            if byte == b'"' {
                self.bytes.push(b'"');
            }
            self.bytes.push(byte);
        }
        self.bytes.extend_from_slice(b"\",");
    }

    fn end(&mut self) {
        self.bytes.pop();
        self.bytes.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_evaluate::{EvaluationSettings, evaluate};

    fn example() -> (Truth, Vec<Outcome>, Ids) {
        let mut ids = Ids::open();
        let text = b"a\tb\tlabel\n=0\t1\tmi,\"nor\n2\t3\tunrelated\n";
        let truth = Truth::from_pairs(text, &mut ids).unwrap();
        let outcome = Outcome {
            name: "=cmd(\"x\")".to_owned(),
            parameters: vec![("k".to_owned(), "3".to_owned())],
            scores: vec![Some(Score::Fraction(2, 4)), None],
            accepted: vec![true, false],
            ..Outcome::default()
        };
        (truth, vec![outcome], ids)
    }

    #[test]
    fn lines_have_the_columns_of_their_header() {
        let (truth, outcomes, ids) = example();
        let evaluation = evaluate(&truth, &outcomes, EvaluationSettings::default()).unwrap();
        for csv in [
            methods_csv(&evaluation),
            curves_csv(&evaluation),
            scores_csv(&truth, &outcomes, &ids),
        ] {
            let text = String::from_utf8(csv).unwrap();
            let columns = text.lines().map(|line| {
                let outside = line.split('"').step_by(2);
                outside.map(|part| part.matches(',').count()).sum::<usize>()
            });
            let columns: Vec<usize> = columns.collect();
            assert!(columns.iter().all(|count| *count == columns[0]), "{text}");
            assert!(text.ends_with("\r\n"));
        }
    }

    #[test]
    fn scores_are_listed_by_pair_and_method() {
        let (truth, outcomes, ids) = example();
        let expected = "a,b,label,near,method,parameters,score,found\r\n\
            \"'=0\",\"1\",\"mi,\"\"nor\",1,\"'=cmd(\"\"x\"\")\",\"k=3\",2/4,1\r\n\
            \"2\",\"3\",\"unrelated\",0,\"'=cmd(\"\"x\"\")\",\"k=3\",,0\r\n";
        assert_eq!(
            String::from_utf8(scores_csv(&truth, &outcomes, &ids)).unwrap(),
            expected
        );
        let curves =
            curves_csv(&evaluate(&truth, &outcomes, EvaluationSettings::default()).unwrap());
        let curves = String::from_utf8(curves).unwrap();
        assert!(curves.ends_with(",\"k=3\",1/2,1,0,1,1,1,1\r\n"), "{curves}");
    }
}
