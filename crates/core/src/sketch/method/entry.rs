//! The registry entry of a method: its description, requirements and constructor.

use super::parameter::{Parameter, Values};
use crate::Result;
use crate::kernel::Level;
use crate::sketch::Method;
use crate::text::{Choice, WordSet};
use crate::vocabulary::Frequencies;

/// The description of a method, and its constructor.
#[derive(Debug)]
pub struct Entry {
    /// The name of the method: lower-case letters, digits and hyphens.
    pub name: &'static str,
    /// A summary in one line.
    pub summary: &'static str,
    /// A description of a few paragraphs: principle, cost, limits, and sources.
    pub description: &'static str,
    /// The CPU time measured by `lab/programs/method_costs.rs` on 100 000 generated English
    /// documents of 3.5 KB, and the growth of a self-join.
    pub measured: &'static str,
    /// The parameters of the method.
    pub parameters: &'static [Parameter],
    /// The statistics of the collection that the method requires.
    pub statistics: fn(&Values) -> Statistics,
    /// Builds the method.
    pub build: fn(&Values, &MethodContext<'_>) -> Result<Box<dyn Method>>,
}

/// The statistics of the collection that a method requires before it can sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistics {
    /// None.
    Nothing,
    /// The most frequent features and their counts.
    Count(CountRequest),
}

/// The unit of which features are n-grams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeatureUnit {
    /// The words of the collection's tokenizer.
    #[default]
    Words,
    /// Folded characters: the words of [`Choice::Chars`], for any tokenizer of the collection.
    Characters,
}

/// A request to count the features of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountRequest {
    /// The unit of features.
    pub unit: FeatureUnit,
    /// The number of most frequent features to keep; of equally frequent ones those with smaller
    /// hashes.
    pub most: usize,
    /// The number of consecutive words of a feature.
    pub shingle: usize,
    /// Whether stop words are removed first.
    pub skip_stop_words: bool,
    /// Whether to count documents that contain a feature, instead of occurrences.
    pub documents: bool,
}

/// The context in which a method is built.
#[derive(Clone, Copy, Debug)]
pub struct MethodContext<'a> {
    /// The level of kernels; affects only speed.
    pub level: Level,
    /// The definition of a word.
    pub tokenizer: Choice,
    /// The stop words, for methods that remove them.
    pub stop_words: &'a WordSet,
    /// The counted frequencies, if the method requires them; set by
    /// [`Spec::build`](crate::sketch::registry::Spec::build).
    pub frequencies: Option<&'a Frequencies>,
}

impl MethodContext<'_> {
    /// The stop words if `skip`, else an empty set.
    pub(crate) fn stop_words(&self, skip: bool) -> WordSet {
        match skip {
            true => self.stop_words.clone(),
            false => WordSet::default(),
        }
    }
}
