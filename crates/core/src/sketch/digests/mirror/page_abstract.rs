//! The abstract of a page: the start of its text.

use md5::{Digest, Md5};

use crate::sketch::digests::equality::Digester;
use crate::sketch::{SketchScratch, TokenizedDocument};

/// The length of an MD5 in bytes.
pub(super) const DIGEST_BYTES: usize = 16;

/// The method that compares the MD5 of the abstract.
#[derive(Clone, Debug)]
pub(super) struct Abstract {
    /// The maximum length of an abstract in bytes.
    pub(super) bytes: usize,
}

/// Replaces `out` by the first characters of `text` that fit into `bytes` bytes, with runs of white
/// space reduced to one space, and none at the start.
///
/// Reads no more of the text than it needs.
pub(super) fn page_abstract(text: &[u8], bytes: usize, out: &mut String) {
    out.clear();
    let mut space = false;
    for character in text.utf8_chunks().flat_map(|chunk| chunk.valid().chars()) {
        if character.is_whitespace() {
            space = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
        }
        if out.len() + character.len_utf8() > bytes {
            // The space itself may not fit.
            return out.truncate(bytes);
        }
        out.push(character);
    }
}

impl Digester for Abstract {
    fn name(&self) -> &'static str {
        "mirror-1"
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("bytes", self.bytes.to_string())]
    }

    fn bytes(&self) -> usize {
        DIGEST_BYTES
    }

    fn digest(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool {
        let text = &mut scratch.letters;
        page_abstract(document.text, self.bytes, text);
        if !text.is_empty() {
            out.extend_from_slice(&Md5::digest(text.as_bytes()));
        }
        !text.is_empty()
    }
}
