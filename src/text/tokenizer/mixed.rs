//! Runs that are not all ASCII.

use super::Choice;
use super::dictionary::Dictionary;
use super::script::{Role, Roles};
use super::sink::Sink;

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

/// What a run has been cut into, but for its end.
enum Open {
    Nothing,
    /// The sink has the beginning of a word.
    Word,
    /// The last character of a stretch without spaces, and whether it is the only one.
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

    /// Cuts a run of `document`.
    pub(super) fn cut(&mut self, run: &[u8], document: &[u8], sink: &mut Sink<'_>) {
        let mut open = Open::Nothing;
        for chunk in run.utf8_chunks() {
            for character in chunk.valid().chars() {
                open = self.step(open, character, document, sink);
            }
            if !chunk.invalid().is_empty() {
                open = self.close(open, sink);
            }
        }
        self.close(open, sink);
    }

    #[inline]
    fn step(&mut self, open: Open, character: char, document: &[u8], sink: &mut Sink<'_>) -> Open {
        match (self.roles.of(character), open) {
            (Role::Letter | Role::Mark, Open::Word) => {
                sink.push(character);
                Open::Word
            }
            (Role::Capital, Open::Word) => {
                sink.push_folded(character);
                Open::Word
            }
            (Role::Letter | Role::Capital, open) => {
                self.close(open, sink);
                sink.push_folded(character);
                Open::Word
            }
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
            Open::Word => sink.end(),
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
    let (mut han, mut kana, mut letters) = (0, 0, 0);
    for character in text.utf8_chunks().flat_map(|chunk| chunk.valid().chars()) {
        match roles.of(character) {
            Role::Han => han += 1,
            Role::Kana => kana += 1,
            Role::Letter | Role::Capital | Role::Spaceless => letters += 1,
            Role::Separator | Role::Mark => {}
        }
    }
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
