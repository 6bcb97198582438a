//! The documents of a run: a row and a label for each.

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_128;

use crate::Result;
use crate::estimate::sampling::Measured;
use crate::table::document_table::{DocumentTable, lost_documents};
use crate::table::row::{Label, TableRow};
use crate::table::segment::{ChunkEntry, Segment};
use simtool_core::dedup::keep;
use simtool_corpus::{Document, Doubt, Place, Skip, Source};
use simtool_engine::documents::ChunkDocuments;
use simtool_engine::naming::name;

/// The documents of a search.
pub type PassageTable = DocumentTable<PassageRow>;

/// The rows and labels of the documents of a chunk.
pub type ChunkRows = Segment<PassageRow>;

/// A document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct PassageRow {
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
/// It has parts of documents to compare with.
pub const HAS_HITS: u32 = 8;

impl TableRow for PassageRow {
    fn place(&self) -> Place {
        self.place
    }

    fn is_skipped(&self) -> bool {
        self.flags & SKIPPED != 0
    }

    /// Not known: `false`.
    fn is_named_by_place(&self) -> bool {
        false
    }

    fn label(&self) -> u64 {
        self.label
    }

    fn move_label(&mut self, bytes: u64) {
        self.label += bytes;
    }
}

impl PassageRow {
    /// The row of a document without units.
    pub fn of_document(document: &Document<'_>, site: u64, label: u64) -> PassageRow {
        let flags = match document.doubt {
            Doubt::None => 0,
            Doubt::Broken => BROKEN,
            Doubt::UnknownCharset => UNKNOWN_CHARSET,
        };
        PassageRow {
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
    pub fn of_skipped(skip: &Skip, label: u64) -> PassageRow {
        PassageRow {
            place: skip.place,
            label,
            flags: SKIPPED,
            ..PassageRow::zeroed()
        }
    }

    /// Notes whether the document has parts of documents to compare with.
    pub fn set_hits(&mut self, has_hits: bool) {
        self.flags |= if has_hits { HAS_HITS } else { 0 };
    }

    /// Whether the document has parts of documents to compare with.
    pub fn has_hits(&self) -> bool {
        self.flags & HAS_HITS != 0
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
        match self.is_skipped() {
            true => lost_documents(&self.place, sources),
            false => 1,
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

impl ChunkRows {
    /// Visits the documents of a chunk with their numbers in it. `visit` notes the units of each in
    /// its row.
    ///
    /// # Errors
    /// Errors of `visit`.
    pub fn read(
        documents: ChunkDocuments<'_>,
        mut visit: impl FnMut(&Source, &Document<'_>, u32, &mut PassageRow) -> Result<()>,
    ) -> Result<ChunkRows> {
        let (chunk, source) = (documents.chunk, documents.source);
        let mut made = ChunkRows::default();
        let (mut texts_digest, mut count) = (Vec::new(), 0);
        documents.for_each(|found| {
            let label = made.labels.len() as u64;
            made.rows.push(match found {
                Ok(document) => {
                    write_label(source, &document, &mut made.labels);
                    if chunk.bytes().is_empty() {
                        texts_digest.extend_from_slice(&xxh3_128(document.text).to_le_bytes());
                    }
                    let mut row = PassageRow::of_document(&document, site_of(&document), label);
                    visit(source, &document, count, &mut row)?;
                    row
                }
                Err(skip) => {
                    write_skipped_label(source, &skip, &mut made.labels);
                    PassageRow::of_skipped(&skip, label)
                }
            });
            count += 1;
            Ok(())
        })?;
        made.chunks
            .push(ChunkEntry::new(chunk, count, &texts_digest));
        made.shrink_to_fit();
        Ok(made)
    }

    /// The number of documents.
    pub fn documents(&self) -> u32 {
        self.rows.len() as u32
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
    keep::site(document.url).map_or(0, |site| site.max(1))
}
