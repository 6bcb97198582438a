//! The result of a deduplication of rows.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use simtool::corpus::{Format, Reading};
use simtool::dedup::keep::site;
use simtool::engine::Progress;
use simtool::jobs::explain::Lookup;
use simtool::{Error, Result};

use crate::error::exception;
use crate::index_settings;
use crate::reports::state::{self, Reduced, State};
use crate::reports::{self, RowReport};
use crate::tables::ids::{Document, IdColumn, IdState, RowIds};
use crate::tables::table::{Table, value};

const PAIRS: [&str; 13] = [
    "id",
    "kept",
    "similarity",
    "shared",
    "shingles",
    "cluster",
    "cluster_size",
    "cluster_sites",
    "method",
    "distance",
    "estimate",
    "row",
    "kept_row",
];
const MEMBERS: [&str; 7] = ["cluster", "size", "sites", "id", "row", "kept", "url"];

/// The result of a deduplication of rows: pairs, clusters and skipped rows.
#[pyclass(module = "simtool_dedup", frozen)]
pub struct RowResult {
    rows: u64,
    pairs: RowReport,
    refused: Option<RowReport>,
    members: RowReport,
    skipped: RowReport,
    ids: RowIds,
}

#[pymethods]
impl RowResult {
    /// Reads the reports in `out` about the rows that were written to the file `data`.
    ///
    /// `ids` and `against` are tables and paths of their columns with the ids. The sites of clusters
    /// are counted if the rows have `urls`.
    #[new]
    #[pyo3(signature = (out, data, rows, urls, ids = None, against = None))]
    fn new(
        py: Python<'_>,
        out: PathBuf,
        data: &str,
        rows: u64,
        urls: bool,
        ids: Option<IdColumn<'_>>,
        against: Option<IdColumn<'_>>,
    ) -> PyResult<RowResult> {
        let ids = RowIds::new(ids, against)?;
        let has_refused = out.join("refused.jsonl").exists();
        let read = || -> Result<RowResult> {
            let read = |name, columns| {
                let found = RowReport::read((&out, "dedup", name), data, columns)?;
                let hidden: &[&str] = match urls {
                    true => &["url"],
                    false => &["url", "cluster_sites", "sites"],
                };
                Ok::<_, Error>(found.hiding(hidden))
            };
            Ok(RowResult {
                rows,
                pairs: read("duplicates", &PAIRS)?,
                refused: has_refused.then(|| read("refused", &PAIRS)).transpose()?,
                members: read("clusters", &MEMBERS)?,
                skipped: reports::skipped(&out, "dedup", data)?,
                ids,
            })
        };
        py.detach(read).map_err(|error| exception(&error))
    }

    /// For pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py, ResultState<Table>>> {
        let refused = self.refused.as_ref().map(state::of).transpose()?;
        let [pairs, members, skipped] = [&self.pairs, &self.members, &self.skipped].map(state::of);
        let ids = self.ids.state()?;
        let found = (self.rows, pairs?, refused, members?, skipped?, ids);
        state::reduced(py, "restored_rows", found)
    }

    /// A byte for each row: 1 if it stays, 0 if it is a duplicate.
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut mask = vec![1; self.rows as usize];
        let dropped = self.pairs.documents("id").iter();
        dropped
            .filter_map(Document::row)
            .for_each(|row| mask[row as usize] = 0);
        PyBytes::new(py, &mask)
    }

    /// The numbers of duplicates, clusters and skipped rows.
    fn counts(&self) -> (usize, usize, usize) {
        let mut clusters = self.members.whole("cluster").values().to_vec();
        clusters.dedup();
        (self.pairs.len(), clusters.len(), self.skipped.len())
    }

    /// The duplicates, in the order of their rows.
    fn duplicates(&self) -> PyResult<Table> {
        self.pairs.table(&self.ids)
    }

    /// The refused pairs; `None` if they were not listed.
    fn refused(&self) -> PyResult<Option<Table>> {
        let refused = self.refused.as_ref();
        refused.map(|pairs| pairs.table(&self.ids)).transpose()
    }

    /// For each row of the table `name` (`duplicates`, `refused` or `clusters`), whether the row that
    /// stays, or the member, is in the data that it was compared with: 1 or 0.
    fn are_against<'py>(&self, py: Python<'py>, name: &str) -> Bound<'py, PyBytes> {
        let documents = match (name, &self.refused) {
            ("clusters", _) => self.members.documents("id"),
            ("refused", Some(refused)) => refused.documents("kept"),
            _ => self.pairs.documents("kept"),
        };
        let flags = documents
            .iter()
            .map(|document| document.is_against().into());
        PyBytes::new(py, &flags.collect::<Vec<u8>>())
    }

    /// The members of all clusters.
    fn clusters(&self) -> PyResult<Table> {
        self.members.table(&self.ids)
    }

    /// The skipped rows, with reasons.
    fn skipped(&self) -> PyResult<Table> {
        self.skipped.table(&self.ids)
    }

    /// The numbers of the `count` pairs with the lowest similarities, the lowest first. Pairs
    /// without one are left out.
    fn least_similar(&self, count: usize) -> Vec<usize> {
        let known = self.pairs.decimal("similarity").iter().enumerate();
        let mut known: Vec<(f64, usize)> = known
            .filter_map(|(number, similarity)| Some((similarity?, number)))
            .collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let least = known.into_iter().take(count);
        least.map(|(_, number)| number).collect()
    }

    /// A pair as a dictionary; `kept_row` is in the data that it was compared with if
    /// `is_against`.
    fn pair<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyDict>> {
        let missing = || pyo3::exceptions::PyIndexError::new_err("there is no such duplicate");
        let document = |name| self.pairs.documents(name).get(number).ok_or_else(missing);
        let (own, kept) = (document("id")?, document("kept")?);
        let object = PyDict::new(py);
        object.set_item("row", own.row())?;
        object.set_item("kept_row", kept.row())?;
        object.set_item("is_against", kept.is_against())?;
        for name in ["method", "similarity", "shared", "shingles"] {
            object.set_item(name, value(py, self.pairs.column(name), number)?)?;
        }
        Ok(object)
    }

    /// The result with only the duplicates of at least this similarity; the others stay. Clusters
    /// lose these members, and end if no duplicate is left. If no copy stays, the first row of a
    /// cluster goes with the others.
    fn at(&self, similarity: f64) -> PyResult<RowResult> {
        self.stricter(similarity).map_err(|error| exception(&error))
    }
}

impl RowResult {
    fn stricter(&self, similarity: f64) -> Result<RowResult> {
        let similarities = self.pairs.decimal("similarity");
        let reaches =
            |pair: usize| similarities.is_valid(pair) && similarities.value(pair) >= similarity;
        let clusters = self.pairs.whole("cluster").values();
        let mut sizes: HashMap<u64, u64> = HashMap::new();
        for pair in (0..self.pairs.len()).filter(|pair| reaches(*pair)) {
            *sizes.entry(clusters[pair]).or_insert(1) += 1;
        }
        let kept = self.pairs.documents("kept");
        let is_left = |pair: usize| reaches(pair) || kept[pair] == Document::Nothing;
        let pairs = self
            .pairs
            .filter(|pair| sizes.contains_key(&clusters[pair]) && is_left(pair))?;
        let mut dropped = vec![false; self.rows as usize];
        let rows = pairs.documents("id").iter().filter_map(Document::row);
        rows.for_each(|row| dropped[row as usize] = true);
        let (clusters, members) = (
            self.members.whole("cluster").values(),
            self.members.documents("id"),
        );
        let stays = self.members.column("kept").as_boolean();
        let members = self.members.filter(|member| {
            let is_left = match members[member] {
                Document::Row(row) => dropped[row as usize] || stays.value(member),
                _ => true,
            };
            sizes.contains_key(&clusters[member]) && is_left
        })?;
        let urls = members.column("url").as_string::<i64>().iter();
        let found = members.whole("cluster").values().iter().zip(urls);
        let found = found.filter_map(|(cluster, url)| Some((*cluster, site(url?.as_bytes())?)));
        let mut sites: HashMap<u64, u64> = sizes.keys().map(|cluster| (*cluster, 0)).collect();
        for (cluster, _) in found.collect::<HashSet<_>>() {
            *sites.entry(cluster).or_default() += 1;
        }
        let counted = |report: RowReport, name, counts: &HashMap<u64, u64>| {
            let clusters = report.whole("cluster").values().clone();
            report.with(
                name,
                clusters.iter().map(|cluster| counts.get(cluster).copied()),
            )
        };
        let pairs = counted(pairs, "cluster_size", &sizes)?;
        let members = counted(members, "size", &sizes)?;
        Ok(RowResult {
            rows: self.rows,
            pairs: counted(pairs, "cluster_sites", &sites)?,
            refused: None,
            members: counted(members, "sites", &sites)?,
            skipped: self.skipped.clone(),
            ids: self.ids.clone(),
        })
    }
}

/// Rows, pairs, refused pairs, members, skipped rows, and ids.
type ResultState<T> = (
    u64,
    State<T>,
    Option<State<T>>,
    State<T>,
    State<T>,
    IdState<T>,
);

/// The result of a state of `RowResult.__reduce__`.
#[pyfunction]
pub fn restored_rows(state: ResultState<Bound<'_, Table>>) -> PyResult<RowResult> {
    let (rows, pairs, refused, members, skipped, ids) = state;
    Ok(RowResult {
        rows,
        pairs: state::restored(pairs)?,
        refused: refused.map(state::restored).transpose()?,
        members: state::restored(members)?,
        skipped: state::restored(skipped)?,
        ids: RowIds::restored(ids)?,
    })
}

/// The text of a document of a file: `member` and `start` are those of its report. The fields and
/// the part of an HTML page are those of the run.
#[pyfunction]
#[pyo3(signature = (path, member, start, text_field, html = None, format = None))]
pub fn text_at<'py>(
    py: Python<'py>,
    path: PathBuf,
    member: Option<u64>,
    start: u64,
    text_field: String,
    html: Option<&str>,
    format: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let html = index_settings::html(html).map_err(|error| exception(&error))?;
    let reading = Reading {
        format: format.and_then(format_of),
        text_field,
        html,
        ..Reading::default()
    };
    let progress = Progress::new();
    let lookup = Lookup {
        reading: &reading,
        threads: 1,
        progress: &progress,
    };
    let found = py.detach(|| lookup.at(&path, member, start));
    let found = found.map_err(|error| exception(&error))?;
    Ok(PyBytes::new(py, &found.text))
}

/// The format of the name that the flag has.
fn format_of(name: &str) -> Option<Format> {
    let mut all = Format::ALL.into_iter();
    all.find(|format| format.name() == name.replace('-', "_"))
}
