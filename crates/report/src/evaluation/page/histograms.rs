//! Plots of histograms of scores.

use super::contents::EvaluationPage;
use crate::html::{BarChart, Cell, Tick, escape, table};
use crate::number;
use simtool_core::sketch::Score;
use simtool_evaluate::{Histogram, MethodResult, Scale};

/// A plot for each method with scores.
pub(super) fn section(page: &EvaluationPage<'_>) -> String {
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
    let chart = BarChart {
        id: &format!("h{place}"),
        name: &format!("Scores of {}", method.name),
        description: &described,
        bins: &histogram.bins,
        has_two_sides: true,
        ticks: &ticks(histogram),
        axis: kind,
        threshold: method.threshold.map(|score| threshold(histogram, score)),
    };
    format!(
        "<figure class=\"card\"><figcaption><bdi>{}</bdi></figcaption>\n\
         {}<p><small>{}</small></p>\n\
         <details><summary>Numbers</summary>{}</details></figure>\n",
        escape(&method.name),
        chart.svg(),
        escape(&described),
        numbers(&method.name, histogram),
    )
}

fn ticks(histogram: &Histogram) -> Vec<Tick> {
    let count = histogram.bins.len();
    match histogram.scale {
        Scale::Fraction { .. } => Tick::quarters(),
        Scale::Distance { width } => {
            // At most eight numbers, centred on their bars.
            let step = [1, 2, 5, 10, 20, 50, 100]
                .into_iter()
                .find(|step| count / step <= 7);
            let bins = (0..count).step_by(step.unwrap_or(count.max(1)));
            let tick = |bin: usize| Tick {
                at: (bin as f64 + 0.5) / count as f64,
                label: (bin as u64 * u64::from(width)).to_string(),
                class: "",
            };
            bins.map(tick).collect()
        }
    }
}

/// The share of the width at the threshold: after the last accepted distance, or at the fraction.
fn threshold(histogram: &Histogram, threshold: Score) -> f64 {
    let bin = match (histogram.scale, threshold) {
        (Scale::Distance { width }, Score::Distance(bits)) => {
            (f64::from(bits) + 1.0) / f64::from(width)
        }
        (Scale::Fraction { bins }, Score::Fraction(numerator, denominator)) => {
            f64::from(bins) * numerator as f64 / denominator.max(1) as f64
        }
        _ => 0.0,
    };
    bin / histogram.bins.len() as f64
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
