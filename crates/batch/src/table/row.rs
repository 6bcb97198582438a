//! Rows and labels: what the first reading stores of each document.

use bytemuck::{Pod, Zeroable};

use simtool_core::sketch::digest;
use simtool_corpus::{Doubt, Place};

/// A document in the work directory. Its number is the row's position in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Row {
    /// Documents with the same one are copies: the xxh3-128 of its words' hashes, in order; with the
    /// method `exact`, of its text.
    pub digest: u128,
    /// The smaller key is kept: that of the first policy of the job's
    /// [`KeepOrder`](simtool_core::dedup::keep::KeepOrder).
    pub keep_key: [u8; 16],
    /// Where the document is in the inputs.
    pub place: Place,
    /// Where its [`Label`] begins.
    pub label: u64,
    /// Only documents of one group are compared: see [`Scope`](crate::scope::Scope).
    pub group: u64,
    /// The lowest bits of the xxh3-128 of its text.
    pub text_digest: u64,
    /// The length of the text in bytes.
    pub text_bytes: u64,
    /// The number of words, at most `u32::MAX`.
    pub words: u32,
    /// Properties of the document.
    pub flags: Flags,
    /// Zero.
    pub _reserved: u64,
}

/// Properties of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Flags(pub u32);

/// A row of a table of documents.
pub trait TableRow: Pod + Send + Sync {
    /// Where the document is in the inputs.
    fn place(&self) -> Place;

    /// Whether it could not be read.
    fn is_skipped(&self) -> bool;

    /// Whether it has no id of its own, so that the label has file and place.
    fn is_named_by_place(&self) -> bool;

    /// Where its [`Label`] begins.
    fn label(&self) -> u64;

    /// Moves its label by some bytes.
    fn move_label(&mut self, bytes: u64);
}

impl TableRow for Row {
    fn place(&self) -> Place {
        self.place
    }

    fn is_skipped(&self) -> bool {
        self.flags.has(Flags::SKIPPED)
    }

    fn is_named_by_place(&self) -> bool {
        self.flags.has(Flags::NAMED_BY_PLACE)
    }

    fn label(&self) -> u64 {
        self.label
    }

    fn move_label(&mut self, bytes: u64) {
        self.label += bytes;
    }
}

impl Row {
    /// Whether this is the document's text, except that another one is taken for it with a
    /// probability of 2^-64.
    pub fn has_text(&self, text: &[u8]) -> bool {
        digest::of_text(text) as u64 == self.text_digest
    }

    /// Why characters of the text may be wrong.
    pub fn doubt(&self) -> Doubt {
        if self.flags.has(Flags::BROKEN_TEXT) {
            Doubt::Broken
        } else if self.flags.has(Flags::UNKNOWN_CHARSET) {
            Doubt::UnknownCharset
        } else {
            Doubt::None
        }
    }
}

impl Flags {
    /// It has no words (with the methods `exact` and `normalized`: no text), so it is never a
    /// duplicate.
    pub const EMPTY: Flags = Flags(1);
    /// It has fewer words than the method needs, or no features: only a document with the same
    /// words is a duplicate.
    pub const SHORT: Flags = Flags(2);
    /// Its bytes did not fit its character set.
    pub const BROKEN_TEXT: Flags = Flags(4);
    /// It could not be read.
    pub const SKIPPED: Flags = Flags(8);
    /// It belongs to the collection that the input is compared with.
    pub const REFERENCE: Flags = Flags(16);
    /// It has no id of its own: that of the label is made of file and place.
    pub const NAMED_BY_PLACE: Flags = Flags(32);
    /// It was skipped because it has no text.
    pub const NO_TEXT: Flags = Flags(64);
    /// It names an unknown character set, so that the set was guessed.
    pub const UNKNOWN_CHARSET: Flags = Flags(128);
    /// It has no URL.
    pub const NO_URL: Flags = Flags(256);
    /// It has no date.
    pub const NO_DATE: Flags = Flags(512);
    /// The job compares URLs, and this document has no absolute one with a host.
    pub const NO_PAGE: Flags = Flags(1024);
    /// The job compares URLs; this document has one, and no date that can be read.
    pub const UNDATED: Flags = Flags(2048);

    /// Whether all of `flags` are set.
    pub fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Sets `flags` if `condition` holds.
    pub fn set(&mut self, flags: Flags, condition: bool) {
        self.0 |= if condition { flags.0 } else { 0 };
    }
}

/// The names of a document, and the reason if it was skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The id in the input; if there is none, file and place.
    pub id: Vec<u8>,
    /// The URL, or nothing.
    pub url: Vec<u8>,
    /// For a skipped document: the reason's name.
    pub reason: Vec<u8>,
    /// For a skipped document: what was wrong.
    pub detail: Vec<u8>,
    /// The id of the WARC record that this one names as concurrent, or nothing.
    pub concurrent_to: Vec<u8>,
}

impl Label {
    fn parts(&self) -> [&[u8]; 5] {
        [
            &self.id,
            &self.url,
            &self.reason,
            &self.detail,
            &self.concurrent_to,
        ]
    }

    /// Appends the label: a byte with a bit for each part that is not empty, their lengths, and these
    /// parts. A length has seven bits in each byte, the lowest first; all bytes but the last have the
    /// highest bit set.
    pub fn write(&self, out: &mut Vec<u8>) {
        let parts = self.parts();
        let bits = parts.iter().zip(0..);
        out.push(bits.fold(0, |bits, (part, place)| {
            bits | u8::from(!part.is_empty()) << place
        }));
        for part in parts.iter().filter(|part| !part.is_empty()) {
            let mut length = part.len();
            while length >= 0x80 {
                out.push(length as u8 | 0x80);
                length >>= 7;
            }
            out.push(length as u8);
        }
        parts.iter().for_each(|part| out.extend_from_slice(part));
    }

    /// The length of the output of [`write`](Label::write) from its first bytes, of which at most 51
    /// are needed; `None` if they are incomplete.
    pub fn length(bytes: &[u8]) -> Option<usize> {
        let (lengths, rest) = Label::lengths(bytes)?;
        let head = bytes.len() - rest.len();
        let mut parts = lengths.iter();
        parts.try_fold(head, |sum, length| sum.checked_add(*length))
    }

    /// The label at the start of `bytes`; `None` if it is incomplete.
    pub fn read(bytes: &[u8]) -> Option<Label> {
        let (lengths, mut rest) = Label::lengths(bytes)?;
        let mut parts = [(); 5].map(|()| Vec::new());
        for (part, length) in parts.iter_mut().zip(lengths) {
            let (bytes, behind) = rest.split_at_checked(length)?;
            *part = bytes.to_vec();
            rest = behind;
        }
        let [id, url, reason, detail, concurrent_to] = parts;
        Some(Label {
            id,
            url,
            reason,
            detail,
            concurrent_to,
        })
    }

    /// The lengths of all parts, and the bytes after them.
    fn lengths(bytes: &[u8]) -> Option<([usize; 5], &[u8])> {
        let (bits, mut rest) = bytes.split_first()?;
        let mut lengths = [0; 5];
        for (place, length) in lengths.iter_mut().enumerate() {
            let mut shift = 0;
            let mut has_more = bits >> place & 1 == 1;
            while has_more {
                let (byte, behind) = rest.split_first()?;
                *length |= usize::from(byte & 0x7f).checked_shl(shift)?;
                has_more = byte & 0x80 != 0;
                (rest, shift) = (behind, shift + 7);
            }
        }
        Some((lengths, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_as_they_were_written() {
        let label = Label {
            id: b"id \xff".to_vec(),
            url: Vec::new(),
            reason: b"damaged".to_vec(),
            detail: vec![b'x'; 70_000],
            concurrent_to: b"urn:x".to_vec(),
        };
        let mut bytes = Vec::new();
        label.write(&mut bytes);
        assert_eq!(Label::length(&bytes[..51]), Some(bytes.len()));
        assert_eq!(Label::read(&bytes), Some(label));
        for end in [0, 1, 5, 7, bytes.len() - 1] {
            assert_eq!(Label::read(&bytes[..end]), None);
        }
        assert_eq!(Label::length(&bytes[..6]), None);
        assert_eq!(Label::length(&[0x11; 40]), Some(3 + 2 * 0x11));
        assert_eq!(Label::length(&[0xff; 40]), None);
        let mut empty = Vec::new();
        Label::default().write(&mut empty);
        assert_eq!(
            (&empty[..], Label::read(&empty)),
            (&[0][..], Some(Label::default()))
        );
    }
}
