//! The documents of a run: a row and a label for each, in files of the work directory.

use bytemuck::{Pod, Zeroable};

use crate::corpus::{Document, Doubt, Format, Place, Skip, Source};
use crate::engine::naming::name;
use crate::io::{RecordCursor, RecordFile};
use crate::jobs::dedup::{Label, Work};
use crate::{Error, ErrorKind, Result};

/// The files of the rows, of the labels and of the chunks.
pub const FILES: [&str; 3] = ["rows", "labels", "chunks"];

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
pub fn write_label(source: &Source, document: &Document<'_>, out: &mut Vec<u8>) {
    let label = Label {
        id: name(source, document.id, document.place),
        ..Label::default()
    };
    label.write(out);
}

/// Appends the label of a document that could not be read.
pub fn write_skipped_label(source: &Source, skip: &Skip, out: &mut Vec<u8>) {
    let label = Label {
        id: name(source, &skip.id, skip.place),
        reason: skip.reason.name().into(),
        detail: skip.detail.clone().into_bytes(),
        ..Label::default()
    };
    label.write(out);
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
