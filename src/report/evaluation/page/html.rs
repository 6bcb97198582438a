//! The page as HTML.

use super::contents::Page;
use super::escape::escape;
use super::{agreement, curves, histograms, methods, mistakes};
use crate::report::evaluation::number;
use crate::report::evaluation::screen::best;

pub(super) const STYLE: &str = include_str!("style.css");
pub(super) const SCRIPT: &str = include_str!("sort.js");
/// The SHA-256 of the style in Base64; the page allows no other.
pub(super) const STYLE_HASH: &str = "dLTkcteOkIv1kddgMfbMj/M9G+br3bgnuiJ9hRRnxto=";
/// The SHA-256 of the script in Base64; the page allows no other.
pub(super) const SCRIPT_HASH: &str = "cSw/6kp0CZEsXZUlS5sOz/tVKCIK7rTXUY3VDxSuIE0=";

impl Page<'_> {
    /// The page in UTF-8. Deterministic.
    pub fn html(&self) -> Vec<u8> {
        let title = escape(self.title);
        let sections = [
            ("methods", "Methods", methods::section(self)),
            ("classes", "Found, by class", methods::classes(self)),
            ("curves", "Precision and recall", curves::section(self)),
            ("scores", "Scores", histograms::section(self)),
            ("agreement", "Agreement", agreement::section(self)),
            ("mistakes", "Worst mistakes", mistakes::section(self)),
        ];
        let sections: Vec<_> = sections
            .iter()
            .filter(|(_, _, body)| !body.is_empty())
            .collect();
        let links: String = (sections.iter())
            .map(|(id, name, _)| format!("<li><a href=\"#{id}\">{name}</a></li>"))
            .collect();
        let bodies: String = (sections.iter())
            .map(|(id, name, body)| {
                format!("<section id=\"{id}\" aria-labelledby=\"{id}-h\">\n<h2 id=\"{id}-h\">{name}</h2>\n{body}</section>\n")
            })
            .collect();
        let page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; base-uri 'none'; \
             form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#methods\">Skip to the results</a>\n\
             <header>\n<h1>{title}</h1>\n{lead}{facts}</header>\n\
             <nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n<main>\n{bodies}</main>\n\
             <footer>{notes}</footer>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
            lead = self.lead(),
            facts = self.facts(),
            notes = self.notes(),
        );
        page.into_bytes()
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

    fn facts(&self) -> String {
        if self.facts.is_empty() {
            return String::new();
        }
        let facts = self.facts.iter().map(|(name, value)| {
            format!(
                "<div><dt>{}</dt><dd>{}</dd></div>\n",
                escape(name),
                escape(value)
            )
        });
        format!("<dl class=\"facts\">\n{}</dl>\n", facts.collect::<String>())
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
