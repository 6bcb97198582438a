//! The kinds of units.

use std::fmt;

use crate::{Error, ErrorKind, Result};

/// The maximum number of sentences in a unit.
pub const MAX_SENTENCES: usize = 100;

/// What a unit of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitKind {
    /// The text between two line breaks.
    Line,
    /// The lines between two blank lines. In a text without blank lines, each line.
    Paragraph,
    /// Every run of this many consecutive sentences.
    Sentences(usize),
}

impl UnitKind {
    /// Reads `line`, `paragraph` or `sentences:N`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for anything else.
    pub fn parse(text: &str) -> Result<UnitKind> {
        let count = |text: &str| {
            let count = text.parse().ok();
            count.filter(|count| (1..=MAX_SENTENCES).contains(count))
        };
        match (text, text.split_once(':')) {
            ("line", _) => Ok(UnitKind::Line),
            ("paragraph", _) => Ok(UnitKind::Paragraph),
            (_, Some(("sentences", number))) if count(number).is_some() => {
                Ok(UnitKind::Sentences(count(number).unwrap_or(1)))
            }
            _ => {
                let message = format!(
                    "unit {text:?}: expected line, paragraph or sentences:N with N from 1 to \
                     {MAX_SENTENCES}"
                );
                Err(Error::new(ErrorKind::Parameter, message))
            }
        }
    }
}

/// In the format of [`UnitKind::parse`].
impl fmt::Display for UnitKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnitKind::Line => out.write_str("line"),
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
        for name in ["line", "paragraph", "sentences:1", "sentences:100"] {
            assert_eq!(UnitKind::parse(name).unwrap().to_string(), name);
        }
        for name in [
            "",
            "lines",
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
