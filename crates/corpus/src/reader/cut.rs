//! The end of a chunk, found while its bytes arrive.

use crate::source::Format;
use crate::text_formats::records::{longer_than, next_record};
use crate::web::warc::Next;
use memchr::{memchr, memchr_iter, memrchr};

/// The end of a chunk, as far as the bytes so far determine it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ChunkEnd {
    /// More bytes are needed.
    Unknown,
    /// The chunk ends at this index.
    At(usize),
    /// The chunk ends at this index, where a document over the length limit begins.
    Before(usize, DocumentEnd),
}

/// The end of a document over the length limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DocumentEnd {
    /// After the next separator.
    Separator(u8),
    /// After this number of bytes, from its header.
    Length(u64),
    /// The end of the input.
    EndOfInput,
}

/// Finds the end of one chunk while its bytes arrive.
///
/// A chunk ends with the first document that ends at or after `least` bytes, or with record number
/// [`MAX_RECORDS`]. So its end depends on its start and on the bytes, not on how they arrive. Each
/// byte is examined about twice.
#[derive(Debug)]
pub(super) struct ChunkCutter {
    format: Format,
    /// The minimum length of the chunk.
    least: usize,
    /// The maximum length of a document.
    most: u64,
    /// The start of the last known document that begins before `least`.
    last: Option<usize>,
    /// The number of bytes already searched; for archives, the end of the last record.
    searched: usize,
    /// Whether the last record was damaged.
    is_behind_damage: bool,
    /// The records that are known to end before `counted`.
    records: usize,
    /// The end of the bytes whose separators are counted, at most `least`.
    counted: usize,
}

/// The maximum number of records of a chunk, blank lines and damaged records included. It bounds the
/// memory of what is computed from a chunk, however short its records are; no chunk of records with
/// 64 bytes and more ends earlier for it at the usual length.
pub(crate) const MAX_RECORDS: usize = 8192;

/// The maximum number of damaged bytes by which a chunk exceeds its minimum length.
const MAX_DAMAGE_BYTES: usize = 4 << 20;

impl ChunkCutter {
    /// A cutter for a chunk of at least `least` bytes, with documents of at most `most` bytes.
    pub(crate) fn new(format: Format, least: usize, most: u64) -> ChunkCutter {
        ChunkCutter {
            format,
            least: least.max(1),
            most,
            last: None,
            searched: 0,
            is_behind_damage: false,
            records: 0,
            counted: 0,
        }
    }

    /// Continues the search in `bytes`: those of the previous call and new ones after them. If
    /// `is_end`, the input ends with them.
    pub(crate) fn look(&mut self, bytes: &[u8], is_end: bool) -> ChunkEnd {
        match (self.format, self.format.separator()) {
            (_, Some(separator)) => self.look_for(separator, bytes),
            (Format::Warc | Format::Arc, None) => self.look_at_records(bytes, is_end),
            _ if bytes.len() as u64 > self.most => ChunkEnd::Before(0, DocumentEnd::EndOfInput),
            _ => ChunkEnd::Unknown,
        }
    }

    /// The end of the last whole document, if the data after `bytes` is lost.
    pub(super) fn last_whole(&self, bytes: &[u8]) -> usize {
        match (self.format, self.format.separator()) {
            (_, Some(separator)) => memrchr(separator, bytes).map_or(0, |at| at + 1),
            (Format::Warc | Format::Arc, None) => {
                let mut end = self.searched;
                while let Next::Record(record) = next_record(self.format, &bytes[end..], true) {
                    end += record.raw.len();
                }
                end
            }
            _ => 0,
        }
    }

    fn look_at_records(&mut self, bytes: &[u8], is_end: bool) -> ChunkEnd {
        // Only the record after damage shows where the damage ends, so no chunk ends with damage
        // unless it is too long, or there is much of it.
        let most = self.least.saturating_add(MAX_DAMAGE_BYTES);
        while (self.searched < self.least && self.records < MAX_RECORDS)
            || (self.is_behind_damage && self.searched < most && self.records < 2 * MAX_RECORDS)
        {
            let rest = &bytes[self.searched..];
            if let Some(length) = longer_than(self.most, self.format, rest) {
                return ChunkEnd::Before(self.searched, DocumentEnd::Length(length));
            }
            match next_record(self.format, rest, is_end) {
                Next::Record(record) => {
                    self.searched += record.raw.len();
                    self.is_behind_damage = false;
                    self.records += 1;
                }
                Next::Damaged { resume_at, .. } => {
                    self.searched += resume_at;
                    self.is_behind_damage = true;
                    self.records += 1;
                }
                Next::Incomplete { .. } | Next::End => return ChunkEnd::Unknown,
            }
        }
        ChunkEnd::At(self.searched)
    }

    /// The end of record number [`MAX_RECORDS`], if it is before `least`.
    fn last_record(&mut self, separator: u8, bytes: &[u8]) -> Option<usize> {
        let end = bytes.len().min(self.least - 1).max(self.counted);
        let separators = || memchr_iter(separator, &bytes[self.counted..end]);
        let missing = MAX_RECORDS - self.records;
        let count = separators().count();
        if count >= missing {
            let at = separators().nth(missing - 1)?;
            return Some(self.counted + at + 1);
        }
        (self.records, self.counted) = (self.records + count, end);
        None
    }

    fn look_for(&mut self, separator: u8, bytes: &[u8]) -> ChunkEnd {
        if let Some(end) = self.last_record(separator, bytes) {
            return ChunkEnd::At(end);
        }
        if bytes.len() < self.least {
            return ChunkEnd::Unknown;
        }
        let before = self.least - 1;
        let last = *self
            .last
            .get_or_insert_with(|| memrchr(separator, &bytes[..before]).map_or(0, |at| at + 1));
        let from = self.searched.max(before);
        let end = memchr(separator, &bytes[from..]).map(|at| from + at + 1);
        self.searched = bytes.len();
        let length = end.unwrap_or(bytes.len()) - last;
        match end {
            _ if length as u64 > self.most => {
                ChunkEnd::Before(last, DocumentEnd::Separator(separator))
            }
            Some(end) => ChunkEnd::At(end),
            None => ChunkEnd::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(bytes: &[u8], least: usize, most: u64, step: usize) -> ChunkEnd {
        let mut cutter = ChunkCutter::new(Format::Jsonl, least, most);
        let mut length = 0;
        while length < bytes.len() {
            length = (length + step).min(bytes.len());
            let cut = cutter.look(&bytes[..length], false);
            if cut != ChunkEnd::Unknown {
                return cut;
            }
        }
        ChunkEnd::Unknown
    }

    #[test]
    fn a_chunk_ends_with_the_document_that_makes_it_full() {
        for step in 1..10 {
            let at = |least| cut(b"ab\nc\ndefg\nh\n", least, 100, step);
            let found = [1, 3, 4, 5, 6, 10, 11, 12, 13].map(at);
            let expected = [3, 3, 5, 5, 10, 10, 12, 12].map(ChunkEnd::At);
            assert_eq!(found[..8], expected);
            assert_eq!(found[8], ChunkEnd::Unknown);
        }
    }

    /// Promise (Bounded memory): The least memory of each command …
    #[test]
    fn a_chunk_ends_with_the_last_record_that_it_may_have() {
        let records = b"a\n\n".repeat(MAX_RECORDS);
        let end = MAX_RECORDS / 2 * 3;
        for step in [1000, 4096, records.len()] {
            let at = |least| cut(&records, least, 100, step);
            assert_eq!(at(end), ChunkEnd::At(end));
            assert_eq!(at(end + 10), ChunkEnd::At(end));
            assert_eq!(at(records.len()), ChunkEnd::At(end));
            assert_eq!(at(end - 1), ChunkEnd::At(end - 1));
        }
        let longer = [&records[..end - 1], &b"b".repeat(200)].concat();
        let before = ChunkEnd::Before(end - 1, DocumentEnd::Separator(b'\n'));
        assert_eq!(cut(&longer, end + 50, 100, 1000), before);
    }

    /// Promise (Bounded memory): The least memory of each command …
    #[test]
    fn a_chunk_of_damage_ends_after_many_records() {
        let damage = b"WARC/1.0\r\nContent-Length: x\r\n\r\n".repeat(4 * MAX_RECORDS);
        let mut cutter = ChunkCutter::new(Format::Warc, damage.len(), 1 << 20);
        let end = match cutter.look(&damage, true) {
            ChunkEnd::At(end) => end,
            _ => damage.len(),
        };
        let (mut at, mut records) = (0, 0);
        while at < end {
            let Next::Damaged { resume_at, .. } = next_record(Format::Warc, &damage[at..], true)
            else {
                panic!("no damage");
            };
            (at, records) = (at + resume_at, records + 1);
        }
        assert!(at == end && records <= 2 * MAX_RECORDS, "{records}");
    }

    #[test]
    fn a_chunk_ends_before_a_document_that_is_too_long() {
        for step in 1..10 {
            let before = ChunkEnd::Before(3, DocumentEnd::Separator(b'\n'));
            assert_eq!(cut(b"ab\ncdefg\nh\n", 4, 5, step), before);
            assert_eq!(cut(b"ab\ncdefg\nh\n", 4, 6, step), ChunkEnd::At(9));
            assert_eq!(cut(b"ab\ncdefgh", 4, 5, step), before);
        }
    }
}
