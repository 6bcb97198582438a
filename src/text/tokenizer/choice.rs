//! The names of the tokenizers.

use std::fmt;
use std::str::FromStr;

use crate::{Error, ErrorKind};

/// What is taken for a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Runs of letters and digits of any script, with the marks on them.
    ///
    /// A run in a script that puts no spaces between words (Han, kana, Thai, Lao, Khmer, Burmese and
    /// their kin) becomes overlapping pairs of characters, or itself if it has one. In a document
    /// that is mostly Chinese, Han is cut by the dictionary instead, where the feature `zh` is
    /// compiled in. On ASCII text a word is a run of ASCII letters and digits, and stays so
    /// wherever such a run stands between separators, whatever else the document holds.
    #[default]
    Auto,
    /// Runs of ASCII letters, as in the main job.
    Ascii,
    /// The words of Unicode Standard Annex #29 that hold a letter or a digit.
    Unicode,
    /// As `Auto`, but Han is cut by the dictionary in every document.
    Chinese,
    /// Each character but white space.
    ///
    /// Shingles of these are the character shingles of the literature, which takes runs of nine for
    /// Chinese.
    Chars,
}

impl Choice {
    /// All of them, in the order in which messages list them.
    pub const ALL: [Choice; 5] = [
        Choice::Auto,
        Choice::Ascii,
        Choice::Unicode,
        Choice::Chinese,
        Choice::Chars,
    ];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Choice::Auto => "auto",
            Choice::Ascii => "ascii",
            Choice::Unicode => "unicode",
            Choice::Chinese => "chinese",
            Choice::Chars => "chars",
        }
    }

    /// The usual width of shingles of its words: 9 characters, or 5 of any other words.
    pub fn usual_width(self) -> usize {
        match self {
            Choice::Chars => 9,
            _ => 5,
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl FromStr for Choice {
    type Err = Error;

    /// The tokenizer of that name.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for any other name; the message lists the names there are.
    fn from_str(name: &str) -> Result<Choice, Error> {
        let found = Choice::ALL.into_iter().find(|choice| choice.name() == name);
        found.ok_or_else(|| {
            let names = Choice::ALL.map(Choice::name).join(", ");
            let message = format!("tokenizer {name:?}: must be one of {names}");
            Error::new(ErrorKind::Parameter, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for choice in Choice::ALL {
            assert_eq!(choice.to_string().parse::<Choice>().unwrap(), choice);
        }
    }

    #[test]
    fn other_names_are_refused() {
        for name in ["", "Auto", "jieba"] {
            let error = name.parse::<Choice>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            assert_eq!(
                error.to_string(),
                format!("tokenizer {name:?}: must be one of auto, ascii, unicode, chinese, chars")
            );
        }
    }
}
