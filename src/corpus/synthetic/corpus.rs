//! A synthetic corpus: any of its pages, made when asked for.

use super::compose::{Composer, Token};
use super::edit::edit;
use super::millionths::Millionths;
use super::page::write_page;
use super::plan::Plan;
use super::random::{SplitMix64, Use};
use super::settings::{Extent, Settings};
use super::truth;
use crate::Result;

/// Pages that the length of a page in bytes is estimated from.
const MEASURED_PAGES: u64 = 512;

/// The pages of a synthetic corpus and what is true of them.
///
/// Holds no page: each is made from its number. A page costs about 50 ns a word on one core,
/// three times that where it repeats another one. Takes 1 MB whatever the size of the corpus.
#[derive(Debug)]
pub struct Corpus {
    seed: u64,
    composer: Composer,
    plan: Plan,
    strengths: Vec<Millionths>,
    samples: u64,
    page_bytes: u64,
    settings: Settings,
}

/// A page of a corpus or of its samples with its rows of truth.tsv.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// The page: ID, line break, text, line break.
    pub(super) page: Vec<u8>,
    /// The rows, each ended by a line break; none for a page that repeats nothing.
    pub(super) truth: Vec<u8>,
}

impl Corpus {
    /// The corpus of these settings.
    ///
    /// Where the settings say how many bytes to make, this makes 512 pages to measure them and
    /// finds the length of every page in words, which costs a random number a page.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) as [`Settings::check`].
    pub fn new(settings: &Settings) -> Result<Self> {
        settings.check()?;
        let composer = Composer::new(settings);
        let measured = measure(&composer, settings.seed);
        let documents = match settings.extent {
            Extent::Documents(count) => count,
            Extent::Bytes(bytes) => fill(bytes, &composer, settings.seed, measured),
        };
        Ok(Corpus {
            seed: settings.seed,
            plan: Plan::new(settings.seed, documents, settings.duplicates),
            strengths: settings.strengths.clone(),
            samples: settings.samples,
            page_bytes: measured.bytes / MEASURED_PAGES,
            composer,
            settings: settings.clone(),
        })
    }

    /// The settings it was made from.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The number of articles.
    pub fn documents(&self) -> u64 {
        self.plan.documents()
    }

    /// The number of articles that repeat an earlier article.
    pub fn duplicates(&self) -> u64 {
        self.plan.pairs()
    }

    /// The number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// About how many bytes a page has.
    pub(super) fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// stopwords.txt: a word a line.
    pub(super) fn stop_words(&self) -> Vec<u8> {
        let scripts = self.settings.language.scripts();
        self.composer
            .lexicon()
            .stop_words(scripts, self.settings.stop_words)
    }

    /// A row of hashvalue.txt: its digits and a line break.
    pub(super) fn hash_row(&self, row: u64) -> Vec<u8> {
        let columns = self.settings.columns as usize;
        let mut random = SplitMix64::stream(self.seed, Use::HashRow, row);
        let mut digits = Vec::with_capacity(columns + 64);
        while digits.len() < columns {
            let bits = random.next();
            digits.extend((0..64).map(|bit| b'0' + (bits >> bit & 1) as u8));
        }
        digits.truncate(columns);
        digits.push(b'\n');
        digits
    }

    /// The article of a number below [`documents`](Self::documents).
    pub(super) fn article(&self, number: u64) -> Piece {
        let id = article_id(number);
        match self.plan.repeated_by_article(number) {
            None => self.piece(&id, &self.fresh_article(number)),
            Some((pair, origin)) => {
                let strength = self.strengths[pair as usize % self.strengths.len()];
                let edits = SplitMix64::stream(self.seed, Use::ArticleEdits, number);
                self.repetition(&id, origin, strength, edits)
            }
        }
    }

    /// The sample of a number below [`samples`](Self::samples).
    ///
    /// Samples repeat articles with each of the strengths in turn, and then one repeats none.
    pub(super) fn sample(&self, number: u64) -> Piece {
        let id = format!("sample-{number:06}");
        match self
            .strengths
            .get(number as usize % (self.strengths.len() + 1))
        {
            None => {
                let page = self.composer.compose(self.stream(Use::Sample, number));
                let mut piece = self.piece(&id, &page);
                let other = self.plan.repeated_by_sample(number);
                self.write_unrelated(&id, &page, other, &mut piece.truth);
                piece
            }
            Some(&strength) => {
                let origin = self.plan.repeated_by_sample(number);
                self.repetition(&id, origin, strength, self.stream(Use::SampleEdits, number))
            }
        }
    }

    fn stream(&self, purpose: Use, number: u64) -> SplitMix64 {
        SplitMix64::stream(self.seed, purpose, number)
    }

    fn fresh_article(&self, number: u64) -> Vec<Token> {
        self.composer.compose(self.stream(Use::Article, number))
    }

    fn piece(&self, id: &str, page: &[Token]) -> Piece {
        let mut piece = Piece::default();
        piece.page.reserve(10 * page.len() + 64);
        write_page(id, page, self.composer.lexicon(), &mut piece.page);
        piece
    }

    /// An edited copy of an article, its row of truth and one about an article it does not repeat.
    fn repetition(&self, id: &str, origin: u64, share: Millionths, edits: SplitMix64) -> Piece {
        let original = self.article_tokens(origin);
        let page = edit(&original, share, &self.composer, edits);
        let mut piece = self.piece(id, &page);
        let ids = [id, &article_id(origin)];
        let likeness = truth::likeness(&page, &original);
        let text = |page: &[Token]| self.piece("", page).page;
        let equal_texts = likeness.0 == likeness.1 && text(&page) == text(&original);
        truth::write_planted(ids, likeness, equal_texts, &mut piece.truth);
        if let Some(other) = self.plan.unrelated_to(origin) {
            self.write_unrelated(id, &page, other, &mut piece.truth);
        }
        piece
    }

    fn write_unrelated(&self, id: &str, page: &[Token], other: u64, out: &mut Vec<u8>) {
        let ids = [id, &article_id(other)];
        let likeness = truth::likeness(page, &self.article_tokens(other));
        truth::write_unrelated(ids, likeness, out);
    }

    /// The words of any article, whether it repeats another one or not.
    fn article_tokens(&self, number: u64) -> Vec<Token> {
        match self.plan.repeated_by_article(number) {
            None => self.fresh_article(number),
            Some((pair, origin)) => {
                let strength = self.strengths[pair as usize % self.strengths.len()];
                let edits = self.stream(Use::ArticleEdits, number);
                edit(&self.fresh_article(origin), strength, &self.composer, edits)
            }
        }
    }
}

fn article_id(number: u64) -> String {
    format!("article-{number:06}")
}

/// The first pages of a corpus together.
#[derive(Clone, Copy, Debug)]
struct Measured {
    bytes: u64,
    words: u64,
}

fn measure(composer: &Composer, seed: u64) -> Measured {
    let mut page = Vec::new();
    let mut measured = Measured { bytes: 0, words: 0 };
    for number in 0..MEASURED_PAGES {
        let tokens = composer.compose(SplitMix64::stream(seed, Use::Article, number));
        page.clear();
        write_page(&article_id(number), &tokens, composer.lexicon(), &mut page);
        measured.bytes += page.len() as u64 + 2;
        measured.words += tokens.len() as u64;
    }
    measured
}

/// How many articles have at least `bytes` bytes together, by their words.
fn fill(bytes: u64, composer: &Composer, seed: u64, measured: Measured) -> u64 {
    let words = u128::from(bytes) * u128::from(measured.words) / u128::from(measured.bytes);
    let (mut documents, mut sum) = (0, 0);
    while documents == 0 || sum < words {
        let length = composer.length(SplitMix64::stream(seed, Use::Article, documents));
        sum += u128::from(length);
        documents += 1;
    }
    documents
}
