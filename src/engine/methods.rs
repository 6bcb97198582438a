//! Methods built from their specifications and corpus statistics.

use crate::Result;
use crate::kernel::Level;
use crate::sketch::Method;
use crate::sketch::registry::{MethodContext, Spec};
use crate::text::{Choice, WordSet};
use crate::vocabulary::Frequencies;

/// The settings that all methods of a run share.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// What a word is.
    pub tokenizer: Choice,
    /// The words that methods with stop words leave out.
    pub stop_words: &'a WordSet,
    /// The instruction set, which affects the speed alone.
    pub level: Level,
}

/// The method without corpus statistics.
///
/// # Errors
/// Those of [`build`].
pub fn preview(spec: &Spec, common: Common<'_>) -> Result<Box<dyn Method>> {
    let nothing = vec![Frequencies::default(); spec.required_counts().len()];
    build(spec, common, &nothing)
}

/// Builds the method; `frequencies` are those of [`Spec::required_counts`].
///
/// # Errors
/// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for parameters that cannot be combined.
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
