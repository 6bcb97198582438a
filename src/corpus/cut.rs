//! Where a chunk ends.

use super::records::{longer_than, next_record};
use super::source::Format;
use super::web::warc::Next;
use memchr::{memchr, memrchr};

/// What is known of a chunk's end from the bytes so far.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// More bytes are needed to tell.
    More,
    /// It ends at this index.
    At(usize),
    /// It ends where a document begins that is longer than documents may be.
    Before(usize, Rest),
}

/// How much there is of a document from its start on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// All up to the next separator.
    Separator(u8),
    /// So many bytes, as the head of a record says.
    Record(u64),
    /// All that comes.
    All,
}

/// Looks for the end of one chunk as its bytes come in.
///
/// A chunk ends with the first document that ends at or behind `least` bytes. So it depends on
/// where it begins and on the bytes, not on how they come in. Each byte is looked at about once.
#[derive(Debug)]
pub(super) struct Cutter {
    format: Format,
    least: usize,
    most: u64,
    /// Where the last document begins that is known to begin before `least`.
    last: Option<usize>,
    /// Up to where there is no end of a chunk; of records, the end of the last one.
    searched: usize,
    /// Whether the last of them was damaged.
    is_behind_damage: bool,
}

/// A chunk that should have ended goes on for so many damaged bytes at most.
const MOST_DAMAGE_BYTES: usize = 4 << 20;

impl Cutter {
    /// For a chunk of `least` bytes of documents of at most `most` bytes.
    pub(super) fn new(format: Format, least: usize, most: u64) -> Cutter {
        Cutter {
            format,
            least: least.max(1),
            most,
            last: None,
            searched: 0,
            is_behind_damage: false,
        }
    }

    /// Looks on in the bytes of the chunk: those it saw before and new ones behind them. `is_end`
    /// says that the input ends with them.
    pub(super) fn look(&mut self, bytes: &[u8], is_end: bool) -> Cut {
        match (self.format, self.format.separator()) {
            (_, Some(separator)) => self.look_for(separator, bytes),
            (Format::Warc | Format::Arc, None) => self.look_at_records(bytes, is_end),
            _ if bytes.len() as u64 > self.most => Cut::Before(0, Rest::All),
            _ => Cut::More,
        }
    }

    /// Where the last whole document ends, if what stands behind the bytes is lost.
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

    fn look_at_records(&mut self, bytes: &[u8], is_end: bool) -> Cut {
        // What is damaged shows by what stands behind it, so no chunk ends there, unless there is
        // nothing but damage.
        let most = self.least.saturating_add(MOST_DAMAGE_BYTES);
        while self.searched < self.least || (self.is_behind_damage && self.searched < most) {
            let rest = &bytes[self.searched..];
            if let Some(length) = longer_than(self.most, self.format, rest) {
                return Cut::Before(self.searched, Rest::Record(length));
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
                Next::Incomplete { .. } | Next::End => return Cut::More,
            }
        }
        Cut::At(self.searched)
    }

    fn look_for(&mut self, separator: u8, bytes: &[u8]) -> Cut {
        if bytes.len() < self.least {
            return Cut::More;
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
            _ if length as u64 > self.most => Cut::Before(last, Rest::Separator(separator)),
            Some(end) => Cut::At(end),
            None => Cut::More,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(bytes: &[u8], least: usize, most: u64, step: usize) -> Cut {
        let mut cutter = Cutter::new(Format::Jsonl, least, most);
        let mut length = 0;
        while length < bytes.len() {
            length = (length + step).min(bytes.len());
            let cut = cutter.look(&bytes[..length], false);
            if cut != Cut::More {
                return cut;
            }
        }
        Cut::More
    }

    #[test]
    fn a_chunk_ends_with_the_document_that_makes_it_full() {
        for step in 1..10 {
            let at = |least| cut(b"ab\nc\ndefg\nh\n", least, 100, step);
            let found = [1, 3, 4, 5, 6, 10, 11, 12, 13].map(at);
            let expected = [3, 3, 5, 5, 10, 10, 12, 12].map(Cut::At);
            assert_eq!(found[..8], expected);
            assert_eq!(found[8], Cut::More);
        }
    }

    #[test]
    fn a_chunk_ends_before_a_document_that_is_too_long() {
        for step in 1..10 {
            let before = Cut::Before(3, Rest::Separator(b'\n'));
            assert_eq!(cut(b"ab\ncdefg\nh\n", 4, 5, step), before);
            assert_eq!(cut(b"ab\ncdefg\nh\n", 4, 6, step), Cut::At(9));
            assert_eq!(cut(b"ab\ncdefgh", 4, 5, step), before);
        }
    }
}
