//! Agreement of the methods, and which is right if they disagree.

use super::contents::EvaluationPage;
use crate::html::{Cell, escape, table};
use crate::number;
use simtool_evaluate::{Comparison, Evaluation};

/// Two matrices of methods by methods; empty with a single method.
pub(super) fn section(page: &EvaluationPage<'_>) -> String {
    let evaluation = page.evaluation;
    if evaluation.methods.len() < 2 {
        return String::new();
    }
    let intro = "<p>Of the listed pairs: the share on which two methods agree, and Cohen&rsquo;s \
                 kappa (agreement beyond chance). The more colour, the less they agree.</p>\n";
    let right = "<p>Pairs that the method of the row judged right and that of the column wrong, \
                 against the other way round, with the probability that so uneven a split is \
                 chance. Frames mark p &lt; 0.05.</p>\n";
    let agreement = matrix(evaluation, "Agreement of the methods", agreement);
    format!(
        "{intro}{agreement}{right}{}",
        matrix(
            evaluation,
            "Who is right where they differ",
            right_judgements
        )
    )
}

fn matrix(evaluation: &Evaluation, label: &str, cell: fn(Comparison) -> Cell) -> String {
    let methods = &evaluation.methods;
    let columns = methods
        .iter()
        .enumerate()
        .map(|(place, _)| format!("{}", place + 1));
    let header: Vec<String> = ["Method".to_owned()].into_iter().chain(columns).collect();
    let rows = methods.iter().enumerate().map(|(row, method)| {
        let name = format!(
            "<span class=\"place\">{}</span> <bdi>{}</bdi>",
            row + 1,
            escape(&method.name)
        );
        let cells = (0..methods.len()).map(|column| match evaluation.comparison(row, column) {
            Some(comparison) => cell(comparison),
            None => Cell::new("same".to_owned(), None).with_class("self".to_owned()),
        });
        [Cell::new(name, None)]
            .into_iter()
            .chain(cells)
            .collect::<Vec<_>>()
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    format!(
        "<div class=\"matrix\">{}</div>\n",
        table(label, &header, &rows, false)
    )
}

fn agreement(comparison: Comparison) -> Cell {
    let agreement = comparison.agreement();
    let apart = 1.0 - agreement.value().unwrap_or(1.0);
    // From 0 to 9; disagreement on half of the pairs is darkest.
    let shade = (18.0 * apart).ceil().clamp(0.0, 9.0);
    let kappa = format!("κ {}", number::decimal(comparison.kappa()));
    let cell = Cell::number(number::share(agreement), &kappa, None);
    cell.with_class(format!("shade s{shade}"))
}

fn right_judgements(comparison: Comparison) -> Cell {
    let [right, wrong] = [comparison.first_right, comparison.second_right].map(number::count);
    let p = comparison.p_value();
    let shown = format!("p {}", number::p_value(p));
    let cell = Cell::number(format!("{right} : {wrong}"), &escape(&shown), None);
    let significant = if p < 0.05 { "significant" } else { "" };
    cell.with_class(significant.to_owned())
}
