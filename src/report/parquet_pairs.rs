//! The list of pairs as a Parquet file, with the columns of the JSON Lines.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringBuilder, UInt32Builder, UInt64Builder};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::json_lines::{At, Nearness, Pair};
use crate::io::AtomicFile;
use crate::{Error, ErrorKind, Result};

/// Rows of a batch, which are held in memory.
const ROWS: usize = 1 << 14;

/// Writes pairs into a Parquet file.
///
/// Ids are text: what is not UTF-8 is shown with replacement characters.
pub struct ParquetPairs {
    columns: Columns,
    rows: usize,
    writer: ArrowWriter<AtomicFile>,
    path: PathBuf,
}

#[derive(Default)]
struct Columns {
    id: StringBuilder,
    kept: StringBuilder,
    cluster: UInt64Builder,
    method: StringBuilder,
    distance: UInt32Builder,
    similarity: [UInt32Builder; 2],
    verified: [UInt32Builder; 2],
    at: Places,
    kept_at: Places,
}

#[derive(Default)]
struct Places {
    file: StringBuilder,
    offset: UInt64Builder,
    length: UInt64Builder,
    member: UInt64Builder,
}

impl ParquetPairs {
    /// Starts the table in `file`, which will be published as `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn create(path: &Path, file: AtomicFile) -> Result<ParquetPairs> {
        let mut columns = Columns::default();
        let failed = |cause| error(path, cause);
        let schema = columns
            .take()
            .map_err(|cause| failed(cause.into()))?
            .schema();
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(zstd).build();
        let writer = ArrowWriter::try_new(file, schema, Some(properties)).map_err(failed)?;
        Ok(ParquetPairs {
            columns,
            rows: 0,
            writer,
            path: path.to_owned(),
        })
    }

    /// Adds a pair.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn add(&mut self, pair: &Pair<'_>) -> Result<()> {
        self.columns.add(pair);
        self.rows += 1;
        match self.rows < ROWS {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Writes what is left, and publishes the file.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn publish(mut self) -> Result<()> {
        self.flush()?;
        let file = self.writer.into_inner();
        file.map_err(|cause| error(&self.path, cause))?.publish()
    }

    fn flush(&mut self) -> Result<()> {
        let failed = |cause| error(&self.path, cause);
        let batch = self.columns.take().map_err(|cause| failed(cause.into()))?;
        self.rows = 0;
        self.writer.write(&batch).map_err(failed)
    }
}

impl Columns {
    fn add(&mut self, pair: &Pair<'_>) {
        self.id.append_value(String::from_utf8_lossy(pair.id));
        self.kept
            .append_option(pair.kept.map(String::from_utf8_lossy));
        self.cluster.append_value(pair.cluster);
        self.method.append_value(pair.method);
        let (distance, similarity) = match pair.nearness {
            Nearness::Distance(distance) => (Some(distance), None),
            Nearness::Similarity(share) => (None, Some(share)),
        };
        self.distance.append_option(distance);
        for part in 0..2 {
            self.similarity[part].append_option(similarity.map(|share| share[part]));
            self.verified[part].append_option(pair.verified.map(|shingles| shingles[part]));
        }
        self.at.add(Some(&pair.at));
        self.kept_at.add(pair.kept_at.as_ref());
    }

    fn take(&mut self) -> arrow::error::Result<RecordBatch> {
        let [similarity, similarity_of] = &mut self.similarity;
        let [shared, shingles] = &mut self.verified;
        let mut columns: Vec<(&str, ArrayRef, bool)> = vec![
            ("id", Arc::new(self.id.finish()), false),
            ("kept", Arc::new(self.kept.finish()), true),
            ("cluster", Arc::new(self.cluster.finish()), false),
            ("method", Arc::new(self.method.finish()), false),
            ("distance", Arc::new(self.distance.finish()), true),
            ("similarity", Arc::new(similarity.finish()), true),
            ("similarity_of", Arc::new(similarity_of.finish()), true),
            ("verified_shared", Arc::new(shared.finish()), true),
            ("verified_shingles", Arc::new(shingles.finish()), true),
        ];
        columns.extend(self.at.take(["file", "offset", "length", "member"], false));
        let kept = ["kept_file", "kept_offset", "kept_length", "kept_member"];
        columns.extend(self.kept_at.take(kept, true));
        RecordBatch::try_from_iter_with_nullable(columns)
    }
}

impl Places {
    fn add(&mut self, at: Option<&At<'_>>) {
        self.file.append_option(at.map(|at| at.file));
        self.offset.append_option(at.map(|at| at.offset));
        self.length.append_option(at.map(|at| at.length));
        self.member.append_option(at.and_then(|at| at.member));
    }

    /// The columns and whether they may have gaps: places are known, unless `may_lack` them.
    fn take(
        &mut self,
        names: [&'static str; 4],
        may_lack: bool,
    ) -> [(&'static str, ArrayRef, bool); 4] {
        let [file, offset, length, member] = names;
        [
            (file, Arc::new(self.file.finish()), may_lack),
            (offset, Arc::new(self.offset.finish()), may_lack),
            (length, Arc::new(self.length.finish()), may_lack),
            (member, Arc::new(self.member.finish()), true),
        ]
    }
}

fn error(path: &Path, cause: parquet::errors::ParquetError) -> Error {
    Error::new(ErrorKind::Write, "cannot be written as Parquet")
        .in_file(path)
        .caused_by(std::io::Error::other(cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{NO_MEMBER, Place};
    use std::fs::File;

    use arrow::array::{AsArray, types::UInt64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    #[test]
    fn pairs_come_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pairs.parquet");
        for count in [0, 1, ROWS, ROWS + 3] {
            let mut pairs =
                ParquetPairs::create(&path, AtomicFile::create(&path).unwrap()).unwrap();
            for number in 0..count {
                let id = format!("d{number}");
                pairs
                    .add(&Pair {
                        id: id.as_bytes(),
                        url: b"",
                        kept: (number % 2 == 0).then_some(b"k"),
                        cluster: number as u64,
                        method: "minhash",
                        nearness: Nearness::Similarity([1, 2]),
                        verified: (number % 2 == 0).then_some([3, 4]),
                        at: At::new("a", Place::new(0, NO_MEMBER, 5, 6)),
                        kept_at: (number % 2 == 0).then(|| At::new("b", Place::new(0, 7, 8, 9))),
                    })
                    .unwrap();
            }
            pairs.publish().unwrap();
            let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap());
            let batches: Vec<RecordBatch> = builder
                .unwrap()
                .build()
                .unwrap()
                .map(|batch| batch.unwrap())
                .collect();
            let mut number = 0;
            for batch in &batches {
                let ids = batch
                    .column_by_name("id")
                    .unwrap()
                    .as_string::<i32>()
                    .iter();
                let clusters = batch.column_by_name("cluster").unwrap();
                let clusters = clusters.as_primitive::<UInt64Type>().values().iter();
                for (id, cluster) in ids.zip(clusters) {
                    assert_eq!(id.unwrap(), format!("d{number}"));
                    assert_eq!(*cluster, number);
                    number += 1;
                }
            }
            assert_eq!(number as usize, count);
        }
    }
}
