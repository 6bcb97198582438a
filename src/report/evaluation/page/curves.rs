//! Precision-recall curves, drawn.

use super::Page;
use super::escape::escape;
use super::table::{Cell, table};
use crate::evaluate::{Measured, Point};
use crate::report::evaluation::number::{self, NONE};

/// Curves in one drawing: more cannot be told apart.
const MOST_CURVES: usize = 8;

/// The drawing and the plot within it.
const SIZE: [f64; 2] = [480.0, 372.0];
const LEFT: f64 = 46.0;
const TOP: f64 = 12.0;
const RIGHT: f64 = 466.0;
const BOTTOM: f64 = 326.0;

/// Drawings of eight methods each, with their legends and the numbers as a table.
pub(super) fn section(page: &Page<'_>) -> String {
    let methods = &page.evaluation.methods;
    let drawn: Vec<(usize, &Measured)> = methods
        .iter()
        .enumerate()
        .filter(|(_, method)| method.sweep.points().iter().any(|point| point.hits > 0))
        .collect();
    if drawn.is_empty() {
        return String::new();
    }
    let floor = floor(&drawn);
    let mut html = "<p>Each line is a method at all thresholds, from the strictest on the left. A \
                    filled mark is the method as it was set, a ring its largest F1.</p>\n"
        .to_owned();
    for (number, drawn) in drawn.chunks(MOST_CURVES).enumerate() {
        html += &figure(number, drawn, floor);
    }
    html + &numbers(&drawn)
}

/// Where the axis of precision begins: below all of it, at a tenth.
fn floor(drawn: &[(usize, &Measured)]) -> f64 {
    let points = drawn.iter().flat_map(|(_, method)| method.sweep.points());
    let own = drawn.iter().map(|(_, method)| method.counts.precision());
    let all = points.map(|point| point.precision()).chain(own);
    let least = all.filter_map(|share| share.value()).fold(1.0, f64::min);
    (least * 10.0).floor().min(9.0) / 10.0
}

fn figure(number: usize, drawn: &[(usize, &Measured)], floor: f64) -> String {
    let axes = Axes { floor };
    let mut lines = String::new();
    let mut legend = String::new();
    let mut summary = Vec::new();
    for (style, (_, method)) in drawn.iter().enumerate() {
        let name = escape(&method.name);
        let best = method.best.map_or(NONE.to_owned(), |best| {
            format!(
                "{} {}",
                number::share(best.f1()),
                number::threshold(best.threshold)
            )
        });
        lines += &format!(
            "<g class=\"c{style}\"><title>{name}</title><path d=\"{}\"/>{}{}</g>\n",
            axes.path(method.sweep.points()),
            method.best.map_or(String::new(), |best| axes.ring(best)),
            axes.own(style, method),
        );
        legend += &format!(
            "<li><svg class=\"key c{style}\" viewBox=\"0 0 36 12\" aria-hidden=\"true\">\
             <path d=\"M1 6H35\"/>{}</svg><span><bdi>{name}</bdi><small>best F1 {}</small></span></li>\n",
            mark(style, 18.0, 6.0),
            escape(&best),
        );
        summary.push(format!("{}: largest F1 {best}", method.name));
    }
    let described = format!(
        "Recall from 0 to 1 to the right, precision from {floor} to 1 upwards. {}. The table below \
         has the numbers.",
        summary.join("; ")
    );
    format!(
        "<figure class=\"curves\"><svg role=\"img\" aria-labelledby=\"pr{number}-t pr{number}-d\" \
         viewBox=\"0 0 {} {}\">\n<title id=\"pr{number}-t\">Precision and recall at all \
         thresholds</title>\n<desc id=\"pr{number}-d\">{}</desc>\n{}{lines}</svg>\n\
         <figcaption><ul class=\"legend\">\n{legend}</ul></figcaption></figure>\n",
        SIZE[0],
        SIZE[1],
        escape(&described),
        axes.grid(),
    )
}

struct Axes {
    floor: f64,
}

impl Axes {
    fn x(&self, recall: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * recall
    }

    fn y(&self, precision: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * (precision - self.floor) / (1.0 - self.floor)
    }

    fn place(&self, point: Point) -> Option<[f64; 2]> {
        Some([
            self.x(point.recall().value()?),
            self.y(point.precision().value()?),
        ])
    }

    fn grid(&self) -> String {
        let mut html = String::from("<g class=\"grid\">");
        for tick in 0..=5 {
            let recall = f64::from(tick) / 5.0;
            let x = self.x(recall);
            html += &format!("<path d=\"M{x:.1} {TOP}V{BOTTOM}\"/>");
            html += &format!(
                "<text x=\"{x:.1}\" y=\"{}\" class=\"x\">{recall}</text>",
                BOTTOM + 18.0
            );
        }
        // A line for each tenth, or each fiftieth if there is but one tenth.
        let tenths = ((1.0 - self.floor) * 10.0).round() as u32;
        let steps = if tenths == 1 { 5 } else { tenths };
        let every = if steps > 6 { 2 } else { 1 };
        for step in (0..=steps).filter(|step| (steps - step) % every == 0) {
            let precision = self.floor + (1.0 - self.floor) * f64::from(step) / f64::from(steps);
            let y = self.y(precision);
            let places = if tenths == 1 { 2 } else { 1 };
            html += &format!("<path d=\"M{LEFT} {y:.1}H{RIGHT}\"/>");
            html += &format!(
                "<text x=\"{}\" y=\"{:.1}\" class=\"y\">{precision:.places$}</text>",
                LEFT - 8.0,
                y + 4.5
            );
        }
        html += &format!(
            "<text x=\"{:.1}\" y=\"{}\" class=\"x name\">recall</text>\
             <text transform=\"translate(13 {:.1}) rotate(-90)\" class=\"x name\">precision</text></g>\n",
            (LEFT + RIGHT) / 2.0,
            SIZE[1] - 8.0,
            (TOP + BOTTOM) / 2.0,
        );
        html
    }

    /// A line through the points; those that fall on the same half pixel are drawn once.
    fn path(&self, points: &[Point]) -> String {
        let mut path = String::new();
        let mut before = None;
        for [x, y] in points.iter().filter_map(|&point| self.place(point)) {
            let rounded = [x, y].map(|at| (2.0 * at).round() / 2.0);
            if before == Some(rounded) {
                continue;
            }
            let command = if before.is_none() { 'M' } else { 'L' };
            path += &format!("{command}{} {}", rounded[0], rounded[1]);
            before = Some(rounded);
        }
        path
    }

    fn ring(&self, best: Point) -> String {
        self.place(best).map_or(String::new(), |[x, y]| {
            format!("<circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"8\"/>")
        })
    }

    /// The mark of a method as it was set.
    fn own(&self, style: usize, method: &Measured) -> String {
        let counts = method.counts;
        let place = counts.recall().value().zip(counts.precision().value());
        place.map_or(String::new(), |(recall, precision)| {
            mark(style, self.x(recall), self.y(precision))
        })
    }
}

/// A shape for each style, so that colours are not needed.
fn mark(style: usize, x: f64, y: f64) -> String {
    let shape = match style {
        0 => "M-5 0A5 5 0 1 0 5 0A5 5 0 1 0 -5 0Z",
        1 => "M-4.5 -4.5H4.5V4.5H-4.5Z",
        2 => "M0 -6L5.5 4.5H-5.5Z",
        3 => "M0 -6L6 0L0 6L-6 0Z",
        4 => "M0 6L5.5 -4.5H-5.5Z",
        5 => "M-2 -6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
        6 => "M0 -6L1.8 -1.9L6 -1.9L2.7 1L3.8 5.5L0 3L-3.8 5.5L-2.7 1L-6 -1.9L-1.8 -1.9Z",
        _ => "M-6 -2L-2 -6L0 -3L2 -6L6 -2L3 0L6 2L2 6L0 3L-2 6L-6 2L-3 0Z",
    };
    format!("<path class=\"mark\" transform=\"translate({x:.1} {y:.1})\" d=\"{shape}\"/>")
}

/// The largest precision at each tenth of recall.
fn numbers(drawn: &[(usize, &Measured)]) -> String {
    let levels: Vec<u64> = (1..=10).collect();
    let names = levels
        .iter()
        .map(|level| format!("recall ≥ {}", *level as f64 / 10.0));
    let header: Vec<String> = ["Method".to_owned()].into_iter().chain(names).collect();
    let rows = drawn.iter().map(|(_, method)| {
        let cells = levels.iter().map(|level| {
            let points = method.sweep.points().iter();
            let reaching = points.filter(|point| 10 * point.hits >= level * point.near);
            let precisions = reaching.filter_map(|point| point.precision().value());
            let best = precisions.reduce(f64::max);
            Cell::new(number::decimal(best), best)
        });
        let name = Cell::new(format!("<bdi>{}</bdi>", escape(&method.name)), None);
        [name].into_iter().chain(cells).collect::<Vec<_>>()
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    let table = table("Largest precision for a recall", &header, &rows, false);
    format!("<details><summary>The curves as numbers</summary>\n{table}</details>\n")
}
