//! A page as a row of words, before it is text.

use super::lexicon::{Lexicon, Script};
use super::random::SplitMix64;
use super::settings::{Language, Settings};

/// A word of a page with what is written around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// The word's rank in the lexicon of its script.
    pub(super) rank: u64,
    /// Which lexicon the word is from.
    pub(super) script: Script,
    /// Whether it is written with a capital wherever it stands, like a name.
    pub(super) name: bool,
    /// A number from 1 to 9999 written before the word, or 0 for none.
    pub(super) number: u16,
    /// What is written after the word.
    pub(super) mark: Mark,
}

/// What follows a word; from `Stop` on it ends a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// The next word.
    None,
    /// A comma.
    Comma,
    /// The full stop of a sentence.
    Stop,
    /// A question mark.
    Question,
    /// An exclamation mark.
    Exclamation,
    /// The full stop of a paragraph.
    Paragraph,
}

/// Page lengths in percent of the mean: a sixteenth of the pages lies between each two
/// neighbours, evenly. The mean of it all is 100.
const LENGTHS: [u64; 17] = [
    20, 30, 38, 45, 51, 57, 62, 67, 73, 79, 86, 94, 104, 118, 146, 215, 650,
];

/// What pages are composed from.
#[derive(Debug)]
pub(super) struct Composer {
    lexicon: Lexicon,
    language: Language,
    mean_words: u64,
}

impl Composer {
    /// The composer for settings that were checked.
    pub(super) fn new(settings: &Settings) -> Self {
        Composer {
            lexicon: Lexicon::new(settings),
            language: settings.language,
            mean_words: settings.words_per_document,
        }
    }

    /// The lexicon that words are drawn from.
    pub(super) fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// The number of words of the page that [`compose`](Self::compose) makes of the same stream,
    /// found without making it.
    pub(super) fn length(&self, mut random: SplitMix64) -> u64 {
        self.draw_length(&mut random)
    }

    /// A page.
    ///
    /// One word in eight repeats an earlier word of the page. That leaves the frequencies of the
    /// corpus as they are (Pólya's urn), and gives every page words of its own.
    pub(super) fn compose(&self, mut random: SplitMix64) -> Vec<Token> {
        let random = &mut random;
        let length = self.draw_length(random) as usize;
        let mut tokens: Vec<Token> = Vec::with_capacity(length);
        while tokens.len() < length {
            let script = match self.language {
                Language::English => Script::English,
                Language::Chinese => Script::Chinese,
                Language::Mixed if random.once_in(2) => Script::English,
                Language::Mixed => Script::Chinese,
            };
            let words = 4 + random.below(12) + random.below(12);
            for _ in 0..words.min((length - tokens.len()) as u64) {
                let mut token = self.token(script, random);
                if random.once_in(8) && !tokens.is_empty() {
                    let earlier = tokens[random.below(tokens.len() as u64) as usize];
                    (token.rank, token.script) = (earlier.rank, earlier.script);
                }
                tokens.push(token);
            }
            if let Some(last) = tokens.last_mut() {
                last.mark = end_mark(random);
            }
        }
        if let Some(last) = tokens.last_mut() {
            last.mark = Mark::Paragraph;
        }
        tokens
    }

    /// A random word with what is around it inside a sentence.
    pub(super) fn token(&self, script: Script, random: &mut SplitMix64) -> Token {
        let rank = self.lexicon.draw(script, random);
        // One draw for three rare decisions.
        let chance = random.below(1 << 20);
        Token {
            rank,
            script,
            name: chance.is_multiple_of(32),
            number: if (chance / 32).is_multiple_of(20) {
                spread(chance / 640)
            } else {
                0
            },
            mark: if chance.is_multiple_of(13) {
                Mark::Comma
            } else {
                Mark::None
            },
        }
    }

    fn draw_length(&self, random: &mut SplitMix64) -> u64 {
        let bits = random.next();
        let sixteenth = (bits >> 60) as usize;
        let (low, high) = (LENGTHS[sixteenth], LENGTHS[sixteenth + 1]);
        // Percent with 16 fractional bits.
        let percent = (low << 16) + (((bits & 0xffff_ffff) * (high - low)) >> 16);
        ((self.mean_words * percent / 100) >> 16).max(1)
    }
}

/// A number of one to four digits, each length equally often.
fn spread(chance: u64) -> u16 {
    let most = [9, 99, 999, 9999][chance as usize % 4];
    (1 + super::random::mix(chance) % most) as u16
}

fn end_mark(random: &mut SplitMix64) -> Mark {
    match random.below(32) {
        0..7 => Mark::Paragraph,
        7..9 => Mark::Question,
        9 => Mark::Exclamation,
        _ => Mark::Stop,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::synthetic::random::Use;

    #[test]
    fn pages_have_the_length_that_was_announced_and_the_mean_that_was_asked_for() {
        for mean in [1, 7, 300] {
            let settings = Settings {
                words_per_document: mean,
                ..Settings::default()
            };
            let composer = Composer::new(&settings);
            let stream = |page| SplitMix64::stream(5, Use::Article, page);
            let pages = 4000;
            let total: u64 = (0..pages).map(|page| composer.length(stream(page))).sum();
            if mean > 100 {
                let deviation = total.abs_diff(mean * pages) * 100 / (mean * pages);
                assert!(deviation < 5, "{total} words in {pages} pages");
            }
            for page in 0..200 {
                let tokens = composer.compose(stream(page));
                assert_eq!(tokens.len() as u64, composer.length(stream(page)));
                assert_eq!(tokens[tokens.len() - 1].mark, Mark::Paragraph);
            }
        }
    }
}
