//! The page as HTML.

use super::contents::EvaluationPage;
use super::{agreement, curves, histograms, methods, mistakes};
use crate::evaluation::screen::best;
use crate::html::{Assets, HtmlPage, Section, escape};
use crate::number;

pub(super) const ASSETS: Assets = Assets {
    style: concat!(
        include_str!("../../html/style.css"),
        include_str!("style.css")
    ),
    style_hash: "gEyctOFutoKhvPr3GnZysu5kK1gK1UFpyMJwEkdGSko=",
    script: Some((
        include_str!("sort.js"),
        "cSw/6kp0CZEsXZUlS5sOz/tVKCIK7rTXUY3VDxSuIE0=",
    )),
};

impl EvaluationPage<'_> {
    /// The page in UTF-8. Deterministic.
    pub fn html(&self) -> Vec<u8> {
        let section = |id, name, body| Section { id, name, body };
        let page = HtmlPage {
            title: self.title,
            assets: ASSETS,
            lead: &self.lead(),
            facts: self.facts,
            sections: &[
                section("methods", "Methods", methods::section(self)),
                section("classes", "Found, by class", methods::classes(self)),
                section("curves", "Precision and recall", curves::section(self)),
                section("scores", "Scores", histograms::section(self)),
                section("agreement", "Agreement", agreement::section(self)),
                section("mistakes", "Worst mistakes", mistakes::section(self)),
            ],
            notes: &self.notes(),
        };
        page.html()
    }

    fn lead(&self) -> String {
        let classes = self
            .evaluation
            .classes
            .iter()
            .zip(&self.evaluation.class_sizes);
        let sum = |near: bool| -> u64 {
            let of = classes.clone().filter(|(class, _)| class.is_near == near);
            of.map(|(_, &size)| size).sum()
        };
        let count = self.evaluation.methods.len();
        let methods = if count == 1 { "method" } else { "methods" };
        let mut lead = format!(
            "<p class=\"lead\">{count} {methods}, judged by <b>{}</b> pairs that are near and \
             <b>{}</b> that are not.",
            number::count(sum(true)),
            number::count(sum(false)),
        );
        if !self.evaluation.measures_precision {
            lead += " No pair is known that should not be found, so precision and F1 mean nothing.";
        } else if let Some(best) = best(self.evaluation).filter(|_| count > 1) {
            let best = &self.evaluation.methods[best];
            lead += &format!(
                " The largest F1 is <b>{}</b>, of <b>{}</b>.",
                number::share(best.counts.f1()),
                escape(&best.name),
            );
        }
        lead + "</p>\n"
    }

    fn notes(&self) -> String {
        let draws = match self.evaluation.settings.draws {
            0 => String::new(),
            draws => format!(
                " Those of F1 come from drawing groups of documents again, {draws} times with seed {}.",
                self.evaluation.settings.seed
            ),
        };
        format!(
            "<p>Small numbers are 95&nbsp;% confidence intervals: Wilson&rsquo;s for shares.{draws} \
             p values are those of McNemar&rsquo;s exact test, not corrected for the number of \
             comparisons. Pairs of which it is not known whether they are near count nowhere.</p>"
        )
    }
}
