//! Similarities of dropped documents, and the least similar ones side by side with the kept ones.

use super::document::{name, title};
use crate::dedup::{ComparedPair, DedupPage, ShownDocument, ShownText, Similarities};
use crate::html::{self, BarChart, Cell, Side, Tick, difference, difference_bytes, escape, table};
use crate::number;

/// The most bytes shown of each text of a pair, without the equal parts that are left out.
const LONGEST_TEXT: usize = 2000;
/// The maximum number of bytes that the page needs of such a text.
pub const PAIR_BYTES: usize = difference_bytes(LONGEST_TEXT);
/// The number of pairs that are shown without a click.
const OPEN: usize = 3;

/// The chart of similarities, and the least similar removals; empty if nothing was dropped.
pub(super) fn section(page: &DedupPage) -> String {
    if page.totals.dropped == 0 {
        return String::new();
    }
    let mut html = chart(&page.similarities, page.is_containment);
    if !page.least_similar.is_empty() {
        html += "<h3>Least similar removals</h3>\n<p>The dropped documents that share the least \
                 with the kept ones; at most three of a cluster, and none with the same \
                 similarity as another of its cluster. ";
        html += MARKS;
        html += "</p>\n";
        html += &pairs(
            &page.least_similar,
            ["kept", "dropped"],
            page.is_containment,
        );
    }
    html
}

/// What the marks mean.
pub(super) const MARKS: &str = "<del>Struck through</del> is what only the first text has, \
                                <ins>underlined</ins> what only the second one has.";

/// Pairs side by side; `labels` are those of the earlier and of the later document.
pub(super) fn pairs(pairs: &[ComparedPair], labels: [&str; 2], is_containment: bool) -> String {
    let html = pairs.iter().enumerate().map(|(place, pair)| {
        let open = if place < OPEN { " open" } else { "" };
        let (what, body) = shown(pair, labels, is_containment);
        format!("<details class=\"removal\"{open}><summary>{what}</summary>\n{body}</details>\n")
    });
    html.collect()
}

fn shown(pair: &ComparedPair, labels: [&str; 2], is_containment: bool) -> (String, String) {
    let [shared, all] = pair.verified;
    let similarity = thousandths(pair.verified);
    let kind = if pair.is_estimated { "estimated " } else { "" };
    let what = format!(
        "{kind}similarity {similarity} <small>{}</small>",
        title(&pair.document)
    );
    let shares = match pair.is_estimated {
        true => "estimated from the signatures of the index".to_owned(),
        false => {
            let [shared, all] = [shared, all].map(|count| number::count(count.into()));
            match is_containment {
                true => {
                    let [earlier, later] = labels;
                    format!(
                        "{shared} of {all} shingles of the {later} document are in the {earlier} one"
                    )
                }
                false => format!("{shared} of {all} shingles shared"),
            }
        }
    };
    let detail = format!("{shares}; {}", escape(&pair.found));
    let documents = [&pair.kept, &pair.document];
    let [first, second] = match documents.map(|document| &document.text) {
        [ShownText::Known(a), ShownText::Known(b)] => difference([a, b], LONGEST_TEXT),
        texts => texts.map(|text| match text {
            ShownText::Known(text) => html::beginning(text, LONGEST_TEXT),
            ShownText::Unknown(why) => format!("<span class=\"skipped\">{why}</span>"),
        }),
    };
    let side = |label: &str, document: &ShownDocument, text: String| Side {
        name: format!("<span class=\"badge\">{label}</span> {}", name(document)),
        text,
    };
    let sides = [
        side(labels[0], &pair.kept, first),
        side(labels[1], &pair.document, second),
    ];
    (what, html::pair(&detail, &sides))
}

fn chart(similarities: &Similarities, is_containment: bool) -> String {
    let Similarities {
        equal,
        same_url,
        estimated,
        unknown,
        alone,
        few_sources,
        ..
    } = *similarities;
    let compared = similarities.compared();
    let mut sentences = Vec::new();
    if compared > 0 {
        let share = match is_containment {
            true => "those of the dropped document that the kept one has",
            false => "all shingles of both",
        };
        sentences.push(format!(
            "{} dropped documents share some of their shingles with the kept ones (runs of words; \
             similarity is the share of {share})",
            number::count(compared)
        ));
    }
    if estimated > 0 {
        sentences.push(format!(
            "The similarity of {} of them is estimated from the signatures of the index",
            number::count(estimated)
        ));
    }
    if equal > 0 {
        let equal = number::count(equal);
        sentences.push(format!("{equal} have the same text or the same words"));
    }
    if same_url > 0 {
        let same_url = number::count(same_url);
        sentences.push(format!("{same_url} have the same URL as a newer document"));
    }
    if unknown > 0 {
        let unknown = number::count(unknown);
        sentences.push(format!("{unknown} were not compared shingle by shingle"));
    }
    if alone > 0 {
        let alone = number::count(alone);
        sentences.push(format!("{alone} would be kept if the run kept a copy"));
    }
    if few_sources > 0 {
        let few_sources = number::count(few_sources);
        sentences.push(format!(
            "{few_sources} would be kept if their clusters came from more sources"
        ));
    }
    let sentences = format!("<p>{}.</p>\n", sentences.join(". "));
    if compared == 0 {
        return sentences;
    }
    let drawn = similarities.drawn();
    let bins: Vec<[u64; 2]> = drawn.bins.iter().map(|&count| [count, 0]).collect();
    let share = |hundredth: f64| (hundredth - drawn.from as f64) / (100 - drawn.from) as f64;
    let step = if drawn.from >= 70 { 5 } else { 10 };
    let ticks = (drawn.from..=100).filter(|at| at.is_multiple_of(step));
    let ticks: Vec<Tick> = ticks
        .map(|at| Tick {
            at: share(at as f64),
            label: hundredths(at),
            class: match at {
                100 => "last",
                at if at == drawn.from => "first",
                _ => "",
            },
        })
        .collect();
    let range = |bin: usize| {
        let from = drawn.from + bin * drawn.width;
        let to = from + drawn.width;
        format!("{} to {}", hundredths(from), hundredths(to))
    };
    let filled = || (0..).zip(&drawn.bins).filter(|(_, count)| **count > 0);
    let parts = filled().map(|(bin, count)| format!("{} of {}", number::count(*count), range(bin)));
    let described = format!(
        "Dropped documents by similarity: {}",
        parts.collect::<Vec<_>>().join(", ")
    );
    let threshold = similarities.threshold;
    let chart = BarChart {
        id: "similarities",
        name: "Similarities of dropped documents",
        description: &described,
        bins: &bins,
        has_two_sides: false,
        ticks: &ticks,
        axis: "similarity",
        threshold: threshold.map(|thousandths| share(f64::from(thousandths) / 10.0)),
    };
    let rows = filled().map(|(bin, count)| {
        vec![
            Cell::new(range(bin), None),
            Cell::new(number::count(*count), None),
        ]
    });
    let header = ["Similarity", "Dropped documents"].map(str::to_owned);
    let rows: Vec<Vec<Cell>> = rows.collect();
    let numbers = table("Dropped documents by similarity", &header, &rows, false);
    let line = match threshold {
        Some(_) => "<p><small>The dashed line is the least similarity of duplicates.</small></p>\n",
        None => "",
    };
    format!(
        "{sentences}<figure class=\"card chart\"><figcaption>Similarities of dropped documents\
         </figcaption>\n{}{line}<details><summary>Numbers</summary>{numbers}</details></figure>\n",
        chart.svg()
    )
}

/// A share with three decimal places, rounded down: a refused pair is never shown with the least
/// similarity of duplicates.
pub(super) fn thousandths([shared, all]: [u32; 2]) -> String {
    let thousandths = (1000 * u64::from(shared)).checked_div(u64::from(all));
    thousandths.map_or(number::NONE.to_owned(), |thousandths| {
        format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
    })
}

/// Hundredths as a decimal number.
fn hundredths(number: usize) -> String {
    (number as f64 / 100.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarities_are_rounded_down() {
        let shares = [
            [567, 709],
            [4, 5],
            [1, 1],
            [0, 7],
            [u32::MAX - 1, u32::MAX],
            [0, 0],
        ];
        let expected = ["0.799", "0.800", "1.000", "0.000", "0.999", "–"];
        assert_eq!(shares.map(thousandths), expected);
    }
}
