//! The words of a corpus and their frequencies.

use super::settings::{CorpusSettings, Script};
use super::words::english;
use super::words::hanzi;
use super::words::zipf::Zipf;
use crate::random::SplitMix64;

/// The number of rare words beyond the vocabulary.
const RARE_WORDS: u64 = 1 << 29;
/// The number of most frequent words stored as letters: 2^15 times 16 bytes, for the second-level
/// cache.
const KEPT: u64 = 1 << 15;

/// The words of both scripts with their frequencies.
#[derive(Debug)]
pub(super) struct Lexicon {
    english: Zipf,
    chinese: Zipf,
    rare_of_a_million: u64,
    kept: Vec<Kept>,
}

/// The letters of a word of at most 15 letters; of a longer word only its length.
#[derive(Clone, Copy, Debug)]
struct Kept {
    letters: [u8; 15],
    length: u8,
}

impl Lexicon {
    /// The lexicon for checked settings.
    pub(super) fn new(settings: &CorpusSettings) -> Self {
        let common = hanzi::COMMON.min(settings.vocabulary);
        Lexicon {
            english: Zipf::new(settings.vocabulary, settings.exponent),
            chinese: Zipf::new(common, settings.exponent),
            rare_of_a_million: u64::from(settings.rare_share.0),
            kept: (0..KEPT).map(keep).collect(),
        }
    }

    /// The rank of a random word: by frequency, or, with the probability of rare words, any of 2^29
    /// words beyond the vocabulary (for Chinese, of the remaining characters).
    pub(super) fn draw(&self, script: Script, random: &mut SplitMix64) -> u64 {
        let (zipf, rare) = match script {
            Script::English => (&self.english, RARE_WORDS),
            Script::Chinese => (&self.chinese, hanzi::CHARACTERS - self.chinese.vocabulary()),
        };
        if self.rare_of_a_million > 0 && random.below(1_000_000) < self.rare_of_a_million {
            zipf.vocabulary() + random.below(rare)
        } else {
            zipf.draw(random)
        }
    }

    /// Appends the word of a rank: lower-case ASCII letters, or one character in UTF-8.
    pub(super) fn write(&self, script: Script, rank: u64, out: &mut Vec<u8>) {
        match (script, self.kept.get(rank as usize)) {
            (Script::Chinese, _) => hanzi::write_character(rank, out),
            (Script::English, Some(kept)) if kept.length <= 15 => {
                // Copying 15 letters and truncating is faster than a copy of variable length.
                let length = out.len() + usize::from(kept.length);
                out.extend_from_slice(&kept.letters);
                out.truncate(length);
            }
            (Script::English, _) => english::write_word(rank, out),
        }
    }

    /// The `count` most frequent words of each script, one per line; fewer for a smaller vocabulary.
    pub(super) fn stop_words(&self, scripts: &[Script], count: u64) -> Vec<u8> {
        let mut lines = Vec::new();
        for &script in scripts {
            let zipf = if script == Script::English {
                &self.english
            } else {
                &self.chinese
            };
            for rank in 0..count.min(zipf.vocabulary()) {
                self.write(script, rank, &mut lines);
                lines.push(b'\n');
            }
        }
        lines
    }
}

fn keep(rank: u64) -> Kept {
    let mut word = Vec::new();
    english::write_word(rank, &mut word);
    let mut letters = [0; 15];
    let shown = word.len().min(15);
    letters[..shown].copy_from_slice(&word[..shown]);
    Kept {
        letters,
        length: word.len() as u8,
    }
}
