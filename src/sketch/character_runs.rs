//! Runs of characters as features.

use std::iter::once;

/// The characters of a text but white space, folded to lower case.
///
/// Bytes that are no UTF-8 are skipped as white space is.
#[derive(Clone, Debug, Default)]
pub(super) struct Characters {
    folded: String,
}

impl Characters {
    /// Those of `text` instead of what was there.
    pub(super) fn read(&mut self, text: &[u8]) {
        self.folded.clear();
        for valid in text.utf8_chunks().map(|chunk| chunk.valid()) {
            let kept = valid.chars().filter(|character| !character.is_whitespace());
            self.folded.extend(kept.flat_map(char::to_lowercase));
        }
    }

    /// The bytes of each run of `width` characters; of all of them if there are fewer.
    pub(super) fn shingles(&self, width: usize) -> impl Iterator<Item = &[u8]> {
        let starts = self.folded.char_indices().map(|(start, _)| start);
        let ends = starts.clone().skip(width).chain(once(self.folded.len()));
        let runs = starts.zip(ends);
        runs.map(|(start, end)| &self.folded.as_bytes()[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shingles(text: &[u8], width: usize) -> Vec<String> {
        let mut characters = Characters::default();
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
        assert!(Characters::default().shingles(3).next().is_none());
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
            let mut folded: Vec<char> = Vec::new();
            for valid in text.utf8_chunks().map(|chunk| chunk.valid()) {
                folded.extend(valid.split_whitespace().collect::<String>().chars().flat_map(char::to_lowercase));
            }
            let expected: Vec<String> = match folded.len() {
                0 => Vec::new(),
                count => folded.windows(width.min(count)).map(String::from_iter).collect(),
            };
            prop_assert_eq!(shingles(&text, width), expected);
        }
    }
}
