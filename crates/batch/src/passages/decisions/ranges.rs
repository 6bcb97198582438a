//! Ranges of texts that are removed, in the order of their documents.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use crate::{Error, ErrorKind, Result};
use simtool_files::RecordFile;

/// The ranges that are read at once.
const BLOCK: usize = 4096;

/// A range of a text that is removed. The order is that of the documents, then of the beginnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct RemovedRange {
    /// The number of the document.
    pub document: u32,
    /// The first byte in its text.
    pub start: u32,
    /// The number of bytes.
    pub length: u32,
    /// Why it is removed: a [`Why`].
    pub why: u32,
    /// The number of occurrences of what is removed.
    pub count: u64,
}

/// Why a range is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Why {
    /// It is listed.
    Listed = 0,
    /// It occurs in the documents to compare with.
    Against = 1,
    /// It is repeated in the input.
    Repeated = 2,
    /// It is an edited form of an item of the reference.
    Edited = 3,
}

impl Why {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Why::Listed => "listed",
            Why::Against => "against",
            Why::Repeated => "repeated",
            Why::Edited => "edited",
        }
    }
}

impl RemovedRange {
    /// The bytes in the text.
    pub fn bytes(&self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.length as usize
    }

    /// The name of the reason.
    pub fn why(&self) -> &'static str {
        let all = [Why::Listed, Why::Against, Why::Repeated, Why::Edited];
        let why = all.into_iter().find(|why| *why as u32 == self.why);
        why.unwrap_or(Why::Repeated).name()
    }

    /// Whether both ranges have bytes in common.
    pub fn overlaps(&self, next: &RemovedRange) -> bool {
        self.document == next.document && next.bytes().start < self.bytes().end
    }

    /// Extends the range by a later one that overlaps it: the larger count stays, and the stronger
    /// reason.
    pub fn join(&mut self, next: &RemovedRange) {
        let end = self.bytes().end.max(next.bytes().end);
        // Both ranges begin and end below 4 GiB.
        self.length = u32::try_from(end - self.bytes().start).unwrap_or(u32::MAX);
        self.count = self.count.max(next.count);
        self.why = self.why.min(next.why);
    }
}

/// A record about a document, in a file that is sorted by document.
pub trait OfDocument: Pod {
    /// The number of the document.
    fn document(&self) -> u32;
}

impl OfDocument for RemovedRange {
    fn document(&self) -> u32 {
        self.document
    }
}

/// Reads the records of documents in ascending order.
pub struct RangeCursor<'a, R> {
    file: &'a RecordFile<R>,
    /// The records that were read and not passed on yet, from `at` on.
    held: Vec<R>,
    at: usize,
    /// The number of the first record that was not read.
    next: u64,
}

impl<'a, R: OfDocument> RangeCursor<'a, R> {
    /// A reader of `file`, whose records are sorted by document.
    pub fn new(file: &'a RecordFile<R>) -> RangeCursor<'a, R> {
        RangeCursor {
            file,
            held: Vec::new(),
            at: 0,
            next: 0,
        }
    }

    /// Moves to the first record of the document `number` or of a later one, and returns the number of
    /// that document. O(log n) reads.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    pub fn seek(&mut self, number: u32) -> Result<Option<u32>> {
        let (mut low, mut high) = (0, self.file.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.file.get(middle)?.document() < number {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        self.next = low;
        self.held.clear();
        self.at = 0;
        self.fill()?;
        Ok(self.held.first().map(OfDocument::document))
    }

    /// Passes the records of the document `number` to `visit`. Documents have to be requested in
    /// ascending order, from the one of [`seek`](Self::seek) on.
    ///
    /// # Errors
    /// [`ErrorKind::Read`]; [`ErrorKind::Content`] if the records are not in order; those of `visit`.
    pub fn for_each_of(
        &mut self,
        number: u32,
        mut visit: impl FnMut(&R) -> Result<()>,
    ) -> Result<()> {
        loop {
            self.fill()?;
            match self.held.get(self.at) {
                Some(record) if record.document() == number => visit(record)?,
                Some(record) if record.document() < number => {
                    let message = "removed ranges are not in order: start with --restart";
                    return Err(Error::new(ErrorKind::Content, message));
                }
                _ => return Ok(()),
            }
            self.at += 1;
        }
    }

    /// Reads the next records, if none is held.
    fn fill(&mut self) -> Result<()> {
        if self.at == self.held.len() {
            self.file.read(self.next, BLOCK, &mut self.held)?;
            self.next += self.held.len() as u64;
            self.at = 0;
        }
        Ok(())
    }
}

/// The records about some consecutive documents.
pub struct RangesOfDocuments<R>(Vec<R>);

impl<R: OfDocument> RangesOfDocuments<R> {
    /// The records about the documents `numbers`.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    pub fn read(file: &RecordFile<R>, numbers: Range<u32>) -> Result<RangesOfDocuments<R>> {
        let mut cursor = RangeCursor::new(file);
        cursor.seek(numbers.start)?;
        let mut all = Vec::new();
        for number in numbers {
            cursor.for_each_of(number, |record| {
                all.push(*record);
                Ok(())
            })?;
        }
        Ok(RangesOfDocuments(all))
    }

    /// Those about a document, in order.
    pub fn of(&self, number: u32) -> &[R] {
        let first = self.0.partition_point(|record| record.document() < number);
        let own = &self.0[first..];
        &own[..own.partition_point(|record| record.document() == number)]
    }
}

impl RangesOfDocuments<RemovedRange> {
    /// The bytes of the removed ranges of a document, in order.
    pub fn bytes_of(&self, number: u32) -> impl Iterator<Item = Range<usize>> + '_ {
        self.of(number).iter().map(RemovedRange::bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_document_has_its_ranges(
            lengths in prop::collection::vec(prop_oneof![4 => 0..4usize, 1 => 3000..9000usize], 1..12),
            first in 0..12u32,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("ranges");
            let mut all = Vec::new();
            for (document, length) in (0..).zip(&lengths) {
                all.extend((0..*length as u32).map(|start| RemovedRange {
                    document, start: 2 * start, length: 1, why: Why::Listed as u32, count: 1,
                }));
            }
            std::fs::write(&path, bytemuck::cast_slice(&all)).unwrap();
            let file = RecordFile::open(&path).unwrap();
            let mut cursor = RangeCursor::new(&file);
            let found = cursor.seek(first).unwrap();
            let rest = all.iter().map(|range| range.document);
            prop_assert_eq!(found, rest.filter(|document| *document >= first).min());
            for (document, length) in (0..).zip(&lengths).skip(first as usize) {
                let mut count = 0;
                let visit = |range: &RemovedRange| {
                    assert_eq!((range.document, range.start), (document, 2 * count));
                    count += 1;
                    Ok(())
                };
                cursor.for_each_of(document, visit).unwrap();
                prop_assert_eq!(count as usize, *length);
            }
        }
    }
}
