//! Character n-grams as features.

use crate::text::{Folder, valid_parts};

/// The characters of a text: the words of [`Choice::Chars`](crate::text::Choice::Chars), in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoldedCharacters {
    folder: Folder,
    folded: String,
    /// The start of each character, and the end of the last.
    borders: Vec<usize>,
}

impl FoldedCharacters {
    /// Replaces the contents by the characters of `text`.
    pub(crate) fn read(&mut self, text: &[u8]) {
        let FoldedCharacters {
            folder,
            folded,
            borders,
        } = self;
        folded.clear();
        borders.clear();
        borders.push(0);
        for valid in valid_parts(text) {
            folder.each_character(valid, |character, _| {
                folded.push(character);
                borders.push(folded.len());
            });
        }
    }

    /// The bytes of each n-gram of `width` characters, at least 1; of all characters if there are
    /// fewer.
    pub(crate) fn shingles(&self, width: usize) -> impl Iterator<Item = &[u8]> {
        let count = self.borders.len().saturating_sub(1);
        let ends = self.borders.iter().skip(width.min(count).max(1));
        let runs = self.borders.iter().zip(ends);
        runs.map(|(&start, &end)| &self.folded.as_bytes()[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Level;
    use crate::text::{Choice, Tokenizer};
    use proptest::prelude::*;

    fn shingles(text: &[u8], width: usize) -> Vec<String> {
        let mut characters = FoldedCharacters::default();
        characters.read(b"what was before");
        characters.read(text);
        let found = characters.shingles(width);
        found
            .map(|run| String::from_utf8(run.to_vec()).unwrap())
            .collect()
    }

    #[test]
    fn by_example() {
        assert_eq!(shingles(b"A b\xffc\nd", 3), ["abc", "bcd"]);
        assert_eq!(
            shingles("中\u{3000}文İ".as_bytes(), 2),
            ["中文", "文i", "i\u{307}"]
        );
        assert_eq!(shingles(b"ab", 5), ["ab"]);
        assert!(shingles(b" \xff\n", 5).is_empty());
        assert!(FoldedCharacters::default().shingles(3).next().is_none());
    }

    proptest! {
        #[test]
        fn shingles_are_the_definition(
            text in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..60),
                "[A-Zİß中 \u{2003}😀]{0,40}".prop_map(String::into_bytes),
            ],
            width in 1usize..9,
        ) {
            let mut folded: Vec<String> = Vec::new();
            let mut tokenizer = Tokenizer::new(Choice::Chars, Level::best());
            tokenizer.for_each_word(&text, &mut |word| {
                folded.push(String::from_utf8(word.to_vec()).unwrap());
            });
            let expected: Vec<String> = match folded.len() {
                0 => Vec::new(),
                count => folded.windows(width.min(count)).map(<[String]>::concat).collect(),
            };
            prop_assert_eq!(shingles(&text, width), expected);
        }
    }
}
