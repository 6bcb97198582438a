//! Methods whose sketch is a digest: documents are near if their digests are equal.

use crate::sketch::method::{Compare, Method, Needs, Score, SketchScratch, TokenizedDocument};

/// A function from documents to digests.
pub(super) trait Digester: Send + Sync {
    /// [`Compare::name`].
    fn name(&self) -> &'static str;
    /// [`Compare::parameters`].
    fn parameters(&self) -> Vec<(&'static str, String)>;
    /// The length of a digest in bytes, at least eight.
    fn bytes(&self) -> usize;
    /// [`Method::needs`].
    fn needs(&self) -> Needs {
        Needs::default()
    }
    /// Appends the digest of a document and returns `true`; or appends nothing and returns `false`
    /// if there is nothing to digest.
    fn digest(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool;
}

/// The score of two sketches: 1 if they are equal, else 0.
pub(super) fn score(a: &[u8], b: &[u8]) -> Score {
    Score::Fraction(u64::from(a == b), 1)
}

/// The key of a digest: its first eight bytes.
pub(super) fn key(digest: &[u8]) -> u64 {
    digest
        .first_chunk()
        .map_or(0, |start| u64::from_le_bytes(*start))
}

/// The method of a digest.
#[derive(Debug)]
pub(super) struct Equality<D>(pub(super) D);

impl<D: Digester> Equality<D> {
    fn check(&self, sketch: &[u8]) {
        assert_eq!(sketch.len(), self.0.bytes(), "bytes of a digest");
    }
}

impl<D: Digester> Compare for Equality<D> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.0.parameters()
    }

    fn sketch_bytes(&self) -> Option<usize> {
        Some(self.0.bytes())
    }

    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        self.check(sketch);
        emit(key(sketch));
    }

    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        self.check(a);
        self.check(b);
        score(a, b)
    }

    fn accepts(&self, score: &Score) -> bool {
        matches!(*score, Score::Fraction(equal, _) if equal > 0)
    }
}

impl<D: Digester> Method for Equality<D> {
    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn sketch(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool {
        let end = out.len() + self.0.bytes();
        let found = self.0.digest(document, scratch, out);
        out.resize(end, 0);
        found
    }
}
