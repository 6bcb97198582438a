//! The abstract of a page: how its text begins.

use md5::{Digest, Md5};

use crate::sketch::{Compare, Method, Needs, Score, Scratch, Shape, View};

/// Bytes of an MD5.
pub(super) const DIGEST_BYTES: usize = 16;

/// Equal MD5 of the abstract.
#[derive(Clone, Debug)]
pub(super) struct Opening {
    bytes: usize,
}

impl Opening {
    /// With abstracts of at most so many bytes.
    pub(super) fn new(bytes: usize) -> Opening {
        Opening { bytes }
    }
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

/// The key of a digest: its first eight bytes.
pub(super) fn key(digest: &[u8; DIGEST_BYTES]) -> u64 {
    let [first, _] = bytemuck::cast::<_, [[u8; 8]; 2]>(*digest);
    u64::from_le_bytes(first)
}

fn read(sketch: &[u8]) -> &[u8; DIGEST_BYTES] {
    match sketch.try_into() {
        Ok(digest) => digest,
        Err(_) => panic!("{} bytes are no MD5", sketch.len()),
    }
}

impl Compare for Opening {
    fn name(&self) -> &'static str {
        "mirror-1"
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("bytes", self.bytes.to_string())]
    }

    fn shape(&self) -> Shape {
        Shape::Keys
    }

    fn sketch_bytes(&self) -> Option<usize> {
        Some(DIGEST_BYTES)
    }

    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        emit(key(read(sketch)));
    }

    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        Score::Fraction((read(a) == read(b)).into(), 1)
    }

    fn accepts(&self, score: &Score) -> bool {
        *score == Score::Fraction(1, 1)
    }
}

impl Method for Opening {
    /// Whatever the tokenizer takes for words.
    fn least_words(&self) -> usize {
        0
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn sketch(&self, document: View<'_>, scratch: &mut Scratch, out: &mut Vec<u8>) -> bool {
        let text = &mut scratch.letters;
        opening(document.text, self.bytes, text);
        if text.is_empty() {
            out.extend_from_slice(&[0; DIGEST_BYTES]);
            return false;
        }
        out.extend_from_slice(&Md5::digest(text.as_bytes()));
        true
    }
}
