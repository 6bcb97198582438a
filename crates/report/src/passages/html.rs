//! The page as HTML.

use super::contents::{ItemRow, Items, PassageRow, PassageTotals, PassagesPage, WorstDocument};
use crate::dedup::{ASSETS, shortened};
use crate::html::{
    self, BarChart, Cell, HtmlPage, Section, Side, Tick, beginning, beginning_bytes, capital,
    difference, difference_but_case, difference_bytes, escape, meter, table,
};
use crate::number;
use crate::places::{Place, Places};

/// The most bytes shown of each text of a document, without the equal parts that are left out.
const LONGEST_TEXT: usize = 2000;
/// The maximum number of bytes that the page needs of such a text.
pub const TEXT_BYTES: usize = difference_bytes(LONGEST_TEXT);
/// The maximum number of bytes shown of a passage.
const LONGEST_PASSAGE: usize = 300;
/// The maximum number of bytes that the page needs of a passage.
pub const PASSAGE_BYTES: usize = beginning_bytes(LONGEST_PASSAGE);
/// The number of documents that are shown without a click.
const OPEN: usize = 3;

impl PassagesPage {
    /// The page in UTF-8. Deterministic.
    pub fn html(&self) -> Vec<u8> {
        let section = |id, name, body| Section { id, name, body };
        let ([_, many], found) = (self.noun, self.found);
        let listed = match self.items {
            None => format!("the most frequent {many}"),
            Some(_) => "what was found of each item".to_owned(),
        };
        let notes = format!(
            "<p>The reports beside this page: <code>spans.jsonl</code> has the {found} \
             ranges of each document, <code>{}</code> {listed}, <code>skipped.jsonl</code> what could \
             not be read, <code>summary.json</code> the counts and settings.</p>",
            self.list
        );
        let page = HtmlPage {
            title: &format!("{} {many}", capital(found)),
            assets: ASSETS,
            lead: &self.lead(),
            facts: &self.facts,
            sections: &[
                section("totals", "Totals", self.outcome()),
                section("sources", "By source", self.by_source()),
                section("shares", "By share", self.by_share()),
                section("units", "Most frequent", self.passages_table()),
                section("references", "By reference", self.by_reference()),
                section("items", "Items", self.most_found()),
                section("documents", "Documents", self.worst_documents()),
                section("warnings", "Warnings", self.warnings()),
            ],
            notes: &notes,
        };
        page.html()
    }

    fn lead(&self) -> String {
        let [different, occurrences] = self.removed.map(number::count);
        let totals = &self.totals;
        let [seen, ..] = totals.documents;
        let [_, many] = self.noun;
        let found = match self.units {
            Some(all) => format!(
                "<b>{occurrences}</b> of <b>{}</b> {many} are repetitions of {different} different \
                 ones",
                number::count(all)
            ),
            None if self.items.is_some() => {
                format!("<b>{occurrences}</b> ranges have parts of <b>{different}</b> items")
            }
            None => format!("<b>{occurrences}</b> {many} repeat {different} different ones"),
        };
        format!(
            "<p class=\"lead\">{found}: {} of text in {} of {} documents. Action: {}.</p>\n",
            number::size(totals.repeated_bytes),
            number::count(totals.changed),
            number::count(seen),
            escape(&self.action),
        )
    }

    fn outcome(&self) -> String {
        let PassageTotals {
            documents, bytes, ..
        } = self.totals;
        let names = [("Kept", "near"), ("Dropped", "far"), ("Skipped", "far")];
        let rows = names.iter().zip(documents.iter().zip(bytes).skip(1));
        let rows: Vec<Vec<Cell>> = rows
            .map(|((name, kind), (documents_part, bytes_part))| {
                vec![
                    Cell::new((*name).to_owned(), None),
                    part(*documents_part, documents[0], kind, number::count),
                    part(bytes_part, bytes[0], kind, number::size),
                ]
            })
            .collect();
        let header = ["Outcome", "Documents", "Text"].map(str::to_owned);
        table("Documents and text of the input", &header, &rows, false)
    }

    fn by_source(&self) -> String {
        if self.sources.rows.is_empty() {
            return String::new();
        }
        let [one, _] = self.sources.noun();
        let rows = self.sources.rows.iter().map(|row| {
            let [seen, ..] = row.totals.documents;
            let [seen_bytes, ..] = row.totals.bytes;
            vec![
                place_cell(row),
                part(row.totals.changed, seen, "far", number::count),
                part(row.totals.repeated_bytes, seen_bytes, "far", number::size),
            ]
        });
        let rows: Vec<Vec<Cell>> = rows.collect();
        let text = format!("{} text", capital(self.found));
        let header = [&capital(one), "Documents", &text].map(str::to_owned);
        let label = format!("{} {} by {one}", capital(self.found), self.noun[1]);
        table(&label, &header, &rows, false) + &others(&self.sources)
    }

    fn by_share(&self) -> String {
        let Some((without, bins)) = self.shares.split_first() else {
            return String::new();
        };
        let bins: Vec<[u64; 2]> = bins.iter().map(|count| [*count, 0]).collect();
        if bins.iter().all(|[count, _]| *count == 0) {
            return String::new();
        }
        let all = bins.last().map_or(0, |[count, _]| *count);
        let found = self.found;
        let width = bins.len() as f64;
        let tick = |at: f64, label: &str, class| Tick {
            at: at / width,
            label: label.to_owned(),
            class,
        };
        let chart = BarChart {
            id: "share",
            name: &format!("Documents by the share of their text that is {found}"),
            description: "A bar for each tenth above 0, and one for documents with nothing else",
            bins: &bins,
            has_two_sides: false,
            ticks: &[
                tick(0.0, "0", "first"),
                tick(5.0, "50 %", ""),
                tick(width, "all", "last"),
            ],
            axis: "share of the text",
            threshold: None,
        };
        format!(
            "<p>{} documents have no {found} {}, and {} have nothing else.</p>\n\
             <figure class=\"card chart\"><figcaption>Documents by the share of their text that is \
             {found}</figcaption>\n{}</figure>\n",
            number::count(*without),
            self.noun[0],
            number::count(all),
            chart.svg()
        )
    }

    fn passages_table(&self) -> String {
        if self.most_frequent.is_empty() {
            return String::new();
        }
        let [bytes, ..] = self.totals.bytes;
        let rows = self.most_frequent.iter().map(|unit| {
            let PassageRow {
                counts: [count, removed],
                places: [documents, sites],
                ..
            } = unit;
            let mut small = format!(
                "{} {}; in {}",
                number::count(*removed),
                self.done,
                self::documents(*documents)
            );
            if *sites > 0 {
                small += &format!(" of {} sites", number::count(*sites));
            }
            vec![
                Cell::new(
                    format!(
                        "<div class=\"text\">{}</div>",
                        beginning(&unit.text, LONGEST_PASSAGE)
                    ),
                    None,
                ),
                Cell::number(number::count(*count), &small, None),
                part(unit.bytes, bytes, "far", number::size),
            ]
        });
        let rows: Vec<Vec<Cell>> = rows.collect();
        let [one, many] = self.noun;
        let header = [&capital(one), "Occurrences", "Text"].map(str::to_owned);
        table(&format!("The most frequent {many}"), &header, &rows, false)
    }

    fn by_reference(&self) -> String {
        let Some(Items { files, .. }) = &self.items else {
            return String::new();
        };
        let rows = files.rows.iter().map(|row| {
            let [items, found, short] = row.totals;
            vec![
                place_cell(row),
                part(found, items, "far", number::count),
                part(short, items, "near", number::count),
            ]
        });
        let rows: Vec<Vec<Cell>> = rows.collect();
        let header = ["Reference", "Found items", "Too short"].map(str::to_owned);
        table("Items by reference file", &header, &rows, false) + &others(files)
    }

    fn most_found(&self) -> String {
        let rows = self.items.iter().flat_map(|items| &items.rows);
        let rows = rows.enumerate().map(|(place, row)| {
            let open = if place < OPEN { " open" } else { "" };
            let (what, body) = hit(row);
            format!(
                "<details class=\"removal\"{open}><summary>{what}</summary>\n{body}</details>\n"
            )
        });
        let rows: String = rows.collect();
        match rows.is_empty() {
            true => rows,
            false => format!(
                "<p>The items of which most was found, each beside the stretch of the document that \
                 has most of it. <del>Struck through</del> is what only the item has, <ins>marked</ins> \
                 what only the document has; case does not count.</p>\n{rows}"
            ),
        }
    }

    fn worst_documents(&self) -> String {
        if self.worst.is_empty() {
            return String::new();
        }
        let found = self.found;
        let documents = self.worst.iter().enumerate().map(|(place, document)| {
            let open = if place < OPEN { " open" } else { "" };
            let (what, body) = shown(document, self.found);
            format!(
                "<details class=\"removal\"{open}><summary>{what}</summary>\n{body}</details>\n"
            )
        });
        format!(
            "<p>The documents with the most {found} bytes, as they are and without {found} {}. \
             <del>Struck through</del> is what goes.</p>\n{}",
            self.noun[1],
            documents.collect::<String>()
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

/// The name of a place.
fn place_cell<T>(place: &Place<T>) -> Cell {
    let name = format!("<bdi>{}</bdi>", shortened(&place.name));
    Cell::number(name, &place.note(), None)
}

/// The number of places that are not shown; nothing if there are none.
fn others<T>(places: &Places<T>) -> String {
    let [one, many] = places.noun();
    match places.others {
        0 => String::new(),
        1 => format!("<p>And another {one}.</p>\n"),
        others => format!("<p>And {} other {many}.</p>\n", number::count(others)),
    }
}

/// A number of documents.
fn documents(count: u64) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} document{plural}", number::count(count))
}

fn shown(document: &WorstDocument, found: &str) -> (String, String) {
    let [bytes, repeated] = document.bytes;
    let name = format!("<bdi>{}</bdi>", shortened(&document.id));
    let what = format!(
        "{} {found} <small>{name}</small>",
        escape(&number::percent(repeated, bytes))
    );
    let detail = format!("{} of {}", number::size(repeated), number::size(bytes));
    let [before, after] = difference([&document.text, &document.rest], LONGEST_TEXT);
    let side = |label: &str, text: String| Side {
        name: format!("<span class=\"badge\">{label}</span> {name}"),
        text,
    };
    let sides = [side("as it is", before), side("without", after)];
    (what, html::pair(&detail, &sides))
}

/// An item beside the document that has most of it.
fn hit(row: &ItemRow) -> (String, String) {
    let [grams, found] = row.grams;
    let [item, document] = row
        .ids
        .each_ref()
        .map(|id| format!("<bdi>{}</bdi>", shortened(id)));
    let what = format!(
        "{} of the n-grams found <small>{item}</small>",
        escape(&number::percent(found, grams)),
    );
    let detail = format!(
        "{} of {} n-grams{}; in {}",
        number::count(found),
        number::count(grams),
        match row.is_edited {
            true => ", edited",
            false => "",
        },
        documents(row.documents)
    );
    let [first, second] = difference_but_case([&row.texts[0], &row.texts[1]], LONGEST_TEXT);
    let side = |label: &str, name: &str, text: String| Side {
        name: format!("<span class=\"badge\">{label}</span> {name}"),
        text,
    };
    let sides = [
        side("item", &item, first),
        side("document", &document, second),
    ];
    (what, html::pair(&detail, &sides))
}

/// `part` of `whole`, with a bar.
fn part(part: u64, whole: u64, kind: &str, show: fn(u64) -> String) -> Cell {
    if whole == 0 {
        return Cell::new(number::NONE.to_owned(), None);
    }
    let small = format!(
        "{} of {}",
        escape(&number::percent(part, whole)),
        show(whole)
    );
    meter(&show(part), part as f64 / whole as f64, kind, &small)
}
