//! Published reports as record batches: their rows and columns, and the reader.
//!
//! The reports of a complete run are files, which may be larger than the memory, and a run that was
//! complete before has nothing else. So tables are made from the files, when they are asked for.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::BatchBuilder;
use crate::columns::{ColumnValue, Kind};
use crate::{Error, ErrorKind, Result};

/// Room for the fields of a line of any report.
const USUAL_FIELDS: usize = 24;

/// The rows and columns of a report.
#[derive(Clone, Debug)]
pub struct ReportTable {
    /// The field of a line with the list of its rows; `None` if each line is a row.
    pub list: Option<&'static str>,
    /// The columns, in order.
    pub parts: Vec<TablePart>,
}

/// Columns whose values are fields of one object.
#[derive(Clone, Debug)]
pub struct TablePart {
    /// The object.
    pub object: RowObject,
    /// The fields, the names of their columns, and their types.
    pub columns: Vec<(&'static str, String, Kind)>,
}

/// An object that has values of a row.
#[derive(Clone, Copy, Debug)]
pub enum RowObject {
    /// The object of the line.
    Line,
    /// That of the row.
    Row,
    /// The one in this field of the row; of a list, the first one. It may be missing.
    Field(&'static str),
}

impl TablePart {
    /// Columns that have the names of their fields.
    pub fn new(object: RowObject, columns: &[(&'static str, Kind)]) -> TablePart {
        let columns = columns.iter();
        TablePart {
            object,
            columns: columns
                .map(|&(name, kind)| (name, name.to_owned(), kind))
                .collect(),
        }
    }

    /// The same part with columns of other names.
    pub fn named(mut self, name: impl Fn(&str) -> String) -> TablePart {
        for (field, column, _) in &mut self.columns {
            *column = name(field);
        }
        self
    }
}

/// Batches of the rows of a report, in order. Any value may be missing.
///
/// Memory: a batch of at most 16 384 rows and about 4 MiB of text, and the rows of a line.
pub struct ReportBatches<R> {
    lines: R,
    line: Vec<u8>,
    table: ReportTable,
    batch: BatchBuilder<i64>,
    path: PathBuf,
}

impl ReportBatches<BufReader<File>> {
    /// The rows of the report `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    pub fn open(path: &Path, table: ReportTable) -> Result<ReportBatches<BufReader<File>>> {
        let file = File::open(path).map_err(|cause| Error::unreadable(path, cause))?;
        let lines = BufReader::with_capacity(1 << 18, file);
        Ok(ReportBatches::new(lines, table, path))
    }
}

impl<R: BufRead> ReportBatches<R> {
    /// The rows of `lines`, which errors call `path`.
    pub fn new(lines: R, table: ReportTable, path: &Path) -> ReportBatches<R> {
        let columns = table.parts.iter().flat_map(|part| &part.columns);
        ReportBatches {
            lines,
            line: Vec::new(),
            batch: BatchBuilder::new(columns.map(|(_, name, kind)| (name.as_str(), *kind, true))),
            table,
            path: path.to_owned(),
        }
    }

    /// The names and types of the columns.
    pub fn schema(&self) -> SchemaRef {
        self.batch.schema().clone()
    }

    fn fill(&mut self) -> Result<()> {
        let unreadable = |cause| Error::unreadable(&self.path, cause);
        while !self.batch.is_full() {
            self.line.clear();
            let bytes = self.lines.read_until(b'\n', &mut self.line);
            if bytes.map_err(unreadable)? == 0 {
                break;
            }
            let added = add(&self.line, &self.table, &mut self.batch);
            added.map_err(|error| damaged(error).in_file(&self.path))?;
        }
        Ok(())
    }
}

impl<R: BufRead> Iterator for ReportBatches<R> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        match self.fill() {
            Ok(()) if self.batch.is_empty() => None,
            Ok(()) => Some(self.batch.finish().map_err(damaged)),
            Err(error) => Some(Err(error)),
        }
    }
}

fn damaged(cause: impl ToString) -> Error {
    Error::new(ErrorKind::Content, cause.to_string())
}

/// The fields of an object in their order, as JSON: few enough to be searched one after another.
#[derive(Clone, Default)]
struct Object<'a>(Vec<(&'a str, &'a RawValue)>);

impl<'a> Object<'a> {
    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.get_after(&mut 0, name)
    }

    /// The field `name`, which is probably at the place `next`; sets this to the place after it.
    fn get_after(&self, next: &mut usize, name: &str) -> Option<&'a RawValue> {
        let (before, after) = self.0.split_at_checked(*next)?;
        let mut fields = (*next..).zip(after).chain((0..).zip(before));
        let (at, (_, value)) = fields.find(|(_, (field, _))| *field == name)?;
        *next = at + 1;
        Some(value)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> std::result::Result<Object<'a>, D::Error> {
        json.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(
        self,
        mut fields: M,
    ) -> std::result::Result<Object<'de>, M::Error> {
        let mut object = Object(Vec::with_capacity(USUAL_FIELDS));
        while let Some(field) = fields.next_entry()? {
            object.0.push(field);
        }
        Ok(object)
    }
}

/// Adds the rows of a line.
fn add(line: &[u8], table: &ReportTable, batch: &mut BatchBuilder<i64>) -> serde_json::Result<()> {
    let line: Object<'_> = serde_json::from_slice(line)?;
    let Some(list) = table.list else {
        return add_row(&line, &line, table, batch);
    };
    let rows = line.get(list).map_or("[]", |rows| rows.get());
    let rows: Vec<Object<'_>> = serde_json::from_str(rows)?;
    rows.iter()
        .try_for_each(|row| add_row(&line, row, table, batch))
}

fn add_row(
    line: &Object<'_>,
    row: &Object<'_>,
    table: &ReportTable,
    batch: &mut BatchBuilder<i64>,
) -> serde_json::Result<()> {
    let parts = table.parts.iter().map(|part| {
        let object = match part.object {
            RowObject::Line => Cow::Borrowed(line),
            RowObject::Row => Cow::Borrowed(row),
            RowObject::Field(name) => {
                let inner = row.get(name).map_or("null", |inner| inner.get());
                Cow::Owned(first(inner)?)
            }
        };
        Ok((object, part))
    });
    let parts: Vec<(Cow<'_, Object<'_>>, &TablePart)> = parts.collect::<serde_json::Result<_>>()?;
    let cells = parts.iter().flat_map(|(object, part)| {
        let (columns, mut next) = (part.columns.iter(), 0);
        columns.map(move |(field, _, kind)| cell(*kind, object.get_after(&mut next, field)))
    });
    batch.add(cells);
    Ok(())
}

/// An object, or the first one of a list; without fields if there is none.
fn first(json: &str) -> serde_json::Result<Object<'_>> {
    if json.starts_with('[') {
        let list: Vec<Object<'_>> = serde_json::from_str(json)?;
        return Ok(list.into_iter().next().unwrap_or_default());
    }
    Ok(serde_json::from_str::<Option<_>>(json)?.unwrap_or_default())
}

/// The value of JSON; that of a list is its length. A missing value, or one of another type, is null.
fn cell(kind: Kind, json: Option<&RawValue>) -> ColumnValue<'_> {
    #[derive(serde::Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    let json = json.map_or("null", RawValue::get);
    match kind {
        // An error of the parser would cost more than the value.
        Kind::Text if json == "null" => ColumnValue::Text(None),
        Kind::Text => ColumnValue::Text(serde_json::from_str(json).ok().map(|Text(text)| text)),
        Kind::Whole if json.starts_with('[') => {
            let list = serde_json::from_str::<Vec<&RawValue>>(json);
            ColumnValue::Whole(list.ok().map(|list| list.len() as u64))
        }
        Kind::Whole => ColumnValue::Whole(json.parse().ok()),
        // The number nearest to the digits, which serde_json does not always find.
        Kind::Decimal => ColumnValue::Decimal(json.parse().ok()),
        Kind::Flag => ColumnValue::Flag(json.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_lines::{self, At, Member};
    use crate::pairs::COLUMNS;
    use crate::pairs::tests::{COUNTS, examples};
    use crate::record_batches::ROWS;
    use crate::record_batches::tests::cell;

    use simtool_corpus::{NO_MEMBER, Place};

    /// The cells of all rows.
    fn cells(lines: &[u8], table: ReportTable) -> Vec<Vec<ColumnValue<'static>>> {
        let kinds = table.parts.iter().flat_map(|part| &part.columns);
        let kinds: Vec<Kind> = kinds.map(|(.., kind)| *kind).collect();
        let mut rows = Vec::new();
        for batch in ReportBatches::new(lines, table, Path::new("x")) {
            let batch = batch.unwrap();
            assert!(batch.num_rows() <= ROWS);
            rows.extend((0..batch.num_rows()).map(|row| {
                let columns = kinds.iter().zip(batch.columns());
                columns
                    .map(|(kind, column)| cell::<i64>(column, *kind, row))
                    .collect()
            }));
        }
        rows
    }

    #[test]
    fn rows_of_lines_come_back() {
        let examples = examples();
        for count in [0, 1, ROWS, ROWS + 3] {
            let pairs = || examples.iter().cycle().take(count);
            let mut lines = Vec::new();
            pairs().for_each(|pair| json_lines::pair(pair, &mut lines).unwrap());
            let columns = COLUMNS.map(|column| (column.name, column.kind));
            let table = ReportTable {
                list: None,
                parts: vec![TablePart::new(RowObject::Row, &columns)],
            };
            let expected: Vec<_> = pairs().map(|pair| pair.cells().to_vec()).collect();
            assert!(cells(&lines, table) == expected);
        }
    }

    #[test]
    fn rows_of_lists_have_values_of_their_lines_and_objects() {
        let mut lines = Vec::new();
        json_lines::begin_cluster(7, Some(b"k"), COUNTS, &mut lines).unwrap();
        let at = At::new("f", Place::new(0, NO_MEMBER, 1, 2));
        for (id, stays) in [("k", true), ("d", false)] {
            let member = Member {
                id: id.as_bytes(),
                url: b"",
                at: Some(at),
                stays,
            };
            json_lines::member(&member, stays, &mut lines).unwrap();
        }
        json_lines::end_cluster(&mut lines).unwrap();
        lines.extend_from_slice(
            b"{\"cluster\":8,\"members\":[{\"kept\":1,\"near\":[{\"id\":\"a\\n\"},{}]}]}\n",
        );
        let table = ReportTable {
            list: Some("members"),
            parts: vec![
                TablePart::new(RowObject::Line, &[("cluster", Kind::Whole)]),
                TablePart::new(
                    RowObject::Row,
                    &[("kept", Kind::Flag), ("near", Kind::Whole)],
                ),
                TablePart::new(RowObject::Field("near"), &[("id", Kind::Text)]),
            ],
        };
        let row = |cluster, kept, near, id: Option<&'static str>| {
            vec![
                ColumnValue::Whole(Some(cluster)),
                ColumnValue::Flag(kept),
                ColumnValue::Whole(near),
                ColumnValue::Text(id.map(Cow::Borrowed)),
            ]
        };
        let expected = [
            row(7, Some(true), None, None),
            row(7, Some(false), None, None),
            row(8, None, Some(2), Some("a\n")),
        ];
        assert_eq!(cells(&lines, table.clone()), expected);
        let damaged = ReportBatches::new(&b"{}\nx\n"[..], table, Path::new("x")).next();
        let error = damaged.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Content);
        assert!(error.to_string().starts_with("x: "), "{error}");
    }
}
