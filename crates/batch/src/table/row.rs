//! Rows and labels: what the first reading stores of each document.

use bytemuck::{Pod, Zeroable};

use simtool_corpus::{Doubt, Place};

/// A document in the work directory. Its number is the row's position in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Row {
    /// xxh3-128 of its words' hashes, in order.
    pub words_digest: u128,
    /// xxh3-128 of its text.
    pub text_digest: u128,
    /// The smaller key is kept: that of the first policy of the job's
    /// [`KeepOrder`](simtool_core::dedup::keep::KeepOrder).
    pub keep_key: [u8; 16],
    /// Where the document is in the inputs.
    pub place: Place,
    /// Where its [`Label`] begins.
    pub label: u64,
    /// Only documents of one group are compared: see [`Scope`](crate::scope::Scope).
    pub group: u64,
    /// The length of the text in bytes.
    pub text_bytes: u64,
    /// The number of words, at most `u32::MAX`.
    pub words: u32,
    /// Properties of the document.
    pub flags: Flags,
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

    /// Appends the label: five lengths of four bytes, then the parts. Parts of 4 GiB and more are
    /// cut.
    pub fn write(&self, out: &mut Vec<u8>) {
        let lengths = self
            .parts()
            .map(|part| u32::try_from(part.len()).unwrap_or(u32::MAX));
        lengths
            .iter()
            .for_each(|length| out.extend_from_slice(&length.to_le_bytes()));
        for (part, length) in self.parts().into_iter().zip(lengths) {
            out.extend_from_slice(&part[..length as usize]);
        }
    }

    /// The length of the output of [`write`](Label::write), from its first bytes.
    pub fn length(head: [u8; Label::HEAD_BYTES]) -> usize {
        Label::HEAD_BYTES + Label::lengths(&head).iter().sum::<usize>()
    }

    /// Bytes of the lengths before the parts.
    pub const HEAD_BYTES: usize = 20;

    /// The label at the start of `bytes`; `None` if it is incomplete.
    pub fn read(bytes: &[u8]) -> Option<Label> {
        let (head, mut rest) = bytes.split_first_chunk()?;
        let mut parts = [(); 5].map(|()| Vec::new());
        for (part, length) in parts.iter_mut().zip(Label::lengths(head)) {
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

    fn lengths(head: &[u8; Label::HEAD_BYTES]) -> [usize; 5] {
        let (lengths, _) = head.as_chunks::<4>();
        [0, 1, 2, 3, 4].map(|part| u32::from_le_bytes(lengths[part]) as usize)
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
        let head = *bytes.first_chunk().unwrap();
        assert_eq!(Label::length(head), bytes.len());
        assert_eq!(Label::read(&bytes), Some(label));
        for end in [0, 19, 20, bytes.len() - 1] {
            assert_eq!(Label::read(&bytes[..end]), None);
        }
    }
}
