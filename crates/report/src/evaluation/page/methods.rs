//! Tables of methods, and of the pairs found of each class.

use super::contents::EvaluationPage;
use crate::html::{Cell, escape, meter, table};
use crate::number::{self, NONE};
use simtool_evaluate::{MethodResult, Point, Proportion};

/// A row for each method.
pub(super) fn section(page: &EvaluationPage<'_>) -> String {
    let methods = &page.evaluation.methods;
    let wanted = page.evaluation.settings.wanted_precision;
    let with_clusters = methods.iter().any(|method| method.clusters.is_some());
    let with_time = methods
        .iter()
        .any(|method| method.cost.seconds_per_document.is_some());
    let with_bytes = methods
        .iter()
        .any(|method| method.cost.bytes_per_document.is_some());

    let mut header = [
        "Method",
        "F1",
        "Precision",
        "Recall",
        "Best F1",
        "Average precision",
    ]
    .map(str::to_owned)
    .to_vec();
    header.extend(wanted.map(|wanted| format!("Recall at precision {}", number::share(wanted))));
    header.extend(with_clusters.then(|| "Adjusted Rand".to_owned()));
    header.extend(with_clusters.then(|| "B-cubed F1".to_owned()));
    header.extend(with_time.then(|| "Time per document".to_owned()));
    header.extend(with_bytes.then(|| "Bytes per document".to_owned()));

    let rows = methods.iter().enumerate().map(|(place, method)| {
        let f1 = method.counts.f1();
        let mut row = vec![
            name(place, method),
            Cell::number(
                number::share(f1),
                &number::interval(method.f1_interval),
                f1.value(),
            ),
            share(method.counts.precision()),
            share(method.counts.recall()),
            point(method.best, Point::f1),
            decimal(method.sweep.average_precision()),
        ];
        row.extend(wanted.map(|_| point(method.wanted, Point::recall)));
        if with_clusters {
            row.push(decimal(
                method.clusters.map(|clusters| clusters.adjusted_rand),
            ));
            row.push(decimal(
                method.clusters.map(|clusters| clusters.b_cubed_f1()),
            ));
        }
        let cost = method.cost;
        row.extend(with_time.then(|| {
            Cell::new(
                number::seconds(cost.seconds_per_document),
                cost.seconds_per_document,
            )
        }));
        row.extend(with_bytes.then(|| {
            Cell::new(
                number::bytes(cost.bytes_per_document),
                cost.bytes_per_document,
            )
        }));
        row
    });
    table(
        "What each method is worth",
        &header,
        &rows.collect::<Vec<_>>(),
        true,
    )
}

/// A row for each method, a column for each class.
pub(super) fn classes(page: &EvaluationPage<'_>) -> String {
    let classes = page.evaluation.classes.iter();
    let names = classes.map(|class| match class.is_near {
        true => class.name.clone(),
        false => format!("{} (false hits)", class.name),
    });
    let header: Vec<String> = ["Method".to_owned()].into_iter().chain(names).collect();
    let rows = page
        .evaluation
        .methods
        .iter()
        .enumerate()
        .map(|(place, method)| {
            let found = method.classes.iter().zip(&page.evaluation.classes);
            let found = found.map(|(found, class)| bar(*found, class.is_near));
            [name(place, method)].into_iter().chain(found).collect()
        });
    table(
        "Proportion of the pairs of each class that was found",
        &header,
        &rows.collect::<Vec<_>>(),
        true,
    )
}

fn name(place: usize, method: &MethodResult) -> Cell {
    let parameters = method.parameters.iter();
    let parameters: Vec<String> = parameters
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    let name = format!("<bdi>{}</bdi>", escape(&method.name));
    let parameters = escape(&parameters.join(", ")).into_owned();
    Cell::number(name, &parameters, Some(place as f64))
}

fn share(share: Proportion) -> Cell {
    Cell::number(
        number::share(share),
        &number::interval(share.interval()),
        share.value(),
    )
}

fn decimal(value: Option<f64>) -> Cell {
    Cell::new(number::decimal(value), value)
}

fn point(point: Option<Point>, value: fn(Point) -> Proportion) -> Cell {
    match point {
        None => Cell::new(NONE.to_owned(), None),
        Some(point) => {
            let value = value(point);
            let at = format!("at {}", number::threshold(point.threshold));
            Cell::number(number::share(value), &at, value.value())
        }
    }
}

/// A proportion with a bar under it.
fn bar(share: Proportion, is_near: bool) -> Cell {
    let Some(value) = share.value() else {
        return Cell::new(NONE.to_owned(), None);
    };
    let kind = if is_near { "near" } else { "far" };
    let [part, whole] = [share.part, share.whole].map(number::count);
    let number = format!("{part} <span>of {whole}</span>");
    meter(&number, value, kind, &number::interval(share.interval()))
}
