//! The kinds of tokenizers and their names.

use std::fmt;
use std::str::FromStr;

use crate::{Error, ErrorKind};

/// The definition of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Runs of letters and digits of any script, including combining marks.
    ///
    /// In a script without spaces between words (Han, kana, Thai, Lao, Khmer, Burmese and related
    /// ones), a run becomes overlapping pairs of characters; a single character is a word. In a
    /// document that is mostly Chinese, Han is split by the dictionary instead, if the feature `zh`
    /// is enabled. A run of ASCII letters and digits between separators is a word in every
    /// document.
    #[default]
    Auto,
    /// Runs of ASCII letters, like the words of the main job.
    Ascii,
    /// The words of Unicode Standard Annex #29 that contain a letter or a digit.
    Unicode,
    /// Like `Auto`, but Han is split by the dictionary in every document.
    Chinese,
    /// Each character except white space.
    ///
    /// Shingles of these words are the character shingles of the literature.
    Chars,
}

impl Choice {
    /// All kinds, in the order of messages.
    pub const ALL: [Choice; 5] = [
        Choice::Auto,
        Choice::Ascii,
        Choice::Unicode,
        Choice::Chinese,
        Choice::Chars,
    ];

    /// The name of the tokenizer.
    pub fn name(self) -> &'static str {
        match self {
            Choice::Auto => "auto",
            Choice::Ascii => "ascii",
            Choice::Unicode => "unicode",
            Choice::Chinese => "chinese",
            Choice::Chars => "chars",
        }
    }

    /// How this program splits Chinese into words: by the `dictionary` of the feature `zh`, or into
    /// `pairs` of characters. `None` for tokenizers that never use the dictionary.
    pub fn chinese_words(self) -> Option<&'static str> {
        let own = match cfg!(feature = "zh") {
            true => "dictionary",
            false => "pairs",
        };
        matches!(self, Choice::Auto | Choice::Chinese).then_some(own)
    }

    /// The usual width of shingles: 9 for characters, 5 for other words.
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

    /// Parses the name of a tokenizer.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for any other name; the message lists the valid names.
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
