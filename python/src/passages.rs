//! The result of a search for passages in rows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Float64Array, LargeBinaryArray,
    LargeStringArray, StringArray, StringViewArray, UInt64Array,
};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use simtool::Result;
use simtool::corpus::{HtmlText, RawText};
use simtool_cluster::Texts;

use crate::error::exception;
use crate::ids::{IdColumn, RowIds, rows_of};
use crate::index_settings;
use crate::passage_reports::{self, RowFiles, RowItem};
use crate::reports::{self, Kept};
use crate::table::{Table, batch, text_column};

/// A place in a text: in bytes, and in characters.
#[derive(Clone, Copy, Default)]
struct TextPlace {
    bytes: [u64; 2],
    characters: [u64; 2],
}

/// A range that the action concerns.
struct PassageRange {
    row: u64,
    place: TextPlace,
    /// The number of its copies, or of its n-grams.
    count: u64,
    why: Arc<str>,
    words: Option<u64>,
    /// The document and the place that it repeats.
    kept: Option<(Kept, TextPlace)>,
}

/// A passage of the list.
struct ListedPassage {
    first: Kept,
    found: passage_reports::Passage,
}

/// The result of a search for passages in rows: ranges, frequent passages, changed texts and skipped
/// rows.
#[pyclass(module = "simtool_dedup", frozen)]
pub struct PassageRows {
    rows: u64,
    search: passage_reports::Search,
    ranges: Vec<PassageRange>,
    passages: Vec<ListedPassage>,
    items: Vec<RowItem>,
    /// The rows that the action drops, in order.
    dropped: Vec<u64>,
    /// The texts of rows that the action changed.
    changed: HashMap<u64, Vec<u8>>,
    skipped: Vec<(u64, String, String)>,
    ids: RowIds,
}

#[pymethods]
impl PassageRows {
    /// Reads the reports of a command in `out` about the rows in the file `data`, which were compared
    /// with those in the file `others`; changed rows are in the file `changed`.
    #[new]
    #[pyo3(signature = (command, out, data, rows, others = None, changed = None, html = None, ids = None, against = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        command: &str,
        out: PathBuf,
        data: &str,
        rows: u64,
        others: Option<&str>,
        changed: Option<PathBuf>,
        html: Option<&str>,
        ids: Option<IdColumn<'_>>,
        against: Option<IdColumn<'_>>,
    ) -> PyResult<PassageRows> {
        let ids = RowIds::new(ids, against)?;
        let html = index_settings::html(html).map_err(|error| exception(&error))?;
        let read = || -> Result<PassageRows> {
            let search = passage_reports::search(command)?;
            let files = RowFiles { data, others };
            let (mut ranges, mut dropped) = ranges(&out.join("spans.jsonl"), &files)?;
            dropped.sort_unstable();
            count_characters(&mut ranges, &files, html)?;
            let (mut passages, mut items) = (Vec::new(), Vec::new());
            let list = out.join(search.list);
            match search.has_items {
                true => passage_reports::row_items(&list, &files, |item| items.push(item))?,
                false => passage_reports::row_passages(&list, &files, |found, first| {
                    passages.push(ListedPassage { first, found });
                })?,
            }
            let mut skipped = Vec::new();
            reports::row_skips(&out.join("skipped.jsonl"), data, |row, reason, detail| {
                skipped.push((row, reason, detail));
            })?;
            let mut texts = HashMap::new();
            if let Some(path) = changed {
                let mut wanted: Vec<u64> = ranges.iter().map(|range| range.row).collect();
                wanted.dedup();
                passage_reports::row_texts(&path, |row, text| {
                    if let (Ok(_), Some(text)) = (wanted.binary_search(&row), text) {
                        texts.insert(row, text.to_vec());
                    }
                })?;
            }
            Ok(PassageRows {
                rows,
                search,
                ranges,
                passages,
                items,
                dropped,
                changed: texts,
                skipped,
                ids,
            })
        };
        py.detach(read).map_err(|error| exception(&error))
    }

    /// A byte for each row: 1 if it stays, 0 if it is dropped.
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut mask = vec![1; self.rows as usize];
        self.dropped.iter().for_each(|row| mask[*row as usize] = 0);
        PyBytes::new(py, &mask)
    }

    /// The numbers of ranges, of rows that have some, of dropped and of skipped rows.
    fn counts(&self) -> (usize, usize, usize, usize) {
        let mut rows: Vec<u64> = self.ranges.iter().map(|range| range.row).collect();
        rows.dedup();
        let (dropped, skipped) = (self.dropped.len(), self.skipped.len());
        (self.ranges.len(), rows.len(), dropped, skipped)
    }

    /// The ranges, in order.
    fn ranges(&self) -> PyResult<Table> {
        let own: Vec<Kept> = self
            .ranges
            .iter()
            .map(|range| Kept::Row(range.row))
            .collect();
        let nothing = Kept::Nothing;
        let kept: Vec<&Kept> = self
            .ranges
            .iter()
            .map(|range| range.kept.as_ref().map_or(&nothing, |(kept, _)| kept))
            .collect();
        let whole = |of: &dyn Fn(&PassageRange) -> Option<u64>| -> ArrayRef {
            Arc::new(self.ranges.iter().map(of).collect::<UInt64Array>())
        };
        let from = |of: fn(&TextPlace) -> u64| {
            whole(&|range: &PassageRange| range.kept.as_ref().map(|(_, place)| of(place)))
        };
        // The texts of documents that are no rows are not known.
        let character = |end: usize| {
            whole(&|range: &PassageRange| match range.kept.as_ref()? {
                (Kept::Row(_) | Kept::Against(_), place) => Some(place.characters[end]),
                _ => None,
            })
        };
        let at = |of: fn(&TextPlace) -> u64| whole(&|range: &PassageRange| Some(of(&range.place)));
        let why = self.ranges.iter().map(|range| Some(range.why.to_string()));
        let origin = |name: &str| format!("{}{name}", self.search.origin);
        let columns: [(&str, ArrayRef); 15] = [
            ("id", self.ids.column(own.iter().collect())?),
            ("row", rows_of(own.iter())),
            ("char_start", at(|place| place.characters[0])),
            ("char_end", at(|place| place.characters[1])),
            ("text_start", at(|place| place.bytes[0])),
            ("text_end", at(|place| place.bytes[1])),
            (self.search.count, whole(&|range| Some(range.count))),
            ("why", text_column(why)),
            ("words", whole(&|range| range.words)),
            (&origin(""), self.ids.column(kept.clone())?),
            (&origin("_row"), rows_of(kept.into_iter())),
            (&origin("_char_start"), character(0)),
            (&origin("_char_end"), character(1)),
            (&origin("_text_start"), from(|place| place.bytes[0])),
            (&origin("_text_end"), from(|place| place.bytes[1])),
        ];
        Ok(batch(columns)?.into())
    }

    /// The reference items, by the share that was found.
    fn items(&self) -> PyResult<Table> {
        let nothing = Kept::Nothing;
        let own: Vec<&Kept> = self.items.iter().map(|item| &item.item).collect();
        let best: Vec<&Kept> = self
            .items
            .iter()
            .map(|item| item.best.as_ref().map_or(&nothing, |(best, ..)| best))
            .collect();
        let whole = |of: fn(&RowItem) -> Option<u64>| -> ArrayRef {
            Arc::new(self.items.iter().map(of).collect::<UInt64Array>())
        };
        let shares = self.items.iter().map(|item| Some(item.share));
        let too_short = self.items.iter().map(|item| Some(item.too_short));
        let columns: [(&str, ArrayRef); 14] = [
            ("id", self.ids.column(own.clone())?),
            ("row", rows_of(own.into_iter())),
            ("words", whole(|item| Some(item.words))),
            ("ngrams", whole(|item| Some(item.ngrams))),
            ("found", whole(|item| Some(item.found))),
            ("share", Arc::new(shares.collect::<Float64Array>())),
            ("ignored", whole(|item| Some(item.ignored))),
            ("documents", whole(|item| Some(item.documents))),
            ("too_short", Arc::new(too_short.collect::<BooleanArray>())),
            ("best", self.ids.column(best.clone())?),
            ("best_row", rows_of(best.into_iter())),
            ("best_found", whole(|item| Some(item.best.as_ref()?.1))),
            (
                "best_text_start",
                whole(|item| Some(item.best.as_ref()?.2[0])),
            ),
            (
                "best_text_end",
                whole(|item| Some(item.best.as_ref()?.2[1])),
            ),
        ];
        Ok(batch(columns)?.into())
    }

    /// The most frequent passages, with their first occurrences.
    fn repeated(&self) -> PyResult<Table> {
        let first: Vec<&Kept> = self.passages.iter().map(|passage| &passage.first).collect();
        let ids = ("id", self.ids.column(first.clone())?);
        let rows = ("row", rows_of(first.into_iter()));
        let found = self.passages.iter().map(|passage| &passage.found);
        let columns: Vec<(&str, ArrayRef)> = passage_reports::passage_columns(found)
            .into_iter()
            .chain([ids, rows])
            .collect();
        let columns = columns.try_into().unwrap_or_else(|_| unreachable!());
        Ok(batch::<10>(columns)?.into())
    }

    /// The skipped rows, with reasons.
    fn skipped(&self) -> PyResult<Table> {
        self.ids.skipped(&self.skipped)
    }

    /// A range as a dictionary: the row and the bytes of it, and those that it repeats; `kept_row` is
    /// in the data that it was compared with if `is_against`.
    fn range<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyDict>> {
        let missing = || pyo3::exceptions::PyIndexError::new_err("there is no such range");
        let range = self.ranges.get(number).ok_or_else(missing)?;
        let object = PyDict::new(py);
        object.set_item("row", range.row)?;
        object.set_item("bytes", range.place.bytes)?;
        object.set_item("count", range.count)?;
        let kept = range.kept.as_ref();
        object.set_item("kept_bytes", kept.map(|(_, place)| place.bytes))?;
        let row = kept.and_then(|(kept, _)| match kept {
            Kept::Row(row) | Kept::Against(row) => Some(*row),
            Kept::Nothing | Kept::Known(_) => None,
        });
        object.set_item("kept_row", row)?;
        let is_against = kept.is_some_and(|(kept, _)| matches!(kept, Kept::Against(_)));
        object.set_item("is_against", is_against)?;
        Ok(object)
    }

    /// The rows whose texts the action changed, in order, without dropped ones.
    fn changed_rows(&self) -> Vec<u64> {
        let mut rows: Vec<u64> = self.changed.keys().copied().collect();
        rows.sort_unstable();
        rows
    }

    /// The text of a row that the action changed; `None` for others.
    fn changed<'py>(&self, py: Python<'py>, row: u64) -> Option<Bound<'py, PyBytes>> {
        self.changed.get(&row).map(|text| PyBytes::new(py, text))
    }

    /// A table with the changed texts in its column `name`. A dictionary becomes plain texts.
    fn with_changed(&self, table: &Bound<'_, Table>, name: &str) -> PyResult<Table> {
        let table = table.get();
        let no_column = || pyo3::exceptions::PyKeyError::new_err(name.to_owned());
        let place = table.schema.index_of(name).map_err(|_| no_column())?;
        let mut first = 0;
        let mut changed = Vec::with_capacity(table.batches.len());
        for batch in &table.batches {
            let column = batch.column(place);
            let texts = Texts::of(column).ok_or_else(no_column)?;
            let texts = (first..).zip(0..batch.num_rows()).map(|(number, row)| {
                let changed = self.changed.get(&number).map(Vec::as_slice);
                changed.or_else(|| texts.get(row))
            });
            let texts = array_of(column.data_type(), texts);
            first += batch.num_rows() as u64;
            changed.push(texts);
        }
        table.with_column(place, changed)
    }
}

/// Texts as an array of the type `data_type`.
fn array_of<'a>(data_type: &DataType, texts: impl Iterator<Item = Option<&'a [u8]>>) -> ArrayRef {
    let strings = |text: Option<&'a [u8]>| text.map(String::from_utf8_lossy);
    match data_type {
        DataType::Binary => Arc::new(texts.collect::<BinaryArray>()),
        DataType::LargeBinary => Arc::new(texts.collect::<LargeBinaryArray>()),
        DataType::BinaryView => Arc::new(texts.collect::<BinaryViewArray>()),
        DataType::Utf8 => Arc::new(texts.map(strings).collect::<StringArray>()),
        DataType::Utf8View => Arc::new(texts.map(strings).collect::<StringViewArray>()),
        _ => Arc::new(texts.map(strings).collect::<LargeStringArray>()),
    }
}

/// The ranges in the report `path`, in bytes, and the dropped rows.
fn ranges(path: &Path, files: &RowFiles<'_>) -> Result<(Vec<PassageRange>, Vec<u64>)> {
    let (mut ranges, mut dropped) = (Vec::new(), Vec::new());
    let mut reasons: Vec<Arc<str>> = Vec::new();
    let place = |bytes| TextPlace {
        bytes,
        ..TextPlace::default()
    };
    passage_reports::row_ranges(path, files, |row, is_dropped, found| {
        if is_dropped {
            dropped.push(row);
        }
        for range in found {
            let known = reasons.iter().find(|known| ***known == *range.why).cloned();
            let why = known.unwrap_or_else(|| {
                reasons.push(range.why.into());
                reasons[reasons.len() - 1].clone()
            });
            ranges.push(PassageRange {
                row,
                place: place(range.bytes),
                count: range.count,
                why,
                words: range.words,
                kept: range.kept.map(|(kept, bytes)| (kept, place(bytes))),
            });
        }
    })?;
    Ok((ranges, dropped))
}

/// Sets the characters of all places in rows, from the texts in their files. O(bytes of the files).
fn count_characters(
    ranges: &mut [PassageRange],
    files: &RowFiles<'_>,
    html: HtmlText,
) -> Result<()> {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for range in ranges {
        own.push((range.row, &mut range.place));
        match &mut range.kept {
            Some((Kept::Row(row), place)) => own.push((*row, place)),
            Some((Kept::Against(row), place)) => others.push((*row, place)),
            _ => {}
        }
    }
    for (path, mut places) in [(Some(files.data), own), (files.others, others)] {
        let Some(path) = path.filter(|_| !places.is_empty()) else {
            continue;
        };
        places.sort_by_key(|(row, place)| (*row, place.bytes));
        let mut places = places.into_iter().peekable();
        let mut raw = RawText::new(html);
        passage_reports::row_texts(Path::new(path), |row, text| {
            let text = raw.of_string(text.unwrap_or_default());
            let (mut byte, mut character) = (0, 0);
            while let Some((_, place)) = places.next_if(|(of, _)| *of <= row) {
                let start = clamped(place.bytes[0], text);
                character += characters(&text[byte..start]);
                byte = start;
                let end = clamped(place.bytes[1], text).max(start);
                place.characters = [character, character + characters(&text[start..end])];
            }
        })?;
    }
    Ok(())
}

fn clamped(byte: u64, text: &[u8]) -> usize {
    usize::try_from(byte).map_or(text.len(), |byte| byte.min(text.len()))
}

/// The number of characters of UTF-8.
fn characters(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64
}
