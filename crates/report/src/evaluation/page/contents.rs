//! The contents of a page.

use std::collections::BTreeMap;

use simtool_evaluate::Evaluation;

/// A document that occurs in mistakes.
#[derive(Clone, Debug, Default)]
pub struct MistakeDocument {
    /// The name to show: its id, and its title if known.
    pub name: Vec<u8>,
    /// Its text; empty if unknown.
    pub text: Vec<u8>,
}

/// The contents of a page.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationPage<'a> {
    /// The title of the page.
    pub title: &'a str,
    /// Further facts by name: inputs, versions, settings.
    pub facts: &'a [(String, String)],
    /// The evaluation.
    pub evaluation: &'a Evaluation,
    /// The documents of the mistakes, by number; for others, only the number is shown.
    pub documents: &'a BTreeMap<u32, MistakeDocument>,
    /// The maximum number of bytes shown of each text of a mistake, without the equal parts that
    /// are left out.
    pub longest_text: usize,
}
