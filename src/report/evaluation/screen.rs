//! An evaluation as plain text.

use super::number::{self, NONE};
use super::visible::visible;
use crate::evaluate::{Evaluation, Measured, Point, Share};

/// Tables of aligned columns, each line ended: methods as they are set, other thresholds and costs,
/// what was found of each class, and how methods compare with the one of the largest F1.
///
/// Without control characters, whatever the names are.
pub fn screen(evaluation: &Evaluation) -> String {
    let mut text = methods(evaluation);
    text.push('\n');
    text += &others(evaluation);
    text.push('\n');
    text += &classes(evaluation);
    if let Some(compared) = comparisons(evaluation) {
        text.push('\n');
        text += &compared;
    }
    text
}

fn methods(evaluation: &Evaluation) -> String {
    let header = ["method", "precision", "", "recall", "", "F1", ""];
    let rows = evaluation.methods.iter().map(|method| {
        let mut row = vec![name(method)];
        for share in [method.counts.precision(), method.counts.recall()] {
            row.extend([number::share(share), number::interval(share.interval())]);
        }
        row.extend([
            number::share(method.counts.f1()),
            number::interval(method.f1_interval),
        ]);
        row
    });
    aligned(header.map(str::to_owned).to_vec(), rows.collect())
}

/// What other thresholds would give, clusters, and costs, as far as there are any.
fn others(evaluation: &Evaluation) -> String {
    let mut header = vec!["method".to_owned(), "best F1".to_owned(), "at".to_owned()];
    let wanted = evaluation.settings.wanted_precision;
    if let Some(wanted) = wanted {
        header.push(format!("recall at precision {}", number::share(wanted)));
        header.push("at".to_owned());
    }
    let some = |has: fn(&Measured) -> bool| evaluation.methods.iter().any(has);
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
        row.extend(point(method.best, Point::f1));
        row.extend(
            wanted
                .iter()
                .flat_map(|_| point(method.wanted, Point::recall)),
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
    aligned(header, rows.collect())
}

fn point(point: Option<Point>, value: fn(Point) -> Share) -> [String; 2] {
    match point {
        Some(point) => [
            number::share(value(point)),
            number::threshold(point.threshold),
        ],
        None => [NONE, NONE].map(str::to_owned),
    }
}

fn classes(evaluation: &Evaluation) -> String {
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
    aligned(header, rows.collect())
}

/// `None` with fewer than two methods.
fn comparisons(evaluation: &Evaluation) -> Option<String> {
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
    let table = aligned(header.map(str::to_owned).to_vec(), rows);
    (evaluation.methods.len() > 1).then(|| title + &table)
}

/// The method with the largest F1, the first of several.
pub(super) fn best(evaluation: &Evaluation) -> Option<usize> {
    let numbers = 0..evaluation.methods.len();
    let f1 = |number: usize| evaluation.methods[number].counts.f1();
    numbers.reduce(|best, next| {
        let is_better = f1(next).is_at_least(f1(best)) && !f1(best).is_at_least(f1(next));
        if is_better { next } else { best }
    })
}

/// A method's name, cut if it is long.
fn name(method: &Measured) -> String {
    const MOST: usize = 40;
    let name = visible(&method.name);
    match name.char_indices().nth(MOST) {
        None => name.into_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

/// The first column to the left, numbers to the right.
fn aligned(header: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let all: Vec<Vec<String>> = [header].into_iter().chain(rows).collect();
    let count = all.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = all.iter().filter_map(|row| row.get(column));
        cells.map(|cell| columns(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in &all {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let space = " ".repeat(widths[column] - columns(cell));
            match column {
                0 => line += &format!("{cell}{space}"),
                _ => line += &format!("  {space}{cell}"),
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// How many columns of a terminal a text takes, but for combining marks and rarer widths.
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
    use crate::evaluate::{Cost, Ids, Outcome, Settings, Truth, evaluate};
    use crate::sketch::Score;

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
        let settings = Settings {
            draws: 0,
            ..Settings::default()
        };
        let shown = screen(&evaluate(&truth, &outcomes, settings).unwrap());
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
}
