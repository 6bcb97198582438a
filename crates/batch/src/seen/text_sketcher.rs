//! Sketches of texts for an index.

use simtool_core::sketch::Method;
use simtool_engine::methods::Common;
use simtool_engine::text_words::WordReader;

/// Makes sketches of texts for an index; one for each thread.
pub struct TextSketcher<'a> {
    words: WordReader,
    method: &'a dyn Method,
    sketch: Vec<u8>,
}

impl<'a> TextSketcher<'a> {
    /// A maker of sketches by `method`.
    pub(super) fn new(method: &'a dyn Method, common: Common<'_>) -> TextSketcher<'a> {
        TextSketcher {
            words: WordReader::new(common.tokenizer, method.needs(), common.level),
            method,
            sketch: Vec::new(),
        }
    }

    /// The sketch of `text`; `None` if it has no features.
    pub fn sketch(&mut self, text: &[u8]) -> Option<&[u8]> {
        self.sketch.clear();
        let has_features = self.words.read(text).sketch(self.method, &mut self.sketch);
        has_features.then_some(&self.sketch)
    }
}
