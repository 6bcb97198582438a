//! The kinds of tokenizers and their names.

use std::fmt;
use std::str::FromStr;

use crate::{Error, ErrorKind};

/// The definition of a word. `Auto`, `Unicode` and `Chars` fold words: Unicode's NFKC_Casefold, with one apostrophe
/// for all, and without hyphens at line ends within words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Runs of letters and digits, with combining marks. In scripts without spaces between words
    /// (Han, kana, Thai, Lao, Khmer, Burmese and related ones) and in Hangul, whose spaces vary,
    /// each character is a word, with its marks; so white space between them does not count.
    #[default]
    Auto,
    /// Runs of ASCII letters, like the words of the main job.
    Ascii,
    /// The words of Unicode Standard Annex #29 that contain a letter or a digit.
    Unicode,
    /// Each character of the folded text except white space.
    ///
    /// Shingles of these words are the character shingles of the literature.
    Chars,
    /// Words of source code: identifiers and numbers in their own case, each other sign, and the
    /// indentation of Python; without comments.
    Code,
    /// Like `Code`, with the words of comments.
    CodeAndComments,
}

impl Choice {
    /// All kinds, in the order of messages.
    pub const ALL: [Choice; 6] = [
        Choice::Auto,
        Choice::Ascii,
        Choice::Unicode,
        Choice::Chars,
        Choice::Code,
        Choice::CodeAndComments,
    ];

    /// The name of the tokenizer.
    pub fn name(self) -> &'static str {
        match self {
            Choice::Auto => "auto",
            Choice::Ascii => "ascii",
            Choice::Unicode => "unicode",
            Choice::Chars => "chars",
            Choice::Code => "code",
            Choice::CodeAndComments => "code-and-comments",
        }
    }

    /// The version of the definition: words of different versions are not comparable, nor are the
    /// sketches made of them. It is stored with everything that is kept.
    pub fn definition(self) -> u32 {
        match self {
            Choice::Ascii | Choice::Code | Choice::CodeAndComments => 1,
            // Version 1 folded case alone, and split Chinese by a dictionary or into pairs.
            Choice::Auto | Choice::Unicode | Choice::Chars => 2,
        }
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
                format!(
                    "tokenizer {name:?}: must be one of auto, ascii, unicode, chars, code, code-and-comments"
                )
            );
        }
    }
}
