//! The reports as tables, in Parquet files.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use simtool_core::{Error, ErrorKind, Result};

use crate::name::Name;
use crate::plan::Keys;
use crate::records::Verified;
use crate::work::Work;

/// The reports of a home.
pub struct Tables {
    /// The dropped documents.
    pub duplicates: PairTable,
    /// The refused pairs.
    pub refused: PairTable,
    /// The documents of clusters.
    pub clusters: ClusterTable,
}

/// A dropped document, or a refused pair.
pub struct PairRow<'a> {
    /// The document.
    pub document: Name<'a>,
    /// The kept one, or the one that comes first.
    pub kept: Option<Name<'a>>,
    /// The documents of the cluster.
    pub cluster_size: Option<u64>,
    /// How the pair was found.
    pub method: &'a str,
    /// What both have in common; without shingles if they are equal.
    pub pair: Option<Verified>,
    /// The similarity.
    pub similarity: Option<f64>,
    /// Whether the kept one is of the other collection.
    pub kept_against: Option<bool>,
    /// The newest document with the same URL, if it is dropped, too.
    pub newest: Option<Name<'a>>,
}

/// A document of a cluster.
pub struct ClusterRow<'a> {
    /// The kept document.
    pub cluster: Name<'a>,
    /// The documents of the cluster.
    pub size: u64,
    /// The document.
    pub document: Name<'a>,
    /// Whether the document is kept.
    pub kept: bool,
}

/// Rows of [`PairRow`].
#[derive(Default)]
pub struct PairTable {
    keys: Keys,
    id: StringBuilder,
    kept: StringBuilder,
    cluster_size: Int64Builder,
    method: StringBuilder,
    distance: Int64Builder,
    estimate: Float64Builder,
    similarity: Float64Builder,
    shared: Int64Builder,
    shingles: Int64Builder,
    kept_against: BooleanBuilder,
    newest: StringBuilder,
    key: StringBuilder,
    kept_key: StringBuilder,
}

/// Rows of [`ClusterRow`].
#[derive(Default)]
pub struct ClusterTable {
    keys: Keys,
    cluster: StringBuilder,
    size: Int64Builder,
    id: StringBuilder,
    kept: BooleanBuilder,
    key: StringBuilder,
}

/// The documents that a task could not read.
#[derive(Default)]
pub struct SkippedTable {
    keys: Keys,
    id: StringBuilder,
    reason: StringBuilder,
    detail: StringBuilder,
    key: StringBuilder,
}

impl SkippedTable {
    /// No rows yet.
    pub fn new(keys: Keys) -> SkippedTable {
        SkippedTable {
            keys,
            ..SkippedTable::default()
        }
    }

    /// Adds a document, with the reason and a description.
    pub fn push(&mut self, document: Name<'_>, reason: &[u8], detail: &[u8]) {
        self.id.append_value(text(document.id));
        self.reason.append_value(text(reason));
        self.detail.append_value(text(detail));
        self.key.append_option(key_text(self.keys, document.key));
    }

    /// Writes the file of a task.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn write(mut self, work: &Work, task: usize) -> Result<()> {
        let rows = batch([
            ("id", Arc::new(self.id.finish()) as ArrayRef),
            ("reason", Arc::new(self.reason.finish())),
            ("detail", Arc::new(self.detail.finish())),
            ("key", Arc::new(self.key.finish())),
        ])?;
        write(work, "skipped", task, &rows)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A key as its column has it.
fn key_text(keys: Keys, key: Option<&[u8]>) -> Option<String> {
    let key = key?;
    match keys {
        Keys::None => None,
        Keys::Text => Some(text(key)),
        Keys::Whole => {
            let bytes = key.first_chunk()?;
            let number = (u64::from_be_bytes(*bytes) ^ 1 << 63).cast_signed();
            Some(number.to_string())
        }
    }
}

impl PairTable {
    /// Adds a row.
    pub fn push(&mut self, row: &PairRow<'_>) {
        let pair = row.pair.as_ref();
        let counted = pair.filter(|pair| pair.shingles > 0);
        self.id.append_value(text(row.document.id));
        self.kept.append_option(row.kept.map(|kept| text(kept.id)));
        self.cluster_size
            .append_option(row.cluster_size.map(u64::cast_signed));
        self.method.append_value(row.method);
        let distance = pair
            .map(|pair| pair.distance)
            .filter(|distance| *distance >= 0);
        self.distance.append_option(distance);
        let estimate = pair
            .map(|pair| pair.estimate)
            .filter(|estimate| !estimate.is_nan());
        self.estimate.append_option(estimate);
        self.similarity.append_option(row.similarity);
        self.shared
            .append_option(counted.map(|pair| pair.shared.cast_signed()));
        self.shingles
            .append_option(counted.map(|pair| pair.shingles.cast_signed()));
        self.kept_against.append_option(row.kept_against);
        let newest = row.newest.map(|newest| text(newest.id));
        self.newest.append_option(newest);
        self.key
            .append_option(key_text(self.keys, row.document.key));
        let kept = row.kept.and_then(|kept| key_text(self.keys, kept.key));
        self.kept_key.append_option(kept);
    }

    fn batch(&mut self) -> Result<RecordBatch> {
        batch([
            ("id", Arc::new(self.id.finish()) as ArrayRef),
            ("kept", Arc::new(self.kept.finish())),
            ("cluster_size", Arc::new(self.cluster_size.finish())),
            ("method", Arc::new(self.method.finish())),
            ("distance", Arc::new(self.distance.finish())),
            ("estimate", Arc::new(self.estimate.finish())),
            ("similarity", Arc::new(self.similarity.finish())),
            ("shared", Arc::new(self.shared.finish())),
            ("shingles", Arc::new(self.shingles.finish())),
            ("kept_against", Arc::new(self.kept_against.finish())),
            ("newest", Arc::new(self.newest.finish())),
            ("key", Arc::new(self.key.finish())),
            ("kept_key", Arc::new(self.kept_key.finish())),
        ])
    }
}

impl ClusterTable {
    /// Adds a row.
    pub fn push(&mut self, row: &ClusterRow<'_>) {
        self.cluster.append_value(text(row.cluster.id));
        self.size.append_value(row.size.cast_signed());
        self.id.append_value(text(row.document.id));
        self.kept.append_value(row.kept);
        self.key
            .append_option(key_text(self.keys, row.document.key));
    }

    fn batch(&mut self) -> Result<RecordBatch> {
        batch([
            ("cluster", Arc::new(self.cluster.finish()) as ArrayRef),
            ("size", Arc::new(self.size.finish())),
            ("id", Arc::new(self.id.finish())),
            ("kept", Arc::new(self.kept.finish())),
            ("key", Arc::new(self.key.finish())),
        ])
    }
}

impl Tables {
    /// No rows yet.
    pub fn new(keys: Keys) -> Tables {
        let pairs = || PairTable {
            keys,
            ..PairTable::default()
        };
        Tables {
            duplicates: pairs(),
            refused: pairs(),
            clusters: ClusterTable {
                keys,
                ..ClusterTable::default()
            },
        }
    }

    /// Writes the files of a task.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn write(mut self, work: &Work, task: usize) -> Result<()> {
        write(work, "duplicates", task, &self.duplicates.batch()?)?;
        write(work, "refused", task, &self.refused.batch()?)?;
        write(work, "clusters", task, &self.clusters.batch()?)
    }
}

fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<RecordBatch> {
    let columns = columns.map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).map_err(|cause| failed(&cause))
}

fn write(work: &Work, name: &str, task: usize, batch: &RecordBatch) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(Default::default()))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))
        .map_err(|cause| failed(&cause))?;
    writer.write(batch).map_err(|cause| failed(&cause))?;
    let bytes = writer.into_inner().map_err(|cause| failed(&cause))?;
    work.write(&format!("tables/{name}/{task:06}.parquet"), &bytes)
}

fn failed(cause: &dyn std::error::Error) -> Error {
    Error::new(
        ErrorKind::Write,
        format!("a report cannot be made: {cause}"),
    )
}
