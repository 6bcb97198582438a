//! From what people ask for to a method: what it has to know of the collection is counted ahead.

use crate::Result;
use crate::kernel::Level;
use crate::sketch::Method;
use crate::sketch::registry::{Ahead, Count, Setting, Spec};
use crate::text::{Choice, WordSet};
use crate::vocabulary::Frequencies;

/// What every method of a run shares.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// What a word is.
    pub tokenizer: Choice,
    /// The words that are left out by methods that leave out stop words.
    pub stop_words: &'a WordSet,
    /// How fast it is, nothing else.
    pub level: Level,
}

/// What has to be counted before `spec` can be built, in order.
pub fn counts(spec: &Spec) -> Vec<Count> {
    match spec.ahead() {
        Ahead::Nothing => Vec::new(),
        Ahead::Count(count) => vec![count],
    }
}

/// Makes the method; `frequencies` are those of [`counts`], or nothing to see what it looks like.
///
/// # Errors
/// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for parameters that do not go together.
pub fn build(
    spec: &Spec,
    common: Common<'_>,
    frequencies: &[Frequencies],
) -> Result<Box<dyn Method>> {
    spec.build(&Setting {
        level: common.level,
        tokenizer: common.tokenizer,
        stop_words: common.stop_words,
        frequencies: frequencies.first(),
    })
}
