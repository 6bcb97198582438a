//! The kinds of units.

use std::fmt;

use crate::{Error, ErrorKind, Result};

/// The maximum number of sentences in a unit.
pub const MAX_SENTENCES: usize = 100;
/// The maximum number of words that a run of lines must have.
pub const MAX_RUN_WORDS: usize = 1000;

/// What a unit of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitKind {
    /// The text between two line breaks.
    Line,
    /// Of each line, the shortest run of consecutive lines with at least this many words that begins
    /// with it, and the shortest one that ends with it. Blank lines do not count, and a line with a
    /// word counts as at least [`MIN_LINE_WORDS`](super::MIN_LINE_WORDS).
    Run(usize),
    /// The lines between two blank lines. In a text without blank lines, each line.
    Paragraph,
    /// Every run of this many consecutive sentences.
    Sentences(usize),
}

impl UnitKind {
    /// Reads `line`, `run:N`, `paragraph` or `sentences:N`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for anything else.
    pub fn parse(text: &str) -> Result<UnitKind> {
        let number = |name, most| {
            let (_, number) = text.split_once(':').filter(|(kind, _)| *kind == name)?;
            let number = number.parse().ok();
            number.filter(|number| (1..=most).contains(number))
        };
        let kind = match text {
            "line" => Some(UnitKind::Line),
            "paragraph" => Some(UnitKind::Paragraph),
            _ => number("run", MAX_RUN_WORDS)
                .map(UnitKind::Run)
                .or_else(|| number("sentences", MAX_SENTENCES).map(UnitKind::Sentences)),
        };
        kind.ok_or_else(|| {
            let message = format!(
                "unit {text:?}: expected line, run:N with N from 1 to {MAX_RUN_WORDS}, paragraph, \
                 or sentences:N with N from 1 to {MAX_SENTENCES}"
            );
            Error::new(ErrorKind::Parameter, message)
        })
    }
}

/// In the format of [`UnitKind::parse`].
impl fmt::Display for UnitKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnitKind::Line => out.write_str("line"),
            UnitKind::Run(words) => write!(out, "run:{words}"),
            UnitKind::Paragraph => out.write_str("paragraph"),
            UnitKind::Sentences(count) => write!(out, "sentences:{count}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for name in [
            "line",
            "run:1",
            "run:1000",
            "paragraph",
            "sentences:1",
            "sentences:100",
        ] {
            assert_eq!(UnitKind::parse(name).unwrap().to_string(), name);
        }
        for name in [
            "",
            "lines",
            "run",
            "run:0",
            "run:1001",
            "sentences",
            "sentences:",
            "sentences:0",
            "sentences:101",
        ] {
            let refused = UnitKind::parse(name).unwrap_err().to_string();
            assert!(refused.contains("expected line"), "{refused}");
        }
    }
}
