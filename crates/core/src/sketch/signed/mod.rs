//! A method whose sketches also verify matches: each ends with the set of the text's shingles, or with
//! a signature of it.

pub mod set_signature;
pub mod shingle_list;
mod trailer;

use super::method::{
    Compare, Method, Needs, Score, Shape, SketchScratch, TokenizedDocument, Verification, Verifier,
};
use crate::text::LeastSimilarity;
use crate::text::shingles::{shingles, sort_to_set};
use set_signature::{SetSignature, is_signature};
use std::cell::RefCell;
use trailer::Trailer;

/// How the end of a sketch has the set of the text's shingles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetForm {
    /// Whole: similarities are exact.
    Exact,
    /// As a [signature](set_signature) of 128 bytes: similarities are estimates.
    Signature,
}

/// What the ends of sketches verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureSettings {
    /// The form of the ends.
    pub form: SetForm,
    /// Words in a shingle.
    pub shingle: usize,
    /// The least similarity of a match, in thousandths.
    pub thousandths: u16,
}

/// A method, with signatures if there are settings for them.
///
/// A sketch is that of the method, followed by the set of the text's shingles in the
/// [form](SetForm) of the settings: its *signature*. Keys and scores are those of the method. If the
/// method's sketches are of one length, sketches without a signature are accepted, too; nothing is
/// verified with them.
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
            (Some(settings), length) => settings.form.bytes(sketch, length),
        };
        sketch.split_at(sketch.len() - signature)
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
        let plain = self.method.sketch_bytes()?;
        match self.settings.map(|settings| settings.form) {
            None => Some(plain),
            Some(SetForm::Signature) => Some(plain + set_signature::BYTES),
            Some(SetForm::Exact) => None,
        }
    }

    fn is_sketch(&self, bytes: &[u8]) -> bool {
        let (sketch, signature) = self.split(bytes);
        let may_be_unsigned = self.settings.is_none() || self.method.sketch_bytes().is_some();
        let is_whole = match self.settings.map(|settings| settings.form) {
            // Whether the codes are a list is found out when it is read.
            Some(SetForm::Exact) => Trailer::read(signature).is_some(),
            _ => is_signature(signature),
        };
        let is_signed = is_whole || signature.is_empty() && may_be_unsigned;
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
        let SignatureSettings {
            form, thousandths, ..
        } = self.settings?;
        let (_, signature) = self.split(sketch);
        let length = self.method.sketch_bytes();
        if signature.is_empty() {
            return None;
        }
        let verify: Verifier = match form {
            SetForm::Exact => exact_verifier(signature, thousandths)?,
            SetForm::Signature => estimator(signature, thousandths),
        };
        Some(Box::new(move |other: &[u8]| {
            match form.bytes(other, length) {
                0 => Verification::Unknown,
                bytes => verify(&other[other.len() - bytes..]),
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
        let start = out.len();
        let has_features = self.method.sketch(document, scratch, out);
        let Some(settings) = self.settings else {
            return has_features;
        };
        // Without features, a sketch of fixed length is all zeros, as the signature of no shingles,
        // and one whose length varies is empty.
        if has_features {
            shingles(document.short, settings.shingle, &mut scratch.words);
        }
        match (settings.form, has_features) {
            (SetForm::Exact, true) => {
                sort_to_set(&mut scratch.words);
                trailer::append(&scratch.words, out);
            }
            (SetForm::Exact, false) => out.truncate(start),
            (SetForm::Signature, true) => set_signature::append(&scratch.words, out),
            (SetForm::Signature, false) => {
                if self.method.sketch_bytes().is_some() {
                    set_signature::append(&[], out);
                }
            }
        }
        has_features
    }
}

impl SetForm {
    /// The length of the signature at the end of `sketch`, if plain sketches have this length, or any.
    fn bytes(self, sketch: &[u8], plain: Option<usize>) -> usize {
        match (self, plain) {
            (_, Some(plain)) => sketch.len().saturating_sub(plain),
            (SetForm::Exact, None) => trailer::length(sketch),
            (SetForm::Signature, None) => set_signature::BYTES.min(sketch.len()),
        }
    }
}

/// Compares signatures of 128 bytes with this one.
fn estimator(signature: &[u8], least: u16) -> Verifier {
    let signature = SetSignature::read(signature);
    Box::new(
        move |other| match signature.resemblance(&SetSignature::read(other)) {
            thousandths if thousandths >= least => Verification::Similar {
                shared: thousandths.into(),
                of: 1000,
            },
            _ => Verification::Different,
        },
    )
}

/// Compares whole sets with this one: `None` if it is none.
fn exact_verifier(signature: &[u8], least: u16) -> Option<Verifier> {
    let own = Trailer::read(signature)?;
    let mut set = Vec::new();
    if !own.read_set(&mut set) {
        return None;
    }
    let least = LeastSimilarity::resemblance(least.into());
    let scratch = RefCell::new(Vec::new());
    Some(Box::new(move |other| {
        let Some(other) = Trailer::read(other) else {
            return Verification::Different;
        };
        let counts = [set.len() as u64, other.shingles() as u64];
        let (fewer, more) = (counts[0].min(counts[1]), counts[0].max(counts[1]));
        if fewer * 1000 < more * u64::from(least.thousandths) {
            return Verification::Different;
        }
        let other_set = &mut *scratch.borrow_mut();
        let reached = match other.read_set(other_set) {
            true => least.reached(&set, other_set),
            false => None,
        };
        match reached {
            Some((shared, of)) => Verification::Similar {
                shared: shared as u32,
                of: of as u32,
            },
            None => Verification::Different,
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Level;
    use crate::sketch::fingerprints::hashed::SimHashSettings;
    use crate::sketch::registry::{MethodContext, Spec};
    use crate::text::{Choice, WordSet};
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// SimHash, whose sketches have 8 bytes, and sets of shingles, whose lengths vary.
    fn methods(form: SetForm) -> [SignedMethod; 2] {
        let stop_words = WordSet::new([1, 2, 3]);
        let context = MethodContext {
            level: Level::best(),
            tokenizer: Choice::default(),
            stop_words: &stop_words,
            frequencies: None,
        };
        let varying = Spec::parse("shingles").unwrap();
        let settings = SignatureSettings {
            form,
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
        sketch_of(method, &words.collect::<Vec<u64>>())
    }

    fn sketch_of(method: &SignedMethod, words: &[u64]) -> Vec<u8> {
        let document = TokenizedDocument {
            short: words,
            ..TokenizedDocument::default()
        };
        let mut out = Vec::new();
        let _ = method.sketch(document, &mut SketchScratch::default(), &mut out);
        out
    }

    #[test]
    fn sketches_end_in_signatures_that_verify() {
        for method in methods(SetForm::Signature) {
            let [a, near, far] = [0..100, 3..103, 50..150].map(|words| sketch(&method, words));
            let (plain, signature) = method.split(&a);
            assert_eq!((plain.len() + 128, signature.len()), (a.len(), 128));
            assert!(method.is_sketch(&a) && method.plain().is_sketch(plain));
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
        let [fixed, varying] = methods(SetForm::Signature);
        let whole = sketch(&fixed, 0..100);
        let (plain, _) = fixed.split(&whole);
        assert_eq!(fixed.split(plain), (plain, &[][..]));
        assert!(fixed.is_sketch(plain));
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

    /// The similarity of two texts by its definition.
    fn expected(a: &[u64], b: &[u64]) -> Verification {
        let set = |words: &[u64]| -> HashSet<u64> {
            let mut hashes = Vec::new();
            shingles(words, 5, &mut hashes);
            hashes.into_iter().collect()
        };
        let (a, b) = (set(a), set(b));
        let (shared, of) = (a.intersection(&b).count(), a.union(&b).count());
        match 1000 * shared >= 800 * of {
            true => Verification::Similar {
                shared: shared as u32,
                of: of as u32,
            },
            false => Verification::Different,
        }
    }

    proptest! {
        #[test]
        fn whole_sets_verify_exactly(
            base in prop::collection::vec(0..50u64, 3..150),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0..50u64), 0..4),
        ) {
            let mut other = base.clone();
            for (place, word) in changes {
                other[place.index(base.len())] = word;
            }
            for method in methods(SetForm::Exact) {
                let [a, b] = [&base, &other].map(|words| sketch_of(&method, words));
                if a.is_empty() || b.is_empty() {
                    continue;
                }
                prop_assert!(method.is_sketch(&a));
                let (plain, signature) = method.split(&a);
                prop_assert!(method.plain().is_sketch(plain) && !signature.is_empty());
                let verify = method.verifier(&a).unwrap();
                prop_assert_eq!(verify(&b), expected(&base, &other));
                prop_assert_eq!(verify(&a), expected(&base, &base));
                prop_assert_eq!(method.verifier(&b).unwrap()(&a), expected(&base, &other));
            }
        }

        #[test]
        fn bytes_that_are_no_whole_sets_are_refused(
            words in prop::collection::vec(0..50u64, 6..60),
            (end, place, bit) in any::<(prop::sample::Index, prop::sample::Index, u8)>(),
            bytes in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            for method in methods(SetForm::Exact) {
                let whole = sketch_of(&method, &words);
                if whole.is_empty() {
                    continue;
                }
                let verify = method.verifier(&whole).unwrap();
                let mut flipped = whole.clone();
                flipped[place.index(whole.len())] ^= 1 << (bit % 8);
                for other in [&whole[..end.index(whole.len())], &flipped, &bytes] {
                    let _ = (verify(other), method.verifier(other), method.is_sketch(other));
                }
                prop_assert!(!method.is_sketch(&whole[..whole.len() - 1]));
            }
        }
    }

    #[test]
    fn whole_sets_of_texts_without_features_are_empty() {
        for method in methods(SetForm::Exact) {
            assert_eq!(method.sketch_bytes(), None);
            assert_eq!(sketch(&method, 0..0), []);
        }
    }

    #[test]
    fn texts_without_features_have_empty_sketches() {
        let [fixed, varying] = methods(SetForm::Signature);
        assert_eq!(sketch(&fixed, 0..0), [0; 8 + 128]);
        assert_eq!(sketch(&varying, 0..0), []);
    }
}
