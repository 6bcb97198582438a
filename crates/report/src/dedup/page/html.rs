//! The page as HTML.

use super::{clusters, lower, pairs, places, refused, totals};
use crate::dedup::DedupPage;
use crate::html::{Assets, HtmlPage, Section, escape};
use crate::number;

pub(crate) const ASSETS: Assets = Assets {
    style: concat!(
        include_str!("../../html/style.css"),
        include_str!("style.css")
    ),
    style_hash: "gh1etLQkeOp0x+BNawbHQaIww7FLRzsE+IjYDlyJRZo=",
    script: None,
};

impl DedupPage {
    /// The page in UTF-8. Deterministic.
    pub fn html(&self) -> Vec<u8> {
        let section = |id, name, body| Section { id, name, body };
        let page = HtmlPage {
            title: "Deduplication",
            assets: ASSETS,
            lead: &self.lead(),
            facts: &self.facts,
            sections: &[
                section("totals", "Totals", totals::section(self)),
                section("sources", "By source", places::sources(self)),
                section("sites", "By site", places::sites(self)),
                section("clusters", "Clusters", clusters::section(self)),
                section("similarity", "Similarity", pairs::section(self)),
                section("lower", "Lower thresholds", lower::section(self)),
                section("refused", "Refused candidates", refused::section(self)),
                section("warnings", "Warnings", self.warnings()),
            ],
            notes: "<p>The reports beside this page have every document: \
                    <code>duplicates.jsonl</code> each removal with its place and similarity, \
                    <code>clusters.jsonl</code> each cluster, <code>skipped.jsonl</code> what \
                    could not be read, <code>summary.json</code> the counts and settings.</p>",
        };
        page.html()
    }

    fn lead(&self) -> String {
        let totals = self.totals;
        format!(
            "<p class=\"lead\"><b>{}</b> of <b>{}</b> documents were dropped{}, with {} of {} of \
             text.</p>\n",
            number::count(totals.dropped),
            number::count(totals.seen),
            match totals.seen {
                0 => String::new(),
                seen => format!(" ({})", escape(&number::percent(totals.dropped, seen))),
            },
            number::size(totals.dropped_bytes),
            number::size(totals.text_bytes),
        )
    }

    fn warnings(&self) -> String {
        if self.warnings.is_empty() {
            return String::new();
        }
        let items = self.warnings.iter();
        let items: String = items
            .map(|warning| format!("<li><bdi>{}</bdi></li>\n", escape(warning)))
            .collect();
        format!("<ul class=\"warnings\">\n{items}</ul>\n")
    }
}
