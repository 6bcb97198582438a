//! Plots of histograms of scores.

use super::contents::Page;
use super::escape::escape;
use super::table::{Cell, table};
use crate::evaluate::{Histogram, MethodResult, Scale};
use crate::report::evaluation::number;
use crate::sketch::Score;

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 176.0;
const LEFT: f64 = 6.0;
const RIGHT: f64 = 334.0;
/// The vertical position of the axis, from which bars extend upwards and downwards.
const MIDDLE: f64 = 80.0;
/// The length of the longest bar.
const LONGEST: f64 = 66.0;

/// A plot for each method with scores.
pub(super) fn section(page: &Page<'_>) -> String {
    let methods = page.evaluation.methods.iter().enumerate();
    let figures: String = methods
        .filter_map(|(place, method)| Some(figure(place, method, method.histogram.as_ref()?)))
        .collect();
    if figures.is_empty() {
        return String::new();
    }
    format!(
        "<p>The distribution of the scores of pairs. Bars upwards are near pairs, bars downwards are pairs that are not near, each side on its own scale. The dashed line is the threshold. Bars have a minimum height, so that even a single pair is visible.</p>\n\
         <p class=\"sides\"><span class=\"near\">▲ near</span> <span class=\"far\">▼ not near</span></p>\n\
         <div class=\"cards\">\n{figures}</div>\n"
    )
}

fn figure(place: usize, method: &MethodResult, histogram: &Histogram) -> String {
    let name = escape(&method.name);
    let kind = match histogram.scale {
        Scale::Distance { .. } => "differing bits",
        Scale::Fraction { .. } => "similarity",
    };
    let without_score = histogram.without_score[0] + histogram.without_score[1];
    let without_score = match without_score {
        0 => String::new(),
        _ => format!(" {} pairs have no score.", number::count(without_score)),
    };
    let described = format!(
        "By {kind}. {}. {}.{without_score}",
        extent("Near pairs", histogram, 0),
        extent("Pairs that are not near", histogram, 1)
    );
    let described = escape(&described);
    format!(
        "<figure class=\"card\"><figcaption><bdi>{name}</bdi></figcaption>\n\
         <svg role=\"img\" aria-labelledby=\"h{place}-t h{place}-d\" viewBox=\"0 0 {WIDTH} {HEIGHT}\">\
         <title id=\"h{place}-t\">Scores of {name}</title><desc id=\"h{place}-d\">{described}</desc>\n\
         {}{}{}</svg>\n<p><small>{described}</small></p>\n\
         <details><summary>Numbers</summary>{}</details></figure>\n",
        bars(histogram),
        axis(histogram, kind),
        threshold(histogram, method.threshold),
        numbers(&method.name, histogram),
    )
}

fn edge(histogram: &Histogram, bin: usize) -> f64 {
    LEFT + (RIGHT - LEFT) * bin as f64 / histogram.bins.len() as f64
}

/// Bars of both sides, each with its own scale.
fn bars(histogram: &Histogram) -> String {
    let mut html = String::new();
    for (side, class) in ["near", "far"].into_iter().enumerate() {
        let most = histogram
            .bins
            .iter()
            .map(|bin| bin[side])
            .max()
            .unwrap_or(0);
        let mut path = String::new();
        for (bin, counts) in histogram.bins.iter().enumerate() {
            if counts[side] == 0 {
                continue;
            }
            let (from, to) = (edge(histogram, bin), edge(histogram, bin + 1));
            let gap = if to - from > 4.0 { 0.75 } else { 0.0 };
            let length = (LONGEST * counts[side] as f64 / most as f64).max(1.5);
            let (start, end) = match side {
                0 => (MIDDLE - 0.5, -length),
                _ => (MIDDLE + 0.5, length),
            };
            path += &format!(
                "M{:.1} {start}v{end:.1}h{:.1}v{:.1}z",
                from + gap,
                to - from - 2.0 * gap,
                -end
            );
        }
        html += &format!("<path class=\"{class}\" d=\"{path}\"/>");
    }
    html
}

fn axis(histogram: &Histogram, kind: &str) -> String {
    let below = MIDDLE + LONGEST + 14.0;
    let mut html =
        format!("<path class=\"axis\" d=\"M{LEFT} {MIDDLE}H{RIGHT}\"/><g class=\"ticks\">");
    let count = histogram.bins.len();
    match histogram.scale {
        Scale::Fraction { .. } => {
            for (tick, class) in [
                (0.0, "first"),
                (0.25, ""),
                (0.5, ""),
                (0.75, ""),
                (1.0, "last"),
            ] {
                let x = LEFT + (RIGHT - LEFT) * tick;
                html +=
                    &format!("<text x=\"{x:.1}\" y=\"{below}\" class=\"{class}\">{tick}</text>");
            }
        }
        Scale::Distance { width } => {
            // At most eight numbers, centred on their bars.
            let step = [1, 2, 5, 10, 20, 50, 100]
                .into_iter()
                .find(|step| count / step <= 7);
            for bin in (0..count).step_by(step.unwrap_or(count.max(1))) {
                let x = (edge(histogram, bin) + edge(histogram, bin + 1)) / 2.0;
                let from = bin as u64 * u64::from(width);
                html += &format!("<text x=\"{x:.1}\" y=\"{below}\">{from}</text>");
            }
        }
    }
    let x = (LEFT + RIGHT) / 2.0;
    html + &format!(
        "<text x=\"{x}\" y=\"{}\" class=\"name\">{kind}</text></g>",
        below + 14.0
    )
}

/// A vertical line at the threshold: after the last accepted distance, or at the fraction.
fn threshold(histogram: &Histogram, threshold: Option<Score>) -> String {
    threshold.map_or(String::new(), |score| {
        let bin = match (histogram.scale, score) {
            (Scale::Distance { width }, Score::Distance(bits)) => {
                (f64::from(bits) + 1.0) / f64::from(width)
            }
            (Scale::Fraction { bins }, Score::Fraction(numerator, denominator)) => {
                f64::from(bins) * numerator as f64 / denominator.max(1) as f64
            }
            _ => 0.0,
        };
        let share = (bin / histogram.bins.len() as f64).min(1.0);
        let x = LEFT + (RIGHT - LEFT) * share;
        let end = MIDDLE + LONGEST;
        format!("<path class=\"threshold\" d=\"M{x:.1} 4V{end}\"/>")
    })
}

/// `Near pairs: 332, from 0 to 21, most frequent: 2`.
fn extent(what: &str, histogram: &Histogram, side: usize) -> String {
    let bins = || {
        histogram
            .bins
            .iter()
            .enumerate()
            .filter(|(_, bin)| bin[side] > 0)
    };
    let (Some((first, _)), Some((last, _))) = (bins().next(), bins().next_back()) else {
        return format!("{what}: none with a score");
    };
    let total: u64 = bins().map(|(_, bin)| bin[side]).sum();
    let most = bins().fold((0, 0), |most, (place, bin)| {
        if bin[side] > most.1 {
            (place, bin[side])
        } else {
            most
        }
    });
    let [first, last, most] = [first, last, most.0].map(|bin| histogram.scale.label(bin));
    let from = first.split(" to ").next().unwrap_or_default().to_owned();
    let to = last.split(" to ").last().unwrap_or_default().to_owned();
    format!(
        "{what}: {}, from {from} to {to}, most frequent: {most}",
        number::count(total)
    )
}

fn numbers(name: &str, histogram: &Histogram) -> String {
    let header = ["Score", "Near", "Not near"].map(str::to_owned);
    let bins = histogram
        .bins
        .iter()
        .enumerate()
        .filter(|(_, bin)| **bin != [0, 0]);
    let rows = bins.map(|(bin, counts)| {
        let cells = counts.map(|count| Cell::new(number::count(count), None));
        [Cell::new(histogram.scale.label(bin), None)]
            .into_iter()
            .chain(cells)
            .collect::<Vec<_>>()
    });
    table(
        &format!("Scores of {name}"),
        &header,
        &rows.collect::<Vec<_>>(),
        false,
    )
}
