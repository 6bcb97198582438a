//! A method whose sketches also verify matches: each ends with a signature of the text's shingles.

pub mod set_signature;

use super::feature_vectors::shingle_sets;
use super::method::{
    Compare, Method, Needs, Score, Shape, SketchScratch, TokenizedDocument, Verification, Verifier,
};
use crate::text::shingles::shingles;
use set_signature::{SetSignature, append, is_signature};

/// What signatures verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureSettings {
    /// Words in a shingle.
    pub shingle: usize,
    /// The least similarity of a match, in thousandths.
    pub thousandths: u16,
}

/// A method, with signatures if there are settings for them.
///
/// A sketch is that of the method, followed by a [signature](set_signature) of the set of the
/// text's shingles. Keys and scores are those of the method. If the method's sketches are of one
/// length, sketches without a signature are accepted, too; nothing is verified with them.
pub struct SignedMethod {
    method: Box<dyn Method>,
    settings: Option<SignatureSettings>,
}

impl SignedMethod {
    /// The method; without settings, its sketches have no signatures.
    pub fn new(method: Box<dyn Method>, settings: Option<SignatureSettings>) -> SignedMethod {
        SignedMethod { method, settings }
    }

    /// The method without signatures.
    pub fn plain(&self) -> &dyn Method {
        &*self.method
    }

    /// What signatures verify, if there are any.
    pub fn settings(&self) -> Option<SignatureSettings> {
        self.settings
    }

    /// The sketch of the [plain](Self::plain) method, and the signature; that is empty if there is
    /// none.
    pub fn split<'s>(&self, sketch: &'s [u8]) -> (&'s [u8], &'s [u8]) {
        let signature = match (self.settings, self.method.sketch_bytes()) {
            (None, _) => 0,
            (Some(_), Some(length)) => sketch.len().saturating_sub(length),
            (Some(_), None) => set_signature::BYTES.min(sketch.len()),
        };
        sketch.split_at(sketch.len() - signature)
    }

    /// Whether matches of `sketch` are certain to be similar: it has features, and a signature or all
    /// shingles.
    pub fn is_verifiable(&self, sketch: &[u8]) -> bool {
        match self.split(sketch) {
            (sketch, []) => !sketch.is_empty() && self.name() == shingle_sets::ENTRY.name,
            (_, signature) => !set_signature::is_empty(signature),
        }
    }

    /// The method without signatures.
    pub fn into_plain(self) -> Box<dyn Method> {
        self.method
    }

    fn plain_sketch<'s>(&self, sketch: &'s [u8]) -> &'s [u8] {
        self.split(sketch).0
    }
}

impl Compare for SignedMethod {
    fn name(&self) -> &'static str {
        self.method.name()
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        self.method.parameters()
    }

    fn shape(&self) -> Shape {
        self.method.shape()
    }

    fn sketch_bytes(&self) -> Option<usize> {
        let signature = self.settings.map_or(0, |_| set_signature::BYTES);
        Some(self.method.sketch_bytes()? + signature)
    }

    fn is_sketch(&self, bytes: &[u8]) -> bool {
        let (sketch, signature) = self.split(bytes);
        let may_be_unsigned = self.settings.is_none() || self.method.sketch_bytes().is_some();
        let is_signed = is_signature(signature) || signature.is_empty() && may_be_unsigned;
        is_signed && self.method.is_sketch(sketch)
    }

    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        self.method.keys(self.plain_sketch(sketch), emit);
    }

    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        self.method
            .score(self.plain_sketch(a), self.plain_sketch(b))
    }

    fn accepts(&self, score: &Score) -> bool {
        self.method.accepts(score)
    }

    fn verifier(&self, sketch: &[u8]) -> Option<Verifier> {
        let least = self.settings?.thousandths;
        let signature = self.split(sketch).1;
        let signature = (!signature.is_empty()).then(|| SetSignature::read(signature))?;
        let plain_bytes = self.method.sketch_bytes();
        Some(Box::new(move |other: &[u8]| {
            let end = other.len().saturating_sub(set_signature::BYTES);
            match &other[plain_bytes.unwrap_or(end)..] {
                [] => Verification::Unknown,
                other => match signature.resemblance(&SetSignature::read(other)) {
                    thousandths if thousandths >= least => Verification::Similar {
                        shared: thousandths.into(),
                        of: 1000,
                    },
                    _ => Verification::Different,
                },
            }
        }))
    }
}

impl Method for SignedMethod {
    fn least_words(&self) -> usize {
        self.method.least_words()
    }

    fn needs(&self) -> Needs {
        match self.settings {
            Some(_) => self.method.needs().and(Needs::HASHES),
            None => self.method.needs(),
        }
    }

    fn sketch(
        &self,
        document: TokenizedDocument<'_>,
        scratch: &mut SketchScratch,
        out: &mut Vec<u8>,
    ) -> bool {
        let has_features = self.method.sketch(document, scratch, out);
        let Some(settings) = self.settings else {
            return has_features;
        };
        // Without features, a sketch of fixed length is all zeros, as the signature of no shingles.
        if has_features {
            shingles(document.short, settings.shingle, &mut scratch.words);
            append(&scratch.words, out);
        } else if self.method.sketch_bytes().is_some() {
            append(&[], out);
        }
        has_features
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Level;
    use crate::sketch::fingerprints::hashed::SimHashSettings;
    use crate::sketch::registry::{MethodContext, Spec};
    use crate::text::{Choice, WordSet};

    /// SimHash, whose sketches have 8 bytes, and sets of shingles, whose lengths vary.
    fn methods() -> [SignedMethod; 2] {
        let stop_words = WordSet::new([1, 2, 3]);
        let context = MethodContext {
            level: Level::best(),
            tokenizer: Choice::default(),
            stop_words: &stop_words,
            frequencies: None,
        };
        let varying = Spec::parse("shingles").unwrap();
        let settings = SignatureSettings {
            shingle: 5,
            thousandths: 800,
        };
        [
            SimHashSettings::default()
                .method(64, Level::best())
                .unwrap() as Box<dyn Method>,
            varying.build(&context, &[]).unwrap(),
        ]
        .map(|method| SignedMethod::new(method, Some(settings)))
    }

    fn sketch(method: &SignedMethod, words: std::ops::Range<u64>) -> Vec<u8> {
        let short: Vec<u64> = words.collect();
        let document = TokenizedDocument {
            short: &short,
            ..TokenizedDocument::default()
        };
        let mut out = Vec::new();
        let _ = method.sketch(document, &mut SketchScratch::default(), &mut out);
        out
    }

    #[test]
    fn sketches_end_in_signatures_that_verify() {
        for method in methods() {
            let [a, near, far] = [0..100, 3..103, 50..150].map(|words| sketch(&method, words));
            let (plain, signature) = method.split(&a);
            assert_eq!((plain.len() + 128, signature.len()), (a.len(), 128));
            assert!(method.is_sketch(&a) && method.plain().is_sketch(plain));
            assert!(method.is_verifiable(&a));
            let verify = method.verifier(&a).unwrap();
            let (shared, of) = (1000, 1000);
            assert_eq!(verify(&a), Verification::Similar { shared, of });
            let Verification::Similar { shared, of } = verify(&near) else {
                panic!("{:?}", verify(&near));
            };
            let similarity = 1000 * shared / of;
            // 93 of 99 shingles.
            assert!((920..960).contains(&similarity), "{similarity}");
            assert_eq!(verify(&far), Verification::Different);
            assert_eq!(method.score(&a, &a), method.plain().score(plain, plain));
        }
    }

    #[test]
    fn only_sketches_of_fixed_length_may_lack_a_signature() {
        let [fixed, varying] = methods();
        let whole = sketch(&fixed, 0..100);
        let (plain, _) = fixed.split(&whole);
        assert_eq!(fixed.split(plain), (plain, &[][..]));
        assert!(fixed.is_sketch(plain) && !fixed.is_verifiable(plain));
        assert!(fixed.verifier(plain).is_none());
        assert_eq!(
            fixed.verifier(&whole).unwrap()(plain),
            Verification::Unknown
        );

        let whole = sketch(&varying, 0..100);
        let (plain, _) = varying.split(&whole);
        for bytes in [plain, &whole[1..], &whole[..whole.len() - 1], &[]] {
            assert!(!varying.is_sketch(bytes), "{} bytes", bytes.len());
        }
    }

    #[test]
    fn texts_without_features_have_empty_sketches() {
        let [fixed, varying] = methods();
        assert_eq!(sketch(&fixed, 0..0), [0; 8 + 128]);
        assert!(!fixed.is_verifiable(&sketch(&fixed, 0..0)));
        assert_eq!(sketch(&varying, 0..0), []);
    }
}
