//! The numbering of the documents of a chunk.

use super::chunk::Chunk;
use super::document::{Parsed, Place, Reason, Skip, too_large};
use memchr::memchr;
use std::ops::Range;

/// Receives documents and skipped documents, with their numbers in the chunk.
pub(super) type Visit<'v> = dyn FnMut(u32, Parsed<'_>) + 'v;

/// Numbers the documents of a chunk and passes them to a callback.
pub(super) struct ChunkVisitor<'c, 'v, 'w> {
    pub(super) chunk: &'c Chunk,
    /// The maximum length of a document.
    pub(super) most: u64,
    pub(super) wanted: &'w dyn Fn(u32) -> bool,
    pub(super) visit: &'w mut Visit<'v>,
    pub(super) ordinal: u32,
    /// The number of records that are not documents.
    pub(super) others: u64,
}

impl<'c> ChunkVisitor<'c, '_, '_> {
    pub(super) fn emit(&mut self, parsed: Parsed<'_>) {
        (self.visit)(self.ordinal, parsed);
        self.ordinal += 1;
    }

    /// Whether a record is within the length limit. A longer one may have been cut off before its
    /// kind was known, so its content decides nothing.
    pub(super) fn fits(&self, record: &Range<usize>) -> bool {
        record.len() as u64 <= self.most
    }

    /// Whether the next record must be decoded. If not, this passes its outcome to the callback.
    pub(super) fn wants(&mut self, record: &Range<usize>, id: &[u8]) -> bool {
        if !(self.wanted)(self.ordinal) {
            self.emit(Parsed::Unwanted);
            return false;
        }
        if !self.fits(record) {
            let detail = too_large(record.len() as u64, self.most);
            self.skip(record, id, Reason::TooLarge, detail);
            return false;
        }
        true
    }

    pub(super) fn skip(
        &mut self,
        record: &Range<usize>,
        id: &[u8],
        reason: Reason,
        detail: String,
    ) {
        let skip = Skip {
            place: self.place(record),
            id: id.to_vec(),
            reason,
            detail,
        };
        self.emit(Parsed::Skipped(skip));
    }

    pub(super) fn place(&self, record: &Range<usize>) -> Place {
        self.chunk.place(record.start, record.len())
    }

    /// The records, each with the separator that ends it.
    pub(super) fn records(&self, separator: u8) -> impl Iterator<Item = Range<usize>> + use<'c> {
        let bytes = self.chunk.bytes();
        let mut start = 0;
        std::iter::from_fn(move || {
            let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
            let length = memchr(separator, rest).map_or(rest.len(), |at| at + 1);
            let record = start..start + length;
            start = record.end;
            Some(record)
        })
    }
}
