//! Methods built from their specifications and corpus statistics.

use crate::Result;
use simtool_core::kernel::Level;
use simtool_core::sketch::Method;
use simtool_core::sketch::registry::{MethodContext, Spec};
use simtool_core::text::{Choice, WordSet};
use simtool_core::vocabulary::Frequencies;

/// The settings that all methods of a run share.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// What a word is.
    pub tokenizer: Choice,
    /// The stop words, for methods that leave them out.
    pub stop_words: &'a WordSet,
    /// The instruction set, which affects only the speed.
    pub level: Level,
}

/// Builds the method with empty corpus statistics. Its parameters and the shape of its sketches are
/// right; its sketches are so only if it requires no statistics.
///
/// # Errors
/// Errors of [`build`].
pub fn build_without_statistics(spec: &Spec, common: Common<'_>) -> Result<Box<dyn Method>> {
    let empty = vec![Frequencies::default(); spec.required_counts().len()];
    build(spec, common, &empty)
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
    let context = MethodContext {
        level: common.level,
        tokenizer: common.tokenizer,
        stop_words: common.stop_words,
        // Filled in by `Spec::build`.
        frequencies: None,
    };
    spec.build(&context, frequencies)
}
