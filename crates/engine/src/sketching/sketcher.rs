//! Sketches of texts by several methods: the state of one worker.

use std::time::Duration;

use super::methods::Common;
use super::text_words::WordReader;
use simtool_core::sketch::{Method, Needs, SketchList};
use simtool_files::usage::thread_time;

/// Tokenizes each text once and sketches it by all methods.
pub struct Sketcher<'a> {
    methods: &'a [Box<dyn Method>],
    words: WordReader,
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
        let needs = needs.fold(Needs::default(), Needs::and);
        Sketcher {
            methods,
            words: WordReader::new(common.tokenizer, needs, common.level),
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
        let mut words = self.words.read(text);
        for (method, made) in self.methods.iter().zip(out) {
            let begin = thread_time();
            let sketches = &mut made.sketches;
            let usable = sketches.push_with(|bytes| words.sketch(&**method, bytes));
            made.usable.push(usable);
            made.time += thread_time().saturating_sub(begin);
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
