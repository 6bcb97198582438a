//! A sample of documents as output: seconds to write it, and its bytes.

use crate::Result;
use crate::shards::ShardForm;
#[cfg(feature = "parquet")]
use simtool_corpus::Format;
use simtool_corpus::{Chunk, Reading, Reason, Source};
use simtool_engine::documents::DocumentReader;
use simtool_files::usage::thread_time;

use crate::write::packing::{OutputPiece, Packing};
use crate::write::settings::DumpSettings;

/// How documents are written.
#[derive(Clone, Copy)]
pub enum OutputForm<'a> {
    /// A file for each input, in its own format.
    Files(DumpSettings),
    /// As shards.
    Shards(ShardForm<'a>),
}

/// A chunk that is written to memory.
pub struct WrittenSample<'a> {
    /// All sources.
    pub sources: &'a [Source],
    /// How they are read.
    pub reading: &'a Reading,
    /// The source of the chunk.
    pub source: &'a Source,
    /// The chunk.
    pub chunk: &'a Chunk,
    /// The bytes of the file that it represents.
    pub covered: f64,
    /// The most bytes of a table that are written.
    #[cfg(feature = "parquet")]
    pub most_bytes: u64,
}

/// The cost of writing a part of a file.
pub struct WriteCost {
    /// The bytes of the file that the part represents.
    pub covered: f64,
    /// Seconds of this thread.
    pub seconds: f64,
    /// Bytes of the output.
    pub bytes: f64,
}

impl WrittenSample<'_> {
    /// Writes the chunk. Tables that are written as tables, or as compressed rows with all columns, are
    /// copied in part.
    ///
    /// # Errors
    /// Errors of reading and of the compression.
    pub fn write(&self, form: OutputForm<'_>) -> Result<WriteCost> {
        #[cfg(feature = "parquet")]
        if self.source.format == Format::Parquet && copies_rows(form) {
            return self.copy_rows();
        }
        let before = thread_time();
        let bytes = match form {
            OutputForm::Files(dump) => self.packed_bytes(dump)?,
            OutputForm::Shards(form) => {
                let mut reader = DocumentReader::new(self.sources, self.reading);
                let documents = reader.documents(self.chunk)?;
                form.bytes(documents, self.reading)? as f64
            }
        };
        Ok(WriteCost {
            covered: self.covered,
            seconds: thread_time().saturating_sub(before).as_secs_f64(),
            bytes,
        })
    }

    /// The bytes of the chunk in the format of its source.
    fn packed_bytes(&self, dump: DumpSettings) -> Result<f64> {
        let packing = Packing {
            source: self.source,
            level: dump.compression_level,
        };
        let whole = OutputPiece::Same(0..self.chunk.bytes().len());
        let packed = packing.pack(self.chunk, vec![whole])?;
        // Skipped records are assumed to be written with their compressed size.
        let passed_over = match dump.drops_skipped() {
            true => 0,
            false => passed_over(self.chunk, is_written),
        };
        let share = passed_over as f64 / (length(self.chunk) as f64).max(1.0);
        Ok(packed.len() as f64 + self.covered * share)
    }

    /// Copies rows of a table with all columns, including those that are not compared.
    #[cfg(feature = "parquet")]
    fn copy_rows(&self) -> Result<WriteCost> {
        let bytes = self.source.bytes.unwrap_or(0) as f64;
        let rows = rows_of(self.source, self.reading)?.max(1) as f64;
        let most = (self.most_bytes as f64 * rows / bytes.max(1.0)).max(1.0);
        let first = usize::try_from(self.chunk.start.offset).unwrap_or(0);
        let most = (most as usize).min(MOST_SAMPLE_ROWS);
        let copied = simtool_corpus::parquet::copy_sample(self.source.file(), first, most);
        let copied = match copied {
            // Damaged tables count as nothing; the run reports them.
            Err(error) if error.kind() == crate::ErrorKind::Content => Default::default(),
            copied => copied?,
        };
        Ok(WriteCost {
            covered: bytes * copied.rows as f64 / rows,
            seconds: copied.time.as_secs_f64(),
            bytes: copied.bytes as f64,
        })
    }
}

/// Whether rows of tables take about as many bytes in the output as in another table.
#[cfg(feature = "parquet")]
fn copies_rows(form: OutputForm<'_>) -> bool {
    match form {
        OutputForm::Files(_) => true,
        OutputForm::Shards(form) => !form.only_text && form.is_compressed(),
    }
}

/// The most rows that are written as a sample.
#[cfg(feature = "parquet")]
const MOST_SAMPLE_ROWS: usize = 8192;

/// The rows of a table.
///
/// # Errors
/// Errors of [`Table::open`](simtool_corpus::parquet::Table::open).
#[cfg(feature = "parquet")]
pub fn rows_of(source: &Source, reading: &Reading) -> Result<u64> {
    let table = simtool_corpus::parquet::Table::open(source.file(), reading)?;
    Ok(table.map_or(0, |table| table.rows()))
}

/// The decompressed bytes that a chunk represents, including skipped records.
pub fn length(chunk: &Chunk) -> u64 {
    (chunk.bytes().len() as u64).saturating_add(passed_over(chunk, |_| true))
}

/// The decompressed bytes of records that the reader skipped for the given reasons.
fn passed_over(chunk: &Chunk, is_asked: impl Fn(Reason) -> bool) -> u64 {
    let asked = chunk.skipped.iter().filter(|skip| is_asked(skip.reason));
    asked.fold(0, |sum: u64, skip| sum.saturating_add(skip.place.length))
}

/// Whether a record that was skipped for this reason can be written again.
fn is_written(reason: Reason) -> bool {
    !matches!(reason, Reason::Damaged | Reason::Truncated)
}
