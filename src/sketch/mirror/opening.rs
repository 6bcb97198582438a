//! The abstract of a page: how its text begins.

use md5::{Digest, Md5};

use crate::sketch::equality::Digester;
use crate::sketch::{Needs, Scratch, View};

/// Bytes of an MD5.
pub(super) const DIGEST_BYTES: usize = 16;

/// Equal MD5 of the abstract.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    /// Abstracts have at most so many bytes.
    pub(super) bytes: usize,
}

/// Replaces `out` by the first characters of `text` that fit into so many bytes, with one space for
/// each run of white space between others.
///
/// Reads no more of the text than it needs.
pub(super) fn opening(text: &[u8], bytes: usize, out: &mut String) {
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
            // The space alone might be what did not fit.
            return out.truncate(bytes);
        }
        out.push(character);
    }
}

impl Digester for Opening {
    fn name(&self) -> &'static str {
        "mirror-1"
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("bytes", self.bytes.to_string())]
    }

    fn bytes(&self) -> usize {
        DIGEST_BYTES
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn digest(&self, document: View<'_>, scratch: &mut Scratch, out: &mut Vec<u8>) -> bool {
        let text = &mut scratch.letters;
        opening(document.text, self.bytes, text);
        if !text.is_empty() {
            out.extend_from_slice(&Md5::digest(text.as_bytes()));
        }
        !text.is_empty()
    }
}
