//! The settings of a synthetic corpus and their limits.

use std::ops::RangeInclusive;

use super::millionths::Millionths;
use super::words::english;
use crate::{Error, ErrorKind, Result};

/// The settings that determine the bytes of a synthetic corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorpusSettings {
    /// The seed; corpora with different seeds share no page, except very short ones by chance.
    pub seed: u64,
    /// The size of article.txt.
    pub extent: Extent,
    /// The mean number of words (in Chinese, characters) of a page, 1 to 1 000 000. A page has between
    /// 20 % and 650 % of it.
    pub words_per_document: u64,
    /// The language of the pages.
    pub language: Language,
    /// The number of English words in the vocabulary, 1 to 2^36. Chinese has at most 3755 characters,
    /// the number of level 1 of GB2312.
    pub vocabulary: u64,
    /// The exponent of Zipf's law, 0 to 3: 0 makes all words equally frequent.
    pub exponent: Millionths,
    /// The share of words drawn uniformly from 2^29 invented words beyond the vocabulary, 0 to 1.
    /// Nearly every one is distinct: with 0.1, a corpus of 8 GB has 10^8 distinct words.
    pub rare_share: Millionths,
    /// The number of pages in sample.txt, 0 to 10 000 000.
    pub samples: u64,
    /// The share of articles that are copies of another article, 0 to 0.5.
    pub duplicates: Millionths,
    /// The shares of words edited in copies, used in turn; each 0 to 1, at least one.
    pub strengths: Vec<Millionths>,
    /// The number of rows of hashvalue.txt, 1 to 1 000 000.
    pub rows: u64,
    /// The number of digits in each row of hashvalue.txt, 1 to 4096.
    pub columns: u64,
    /// The number of the most frequent words of each script in stopwords.txt, 0 to 1 000 000.
    pub stop_words: u64,
}

/// The size of article.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The number of pages, 1 to 10^9.
    Documents(u64),
    /// The approximate number of bytes, 1 to 2^44. The deviation is at most a few pages or 3 %,
    /// whichever is more.
    Bytes(u64),
}

/// The language of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English function words and invented words.
    English,
    /// Chinese characters in no meaningful order.
    Chinese,
    /// A random mixture of English and Chinese sentences.
    Mixed,
}

/// The script of a word. A word in Chinese is a single character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Script {
    /// English words.
    English,
    /// Single Chinese characters.
    Chinese,
}

impl Language {
    /// The scripts of the sentences.
    pub(super) fn scripts(self) -> &'static [Script] {
        match self {
            Language::English => &[Script::English],
            Language::Chinese => &[Script::Chinese],
            Language::Mixed => &[Script::English, Script::Chinese],
        }
    }
}

impl Default for CorpusSettings {
    /// A small example: 1000 English pages (3.5 MB) and 10 samples.
    fn default() -> Self {
        let strengths = [0, 20_000, 100_000, 300_000].map(Millionths).to_vec();
        CorpusSettings {
            seed: 1,
            extent: Extent::Documents(1000),
            words_per_document: 530,
            language: Language::English,
            vocabulary: 1_750_000,
            exponent: Millionths(1_100_000),
            rare_share: Millionths(1000),
            samples: 10,
            duplicates: Millionths(100_000),
            strengths,
            rows: 10_000,
            columns: 128,
            stop_words: 160,
        }
    }
}

impl CorpusSettings {
    /// Checks the range of every parameter.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for the first parameter out of range; the message starts with its
    /// name, written as its flag is: `words-per-document 0: expected 1 to 1000000`.
    pub fn check(&self) -> Result<()> {
        match self.extent {
            Extent::Documents(count) => whole("documents", count, 1..=1_000_000_000)?,
            Extent::Bytes(count) => whole("size", count, 1..=1 << 44)?,
        }
        whole("words-per-document", self.words_per_document, 1..=1_000_000)?;
        whole("vocabulary", self.vocabulary, 1..=english::WORDS / 2)?;
        whole("samples", self.samples, 0..=10_000_000)?;
        whole("rows", self.rows, 1..=1_000_000)?;
        whole("columns", self.columns, 1..=4096)?;
        whole("stopwords", self.stop_words, 0..=1_000_000)?;
        decimal("exponent", self.exponent, 3_000_000)?;
        decimal("rare-share", self.rare_share, 1_000_000)?;
        decimal("duplicates", self.duplicates, 500_000)?;
        if self.strengths.is_empty() {
            let message = "strength: expected at least one share, found none";
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        self.strengths
            .iter()
            .try_for_each(|&share| decimal("strength", share, 1_000_000))
    }
}

fn whole(name: &str, value: u64, range: RangeInclusive<u64>) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    let message = format!(
        "{name} {value}: expected {} to {}",
        range.start(),
        range.end()
    );
    Err(Error::new(ErrorKind::Parameter, message))
}

fn decimal(name: &str, value: Millionths, most: u32) -> Result<()> {
    if value.0 <= most {
        return Ok(());
    }
    let message = format!("{name} {value}: expected 0 to {}", Millionths(most));
    Err(Error::new(ErrorKind::Parameter, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_in_range() {
        assert!(CorpusSettings::default().check().is_ok());
    }

    #[test]
    fn every_parameter_out_of_range_is_named_with_value_and_bounds() {
        type Case = (fn(&mut CorpusSettings), &'static str);
        let cases: [Case; 19] = [
            (
                |s| s.extent = Extent::Documents(0),
                "documents 0: expected 1 to 1000000000",
            ),
            (
                |s| s.extent = Extent::Bytes(0),
                "size 0: expected 1 to 17592186044416",
            ),
            (
                |s| s.extent = Extent::Bytes(u64::MAX),
                "size 18446744073709551615: expected",
            ),
            (
                |s| s.words_per_document = 0,
                "words-per-document 0: expected 1 to 1000000",
            ),
            (
                |s| s.words_per_document = 1_000_001,
                "words-per-document 1000001: expected",
            ),
            (
                |s| s.vocabulary = 0,
                "vocabulary 0: expected 1 to 68719476736",
            ),
            (
                |s| s.vocabulary = (1 << 36) + 1,
                "vocabulary 68719476737: expected",
            ),
            (
                |s| s.samples = 10_000_001,
                "samples 10000001: expected 0 to 10000000",
            ),
            (|s| s.rows = 0, "rows 0: expected 1 to 1000000"),
            (|s| s.rows = 1_000_001, "rows 1000001: expected"),
            (|s| s.columns = 0, "columns 0: expected 1 to 4096"),
            (|s| s.columns = 4097, "columns 4097: expected"),
            (
                |s| s.stop_words = 1_000_001,
                "stopwords 1000001: expected 0 to 1000000",
            ),
            (
                |s| s.exponent = Millionths(3_000_001),
                "exponent 3.000001: expected 0 to 3",
            ),
            (
                |s| s.rare_share = Millionths(1_000_001),
                "rare-share 1.000001: expected 0 to 1",
            ),
            (
                |s| s.duplicates = Millionths(500_001),
                "duplicates 0.500001: expected 0 to 0.5",
            ),
            (
                |s| s.strengths = vec![],
                "strength: expected at least one share, found none",
            ),
            (
                |s| s.strengths.push(Millionths(1_000_001)),
                "strength 1.000001: expected 0 to 1",
            ),
            (
                |s| s.extent = Extent::Documents(1_000_000_001),
                "documents 1000000001: expected",
            ),
        ];
        for (spoil, expected) in cases {
            let mut settings = CorpusSettings::default();
            spoil(&mut settings);
            let error = settings.check().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            assert!(error.to_string().starts_with(expected), "{error}");
        }
    }
}
