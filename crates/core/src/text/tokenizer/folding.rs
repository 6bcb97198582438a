//! Folding of texts, cluster by cluster.
//!
//! A *cluster* is what is folded at a time: a character with those behind it that may compose with
//! it or that are ignored.

use unicode_normalization::UnicodeNormalization;

use super::characters::{FOLDED, Fold, folded};
use super::hyphenation::hyphenation;

/// The text as words are compared: by Unicode's NFKC_Casefold, with one apostrophe for all, and
/// without hyphens at line ends within words.
///
/// O(length) time, besides sorting the marks of a character.
pub fn fold(text: &str) -> String {
    let (mut folder, mut folded) = (Folder::default(), String::new());
    let mut rest = text;
    while !rest.is_empty() {
        let bytes = folder.cluster(rest);
        folded.extend(folder.characters());
        rest = &rest[bytes..];
    }
    folded
}

/// Folds texts, cluster by cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folder {
    characters: Vec<char>,
}

impl Folder {
    /// Folds the cluster at the start of `text`; returns its length in bytes, 0 if the text is
    /// empty. A hyphen at the end of a line within a word belongs to the cluster before it.
    ///
    /// O(c log c) time and O(c) memory for a cluster of c characters.
    #[inline]
    pub(super) fn cluster(&mut self, text: &str) -> usize {
        self.characters.clear();
        let Some(first) = text.chars().next() else {
            return 0;
        };
        let begin = FOLDED.of(first);
        let mut bytes = first.len_utf8();
        let mut order = 0;
        let alone = match begin.fold {
            Fold::Same => Some(first),
            Fold::Changed(folded) => Some(folded),
            _ => None,
        };
        self.characters.extend(alone);
        let mut is_simple = alone.is_some();
        while let Some(next) = text[bytes..].chars().next() {
            let (before, behind) = text.split_at(bytes);
            if let Some(skipped) = hyphenation(before, behind) {
                bytes += skipped;
                continue;
            }
            match FOLDED.of(next).fold {
                Fold::Mark(class) if is_simple && (class >= order || class == 0) => {
                    self.characters.push(next);
                    order = class;
                }
                fold if fold.joins() => is_simple = false,
                _ => break,
            }
            bytes += next.len_utf8();
        }
        if !is_simple {
            self.compose(&text[..bytes]);
        }
        bytes
    }

    #[cold]
    fn compose(&mut self, cluster: &str) {
        let mut text = String::new();
        for (place, character) in cluster.char_indices() {
            match FOLDED.of(character).fold {
                Fold::Joining => text.push_str(&folded(character)),
                Fold::Mark(_) => text.push(character),
                // The hyphen and the line break within a word.
                _ if place > 0 => {}
                Fold::Same => text.push(character),
                Fold::Changed(other) => text.push(other),
                Fold::Several => text.push_str(&folded(character)),
            }
        }
        self.characters.clear();
        self.characters.extend(text.nfc());
    }

    /// The folded characters of the last cluster.
    #[inline]
    pub(super) fn characters(&self) -> &[char] {
        &self.characters
    }

    /// Passes the characters of the folded text but white space to `visit`, each with the cluster
    /// that it is of: the words of [`Choice::Chars`](crate::text::Choice::Chars).
    pub(crate) fn each_character(&mut self, text: &str, mut visit: impl FnMut(char, &str)) {
        let mut rest = text;
        while !rest.is_empty() {
            let (cluster, behind) = rest.split_at(self.cluster(rest));
            let kept = self.characters.iter().filter(|c| !c.is_whitespace());
            kept.for_each(|character| visit(*character, cluster));
            rest = behind;
        }
    }
}

/// Appends `character` unchanged.
#[inline]
pub(super) fn push(character: char, out: &mut Vec<u8>) {
    let mut bytes = [0; 4];
    // Constant lengths are copied without a function call.
    match character.encode_utf8(&mut bytes).len() {
        1 => out.push(bytes[0]),
        2 => out.extend_from_slice(&bytes[..2]),
        3 => out.extend_from_slice(&bytes[..3]),
        _ => out.extend_from_slice(&bytes),
    }
}
