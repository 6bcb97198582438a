//! `items.jsonl`: what was found of each reference item.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde::Serialize;

use super::reports::{PassageReports, write_line};
use crate::Result;
use crate::passages::decisions::item::{ItemRecord, ReferenceTotals};
use crate::passages::first_reading::documents::{PassageRow, PassageTable};
use crate::passages::search::PassageSearch;
use crate::table::rows::RowCursor;
use simtool_engine::documents::name_of;
use simtool_files::RecordFile;
use simtool_report::json_lines::{At, base64_if_needed};

/// A line of the list.
#[derive(Serialize)]
struct ItemLine<'a> {
    #[serde(flatten)]
    item: PlacedDocument<'a>,
    words: u32,
    ngrams: u32,
    found: u32,
    share: f64,
    ignored: u32,
    too_short: bool,
    edited: bool,
    documents: u32,
    best: Option<Best<'a>>,
}

/// A document and its place.
#[derive(Serialize)]
struct PlacedDocument<'a> {
    id: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_base64: Option<String>,
    #[serde(flatten)]
    at: At<'a>,
}

/// The document that has most of an item.
#[derive(Serialize)]
struct Best<'a> {
    #[serde(flatten)]
    document: PlacedDocument<'a>,
    found: u32,
    share: f64,
    text_start: u32,
    text_end: u32,
}

/// All items, sorted by the share that was found, then by input order.
///
/// # Errors
/// Errors of reading.
pub fn by_share(items: &RecordFile<ItemRecord>) -> Result<Vec<ItemRecord>> {
    let mut all = Vec::new();
    let count = usize::try_from(items.len()).unwrap_or(usize::MAX);
    items.read(0, count, &mut all)?;
    all.sort_by(|a: &ItemRecord, b| order(a, b).then(a.document.cmp(&b.document)));
    Ok(all)
}

/// The larger share first; exactly.
fn order(a: &ItemRecord, b: &ItemRecord) -> Ordering {
    let product = |found: u32, grams: u32| u64::from(found) * u64::from(grams.max(1));
    product(b.found, a.grams).cmp(&product(a.found, b.grams))
}

/// The totals of each of the first `references` files.
///
/// # Errors
/// Errors of reading.
pub fn by_reference(
    items: &RecordFile<ItemRecord>,
    table: &PassageTable,
    references: usize,
) -> Result<Vec<ReferenceTotals>> {
    let mut totals = vec![ReferenceTotals::default(); references];
    let mut rows = RowCursor::new(&table.rows);
    items.for_each_block(1 << 12, |_, items| {
        for item in items {
            let row: PassageRow = rows.get(item.document.into())?;
            if let Some(totals) = totals.get_mut(row.place.source as usize) {
                totals.items += 1;
                totals.found += u64::from(item.found > 0);
                totals.too_short += u64::from(item.is_too_short());
            }
        }
        Ok(())
    })?;
    Ok(totals)
}

/// Writes the list of reference items.
///
/// # Errors
/// Errors of reading and writing; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub fn write_items<S: PassageSearch>(
    reports: &PassageReports<'_, S>,
    items: &[ItemRecord],
) -> Result<()> {
    let mut file = reports.outputs.create(&reports.out.join(S::NAMES.list))?;
    for item in items {
        reports.progress.check()?;
        let (id, row, name) = document(reports, item.document)?;
        let best = match item.best_found {
            0 => None,
            _ => Some(document(reports, item.best)?),
        };
        let best = best.as_ref().map(|(id, row, name)| Best {
            document: named(id, row, name),
            found: item.best_found,
            share: f64::from(item.best_found) / f64::from(item.grams.max(1)),
            text_start: item.best_start,
            text_end: item.best_end,
        });
        let line = ItemLine {
            item: named(&id, &row, &name),
            words: item.words,
            ngrams: item.grams,
            found: item.found,
            share: item.share(),
            ignored: item.ignored,
            too_short: item.is_too_short(),
            edited: item.is_edited > 0,
            documents: item.documents,
            best,
        };
        write_line(&mut file, &line)?;
    }
    file.publish()
}

/// The id, the row and the file of a document.
fn document<'a, S>(
    reports: &PassageReports<'a, S>,
    number: u32,
) -> Result<(Vec<u8>, PassageRow, Cow<'a, str>)> {
    let mut cursor = reports.table.cursor();
    let row = cursor.row(number)?;
    Ok((
        cursor.label(&row)?.id,
        row,
        name_of(reports.sources, row.place)?,
    ))
}

fn named<'a>(id: &'a [u8], row: &PassageRow, name: &'a str) -> PlacedDocument<'a> {
    PlacedDocument {
        id: String::from_utf8_lossy(id),
        id_base64: base64_if_needed(id),
        at: At::new(name, row.place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    #[test]
    fn shares_are_compared_exactly() {
        let item = |found, grams| ItemRecord {
            found,
            grams,
            ..ItemRecord::zeroed()
        };
        assert_eq!(order(&item(1, 2), &item(1, 3)), Ordering::Less);
        assert_eq!(order(&item(2, 4), &item(1, 2)), Ordering::Equal);
        assert_eq!(order(&item(0, 0), &item(0, 9)), Ordering::Equal);
        assert_eq!(order(&item(0, 0), &item(1, u32::MAX)), Ordering::Greater);
        assert_eq!(
            order(&item(u32::MAX - 1, u32::MAX), &item(u32::MAX, u32::MAX)),
            Ordering::Greater
        );
    }
}
