//! Segmentation of runs that are not all ASCII.

use super::choice::Choice;
use super::dictionary::Dictionary;
use super::script::{Role, Roles};
use super::sink::Sink;
use super::utf8::valid_parts;

/// The number of bytes of a document that decide whether it is Chinese.
const DETECTION_BYTES: usize = 16 << 10;
/// The number of other letters and digits that count as much as one Han character.
const LETTERS_PER_HAN: usize = 3;
/// The ratio of Han characters to kana above which a text is Chinese, not Japanese.
const HAN_PER_KANA: usize = 8;

/// Splits runs of letters, digits and non-ASCII bytes into words.
pub(super) struct Mixed {
    roles: Roles,
    dictionary: Dictionary,
    /// Whether Han is split by the dictionary; `None` until the first Han character of a document.
    chinese: Option<bool>,
}

/// The state of a run in a script without spaces.
enum Pending {
    None,
    /// The last character of a run that becomes pairs, and whether it is the only one so far.
    Pairs {
        last: char,
        /// Its place in the run.
        start: usize,
        alone: bool,
    },
    /// The dictionary buffers a run of Han.
    Han,
}

impl Mixed {
    pub(super) fn new() -> Mixed {
        Mixed {
            roles: Roles::shared(),
            dictionary: Dictionary::new(),
            chinese: None,
        }
    }

    /// Starts a document.
    pub(super) fn begin(&mut self, choice: Choice) {
        self.chinese = (choice == Choice::Chinese).then_some(true);
    }

    /// Splits a run of `document`, or a part of one, into words.
    pub(super) fn cut(&mut self, run: &str, document: &[u8], sink: &mut Sink<'_>) {
        let mut pending = Pending::None;
        let mut rest = run;
        let run = run.as_bytes();
        while let Some(character) = rest.chars().next() {
            let role = self.roles.of(character);
            let mut bytes = character.len_utf8();
            if matches!(role, Role::Letter | Role::Capital) {
                pending = self.close(pending, run, sink);
                bytes = self.word(rest, sink);
            } else {
                let here = (run, run.len() - rest.len());
                pending = self.step(pending, role, character, here, document, sink);
            }
            rest = &rest[bytes..];
        }
        self.close(pending, run, sink);
    }

    /// Emits the word of letters, digits and marks at the start of `text`; returns its length in
    /// bytes.
    #[inline]
    fn word(&self, text: &str, sink: &mut Sink<'_>) -> usize {
        let mut folds = false;
        let mut characters = text.chars();
        let mut bytes = 0;
        while let Some(character) = characters.next() {
            match self.roles.of(character) {
                Role::Letter | Role::Mark => {}
                Role::Capital => folds = true,
                _ => break,
            }
            bytes = text.len() - characters.as_str().len();
        }
        sink.at(&text.as_bytes()[..bytes]);
        match folds {
            true => sink.folded_word(&text[..bytes]),
            false => sink.word(&text.as_bytes()[..bytes]),
        }
        bytes
    }

    /// Processes a character that is not part of such a word.
    #[inline]
    fn step(
        &mut self,
        pending: Pending,
        role: Role,
        character: char,
        (run, start): (&[u8], usize),
        document: &[u8],
        sink: &mut Sink<'_>,
    ) -> Pending {
        match (role, pending) {
            // A mark after a character of a script without spaces selects a variant; it is ignored.
            (Role::Mark, pending) => pending,
            (Role::Separator, pending) => self.close(pending, run, sink),
            (Role::Han, Pending::Han) => {
                self.dictionary.push(character, &run[start..], sink);
                Pending::Han
            }
            (Role::Han, pending) if self.is_chinese(document) => {
                self.close(pending, run, sink);
                self.dictionary.push(character, &run[start..], sink);
                Pending::Han
            }
            (
                _,
                Pending::Pairs {
                    last, start: first, ..
                },
            ) => {
                sink.at(&run[first..start + character.len_utf8()]);
                sink.push(last);
                sink.push(character);
                sink.end();
                Pending::Pairs {
                    last: character,
                    start,
                    alone: false,
                }
            }
            (_, pending) => {
                self.close(pending, run, sink);
                Pending::Pairs {
                    last: character,
                    start,
                    alone: true,
                }
            }
        }
    }

    fn close(&mut self, pending: Pending, run: &[u8], sink: &mut Sink<'_>) -> Pending {
        match pending {
            Pending::None | Pending::Pairs { alone: false, .. } => {}
            Pending::Pairs {
                last,
                start,
                alone: true,
            } => {
                sink.at(&run[start..start + last.len_utf8()]);
                sink.push(last);
                sink.end();
            }
            Pending::Han => self.dictionary.flush(sink),
        }
        Pending::None
    }

    fn is_chinese(&mut self, document: &[u8]) -> bool {
        let roles = self.roles;
        *self.chinese.get_or_insert_with(|| {
            let start = &document[..document.len().min(DETECTION_BYTES)];
            is_chinese(roles, start)
        })
    }
}

/// Whether a text is mostly Han and not Japanese.
fn is_chinese(roles: Roles, text: &[u8]) -> bool {
    let mut counts = [0usize; Role::COUNT];
    for character in valid_parts(text).flat_map(str::chars) {
        counts[roles.of(character) as usize] += 1;
    }
    let count = |role: Role| counts[role as usize];
    let letters = count(Role::Letter) + count(Role::Capital) + count(Role::Spaceless);
    let (han, kana) = (count(Role::Han), count(Role::Kana));
    han * LETTERS_PER_HAN > letters && han > kana * HAN_PER_KANA
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_is_told_from_its_neighbours() {
        let is_chinese = |text: &str| super::is_chinese(Roles::shared(), text.as_bytes());
        assert!(is_chinese("今天天气很好，我们去公园吧。"));
        assert!(is_chinese(
            "使用 Rust 编写的全文检索工具，支持 Linux 和 macOS。"
        ));
        assert!(!is_chinese(
            "今日はとても良い天気ですね。公園へ行きましょう。"
        ));
        assert!(!is_chinese(
            "The word 中国 means China, as every reader knows."
        ));
        assert!(!is_chinese(
            "대한민국(大韓民國)은 동아시아의 한반도 남부에 자리한 나라이다."
        ));
        assert!(!is_chinese(""));
    }
}
