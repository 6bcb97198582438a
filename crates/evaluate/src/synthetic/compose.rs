//! The words of a page.

use super::lexicon::Lexicon;
use super::settings::{CorpusSettings, Language, Script};
use crate::random::SplitMix64;

/// A word of a page, with a number before it and punctuation after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// The word's rank in the lexicon of its script.
    pub(super) rank: u64,
    /// The lexicon of the word.
    pub(super) script: Script,
    /// Whether it is capitalised everywhere, like a name.
    pub(super) is_name: bool,
    /// A number from 1 to 9999 before the word, or 0 for none.
    pub(super) number: u16,
    /// The punctuation after the word.
    pub(super) punctuation: Punctuation,
}

/// The punctuation after a word; from `Stop` on, it ends a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Punctuation {
    /// None.
    None,
    /// A comma.
    Comma,
    /// A full stop within a paragraph.
    Stop,
    /// A question mark.
    Question,
    /// An exclamation mark.
    Exclamation,
    /// A full stop at the end of a paragraph.
    Paragraph,
}

/// The quantiles 0, 1/16, 2/16, …, 1 of the page lengths, in percent of the mean length. Lengths are
/// evenly distributed between one quantile and the next.
const LENGTHS: [u64; 17] = [
    20, 30, 38, 45, 51, 57, 62, 67, 73, 79, 86, 94, 104, 118, 146, 215, 650,
];

/// Composes random pages.
#[derive(Debug)]
pub(super) struct Composer {
    lexicon: Lexicon,
    language: Language,
    mean_words: u64,
}

impl Composer {
    /// The composer for checked settings.
    pub(super) fn new(settings: &CorpusSettings) -> Self {
        Composer {
            lexicon: Lexicon::new(settings),
            language: settings.language,
            mean_words: settings.words_per_document,
        }
    }

    /// The lexicon of the words.
    pub(super) fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// The number of words of the page that [`compose`](Self::compose) generates from the same stream.
    pub(super) fn length(&self, mut random: SplitMix64) -> u64 {
        self.draw_length(&mut random)
    }

    /// A random page.
    ///
    /// One word in eight repeats an earlier word of the page, so pages have characteristic words. The
    /// frequencies in the corpus do not change (Pólya's urn).
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
                last.punctuation = end_of_sentence(random);
            }
        }
        if let Some(last) = tokens.last_mut() {
            last.punctuation = Punctuation::Paragraph;
        }
        tokens
    }

    /// A random word within a sentence, with its number and punctuation.
    pub(super) fn token(&self, script: Script, random: &mut SplitMix64) -> Token {
        let rank = self.lexicon.draw(script, random);
        // One random number for three rare decisions.
        let chance = random.below(1 << 20);
        Token {
            rank,
            script,
            is_name: chance.is_multiple_of(32),
            number: if (chance / 32).is_multiple_of(20) {
                random_number(chance / 640)
            } else {
                0
            },
            punctuation: if chance.is_multiple_of(13) {
                Punctuation::Comma
            } else {
                Punctuation::None
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

/// A number from 1 to 9, 99, 999 or 9999, each of which is equally likely as the bound.
fn random_number(chance: u64) -> u16 {
    let most = [9, 99, 999, 9999][chance as usize % 4];
    (1 + crate::random::mix(chance) % most) as u16
}

fn end_of_sentence(random: &mut SplitMix64) -> Punctuation {
    match random.below(32) {
        0..7 => Punctuation::Paragraph,
        7..9 => Punctuation::Question,
        9 => Punctuation::Exclamation,
        _ => Punctuation::Stop,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::random::{StreamPurpose, stream};

    #[test]
    fn page_lengths_are_predicted_and_have_the_requested_mean() {
        for mean in [1, 7, 300] {
            let settings = CorpusSettings {
                words_per_document: mean,
                ..CorpusSettings::default()
            };
            let composer = Composer::new(&settings);
            let stream = |page| stream(5, StreamPurpose::Article, page);
            let pages = 4000;
            let total: u64 = (0..pages).map(|page| composer.length(stream(page))).sum();
            if mean > 100 {
                let deviation = total.abs_diff(mean * pages) * 100 / (mean * pages);
                assert!(deviation < 5, "{total} words in {pages} pages");
            }
            for page in 0..200 {
                let tokens = composer.compose(stream(page));
                assert_eq!(tokens.len() as u64, composer.length(stream(page)));
                assert_eq!(tokens[tokens.len() - 1].punctuation, Punctuation::Paragraph);
            }
        }
    }
}
