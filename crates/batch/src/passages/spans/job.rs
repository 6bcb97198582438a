//! The settings that determine the output.

use std::fmt;

use crate::passages::settings::kept_occurrence::KeptOccurrence;
use crate::passages::settings::passage_settings::PassageSettings;
use crate::{Error, ErrorKind, Result};
use simtool_core::text::Choice;
use simtool_core::text::units::Snap;

/// The longest stretch that can be required, in units.
const MOST_UNITS: usize = 100_000;

/// A search for repeated stretches of text.
#[derive(Clone, Debug)]
pub struct SpansJob {
    /// The least length of a stretch.
    pub least: Least,
    /// What a word is.
    pub tokenizer: Choice,
    /// Which copy of a stretch stays.
    pub keep: KeptOccurrence,
    /// To which borders stretches shrink.
    pub snap: Snap,
    /// The most passages in `repeated.jsonl`.
    pub listed: usize,
    /// The settings that every search has.
    pub common: PassageSettings,
}

/// The least length of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Least {
    /// Words, compared without regard to case and to what is between them.
    Words(usize),
    /// Bytes.
    Bytes(usize),
}

impl Least {
    /// Reads a number of words such as `50w`, or of bytes such as `500b`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for anything else.
    pub fn parse(text: &str) -> Result<Least> {
        let number = |digits: &str| {
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            let number = digits.parse().ok().filter(|_| is_number)?;
            (1..=MOST_UNITS).contains(&number).then_some(number)
        };
        let words = text.strip_suffix('w').and_then(number).map(Least::Words);
        let bytes = text.strip_suffix('b').and_then(number).map(Least::Bytes);
        words.or(bytes).ok_or_else(|| {
            let message = format!(
                "min {text:?}: expected a number of words such as 50w, or of bytes such as 500b, of \
                 at most {MOST_UNITS}"
            );
            Error::new(ErrorKind::Parameter, message)
        })
    }

    /// The number of units.
    pub fn units(self) -> usize {
        match self {
            Least::Words(units) | Least::Bytes(units) => units,
        }
    }
}

/// In the format of [`Least::parse`].
impl fmt::Display for Least {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Least::Words(words) => write!(out, "{words}w"),
            Least::Bytes(bytes) => write!(out, "{bytes}b"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_and_written() {
        for name in ["1w", "50w", "500b", "100000b"] {
            assert_eq!(Least::parse(name).unwrap().to_string(), name);
        }
        for name in ["", "w", "50", "0w", "-1w", "+1w", "100001b", "50 w", "5k"] {
            assert!(Least::parse(name).is_err(), "{name}");
        }
    }
}
