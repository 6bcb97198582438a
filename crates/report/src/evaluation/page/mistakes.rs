//! The worst mistakes of each method, with both texts side by side.

use super::contents::EvaluationPage;
use crate::html::{self, Side, difference, escape, escape_bytes};
use crate::number;
use simtool_evaluate::{MethodResult, Mistake};

/// For each method, false hits and misses; empty if there are none.
pub(super) fn section(page: &EvaluationPage<'_>) -> String {
    let methods = page.evaluation.methods.iter();
    let html: String = methods.map(|method| of_method(page, method)).collect();
    if html.is_empty() {
        return html;
    }
    format!(
        "<p>The pairs that are farthest on the wrong side of the threshold. <del>Struck through</del> \
         is what only the first text has, <ins>underlined</ins> what only the second one has.</p>\n{html}"
    )
}

fn of_method(page: &EvaluationPage<'_>, method: &MethodResult) -> String {
    let kinds = [
        (
            "False hits",
            &method.mistakes.false_hits,
            method.counts.false_hits,
        ),
        ("Misses", &method.mistakes.misses, method.counts.misses),
    ];
    let mut html = String::new();
    for (kind, mistakes, all) in kinds {
        if mistakes.is_empty() {
            continue;
        }
        let all = number::count(all);
        html += &format!("<h3>{kind}: {} of {all}</h3>\n", mistakes.len());
        html += &mistakes
            .iter()
            .map(|mistake| pair(page, mistake))
            .collect::<String>();
    }
    if html.is_empty() {
        return html;
    }
    let counts = method.counts;
    format!(
        "<details class=\"method\"><summary><bdi>{}</bdi> <small>{} false hits, {} misses</small></summary>\n\
         {html}</details>\n",
        escape(&method.name),
        number::count(counts.false_hits),
        number::count(counts.misses),
    )
}

fn pair(page: &EvaluationPage<'_>, mistake: &Mistake) -> String {
    let class = escape(&page.evaluation.classes[mistake.class].name);
    let score = mistake.score.map_or("no score".to_owned(), |score| {
        let unit = match score {
            simtool_core::sketch::Score::Distance(_) => "differing bits",
            simtool_core::sketch::Score::Fraction(..) => "similarity",
        };
        format!("{unit} {}", number::score(score))
    });
    let documents = mistake.pair.documents();
    let [a, b] = documents.map(|document| page.documents.get(&document));
    let texts = match (a, b) {
        (Some(a), Some(b)) => difference([&a.text, &b.text], page.longest_text),
        _ => ["", ""].map(|_| "<span class=\"skipped\">text not at hand</span>".to_owned()),
    };
    let [first, second] = texts;
    let side = |place: usize, text: String| {
        let name = match [a, b][place] {
            Some(shown) => escape_bytes(&shown.name),
            None => format!("document {}", documents[place]),
        };
        Side {
            name: format!("<bdi>{name}</bdi>"),
            text,
        }
    };
    html::pair(
        &format!("<b>{class}</b> {score}"),
        &[side(0, first), side(1, second)],
    )
}
