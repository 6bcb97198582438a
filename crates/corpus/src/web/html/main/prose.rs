//! How long a text is, and how much of it looks like sentences.

use std::sync::LazyLock;

use simtool_core::text::{WordSet, builtin_stop_words};
use xxhash_rust::xxh3::xxh3_64;

static STOP_WORDS: LazyLock<WordSet> = LazyLock::new(builtin_stop_words);

/// A longer word of other letters than those of English is counted as several: some scripts do not
/// separate words.
const LONGEST_WORD: usize = 24;
/// The bytes of a word within such a run.
const WORD_BYTES: usize = 12;

/// Less text is not prose. In half words.
const MIN_PROSE: u32 = 20;
/// A text with this share of its bytes in links, in 64ths, is not prose.
const MAX_LINKS: u32 = 20;

/// The size of a text in half words, so that a Chinese character counts as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// All words.
    pub(super) length: u32,
    /// Stop words of any language with a list.
    stops: u32,
    /// Marks of punctuation, as a number.
    marks: u32,
}

impl Size {
    /// The size of a text. O(length) time.
    pub(super) fn of(text: &[u8]) -> Size {
        let mut size = Size::default();
        let mut word = Vec::new();
        for chunk in text.utf8_chunks() {
            for character in chunk.valid().chars() {
                if is_whole_word(character) {
                    size.word(&mut word);
                    let mut bytes = [0; 4];
                    size.length += 1;
                    size.stops += is_stop_word(character.encode_utf8(&mut bytes).as_bytes());
                } else if character.is_ascii_alphanumeric() {
                    word.push(character.to_ascii_lowercase() as u8);
                } else if !character.is_ascii() && character.is_alphanumeric() {
                    let mut bytes = [0; 4];
                    for lower in character.to_lowercase() {
                        word.extend_from_slice(lower.encode_utf8(&mut bytes).as_bytes());
                    }
                } else {
                    size.word(&mut word);
                    size.marks += u32::from(is_mark(character));
                }
            }
            size.word(&mut word);
        }
        size
    }

    /// Counts a word and empties it.
    fn word(&mut self, word: &mut Vec<u8>) {
        if word.is_empty() {
            return;
        }
        let words = if word.len() > LONGEST_WORD {
            word.len() / WORD_BYTES
        } else {
            1
        };
        self.length += 2 * words as u32;
        self.stops += 2 * is_stop_word(word);
        word.clear();
    }

    /// The length that counts as prose, if `links` 64ths of the text are in links.
    ///
    /// All of it if a third of the words are stop words, or if there is a mark of punctuation for
    /// every ten words; less in proportion. So languages without a list count, too.
    pub(super) fn prose(self, links: u32) -> u32 {
        if self.length < MIN_PROSE || links >= MAX_LINKS {
            return 0;
        }
        let [length, stops, marks] = [self.length, self.stops, self.marks].map(u64::from);
        let share = (stops * 64 * 3 / length)
            .max(marks * 64 * 20 / length)
            .min(64);
        (length * share / 64) as u32
    }
}

fn is_stop_word(folded: &[u8]) -> u32 {
    u32::from(STOP_WORDS.contains(xxh3_64(folded)))
}

/// Whether the character is of a script with two or three characters a word: Chinese, Japanese,
/// Korean.
fn is_whole_word(character: char) -> bool {
    matches!(character,
        '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ac00}'..='\u{d7af}')
}

fn is_mark(character: char) -> bool {
    matches!(
        character,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '。'
            | '，'
            | '、'
            | '；'
            | '：'
            | '！'
            | '？'
            | '।'
            | '۔'
            | '،'
            | '؟'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_script_are_counted() {
        let cases = [
            ("", 0, 0, 0),
            ("The cat's on_the mat.", 12, 8, 1),
            ("Über ALLES, über", 6, 6, 1),
            ("我的书。", 3, 2, 1),
            ("ไม่มีช่องว่างระหว่างคำ", 2 * (66 / 12), 0, 0),
            ("x\u{2014}y", 4, 2, 0),
        ];
        for (text, length, stops, marks) in cases {
            let expected = Size {
                length,
                stops,
                marks,
            };
            assert_eq!(Size::of(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(Size::of(b"ab\xffcd").length, 4);
    }

    #[test]
    fn sentences_of_any_language_are_prose() {
        for text in [
            "The cat sat on the mat, and the dog was not far from it",
            "Kot siedział na macie, a pies, który wszystko już widział, spał dalej, jak zawsze",
            "猫坐在垫子上，狗已经见过这一切，所以继续睡觉。",
        ] {
            let size = Size::of(text.as_bytes());
            assert_eq!(size.prose(0), size.length, "{text}");
            assert_eq!(size.prose(MAX_LINKS), 0);
        }
        let menu = "Home Products Services News Contact Imprint Shop Account Help Jobs Press";
        assert_eq!(Size::of(menu.as_bytes()).prose(0), 0);
    }
}
