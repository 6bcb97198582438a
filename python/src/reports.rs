//! The reports of a deduplication as tables.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, UInt64Array};
use serde_json::value::RawValue;
use simtool::report::pairs::{COLUMNS, Kind};
use simtool::{Error, ErrorKind, Result};

use crate::table::text_column;

/// The values of a column.
enum Values {
    Text(Vec<Option<String>>),
    Whole(Vec<Option<u64>>),
    Decimal(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
}

/// The columns of a cluster's member, and of a skipped document.
const MEMBER: [(&str, Kind); 6] = [
    ("id", Kind::Text),
    ("url", Kind::Text),
    ("file", Kind::Text),
    ("start", Kind::Whole),
    ("length", Kind::Whole),
    ("member", Kind::Whole),
];
const SKIPPED: [(&str, Kind); 7] = [
    ("id", Kind::Text),
    ("file", Kind::Text),
    ("start", Kind::Whole),
    ("length", Kind::Whole),
    ("member", Kind::Whole),
    ("reason", Kind::Text),
    ("detail", Kind::Text),
];

impl Values {
    fn new(kind: Kind) -> Values {
        match kind {
            Kind::Text => Values::Text(Vec::new()),
            Kind::Whole => Values::Whole(Vec::new()),
            Kind::Decimal => Values::Decimal(Vec::new()),
        }
    }

    /// Adds the value of JSON text; a missing value, or one of another type, is null.
    fn push(&mut self, json: Option<&RawValue>) {
        let json = json.map_or("null", RawValue::get);
        match self {
            Values::Text(list) => list.push(serde_json::from_str(json).ok()),
            Values::Whole(list) => list.push(json.parse().ok()),
            // The number nearest to the digits, which serde_json does not always find.
            Values::Decimal(list) => list.push(json.parse().ok()),
            Values::Flag(list) => list.push(json.parse().ok()),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Values::Text(list) => text_column(list),
            Values::Whole(list) => Arc::new(UInt64Array::from(list)),
            Values::Decimal(list) => Arc::new(Float64Array::from(list)),
            Values::Flag(list) => Arc::new(BooleanArray::from(list)),
        }
    }
}

/// The fields of a line as JSON text.
pub type Object<'a> = HashMap<Cow<'a, str>, &'a RawValue>;

/// A table under construction.
pub struct Builder(Vec<(String, Values)>);

impl Builder {
    /// A table without rows.
    pub fn new<N: Into<String>>(columns: impl IntoIterator<Item = (N, Kind)>) -> Builder {
        let columns = columns.into_iter();
        Builder(
            columns
                .map(|(name, kind)| (name.into(), Values::new(kind)))
                .collect(),
        )
    }

    /// Inserts a column of truth values at a place.
    pub fn insert_flag(&mut self, place: usize, name: &str) {
        self.0
            .insert(place, (name.to_owned(), Values::Flag(Vec::new())));
    }

    /// Adds a row: each value is that of the first object with a field of its name.
    pub fn push(&mut self, objects: &[&Object<'_>]) {
        for (name, values) in &mut self.0 {
            let found = objects.iter().find_map(|object| object.get(name.as_str()));
            values.push(found.copied());
        }
    }

    /// The table.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] for a column that exists twice.
    pub fn finish(self) -> Result<RecordBatch> {
        let columns = self.0.into_iter();
        let columns = columns.map(|(name, values)| (name, values.finish(), true));
        RecordBatch::try_from_iter_with_nullable(columns)
            .map_err(|error| Error::new(ErrorKind::Content, error.to_string()))
    }
}

/// Calls `take` with each line of the report `path`.
///
/// # Errors
/// [`ErrorKind::Read`]; [`ErrorKind::Content`] for a line that `take` refuses.
pub fn lines(path: &Path, mut take: impl FnMut(&[u8]) -> serde_json::Result<()>) -> Result<()> {
    let unreadable = |cause| Error::unreadable(path, cause);
    let mut reader = BufReader::with_capacity(1 << 18, File::open(path).map_err(unreadable)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            return Ok(());
        }
        take(&line)
            .map_err(|error| Error::new(ErrorKind::Content, error.to_string()).in_file(path))?;
    }
}

/// A list of pairs, `duplicates.jsonl` or `refused.jsonl`, with all of its columns.
///
/// # Errors
/// [`ErrorKind::Read`]; [`ErrorKind::Content`] for a file that is not such a list.
pub fn pairs(path: &Path) -> Result<RecordBatch> {
    let mut table = Builder::new(COLUMNS.iter().map(|column| (column.name, column.kind)));
    lines(path, |line| {
        table.push(&[&serde_json::from_slice(line)?]);
        Ok(())
    })?;
    table.finish()
}

/// The members of all clusters in `clusters.jsonl`.
///
/// # Errors
/// Errors of [`pairs`].
pub fn clusters(path: &Path) -> Result<RecordBatch> {
    let of_cluster = [("cluster", Kind::Whole), ("size", Kind::Whole)];
    let mut table = Builder::new(of_cluster.into_iter().chain(MEMBER));
    table
        .0
        .insert(2, ("kept".to_owned(), Values::Flag(Vec::new())));
    lines(path, |line| {
        let cluster: Object<'_> = serde_json::from_slice(line)?;
        let members = cluster.get("members").map_or("[]", |members| members.get());
        for member in serde_json::from_str::<Vec<Object<'_>>>(members)? {
            // The names of a member come first: `kept` is an id in the object of the cluster.
            table.push(&[&member, &cluster]);
        }
        Ok(())
    })?;
    table.finish()
}

/// The documents in `skipped.jsonl`.
///
/// # Errors
/// Errors of [`pairs`].
pub fn skipped(path: &Path) -> Result<RecordBatch> {
    let mut table = Builder::new(SKIPPED);
    lines(path, |line| {
        table.push(&[&serde_json::from_slice(line)?]);
        Ok(())
    })?;
    table.finish()
}

/// The answers of an index about rows, from its lines and those of skipped rows: for each answered
/// row its number, id, verdict, whether it was added, and the nearest match.
///
/// # Errors
/// [`ErrorKind::Content`] for lines that are no answers.
pub fn answers(lines: &[u8], skipped: &[u8]) -> Result<RecordBatch> {
    #[derive(serde::Deserialize)]
    struct Match {
        id: String,
        distance: Option<u64>,
        estimate: Option<f64>,
        similarity: Option<f64>,
        payload: Option<String>,
    }
    #[derive(serde::Deserialize)]
    struct Answer {
        id: String,
        start: u64,
        verdict: String,
        added: Option<bool>,
        matches: Vec<Match>,
    }
    #[derive(serde::Deserialize)]
    struct SkippedPlace {
        start: u64,
    }
    let failed = |error: serde_json::Error| Error::new(ErrorKind::Content, error.to_string());
    let parse = |text| serde_json::Deserializer::from_slice(text).into_iter::<Answer>();
    let answers: Vec<Answer> = parse(lines)
        .collect::<serde_json::Result<_>>()
        .map_err(failed)?;
    let places = serde_json::Deserializer::from_slice(skipped).into_iter::<SkippedPlace>();
    let places: Vec<SkippedPlace> = places.collect::<serde_json::Result<_>>().map_err(failed)?;
    // Every row is in one of the lists, and both are in the order of the rows.
    let mut before = places.iter().map(|place| place.start).peekable();
    let mut skips = 0;
    let rows = answers.iter().enumerate().map(|(number, answer)| {
        while before.next_if(|start| *start < answer.start).is_some() {
            skips += 1;
        }
        number as u64 + skips
    });
    let rows: UInt64Array = rows.map(Some).collect();
    let nearest = || answers.iter().map(|answer| answer.matches.first());
    let columns: [(&str, ArrayRef); 10] = [
        ("row", Arc::new(rows)),
        (
            "id",
            text_column(answers.iter().map(|answer| Some(answer.id.clone()))),
        ),
        (
            "verdict",
            text_column(answers.iter().map(|answer| Some(answer.verdict.clone()))),
        ),
        (
            "added",
            Arc::new(
                answers
                    .iter()
                    .map(|answer| answer.added)
                    .collect::<BooleanArray>(),
            ),
        ),
        (
            "match",
            text_column(nearest().map(|near| Some(near?.id.clone()))),
        ),
        (
            "distance",
            Arc::new(
                nearest()
                    .map(|near| near?.distance)
                    .collect::<UInt64Array>(),
            ),
        ),
        (
            "estimate",
            Arc::new(
                nearest()
                    .map(|near| near?.estimate)
                    .collect::<Float64Array>(),
            ),
        ),
        (
            "similarity",
            Arc::new(
                nearest()
                    .map(|near| near?.similarity)
                    .collect::<Float64Array>(),
            ),
        ),
        (
            "payload",
            text_column(nearest().map(|near| near?.payload.clone())),
        ),
        (
            "matches",
            Arc::new(
                answers
                    .iter()
                    .map(|answer| Some(answer.matches.len() as u64))
                    .collect::<UInt64Array>(),
            ),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
        .map_err(|error| Error::new(ErrorKind::Content, error.to_string()))
}

/// A pair of rows in a list of pairs.
#[derive(serde::Deserialize)]
pub struct RowPair<'a> {
    /// The number of the row.
    #[serde(borrow)]
    id: &'a str,
    #[serde(borrow)]
    kept: Option<Cow<'a, str>>,
    #[serde(borrow)]
    kept_file: Option<Cow<'a, str>>,
    pub cluster: u64,
    pub cluster_size: Option<u64>,
    #[serde(borrow)]
    pub method: Cow<'a, str>,
    pub distance: Option<u64>,
    #[serde(borrow)]
    estimate: Option<&'a RawValue>,
    #[serde(borrow)]
    similarity: Option<&'a RawValue>,
    pub shared: Option<u64>,
    pub shingles: Option<u64>,
}

/// The document that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// None.
    Nothing,
    /// A row of the data.
    Row(u64),
    /// A row of the data that it was compared with.
    Against(u64),
    /// A document of an index.
    Known(String),
}

impl RowPair<'_> {
    /// The number of the row.
    ///
    /// # Errors
    /// If it is none.
    pub fn row(&self) -> serde_json::Result<u64> {
        row_number(self.id)
    }

    /// The document that stays; `data` is the file of the rows.
    ///
    /// # Errors
    /// If a row has no number.
    pub fn kept(&self, data: &str) -> serde_json::Result<Kept> {
        Ok(match (self.kept.as_deref(), self.kept_file.as_deref()) {
            (None, _) => Kept::Nothing,
            (Some(id), None) => Kept::Known(id.to_owned()),
            (Some(id), Some(file)) if file == data => Kept::Row(row_number(id)?),
            (Some(id), Some(_)) => Kept::Against(row_number(id)?),
        })
    }

    /// The similarity as the report has it: the number nearest to its digits.
    pub fn similarity(&self) -> Option<f64> {
        self.similarity?.get().parse().ok()
    }

    /// The estimated similarity.
    pub fn estimate(&self) -> Option<f64> {
        self.estimate?.get().parse().ok()
    }
}

/// Calls `take` with each pair of a list about rows.
///
/// # Errors
/// Errors of [`pairs`].
pub fn row_pairs(
    path: &Path,
    mut take: impl FnMut(RowPair<'_>) -> serde_json::Result<()>,
) -> Result<()> {
    lines(path, |line| take(serde_json::from_slice(line)?))
}

/// A member of a cluster of rows.
#[derive(serde::Deserialize)]
struct RowMember<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    file: Option<Cow<'a, str>>,
    kept: bool,
}

#[derive(serde::Deserialize)]
struct RowCluster<'a> {
    cluster: u64,
    size: u64,
    #[serde(borrow)]
    members: Vec<RowMember<'a>>,
}

/// Calls `take` with the number, size and members of each cluster: what each is, and whether it
/// stays.
///
/// # Errors
/// Errors of [`pairs`].
pub fn row_clusters(
    path: &Path,
    data: &str,
    mut take: impl FnMut(u64, u64, Kept, bool),
) -> Result<()> {
    lines(path, |line| {
        let found: RowCluster<'_> = serde_json::from_slice(line)?;
        for member in found.members {
            let what = match member.file.as_deref() {
                None => Kept::Known(member.id.into_owned()),
                Some(file) if file == data => Kept::Row(row_number(&member.id)?),
                Some(_) => Kept::Against(row_number(&member.id)?),
            };
            take(found.cluster, found.size, what, member.kept);
        }
        Ok(())
    })
}

/// Calls `take` with the row, the reason and the detail of each skipped row of the file `data`.
///
/// # Errors
/// Errors of [`pairs`].
pub fn row_skips(path: &Path, data: &str, mut take: impl FnMut(u64, String, String)) -> Result<()> {
    #[derive(serde::Deserialize)]
    struct Skip {
        id: String,
        file: String,
        reason: String,
        detail: String,
    }
    lines(path, |line| {
        let skip: Skip = serde_json::from_slice(line)?;
        if skip.file == data {
            take(row_number(&skip.id)?, skip.reason, skip.detail);
        }
        Ok(())
    })
}

/// The number of a row, which is its id.
///
/// # Errors
/// If the id is no number.
pub fn row_number(id: &str) -> serde_json::Result<u64> {
    id.parse().map_err(serde::de::Error::custom)
}
