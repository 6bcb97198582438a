//! Plots of precision-recall curves.

use super::contents::EvaluationPage;
use crate::html::{Cell, escape, table};
use crate::number::{self, NONE};
use simtool_evaluate::{ConfusionMatrix, MethodResult, Point, Proportion};

/// The maximum number of curves in one plot: more cannot be distinguished.
const MAX_CURVES: usize = 8;

/// The size of the drawing; the other constants are the borders of the plot within it.
const SIZE: [f64; 2] = [480.0, 372.0];
const LEFT: f64 = 46.0;
const TOP: f64 = 12.0;
const RIGHT: f64 = 466.0;
const BOTTOM: f64 = 326.0;

/// Plots of up to eight methods each, with legends and the numbers as a table.
pub(super) fn section(page: &EvaluationPage<'_>) -> String {
    let methods = &page.evaluation.methods;
    let drawn: Vec<(usize, &MethodResult)> = methods
        .iter()
        .enumerate()
        .filter(|(_, method)| method.sweep.points().iter().any(|point| point.hits > 0))
        .collect();
    if drawn.is_empty() {
        return String::new();
    }
    let axes = Axes::new(&drawn);
    let mut html = format!(
        "<p>Each line is a method at all thresholds, from the strictest on the left. A filled mark \
         is the method as it was set, a ring its largest F1.{}</p>\n",
        axes.hint()
    );
    for (number, drawn) in drawn.chunks(MAX_CURVES).enumerate() {
        html += &figure(number, drawn, &axes);
    }
    html + &numbers(&drawn)
}

fn figure(number: usize, drawn: &[(usize, &MethodResult)], axes: &Axes) -> String {
    let mut marks = String::new();
    let mut lines = String::new();
    let mut legend = String::new();
    let mut summary = Vec::new();
    for (style, (_, method)) in drawn.iter().enumerate() {
        let name = escape(&method.name);
        let same = drawn[..style]
            .iter()
            .find(|(_, other)| other.sweep == method.sweep);
        let (line, key, small) = match same {
            Some((_, other)) => (String::new(), "", format!("on the curve of {}", other.name)),
            None => (
                axes.path(method.sweep.points()),
                "<path d=\"M1 6H35\"/>",
                best(method),
            ),
        };
        let ring = method.best.filter(|_| same.is_none());
        let ring = ring.map_or(String::new(), |best| axes.ring(best));
        lines += &format!("<g class=\"c{style}\"><path d=\"{line}\"/></g>\n");
        marks += &format!(
            "<g class=\"c{style}\"><title>{name}</title>{ring}{}</g>\n",
            axes.own(style, method),
        );
        legend += &format!(
            "<li><svg class=\"key c{style}\" viewBox=\"0 0 36 12\" aria-hidden=\"true\">{key}{}</svg>\
             <span><bdi>{name}</bdi><small>{}</small></span></li>\n",
            mark(style, 18.0, 6.0),
            escape(&small),
        );
        summary.push(format!("{}: {}", method.name, best(method)));
    }
    // Leaves space for lines along the upper and right edges.
    let (edge, width, height) = (TOP - 3.0, RIGHT - LEFT + 3.0, BOTTOM - TOP + 3.0);
    format!(
        "<figure class=\"curves\"><svg role=\"img\" aria-labelledby=\"pr{number}-t pr{number}-d\" \
         viewBox=\"0 0 {} {}\">\n<title id=\"pr{number}-t\">Precision and recall at all \
         thresholds</title>\n<desc id=\"pr{number}-d\">{}</desc>\n{}\
         <svg class=\"plot\" aria-hidden=\"true\" x=\"{LEFT}\" y=\"{edge}\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"{LEFT} {edge} {width} {height}\">{lines}</svg>\n{marks}</svg>\n\
         <figcaption><ul class=\"legend\">\n{legend}</ul></figcaption></figure>\n",
        SIZE[0],
        SIZE[1],
        escape(&axes.described(&summary)),
        axes.grid(),
    )
}

/// `largest F1 0.989 ≤ 7`.
fn best(method: &MethodResult) -> String {
    method.best.map_or(NONE.to_owned(), |best| {
        let (f1, at) = (number::share(best.f1()), number::threshold(best.threshold));
        format!("largest F1 {f1} at {at}")
    })
}

/// Both axes end at 1. They start 0.1 to 0.2 below the lowest point of the methods as configured or
/// at their best, but not below 0.
struct Axes {
    min_recall: f64,
    min_precision: f64,
}

impl Axes {
    fn new(drawn: &[(usize, &MethodResult)]) -> Axes {
        let least = |shares: &mut dyn Iterator<Item = Proportion>| {
            let least = shares.filter_map(Proportion::value).fold(1.0, f64::min);
            // In tenths, to avoid rounding twice.
            ((least * 10.0).floor() - 1.0).clamp(0.0, 9.0) / 10.0
        };
        let counts = drawn.iter().map(|(_, method)| method.counts);
        let best = drawn.iter().filter_map(|(_, method)| method.best);
        Axes {
            min_recall: least(
                &mut (counts.clone().map(ConfusionMatrix::recall))
                    .chain(best.clone().map(Point::recall)),
            ),
            min_precision: least(
                &mut counts
                    .map(ConfusionMatrix::precision)
                    .chain(best.map(Point::precision)),
            ),
        }
    }

    fn hint(&self) -> &'static str {
        match self.min_recall > 0.0 || self.min_precision > 0.0 {
            true => " Mind that the axes do not begin at 0.",
            false => "",
        }
    }

    fn described(&self, methods: &[String]) -> String {
        format!(
            "Recall from {} to 1 to the right, precision from {} to 1 upwards. {}. The table below \
             has the numbers.",
            self.min_recall,
            self.min_precision,
            methods.join("; ")
        )
    }

    fn x(&self, recall: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (recall - self.min_recall) / (1.0 - self.min_recall)
    }

    fn y(&self, precision: f64) -> f64 {
        let share = (precision - self.min_precision) / (1.0 - self.min_precision);
        BOTTOM - (BOTTOM - TOP) * share
    }

    fn place(&self, point: Point) -> Option<[f64; 2]> {
        Some([
            self.x(point.recall().value()?),
            self.y(point.precision().value()?),
        ])
    }

    fn grid(&self) -> String {
        let mut html = String::from("<g class=\"grid\">");
        for recall in ticks(self.min_recall) {
            let x = self.x(recall);
            html += &format!("<path d=\"M{x:.1} {TOP}V{BOTTOM}\"/>");
            let below = BOTTOM + 18.0;
            html += &format!("<text x=\"{x:.1}\" y=\"{below}\" class=\"x\">{recall}</text>");
        }
        for precision in ticks(self.min_precision) {
            let y = self.y(precision);
            html += &format!("<path d=\"M{LEFT} {y:.1}H{RIGHT}\"/>");
            let (before, base) = (LEFT - 8.0, y + 4.5);
            html += &format!("<text x=\"{before}\" y=\"{base:.1}\" class=\"y\">{precision}</text>");
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

    /// A line through the points; successive points on the same half pixel are drawn once.
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

    /// The mark of a method as configured.
    fn own(&self, style: usize, method: &MethodResult) -> String {
        let counts = method.counts;
        let place = counts.recall().value().zip(counts.precision().value());
        place.map_or(String::new(), |(recall, precision)| {
            mark(style, self.x(recall), self.y(precision))
        })
    }
}

/// Numbers on an axis from `least`, in tenths, to 1: at most six steps.
fn ticks(least: f64) -> Vec<f64> {
    let hundredths = 100 - (100.0 * least).round() as u32;
    let step = [2, 5, 10, 20]
        .into_iter()
        .find(|step| hundredths / step <= 6)
        .unwrap_or(20);
    let downwards = (0..=hundredths / step).map(|number| f64::from(100 - number * step) / 100.0);
    downwards.collect()
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
fn numbers(drawn: &[(usize, &MethodResult)]) -> String {
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
