//! Runs that are not all ASCII.

use super::Choice;
use super::dictionary::Dictionary;
use super::script::{Role, Roles};
use super::sink::Sink;
use super::valid_parts;

/// How much of a document shows whether it is Chinese.
const SHOWN_BYTES: usize = 16 << 10;
/// So many other letters make as much text as one Han character.
const LETTERS_A_HAN: usize = 3;
/// Chinese has more than so many Han characters for each kana, Japanese fewer.
const HAN_A_KANA: usize = 8;

/// Cuts runs of letters, digits and non-ASCII bytes into words.
pub(super) struct Mixed {
    roles: Roles,
    dictionary: Dictionary,
    /// Whether Han goes to the dictionary; open until the first Han of a document is met.
    chinese: Option<bool>,
}

/// A stretch without spaces, but for its end.
enum Open {
    Nothing,
    /// The last character of a stretch that becomes pairs, and whether it is the only one.
    Pairs {
        last: char,
        alone: bool,
    },
    /// The dictionary has the beginning of a stretch of Han.
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

    /// Begins a document.
    pub(super) fn begin(&mut self, choice: Choice) {
        self.chinese = (choice == Choice::Chinese).then_some(true);
    }

    /// Cuts a run of `document`, or a part of one.
    pub(super) fn cut(&mut self, run: &str, document: &[u8], sink: &mut Sink<'_>) {
        let mut open = Open::Nothing;
        let mut rest = run;
        while let Some(character) = rest.chars().next() {
            let role = self.roles.of(character);
            let mut bytes = character.len_utf8();
            if matches!(role, Role::Letter | Role::Capital) {
                open = self.close(open, sink);
                bytes = self.word(rest, sink);
            } else {
                open = self.step(open, role, character, document, sink);
            }
            rest = &rest[bytes..];
        }
        self.close(open, sink);
    }

    /// Takes the letters, digits and marks with which `text` begins; how many bytes they are.
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
        match folds {
            true => sink.folded_word(&text[..bytes]),
            false => sink.word(&text.as_bytes()[..bytes]),
        }
        bytes
    }

    /// Takes a character that is in no such word.
    #[inline]
    fn step(
        &mut self,
        open: Open,
        role: Role,
        character: char,
        document: &[u8],
        sink: &mut Sink<'_>,
    ) -> Open {
        match (role, open) {
            // Behind a character of a script without spaces: it chooses a variant, which is not
            // worth a word.
            (Role::Mark, open) => open,
            (Role::Separator, open) => self.close(open, sink),
            (Role::Han, Open::Han) => {
                self.dictionary.push(character, sink);
                Open::Han
            }
            (Role::Han, open) if self.is_chinese(document) => {
                self.close(open, sink);
                self.dictionary.push(character, sink);
                Open::Han
            }
            (_, Open::Pairs { last, .. }) => {
                sink.push(last);
                sink.push(character);
                sink.end();
                Open::Pairs {
                    last: character,
                    alone: false,
                }
            }
            (_, open) => {
                self.close(open, sink);
                Open::Pairs {
                    last: character,
                    alone: true,
                }
            }
        }
    }

    fn close(&mut self, open: Open, sink: &mut Sink<'_>) -> Open {
        match open {
            Open::Nothing | Open::Pairs { alone: false, .. } => {}
            Open::Pairs { last, alone: true } => {
                sink.push(last);
                sink.end();
            }
            Open::Han => self.dictionary.flush(sink),
        }
        Open::Nothing
    }

    fn is_chinese(&mut self, document: &[u8]) -> bool {
        let roles = self.roles;
        *self.chinese.get_or_insert_with(|| {
            let shown = &document[..document.len().min(SHOWN_BYTES)];
            is_chinese(roles, shown)
        })
    }
}

/// Whether Han makes up most of a text that is not Japanese.
fn is_chinese(roles: Roles, text: &[u8]) -> bool {
    let mut counts = [0usize; Role::COUNT];
    for character in valid_parts(text).flat_map(str::chars) {
        counts[roles.of(character) as usize] += 1;
    }
    let count = |role: Role| counts[role as usize];
    let letters = count(Role::Letter) + count(Role::Capital) + count(Role::Spaceless);
    let (han, kana) = (count(Role::Han), count(Role::Kana));
    han * LETTERS_A_HAN > letters && han > kana * HAN_A_KANA
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
