//! Sketches of texts by several methods: the state of one worker.

use std::time::Duration;

use super::methods::Common;
use crate::io::usage::thread_time;
use crate::sketch::{Method, Needs, Scratch, SketchList, TokenizedDocument};
use crate::text::{Spelling, Tokenizer, WordHashes};

/// Buffers with a larger capacity, due to a giant document, are freed.
const KEPT_CAPACITY: usize = 1 << 20;

/// Tokenizes each text once and sketches it by all methods.
pub struct Sketcher<'a> {
    methods: &'a [Box<dyn Method>],
    needs: Needs,
    tokenizer: Tokenizer,
    words: WordHashes,
    spelling: Spelling,
    scratch: Scratch,
}

/// The sketches of some documents by one method.
#[derive(Clone, Debug, Default)]
pub struct Sketched {
    /// The sketches, one for each document.
    pub sketches: SketchList,
    /// Whether each document had features; those without are never matched.
    pub usable: Vec<bool>,
    /// The processor time of sketching, without reading and tokenizing.
    pub time: Duration,
}

impl<'a> Sketcher<'a> {
    /// A sketcher for `methods`.
    pub fn new(methods: &'a [Box<dyn Method>], common: Common<'_>) -> Sketcher<'a> {
        let needs = methods.iter().map(|method| method.needs());
        Sketcher {
            methods,
            needs: needs.fold(Needs::default(), Needs::and),
            tokenizer: Tokenizer::new(common.tokenizer, common.level),
            words: WordHashes::default(),
            spelling: Spelling::default(),
            scratch: Scratch::default(),
        }
    }

    /// Empty lists, one for each method.
    pub fn nothing(&self) -> Vec<Sketched> {
        let methods = self.methods.iter();
        let empty = methods.map(|method| Sketched {
            sketches: SketchList::new(&**method),
            ..Sketched::default()
        });
        empty.collect()
    }

    /// Appends the sketches of `text` to the lists of `out`, one for each method.
    pub fn sketch(&mut self, text: &[u8], out: &mut [Sketched]) {
        let Needs { long, spelled, .. } = self.needs;
        if spelled {
            let (words, spelling) = (&mut self.words, &mut self.spelling);
            self.tokenizer.spell_words(text, long, words, spelling);
        } else if self.needs != Needs::default() {
            self.tokenizer.hash_words(text, long, &mut self.words);
        }
        let view = TokenizedDocument {
            text,
            short: &self.words.short,
            long: &self.words.long,
            spelled: self.spelling.all(),
        };
        for (method, made) in self.methods.iter().zip(out) {
            let begin = thread_time();
            let scratch = &mut self.scratch;
            let usable = made
                .sketches
                .push_with(|bytes| method.sketch(view, scratch, bytes));
            made.usable.push(usable);
            made.time += thread_time().saturating_sub(begin);
        }
        if self.words.short.capacity() > KEPT_CAPACITY {
            (self.words, self.spelling, self.scratch) = Default::default();
        }
    }
}

impl Sketched {
    /// Appends the sketches of further documents.
    pub fn append(&mut self, next: &Sketched) {
        self.sketches.append(&next.sketches);
        self.usable.extend_from_slice(&next.usable);
        self.time += next.time;
    }

    /// Approximate bytes of memory.
    pub fn bytes(&self) -> usize {
        self.sketches.bytes.len() + 8 * self.sketches.borders.len() + self.usable.len()
    }
}
