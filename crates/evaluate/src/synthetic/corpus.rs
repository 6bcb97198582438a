//! A synthetic corpus, whose pages are generated on request.

use super::compose::{Composer, Token};
use super::edit::edit;
use super::millionths::Millionths;
use super::page::write_page;
use super::plan::Plan;
use super::random::{StreamPurpose, stream};
use super::settings::{CorpusSettings, Extent};
use super::truth;
use crate::Result;
use crate::random::SplitMix64;

/// The number of pages used to estimate the size of a page in bytes.
const MEASURED_PAGES: u64 = 512;

/// The pages of a synthetic corpus and their similarities.
///
/// Each page is generated from its number. That takes about 50 ns per word on one core, and three
/// times as long for a copy. The memory is 1 MB for any size of the corpus.
#[derive(Debug)]
pub struct Corpus {
    seed: u64,
    composer: Composer,
    plan: Plan,
    strengths: Vec<Millionths>,
    samples: u64,
    page_bytes: u64,
    settings: CorpusSettings,
}

/// An article or sample with its rows of truth.tsv.
#[derive(Debug, Default)]
pub(super) struct GeneratedPage {
    /// The page: ID, line break, text, line break.
    pub(super) page: Vec<u8>,
    /// The rows, each with a line break; empty for an article that is not a copy.
    pub(super) truth: Vec<u8>,
}

impl Corpus {
    /// The corpus for `settings`.
    ///
    /// Generates 512 pages to measure them. If the settings give the size in bytes, this also
    /// determines the length of every page in words, which takes one random number per page.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) as [`CorpusSettings::check`].
    pub fn new(settings: &CorpusSettings) -> Result<Self> {
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

    /// Its settings.
    pub fn settings(&self) -> &CorpusSettings {
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

    /// The approximate number of bytes of a page.
    pub(super) fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// The contents of stopwords.txt: one word per line.
    pub(super) fn stop_words(&self) -> Vec<u8> {
        let scripts = self.settings.language.scripts();
        self.composer
            .lexicon()
            .stop_words(scripts, self.settings.stop_words)
    }

    /// A row of hashvalue.txt: its digits and a line break.
    pub(super) fn hash_row(&self, row: u64) -> Vec<u8> {
        let columns = self.settings.columns as usize;
        let mut random = stream(self.seed, StreamPurpose::HashRow, row);
        let mut digits = Vec::with_capacity(columns + 64);
        while digits.len() < columns {
            let bits = random.next();
            digits.extend((0..64).map(|bit| b'0' + (bits >> bit & 1) as u8));
        }
        digits.truncate(columns);
        digits.push(b'\n');
        digits
    }

    /// Article `number`, which is below [`documents`](Self::documents).
    pub(super) fn article(&self, number: u64) -> GeneratedPage {
        let id = article_id(number);
        match self.plan.repeated_by_article(number) {
            None => self.render(&id, &self.fresh_article(number)),
            Some((pair, origin)) => {
                let strength = self.strengths[pair as usize % self.strengths.len()];
                let edits = stream(self.seed, StreamPurpose::ArticleEdits, number);
                self.repetition(&id, origin, strength, edits)
            }
        }
    }

    /// Sample `number`, which is below [`samples`](Self::samples).
    ///
    /// For each of the strengths in turn, a sample is a copy of an article. After the last strength
    /// follows a sample that is not a copy.
    pub(super) fn sample(&self, number: u64) -> GeneratedPage {
        let id = format!("sample-{number:06}");
        match self
            .strengths
            .get(number as usize % (self.strengths.len() + 1))
        {
            None => {
                let page = self
                    .composer
                    .compose(self.stream(StreamPurpose::Sample, number));
                let mut generated = self.render(&id, &page);
                let other = self.plan.repeated_by_sample(number);
                self.write_unrelated(&id, &page, other, &mut generated.truth);
                generated
            }
            Some(&strength) => {
                let origin = self.plan.repeated_by_sample(number);
                self.repetition(
                    &id,
                    origin,
                    strength,
                    self.stream(StreamPurpose::SampleEdits, number),
                )
            }
        }
    }

    fn stream(&self, purpose: StreamPurpose, number: u64) -> SplitMix64 {
        stream(self.seed, purpose, number)
    }

    fn fresh_article(&self, number: u64) -> Vec<Token> {
        self.composer
            .compose(self.stream(StreamPurpose::Article, number))
    }

    fn render(&self, id: &str, page: &[Token]) -> GeneratedPage {
        let mut generated = GeneratedPage::default();
        generated.page.reserve(10 * page.len() + 64);
        write_page(id, page, self.composer.lexicon(), &mut generated.page);
        generated
    }

    /// An edited copy of an article, with its row of truth and that of an unrelated article.
    fn repetition(
        &self,
        id: &str,
        origin: u64,
        share: Millionths,
        edits: SplitMix64,
    ) -> GeneratedPage {
        let original = self.article_tokens(origin);
        let page = edit(&original, share, &self.composer, edits);
        let mut generated = self.render(id, &page);
        let ids = [id, &article_id(origin)];
        let similarity = truth::similarity(&page, &original);
        let text = |page: &[Token]| self.render("", page).page;
        let equal_texts = similarity.0 == similarity.1 && text(&page) == text(&original);
        truth::write_planted(ids, similarity, equal_texts, &mut generated.truth);
        if let Some(other) = self.plan.unrelated_to(origin) {
            self.write_unrelated(id, &page, other, &mut generated.truth);
        }
        generated
    }

    fn write_unrelated(&self, id: &str, page: &[Token], other: u64, out: &mut Vec<u8>) {
        let ids = [id, &article_id(other)];
        let similarity = truth::similarity(page, &self.article_tokens(other));
        truth::write_unrelated(ids, similarity, out);
    }

    /// The words of any article, copy or not.
    fn article_tokens(&self, number: u64) -> Vec<Token> {
        match self.plan.repeated_by_article(number) {
            None => self.fresh_article(number),
            Some((pair, origin)) => {
                let strength = self.strengths[pair as usize % self.strengths.len()];
                let edits = self.stream(StreamPurpose::ArticleEdits, number);
                edit(&self.fresh_article(origin), strength, &self.composer, edits)
            }
        }
    }
}

fn article_id(number: u64) -> String {
    format!("article-{number:06}")
}

/// The total size of the first pages of a corpus.
#[derive(Clone, Copy, Debug)]
struct Measured {
    bytes: u64,
    words: u64,
}

fn measure(composer: &Composer, seed: u64) -> Measured {
    let mut page = Vec::new();
    let mut measured = Measured { bytes: 0, words: 0 };
    for number in 0..MEASURED_PAGES {
        let tokens = composer.compose(stream(seed, StreamPurpose::Article, number));
        page.clear();
        write_page(&article_id(number), &tokens, composer.lexicon(), &mut page);
        measured.bytes += page.len() as u64 + 2;
        measured.words += tokens.len() as u64;
    }
    measured
}

/// The number of articles with about `bytes` bytes in total, estimated from their words.
fn fill(bytes: u64, composer: &Composer, seed: u64, measured: Measured) -> u64 {
    let words = u128::from(bytes) * u128::from(measured.words) / u128::from(measured.bytes);
    let (mut documents, mut sum) = (0, 0);
    while documents == 0 || sum < words {
        let length = composer.length(stream(seed, StreamPurpose::Article, documents));
        sum += u128::from(length);
        documents += 1;
    }
    documents
}
