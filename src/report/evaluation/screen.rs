//! An evaluation as plain text.

use super::number::{self, NONE};
use super::visible::visible;
use crate::evaluate::{Evaluation, Measured};

/// Tables of aligned columns, each line ended: methods, what they found of each class, and how
/// they compare with the one of the largest F1.
///
/// Without control characters, whatever the names are.
pub fn screen(evaluation: &Evaluation) -> String {
    let mut text = methods(evaluation);
    text.push('\n');
    text += &classes(evaluation);
    if let Some(compared) = comparisons(evaluation) {
        text.push('\n');
        text += &compared;
    }
    text
}

fn methods(evaluation: &Evaluation) -> String {
    let mut header = vec![
        "method",
        "precision",
        "",
        "recall",
        "",
        "F1",
        "",
        "best F1",
        "at",
    ];
    let wanted = evaluation
        .settings
        .wanted_precision
        .map(|wanted| format!("recall at precision {}", number::share(wanted)));
    header.extend(
        wanted
            .as_deref()
            .into_iter()
            .chain(wanted.as_ref().map(|_| "at")),
    );
    let with_clusters = evaluation
        .methods
        .iter()
        .any(|method| method.clusters.is_some());
    if with_clusters {
        header.extend(["ARI", "B-cubed F1"]);
    }
    let with_cost = evaluation.methods.iter().any(|method| {
        method.cost.seconds_per_document.is_some() || method.cost.bytes_per_document.is_some()
    });
    if with_cost {
        header.extend(["time/doc", "bytes/doc"]);
    }
    let rows = evaluation.methods.iter().map(|method| {
        let mut row = vec![name(method)];
        for share in [method.counts.precision(), method.counts.recall()] {
            row.extend([number::share(share), number::interval(share.interval())]);
        }
        row.extend([
            number::share(method.counts.f1()),
            number::interval(method.f1_interval),
        ]);
        row.extend(match method.best {
            Some(best) => [number::share(best.f1()), number::threshold(best.threshold)],
            None => [NONE, NONE].map(str::to_owned),
        });
        if wanted.is_some() {
            row.extend(match method.wanted {
                Some(point) => [
                    number::share(point.recall()),
                    number::threshold(point.threshold),
                ],
                None => [NONE, NONE].map(str::to_owned),
            });
        }
        if with_clusters {
            row.push(number::decimal(
                method.clusters.map(|clusters| clusters.adjusted_rand),
            ));
            row.push(number::decimal(
                method.clusters.map(|clusters| clusters.b_cubed_f1()),
            ));
        }
        if with_cost {
            row.push(number::seconds(method.cost.seconds_per_document));
            row.push(number::bytes(method.cost.bytes_per_document));
        }
        row
    });
    aligned(
        header.into_iter().map(str::to_owned).collect(),
        rows.collect(),
    )
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

fn name(method: &Measured) -> String {
    visible(&method.name).into_owned()
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
