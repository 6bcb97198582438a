//! The documents of a run: a row and a label for each, in files of the work directory.

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_128;

use crate::estimate::sampling::Measured;
use crate::table::numbering::too_many;
use crate::table::row::Label;
use crate::table::segment::ChunkEntry;
use crate::workdir::{Work, WorkFile, describe};
use crate::{Error, ErrorKind, Result};
use simtool_core::dedup::keep;
use simtool_corpus::{Document, Doubt, Format, Place, Skip, Source};
use simtool_engine::Progress;
use simtool_engine::documents::{ChunkDocuments, source_of};
use simtool_engine::naming::name;
use simtool_files::{RecordCursor, RecordFile};

/// The files of the rows, of the labels and of the chunks.
const FILES: [&str; 3] = ["rows", "labels", "chunks"];
/// The marker that says that they are complete.
const GATHERED: &str = "gathered";

/// A document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Row {
    /// Its place.
    pub place: Place,
    /// The offset of its label.
    pub label: u64,
    /// The length of its text.
    pub text_bytes: u64,
    /// The bytes of its text that are part of a unit.
    pub unit_bytes: u64,
    /// The site of its URL; 0 if it has none.
    pub site: u64,
    /// The number of its units.
    pub units: u32,
    /// What is known of it: [`SKIPPED`] and others.
    pub flags: u32,
}

/// It could not be read.
pub const SKIPPED: u32 = 1;
/// It has bytes that are not valid characters.
pub const BROKEN: u32 = 2;
/// It names an unknown character set.
pub const UNKNOWN_CHARSET: u32 = 4;

impl Row {
    /// The row of a document without units.
    pub fn of_document(document: &Document<'_>, site: u64, label: u64) -> Row {
        let flags = match document.doubt {
            Doubt::None => 0,
            Doubt::Broken => BROKEN,
            Doubt::UnknownCharset => UNKNOWN_CHARSET,
        };
        Row {
            place: document.place,
            label,
            text_bytes: document.text.len() as u64,
            unit_bytes: 0,
            site,
            units: 0,
            flags,
        }
    }

    /// The row of a document that could not be read.
    pub fn of_skipped(skip: &Skip, label: u64) -> Row {
        Row {
            place: skip.place,
            label,
            flags: SKIPPED,
            ..Row::zeroed()
        }
    }

    /// Whether the document could not be read.
    pub fn is_skipped(&self) -> bool {
        self.flags & SKIPPED != 0
    }

    /// Why characters of the text may be wrong.
    pub fn doubt(&self) -> Doubt {
        match self.flags {
            flags if flags & BROKEN != 0 => Doubt::Broken,
            flags if flags & UNKNOWN_CHARSET != 0 => Doubt::UnknownCharset,
            _ => Doubt::None,
        }
    }

    /// How many documents the row represents: of a damaged table, one row represents all that are
    /// lost at one place.
    pub fn documents(&self, sources: &[Source]) -> u64 {
        let source = sources.get(self.place.source as usize);
        match source.is_some_and(|source| source.format == Format::Parquet) {
            // A footer may claim any number.
            true if self.is_skipped() => self.place.length.clamp(1, u32::MAX.into()),
            _ => 1,
        }
    }

    /// The bytes of the text, or of the record if it could not be read. A row of a table that could
    /// not be read counts as one byte.
    pub fn bytes(&self) -> u64 {
        match self.is_skipped() {
            true => self.place.length,
            false => self.text_bytes,
        }
    }
}

/// Appends the label of a document.
fn write_label(source: &Source, document: &Document<'_>, out: &mut Vec<u8>) {
    let label = Label {
        id: name(source, document.id, document.place),
        ..Label::default()
    };
    label.write(out);
}

/// Appends the label of a document that could not be read.
fn write_skipped_label(source: &Source, skip: &Skip, out: &mut Vec<u8>) {
    let label = Label {
        id: name(source, &skip.id, skip.place),
        reason: skip.reason.name().into(),
        detail: skip.detail.clone().into_bytes(),
        ..Label::default()
    };
    label.write(out);
}

/// The rows and labels of the documents of a chunk.
pub struct ChunkRows {
    entry: ChunkEntry,
    rows: Vec<Row>,
    labels: Vec<u8>,
}

impl ChunkRows {
    /// Visits the documents of a chunk with their numbers in it. `visit` notes the units of each in
    /// its row.
    ///
    /// # Errors
    /// Errors of `visit`.
    pub fn read(
        documents: ChunkDocuments<'_>,
        mut visit: impl FnMut(&Source, &Document<'_>, u32, &mut Row) -> Result<()>,
    ) -> Result<ChunkRows> {
        let (chunk, source) = (documents.chunk, documents.source);
        let mut made = ChunkRows {
            entry: ChunkEntry {
                digest: 0,
                documents: 0,
                source: chunk.source,
                bytes: chunk.bytes().len() as u64,
            },
            rows: Vec::new(),
            labels: Vec::new(),
        };
        let mut texts_digest = Vec::new();
        documents.for_each(|found| {
            let label = made.labels.len() as u64;
            made.rows.push(match found {
                Ok(document) => {
                    write_label(source, &document, &mut made.labels);
                    if chunk.bytes().is_empty() {
                        texts_digest.extend_from_slice(&xxh3_128(document.text).to_le_bytes());
                    }
                    let mut row = Row::of_document(&document, site_of(&document), label);
                    visit(source, &document, made.entry.documents, &mut row)?;
                    row
                }
                Err(skip) => {
                    write_skipped_label(source, &skip, &mut made.labels);
                    Row::of_skipped(&skip, label)
                }
            });
            made.entry.documents += 1;
            Ok(())
        })?;
        made.entry.digest = match chunk.bytes() {
            [] => xxh3_128(&texts_digest),
            bytes => xxh3_128(bytes),
        };
        Ok(made)
    }
}

impl ChunkRows {
    /// The number of documents.
    pub fn documents(&self) -> u32 {
        self.entry.documents
    }

    /// The bytes of their texts.
    pub fn text_bytes(&self) -> u64 {
        self.rows.iter().map(|row| row.text_bytes).sum()
    }

    /// The number of their units.
    pub fn units(&self) -> u64 {
        self.rows.iter().map(|row| u64::from(row.units)).sum()
    }

    /// The measurements of a chunk of a sample that was processed in `seconds`.
    pub fn measured(&self, seconds: f64) -> Measured {
        Measured {
            documents: self.documents().into(),
            text_bytes: self.text_bytes(),
            seconds,
        }
    }

    /// The bytes of their labels.
    pub fn label_bytes(&self) -> u64 {
        self.labels.len() as u64
    }
}

/// The site of a document; 0 if its URL has no host.
pub fn site_of(document: &Document<'_>) -> u64 {
    match keep::host(document.url) {
        [] => 0,
        _ => keep::site(document.url).max(1),
    }
}

/// Writes the rows and labels of all documents to the work directory.
pub struct DocumentWriter<'a> {
    work: &'a Work,
    files: [WorkFile; FILES.len()],
    chunks: Vec<ChunkEntry>,
    documents: u32,
    label_bytes: u64,
}

impl DocumentWriter<'_> {
    /// Creates the files.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn create(work: &Work) -> Result<DocumentWriter<'_>> {
        let [rows, labels, chunks] = FILES;
        Ok(DocumentWriter {
            work,
            files: [
                work.create_file(rows)?,
                work.create_file(labels)?,
                work.create_file(chunks)?,
            ],
            chunks: Vec::new(),
            documents: 0,
            label_bytes: 0,
        })
    }

    /// Appends the documents of the next chunk; returns the number of the first one.
    ///
    /// # Errors
    /// [`ErrorKind::Write`]; too many documents.
    pub fn append(&mut self, mut chunk: ChunkRows) -> Result<u32> {
        for row in &mut chunk.rows {
            row.label += self.label_bytes;
        }
        self.label_bytes += chunk.labels.len() as u64;
        let [rows, labels, chunks] = &mut self.files;
        rows.append(bytemuck::cast_slice(&chunk.rows))?;
        labels.append(&chunk.labels)?;
        chunks.append(bytemuck::bytes_of(&chunk.entry))?;
        self.chunks.push(chunk.entry);
        let first = self.documents;
        self.documents = first
            .checked_add(chunk.entry.documents)
            .ok_or_else(too_many)?;
        Ok(first)
    }

    /// Publishes the files; returns the chunks of all sources.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn finish(self) -> Result<Vec<ChunkEntry>> {
        let mut finished = Vec::new();
        for file in self.files {
            finished.push(file.publish()?);
        }
        let mut marker = serde_json::Map::new();
        marker.insert("files".into(), describe(&finished).into());
        self.work.publish(GATHERED, marker)?;
        Ok(self.chunks)
    }
}

/// Checks the files that [`DocumentWriter`] published; returns whether it did.
///
/// # Errors
/// [`ErrorKind::Content`] if a file is damaged; [`ErrorKind::Read`]; [`ErrorKind::Interrupted`].
pub fn verify(work: &Work, progress: &Progress) -> Result<bool> {
    let Some(marker) = work.published(GATHERED)? else {
        return Ok(false);
    };
    let described = marker.get("files").cloned().unwrap_or_default();
    work.verify(&FILES, &described, progress)?;
    Ok(true)
}

/// The chunks that an earlier run stored.
///
/// # Errors
/// [`ErrorKind::Read`]; [`ErrorKind::Content`] for chunks of no source.
pub fn stored_chunks(work: &Work, sources: &[Source]) -> Result<Vec<ChunkEntry>> {
    let [_, _, name] = FILES;
    let file = RecordFile::<ChunkEntry>::open(&work.path(name))?;
    let count = usize::try_from(file.len()).map_err(|_| {
        let message = "more chunks than fit into memory";
        Error::new(ErrorKind::Content, message)
    })?;
    let mut chunks = Vec::new();
    file.read(0, count, &mut chunks)?;
    for chunk in &chunks {
        source_of(sources, chunk.source)?;
    }
    Ok(chunks)
}

/// The rows and labels of all documents.
pub struct DocumentTable {
    /// The rows, in input order.
    pub rows: RecordFile<Row>,
    labels: RecordFile<u8>,
}

impl DocumentTable {
    /// Opens the files of the work directory.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if one is truncated.
    pub fn open(work: &Work) -> Result<DocumentTable> {
        let [rows, labels, _] = FILES;
        Ok(DocumentTable {
            rows: RecordFile::open(&work.path(rows))?,
            labels: RecordFile::open(&work.path(labels))?,
        })
    }

    /// A reader of rows and labels in ascending order.
    pub fn cursor(&self) -> DocumentCursor<'_> {
        DocumentCursor {
            rows: RecordCursor::new(&self.rows),
            labels: RecordCursor::new(&self.labels),
        }
    }
}

/// Reads rows and labels, which is fast in ascending order.
pub struct DocumentCursor<'a> {
    rows: RecordCursor<'a, Row>,
    labels: RecordCursor<'a, u8>,
}

impl DocumentCursor<'_> {
    /// The row of a document.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if there is none.
    pub fn row(&mut self, number: u32) -> Result<Row> {
        self.rows.get(number.into())
    }

    /// The label of a row.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if it is incomplete.
    pub fn label(&mut self, row: &Row) -> Result<Label> {
        let missing = || Error::new(ErrorKind::Content, "a label is cut: start with --restart");
        let head = self.labels.read(row.label, Label::HEAD_BYTES)?;
        let length = Label::length(*head.first_chunk().ok_or_else(missing)?);
        Label::read(self.labels.read(row.label, length)?).ok_or_else(missing)
    }
}
