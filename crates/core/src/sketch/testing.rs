//! Methods, their sketches and keys, for tests.

use std::collections::BTreeSet;

use super::registry::{MethodContext, Spec};
use super::{Compare, Method, SketchScratch, TokenizedDocument};
use crate::kernel::Level;
use crate::text::{Choice, WordSet};

/// The method of a specification, without stop words and counts.
pub(super) fn method(spec: &str) -> Box<dyn Method> {
    let spec = Spec::parse(spec).unwrap();
    spec.build(&context(&WordSet::default()), &[]).unwrap()
}

/// A context with these stop words.
pub(super) fn context(stop_words: &WordSet) -> MethodContext<'_> {
    MethodContext {
        level: Level::best(),
        tokenizer: Choice::Auto,
        stop_words,
        frequencies: None,
    }
}

/// A document of a text, without words.
pub(super) fn of_text(text: &[u8]) -> TokenizedDocument<'_> {
    TokenizedDocument {
        text,
        ..TokenizedDocument::default()
    }
}

/// A document of the hashes of words.
pub(super) fn of_words(short: &[u64]) -> TokenizedDocument<'_> {
    TokenizedDocument {
        short,
        ..TokenizedDocument::default()
    }
}

/// The sketch of a document, if it has features; else checks that the sketch is zero or empty.
pub(super) fn sketch(method: &dyn Method, document: TokenizedDocument<'_>) -> Option<Vec<u8>> {
    let mut out = vec![7];
    let found = method.sketch(document, &mut SketchScratch::default(), &mut out);
    let sketch = out.split_off(1);
    assert_eq!(out, [7]);
    match method.sketch_bytes() {
        Some(bytes) => assert_eq!(sketch.len(), bytes),
        None => assert_eq!(found, !sketch.is_empty()),
    }
    assert!(found || sketch.iter().all(|byte| *byte == 0));
    found.then_some(sketch)
}

/// The keys of a sketch.
pub(super) fn keys(method: &dyn Compare, sketch: &[u8]) -> BTreeSet<u64> {
    let mut keys = BTreeSet::new();
    method.keys(sketch, &mut |key| {
        keys.insert(key);
    });
    keys
}
