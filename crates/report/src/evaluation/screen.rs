//! An evaluation as plain text.

use std::ops::Range;

use crate::number::{self, NONE};
use crate::visible::visible;
use simtool_evaluate::{Evaluation, MethodResult, Point, Proportion};

/// Tables of aligned columns: methods as configured, other thresholds and costs, the pairs found of
/// each class, and comparisons of methods with the one of the largest F1. Every line ends with a
/// line feed.
///
/// Tables wider than `width` columns are split into blocks of lines, which repeat the names of the
/// methods. The text has no control characters, for any names.
pub fn screen(evaluation: &Evaluation, width: usize) -> String {
    let mut text = methods(evaluation, width);
    if !evaluation.measures_precision {
        text += UNMEASURED;
    }
    text.push('\n');
    text += &others(evaluation, width);
    text.push('\n');
    text += &classes(evaluation, width);
    if let Some(compared) = comparisons(evaluation, width) {
        text.push('\n');
        text += &compared;
    }
    text
}

/// The note if there are no far pairs.
const UNMEASURED: &str = "\
Precision and F1 cannot be measured: no pair is known that should not be found (list some with the
label unrelated, or add --closed-world).
";

fn methods(evaluation: &Evaluation, width: usize) -> String {
    let header = ["method", "precision", "", "recall", "", "F1", ""];
    let rows = evaluation.methods.iter().map(|method| {
        let none = || [NONE.to_owned(), String::new()];
        let shown = |share: Proportion| [number::share(share), number::interval(share.interval())];
        let is_measured = evaluation.measures_precision;
        let mut row = vec![name(method)];
        row.extend(match is_measured {
            true => shown(method.counts.precision()),
            false => none(),
        });
        row.extend(shown(method.counts.recall()));
        row.extend(match is_measured {
            true => [
                number::share(method.counts.f1()),
                number::interval(method.f1_interval),
            ],
            false => none(),
        });
        row
    });
    aligned(header.map(str::to_owned).to_vec(), rows.collect(), width)
}

/// Other thresholds, clusters, and costs, if there are any.
fn others(evaluation: &Evaluation, width: usize) -> String {
    let mut header = vec!["method".to_owned(), "best F1".to_owned(), "at".to_owned()];
    let wanted = evaluation.settings.wanted_precision;
    if let Some(wanted) = wanted {
        header.push(format!("recall at precision {}", number::share(wanted)));
        header.push("at".to_owned());
    }
    let some = |has: fn(&MethodResult) -> bool| evaluation.methods.iter().any(has);
    let with_clusters = some(|method| method.clusters.is_some());
    if with_clusters {
        header.extend(["ARI", "B-cubed F1"].map(str::to_owned));
    }
    let with_time = some(|method| method.cost.seconds_per_document.is_some());
    let with_bytes = some(|method| method.cost.bytes_per_document.is_some());
    header.extend(with_time.then(|| "time/doc".to_owned()));
    header.extend(with_bytes.then(|| "bytes/doc".to_owned()));
    let rows = evaluation.methods.iter().map(|method| {
        let mut row = vec![name(method)];
        let measured = |point: Option<Point>| point.filter(|_| evaluation.measures_precision);
        row.extend(point(measured(method.best), Point::f1));
        row.extend(
            wanted
                .iter()
                .flat_map(|_| point(measured(method.wanted), Point::recall)),
        );
        if with_clusters {
            row.push(number::decimal(
                method.clusters.map(|clusters| clusters.adjusted_rand),
            ));
            row.push(number::decimal(
                method.clusters.map(|clusters| clusters.b_cubed_f1()),
            ));
        }
        row.extend(with_time.then(|| number::seconds(method.cost.seconds_per_document)));
        row.extend(with_bytes.then(|| number::bytes(method.cost.bytes_per_document)));
        row
    });
    aligned(header, rows.collect(), width)
}

fn point(point: Option<Point>, value: fn(Point) -> Proportion) -> [String; 2] {
    match point {
        Some(point) => [
            number::share(value(point)),
            number::threshold(point.threshold),
        ],
        None => [NONE, NONE].map(str::to_owned),
    }
}

fn classes(evaluation: &Evaluation, width: usize) -> String {
    let labels = evaluation.classes.iter().map(|class| match class.is_near {
        true => visible(&class.name).into_owned(),
        false => format!("{} (false)", visible(&class.name)),
    });
    let header = ["found of".to_owned()].into_iter().chain(labels).collect();
    let rows = evaluation.methods.iter().map(|method| {
        let shares = method
            .classes
            .iter()
            .map(|share| format!("{}/{}", share.part, share.whole));
        [name(method)].into_iter().chain(shares).collect()
    });
    aligned(header, rows.collect(), width)
}

/// `None` with fewer than two methods.
fn comparisons(evaluation: &Evaluation, width: usize) -> Option<String> {
    let best = best(evaluation)?;
    let header = [
        "against",
        "agree",
        "kappa",
        "right alone",
        "wrong alone",
        "p (McNemar)",
    ];
    let mut rows = Vec::new();
    for (other, method) in evaluation.methods.iter().enumerate() {
        let Some(compared) = evaluation.comparison(best, other) else {
            continue;
        };
        rows.push(vec![
            name(method),
            number::share(compared.agreement()),
            number::decimal(compared.kappa()),
            compared.first_right.to_string(),
            compared.second_right.to_string(),
            number::p_value(compared.p_value()),
        ]);
    }
    let title = format!("{} (the largest F1)\n", name(&evaluation.methods[best]));
    let table = aligned(header.map(str::to_owned).to_vec(), rows, width);
    (evaluation.methods.len() > 1).then(|| title + &table)
}

/// The method with the largest F1, the first of equal ones.
pub(super) fn best(evaluation: &Evaluation) -> Option<usize> {
    let numbers = 0..evaluation.methods.len();
    let f1 = |number: usize| evaluation.methods[number].counts.f1();
    numbers.reduce(|best, next| {
        let is_better = f1(next).is_at_least(f1(best)) && !f1(best).is_at_least(f1(next));
        if is_better { next } else { best }
    })
}

/// The name of a method, truncated if it is long.
fn name(method: &MethodResult) -> String {
    const MOST: usize = 40;
    let name = visible(&method.name);
    match name.char_indices().nth(MOST) {
        None => name.into_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

/// Aligns the first column left and numbers right; splits into blocks if wider than `most` columns
/// of a terminal.
fn aligned(header: Vec<String>, rows: Vec<Vec<String>>, most: usize) -> String {
    // An interval or a threshold stays in the block of the number before it.
    let stays = |column: usize| matches!(header[column].as_str(), "" | "at");
    let joined: Vec<bool> = (0..header.len()).map(stays).collect();
    let all: Vec<Vec<String>> = [header].into_iter().chain(rows).collect();
    let count = all.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = all.iter().filter_map(|row| row.get(column));
        cells.map(|cell| columns(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for block in blocks(&widths, &joined, most) {
        for row in &all {
            let cell = |column: usize| row.get(column).map_or("", String::as_str);
            let space = |column: usize| " ".repeat(widths[column] - columns(cell(column)));
            let mut line = cell(0).to_owned() + &space(0);
            for column in block.clone() {
                line += &format!("  {}{}", space(column), cell(column));
            }
            text += line.trim_end();
            text.push('\n');
        }
    }
    text
}

/// The columns of each block, besides the first column, which is in every block; `joined` columns
/// stay with the one before them.
fn blocks(widths: &[usize], joined: &[bool], most: usize) -> Vec<Range<usize>> {
    let begins = (1..widths.len()).filter(|&column| column == 1 || !joined[column]);
    let begins: Vec<usize> = begins.collect();
    let ends = begins.iter().skip(1).copied().chain([widths.len()]);
    let first = widths.first().copied().unwrap_or(0);
    let wide = |columns: Range<usize>| widths[columns].iter().map(|width| width + 2).sum::<usize>();
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for (begin, end) in begins.iter().copied().zip(ends) {
        match blocks.last_mut() {
            Some(block) if first + wide(block.start..end) <= most => block.end = end,
            _ => blocks.push(begin..end),
        }
    }
    match blocks.is_empty() {
        true => std::iter::once(1..1).collect(),
        false => blocks,
    }
}

/// The number of terminal columns of a text, ignoring combining marks and rare widths.
fn columns(text: &str) -> usize {
    let width = |character: char| match u32::from(character) {
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    };
    text.chars().map(width).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_core::sketch::Score;
    use simtool_evaluate::{Cost, EvaluationSettings, Ids, Outcome, Truth, evaluate};

    #[test]
    fn columns_are_aligned_and_nothing_acts() {
        let text = "a\tb\tlabel\n0\t1\tminor\x1b[1m\n2\t3\t漢字\n0\t2\tunrelated\n";
        let truth = Truth::from_pairs(text.as_bytes(), &mut Ids::open()).unwrap();
        let outcomes =
            ["one", "漢字 and a name that is far too long for a table"].map(|name| Outcome {
                name: name.to_owned(),
                scores: [1, 5, 9].map(|bits| Some(Score::Distance(bits))).to_vec(),
                accepted: vec![true, false, name == "one"],
                cost: Cost {
                    seconds_per_document: Some(1e-5),
                    bytes_per_document: None,
                },
                ..Outcome::default()
            });
        let settings = EvaluationSettings {
            draws: 0,
            ..EvaluationSettings::default()
        };
        let shown = screen(&evaluate(&truth, &outcomes, settings).unwrap(), 100);
        let expected = "\
method                                       precision               recall                  F1
one                                              0.500  0.095–0.905   0.500  0.095–0.905  0.500
漢字 and a name that is far too long for a…      1.000  0.207–1.000   0.500  0.095–0.905  0.667

method                                       best F1   at  time/doc
one                                            1.000  ≤ 5   10.0 µs
漢字 and a name that is far too long for a…    1.000  ≤ 5   10.0 µs

found of                                     minorU+001B[1m  漢字  unrelated (false)
one                                                     1/1   0/1                1/1
漢字 and a name that is far too long for a…             1/1   0/1                0/1

漢字 and a name that is far too long for a… (the largest F1)
against  agree  kappa  right alone  wrong alone  p (McNemar)
one      0.667  0.400            1            0        1.000
";
        assert_eq!(shown, expected);
    }

    fn measured(pairs: &str, accepted: &[bool]) -> Evaluation {
        let truth = Truth::from_pairs(pairs.as_bytes(), &mut Ids::open()).unwrap();
        let outcome = Outcome {
            name: "one".to_owned(),
            scores: vec![Some(Score::Distance(1)); accepted.len()],
            accepted: accepted.to_vec(),
            ..Outcome::default()
        };
        let settings = EvaluationSettings {
            draws: 0,
            ..EvaluationSettings::default()
        };
        evaluate(&truth, &[outcome], settings).unwrap()
    }

    /// Promise (Methods and their evaluation): Tables of an evaluation are folded to the width of
    /// the terminal, and nothing is lost
    #[test]
    fn wide_tables_are_folded() {
        let pair = |number: usize| format!("{number}\t{}\tlabel-{number}\n", number + 1);
        let pairs: String = (0..40).map(|number| pair(2 * number)).collect();
        let evaluation = measured(&format!("a\tb\tlabel\n{pairs}"), &[true; 40]);
        let found = |width: usize| -> Vec<String> {
            let shown = screen(&evaluation, width);
            let mut tables = shown.lines().filter(|line| !UNMEASURED.contains(line));
            assert!(tables.all(|line| columns(line) <= width), "{shown}");
            let words = |line: &str| {
                line.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            let lines: Vec<&str> = shown.lines().collect();
            let starts = (0..lines.len()).filter(|&line| lines[line].starts_with("found of"));
            let labels = starts.flat_map(|line| {
                let shares = words(lines[line + 1]).into_iter().skip(1);
                words(lines[line]).into_iter().skip(2).zip(shares)
            });
            labels.map(|(label, share)| label + " " + &share).collect()
        };
        let expected: Vec<String> = (0..40).map(|n| format!("label-{} 1/1", 2 * n)).collect();
        for width in [100, 60, 80, 1000] {
            assert_eq!(found(width), expected, "{width}");
        }
    }

    /// Promise (Methods and their evaluation): If the truth has no pair …
    #[test]
    fn precision_without_a_pair_that_may_be_wrong_is_not_shown() {
        let near = "a\tb\tlabel\n0\t1\tminor\n2\t3\tminor\n";
        let shown = screen(&measured(near, &[true, false]), 100);
        assert!(shown.contains(UNMEASURED), "{shown}");
        let row = shown.lines().find(|line| line.starts_with("one")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells, ["one", "–", "0.500", "0.095–0.905", "–"]);
        let both = format!("{near}0\t3\tunrelated\n");
        let shown = screen(&measured(&both, &[true, false, false]), 100);
        assert!(!shown.contains(UNMEASURED), "{shown}");
    }
}
