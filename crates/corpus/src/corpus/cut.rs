//! The end of a chunk, found while its bytes arrive.

use super::records::{longer_than, next_record};
use super::source::Format;
use super::web::warc::Next;
use memchr::{memchr, memrchr};

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
/// A chunk ends with the first document that ends at or after `least` bytes. So its end depends on
/// its start and on the bytes, not on how they arrive. Each byte is examined about once.
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
}

/// The maximum number of damaged bytes by which a chunk exceeds its minimum length.
const MOST_DAMAGE_BYTES: usize = 4 << 20;

impl ChunkCutter {
    /// A cutter for a chunk of at least `least` bytes, with documents of at most `most` bytes.
    pub(super) fn new(format: Format, least: usize, most: u64) -> ChunkCutter {
        ChunkCutter {
            format,
            least: least.max(1),
            most,
            last: None,
            searched: 0,
            is_behind_damage: false,
        }
    }

    /// Continues the search in `bytes`: those of the previous call and new ones after them. If
    /// `is_end`, the input ends with them.
    pub(super) fn look(&mut self, bytes: &[u8], is_end: bool) -> ChunkEnd {
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
        // unless it is too long.
        let most = self.least.saturating_add(MOST_DAMAGE_BYTES);
        while self.searched < self.least || (self.is_behind_damage && self.searched < most) {
            let rest = &bytes[self.searched..];
            if let Some(length) = longer_than(self.most, self.format, rest) {
                return ChunkEnd::Before(self.searched, DocumentEnd::Length(length));
            }
            match next_record(self.format, rest, is_end) {
                Next::Record(record) => {
                    self.searched += record.raw.len();
                    self.is_behind_damage = false;
                }
                Next::Damaged { resume_at, .. } => {
                    self.searched += resume_at;
                    self.is_behind_damage = true;
                }
                Next::Incomplete { .. } | Next::End => return ChunkEnd::Unknown,
            }
        }
        ChunkEnd::At(self.searched)
    }

    fn look_for(&mut self, separator: u8, bytes: &[u8]) -> ChunkEnd {
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
