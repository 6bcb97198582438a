//! From what people ask for to a method: what it has to know of the collection is counted ahead.

use crate::Result;
use crate::kernel::Level;
use crate::sketch::Method;
use crate::sketch::registry::{MethodContext, Spec};
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

/// The method as it would be in an empty collection: what it looks like, but for what is counted.
///
/// # Errors
/// Those of [`build`].
pub fn preview(spec: &Spec, common: Common<'_>) -> Result<Box<dyn Method>> {
    let nothing = vec![Frequencies::default(); spec.required_counts().len()];
    build(spec, common, &nothing)
}

/// Makes the method; `frequencies` are those of [`Spec::required_counts`].
///
/// # Errors
/// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for parameters that do not go together.
pub fn build(
    spec: &Spec,
    common: Common<'_>,
    frequencies: &[Frequencies],
) -> Result<Box<dyn Method>> {
    let setting = MethodContext {
        level: common.level,
        tokenizer: common.tokenizer,
        stop_words: common.stop_words,
        frequencies: None,
    };
    spec.build(&setting, frequencies)
}
