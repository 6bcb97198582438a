//! The result of a deduplication of rows.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use simtool::Result;
use simtool::corpus::{Format, Reading};
use simtool::engine::Progress;
use simtool::jobs::explain::Lookup;

use crate::error::exception;
use crate::ids::{IdColumn, RowIds, rows_of};
use crate::index_settings;
use crate::passage_reports;
use crate::reports::{self, Kept};
use crate::table::{Table, batch, text_column};

/// A row and the document that stays in its place.
#[derive(Clone)]
struct Pair {
    row: u64,
    kept: Kept,
    cluster: u32,
    /// The documents of the cluster; 0 if the pair is in none.
    cluster_size: u32,
    method: Arc<str>,
    distance: Option<u32>,
    estimate: Option<f64>,
    similarity: Option<f64>,
    shingles: Option<[u32; 2]>,
}

/// A member of a cluster.
#[derive(Clone)]
struct Member {
    cluster: u64,
    size: u64,
    what: Kept,
    stays: bool,
}

/// The result of a deduplication of rows: pairs, clusters and skipped rows.
#[pyclass(module = "simtool_dedup", frozen)]
pub struct RowResult {
    rows: u64,
    pairs: Vec<Pair>,
    refused: Option<Vec<Pair>>,
    members: Vec<Member>,
    skipped: Vec<(u64, String, String)>,
    ids: RowIds,
}

#[pymethods]
impl RowResult {
    /// Reads the reports in `out` about the rows that were written to the file `data`.
    ///
    /// `ids` and `against` are tables and paths of their columns with the ids.
    #[new]
    #[pyo3(signature = (out, data, rows, ids = None, against = None, refused = false))]
    fn new(
        py: Python<'_>,
        out: PathBuf,
        data: &str,
        rows: u64,
        ids: Option<IdColumn<'_>>,
        against: Option<IdColumn<'_>>,
        refused: bool,
    ) -> PyResult<RowResult> {
        let ids = RowIds::new(ids, against)?;
        let read = || -> Result<RowResult> {
            let mut members = Vec::new();
            reports::row_clusters(
                &out.join("clusters.jsonl"),
                data,
                |cluster, size, what, stays| {
                    members.push(Member {
                        cluster,
                        size,
                        what,
                        stays,
                    });
                },
            )?;
            let mut skipped = Vec::new();
            reports::row_skips(&out.join("skipped.jsonl"), data, |row, reason, detail| {
                skipped.push((row, reason, detail));
            })?;
            let refused = refused
                .then(|| pairs(&out.join("refused.jsonl"), data))
                .transpose()?;
            Ok(RowResult {
                rows,
                pairs: pairs(&out.join("duplicates.jsonl"), data)?,
                refused,
                members,
                skipped,
                ids,
            })
        };
        py.detach(read).map_err(|error| exception(&error))
    }

    /// A byte for each row: 1 if it stays, 0 if it is a duplicate.
    fn mask<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut mask = vec![1; self.rows as usize];
        self.pairs
            .iter()
            .for_each(|pair| mask[pair.row as usize] = 0);
        PyBytes::new(py, &mask)
    }

    /// The numbers of duplicates, clusters and skipped rows.
    fn counts(&self) -> (usize, usize, usize) {
        let mut clusters = 0;
        let mut last = None;
        for member in &self.members {
            clusters += usize::from(last != Some(member.cluster));
            last = Some(member.cluster);
        }
        (self.pairs.len(), clusters, self.skipped.len())
    }

    /// The duplicates, in the order of their rows.
    fn duplicates(&self) -> PyResult<Table> {
        self.table(&self.pairs)
    }

    /// The refused pairs; `None` if they were not listed.
    fn refused(&self) -> PyResult<Option<Table>> {
        self.refused
            .as_ref()
            .map(|refused| self.table(refused))
            .transpose()
    }

    /// For each row of the table `name` (`duplicates`, `refused` or `clusters`), whether the row that
    /// stays, or the member, is in the data that it was compared with: 1 or 0.
    fn are_against<'py>(&self, py: Python<'py>, name: &str) -> Bound<'py, PyBytes> {
        let kept = |pairs: &[Pair]| pairs.iter().map(|pair| is_against(&pair.kept)).collect();
        let flags: Vec<u8> = match (name, &self.refused) {
            ("clusters", _) => self
                .members
                .iter()
                .map(|member| is_against(&member.what))
                .collect(),
            ("refused", Some(refused)) => kept(refused),
            _ => kept(&self.pairs),
        };
        PyBytes::new(py, &flags)
    }

    /// The members of all clusters.
    fn clusters(&self) -> PyResult<Table> {
        let members = &self.members;
        let whats = || members.iter().map(|member| &member.what);
        let whole = |of: fn(&Member) -> u64| -> ArrayRef {
            Arc::new(
                members
                    .iter()
                    .map(|member| Some(of(member)))
                    .collect::<UInt64Array>(),
            )
        };
        let stays: BooleanArray = members.iter().map(|member| Some(member.stays)).collect();
        let columns = [
            ("cluster", whole(|member| member.cluster)),
            ("size", whole(|member| member.size)),
            ("id", self.ids.column(whats().collect())?),
            ("row", rows_of(whats())),
            ("kept", Arc::new(stays) as ArrayRef),
        ];
        Ok(batch(columns)?.into())
    }

    /// The skipped rows, with reasons.
    fn skipped(&self) -> PyResult<Table> {
        self.ids.skipped(&self.skipped)
    }

    /// The numbers of the `count` pairs with the lowest similarities, the lowest first. Pairs
    /// without one are left out.
    fn least_similar(&self, count: usize) -> Vec<usize> {
        let known = self.pairs.iter().enumerate();
        let mut known: Vec<(f64, usize)> = known
            .filter_map(|(number, pair)| Some((pair.similarity?, number)))
            .collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        known
            .into_iter()
            .take(count)
            .map(|(_, number)| number)
            .collect()
    }

    /// A pair as a dictionary; `kept_row` is in the data that it was compared with if
    /// `is_against`.
    fn pair<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyDict>> {
        let missing = || pyo3::exceptions::PyIndexError::new_err("there is no such duplicate");
        let pair = self.pairs.get(number).ok_or_else(missing)?;
        let object = PyDict::new(py);
        object.set_item("row", pair.row)?;
        object.set_item(
            "kept_row",
            match pair.kept {
                Kept::Row(row) | Kept::Against(row) => Some(row),
                _ => None,
            },
        )?;
        object.set_item("is_against", matches!(pair.kept, Kept::Against(_)))?;
        object.set_item("method", &*pair.method)?;
        object.set_item("similarity", pair.similarity)?;
        object.set_item("shared", pair.shingles.map(|[shared, _]| shared))?;
        object.set_item("shingles", pair.shingles.map(|[_, all]| all))?;
        Ok(object)
    }

    /// The result with only the duplicates of at least this similarity; the others stay. Clusters
    /// lose these members, and end if no duplicate is left. If no copy stays, the first row of a
    /// cluster goes with the others.
    fn at(&self, similarity: f64) -> RowResult {
        let reaches = |pair: &Pair| pair.similarity.is_some_and(|known| known >= similarity);
        let mut sizes = std::collections::HashMap::new();
        for pair in self.pairs.iter().filter(|pair| reaches(pair)) {
            *sizes.entry(pair.cluster).or_insert(1) += 1;
        }
        let mut dropped = vec![false; self.rows as usize];
        let mut pairs = Vec::new();
        for pair in &self.pairs {
            let Some(&size) = sizes.get(&pair.cluster) else {
                continue;
            };
            if reaches(pair) || matches!(pair.kept, Kept::Nothing) {
                dropped[pair.row as usize] = true;
                pairs.push(Pair {
                    cluster_size: size,
                    ..pair.clone()
                });
            }
        }
        let members = self.members.iter().filter_map(|member| {
            let &size = sizes.get(&(member.cluster as u32))?;
            let is_left = match member.what {
                Kept::Row(row) => dropped[row as usize] || member.stays,
                _ => true,
            };
            let member = Member {
                size: size.into(),
                ..member.clone()
            };
            is_left.then_some(member)
        });
        RowResult {
            rows: self.rows,
            members: members.collect(),
            refused: None,
            pairs,
            skipped: self.skipped.clone(),
            ids: self.ids.clone(),
        }
    }
}

impl RowResult {
    fn table(&self, pairs: &[Pair]) -> PyResult<Table> {
        let own: Vec<Kept> = pairs.iter().map(|pair| Kept::Row(pair.row)).collect();
        let kept = || pairs.iter().map(|pair| &pair.kept);
        let whole = |of: fn(&Pair) -> Option<u32>| -> ArrayRef {
            let values = pairs.iter().map(|pair| of(pair).map(u64::from));
            Arc::new(values.collect::<UInt64Array>())
        };
        let decimal = |of: fn(&Pair) -> Option<f64>| -> ArrayRef {
            Arc::new(pairs.iter().map(of).collect::<Float64Array>())
        };
        let columns: [(&str, ArrayRef); 12] = [
            ("id", self.ids.column(own.iter().collect())?),
            ("kept", self.ids.column(kept().collect())?),
            ("similarity", decimal(|pair| pair.similarity)),
            (
                "shared",
                whole(|pair| pair.shingles.map(|[shared, _]| shared)),
            ),
            ("shingles", whole(|pair| pair.shingles.map(|[_, all]| all))),
            ("cluster", whole(|pair| Some(pair.cluster))),
            (
                "cluster_size",
                whole(|pair| (pair.cluster_size > 0).then_some(pair.cluster_size)),
            ),
            (
                "method",
                text_column(pairs.iter().map(|pair| Some(pair.method.to_string()))),
            ),
            ("distance", whole(|pair| pair.distance)),
            ("estimate", decimal(|pair| pair.estimate)),
            ("row", rows_of(own.iter())),
            ("kept_row", rows_of(kept())),
        ];
        Ok(batch(columns)?.into())
    }
}

fn is_against(what: &Kept) -> u8 {
    matches!(what, Kept::Against(_)).into()
}

/// The pairs in the list `path` about rows of the file `data`.
fn pairs(path: &std::path::Path, data: &str) -> Result<Vec<Pair>> {
    let mut methods: Vec<Arc<str>> = Vec::new();
    let mut pairs = Vec::new();
    let narrow = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
    reports::row_pairs(path, |line| {
        let known = methods
            .iter()
            .find(|known| ***known == *line.method)
            .cloned();
        let method = known.unwrap_or_else(|| {
            let method: Arc<str> = line.method.as_ref().into();
            methods.push(Arc::clone(&method));
            method
        });
        pairs.push(Pair {
            row: line.row()?,
            kept: line.kept(data)?,
            cluster: narrow(Some(line.cluster)).unwrap_or(u32::MAX),
            cluster_size: narrow(line.cluster_size).unwrap_or(0),
            method,
            distance: narrow(line.distance),
            estimate: line.estimate(),
            similarity: line.similarity(),
            shingles: narrow(line.shared)
                .zip(narrow(line.shingles))
                .map(|(shared, all)| [shared, all]),
        });
        Ok(())
    })?;
    Ok(pairs)
}

/// A report of a search for passages in files as a table: its `ranges`, or the `list` of frequent
/// passages or of reference items.
#[pyfunction]
pub fn read_passages(py: Python<'_>, out: PathBuf, command: &str, name: &str) -> PyResult<Table> {
    let read = || -> Result<RecordBatch> {
        let search = passage_reports::search(command)?;
        let list = out.join(search.list);
        match name {
            "ranges" => passage_reports::ranges(&out.join("spans.jsonl"), &search),
            _ if search.has_items => passage_reports::items(&list),
            _ => passage_reports::passages(&list),
        }
    };
    let batch = py.detach(read).map_err(|error| exception(&error))?;
    Ok(batch.into())
}

/// A report of a run over files as a table: `duplicates`, `refused`, `clusters` or `skipped`.
#[pyfunction]
pub fn read_report(py: Python<'_>, out: PathBuf, name: &str) -> PyResult<Table> {
    let path = out.join(format!("{name}.jsonl"));
    let read = || -> Result<RecordBatch> {
        match name {
            "clusters" => reports::clusters(&path),
            "skipped" => reports::skipped(&path),
            _ => reports::pairs(&path),
        }
    };
    let batch = py.detach(read).map_err(|error| exception(&error))?;
    Ok(batch.into())
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

/// The answers of an index as a table.
#[pyfunction]
pub fn read_answers(lines: &[u8], skipped: &[u8]) -> PyResult<Table> {
    let answers = reports::answers(lines, skipped).map_err(|error| exception(&error))?;
    Ok(answers.into())
}
