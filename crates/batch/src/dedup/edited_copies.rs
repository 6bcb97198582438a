//! Edited copies of sampled documents: what share of similar pairs a method proposes.
//!
//! A copy differs from its document by one passage, which is replaced by words of another document.
//! The passages are as long as the least similarity permits, so the similarities of the pairs are
//! spread between it and 1. Real pairs are usually nearer: most differ in a few words.

use xxhash_rust::xxh3::xxh3_64;

use crate::Result;
use simtool_core::kernel::Level;
use simtool_core::sketch::{Method, Needs, SketchScratch, TokenizedDocument};
use simtool_core::text::shingles::{shingles, sort_to_set};
use simtool_core::text::{Choice, Spelled, WordHashes};
use simtool_corpus::{Chunk, Reading, Source};
use simtool_engine::documents::DocumentReader;
use simtool_engine::text_words::WordReader;

use super::verification::Verification;

/// The first documents of each chunk are taken.
const OF_CHUNK: u32 = 32;
/// The most documents, and copies of each.
const MOST_DOCUMENTS: usize = 400;
const COPIES: u64 = 3;
/// Of longer documents, only the beginning is used.
const MOST_WORDS: usize = 1000;
/// With fewer copies, no share is reported: its error would be several percent.
const LEAST_COPIES: usize = 200;
/// Everything that methods of words need, but not the words themselves.
const NEEDS: Needs = Needs {
    long: true,
    ..Needs::HASHES
};

/// How many copies a method proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundCopies {
    /// The copies whose pair the method proposes.
    pub found: usize,
    /// All copies.
    pub of: usize,
}

/// Documents, as the hashes of their words.
pub struct EditedCopies<'a> {
    reader: DocumentReader<'a>,
    words: WordReader,
    documents: Vec<WordHashes>,
}

impl<'a> EditedCopies<'a> {
    /// No documents yet, for chunks of `sources`.
    pub fn new(
        sources: &'a [Source],
        reading: &Reading,
        tokenizer: Choice,
        level: Level,
    ) -> EditedCopies<'a> {
        EditedCopies {
            reader: DocumentReader::new(sources, reading),
            words: WordReader::new(tokenizer, NEEDS, level),
            documents: Vec::new(),
        }
    }

    /// Takes the first documents of a chunk.
    ///
    /// # Errors
    /// [`ErrorKind::Content`](crate::ErrorKind::Content) if the chunk is of none of the sources.
    pub fn take(&mut self, chunk: &Chunk) -> Result<()> {
        let room = MOST_DOCUMENTS.saturating_sub(self.documents.len());
        let most = OF_CHUNK.min(room as u32);
        let documents = self.reader.documents(chunk)?;
        documents.for_each_wanted(
            |number| number < most,
            |_, found| {
                if let Ok(document) = found {
                    let words = self.words.read(document.text);
                    self.documents.push(words.first(MOST_WORDS));
                }
                Ok(())
            },
        )
    }

    /// How many edited copies, with a similarity of at least that of `verification`, `method`
    /// proposes. `None` if there are few documents, if the method needs more than hashes of words,
    /// or for containment: then documents are parts of others, not edited copies.
    pub fn found_by(&self, method: &dyn Method, verification: Verification) -> Option<FoundCopies> {
        let needs = method.needs();
        if needs.spelled || needs == Needs::default() || verification.least.is_containment() {
            return None;
        }
        let mut trial = Trial {
            method,
            verification,
            scratch: SketchScratch::default(),
        };
        let mut counted = FoundCopies { found: 0, of: 0 };
        for (number, document) in self.documents.iter().enumerate() {
            let donor = &self.documents[(number + 1) % self.documents.len()];
            for copy in 0..COPIES {
                if let Some(is_found) = trial.finds_copy(document, donor, number as u64, copy) {
                    counted.of += 1;
                    counted.found += usize::from(is_found);
                }
            }
        }
        (counted.of >= LEAST_COPIES).then_some(counted)
    }
}

/// The method that is tried.
struct Trial<'a> {
    method: &'a dyn Method,
    verification: Verification,
    scratch: SketchScratch,
}

impl Trial<'_> {
    /// Whether the method proposes the pair of `document` and a copy; `None` if the document is too
    /// short for an edit, or if the copy is not similar enough.
    fn finds_copy(
        &mut self,
        document: &WordHashes,
        donor: &WordHashes,
        number: u64,
        copy: u64,
    ) -> Option<bool> {
        let random = |purpose: u64, below: usize| {
            let random = xxh3_64(bytemuck::cast_slice(&[number, copy, purpose]));
            ((u128::from(random) * below as u128) >> 64) as usize
        };
        let longest = self.longest_passage(document.short.len())?;
        let length = 1 + random(0, longest);
        let at = random(1, document.short.len() + 1 - length);
        let from = random(2, donor.short.len().checked_sub(length)? + 1);
        let mut edited = document.clone();
        edited.short[at..at + length].copy_from_slice(&donor.short[from..from + length]);
        edited.long[at..at + length].copy_from_slice(&donor.long[from..from + length]);
        let [a, b] = [document, &edited].map(|words| {
            let mut set = Vec::new();
            shingles(&words.short, self.verification.shingle, &mut set);
            sort_to_set(&mut set);
            set
        });
        if a == b {
            return None;
        }
        self.verification.least.reached(&a, &b)?;
        let (a, b) = (self.sketch(document)?, self.sketch(&edited)?);
        let scorer = self.method.scorer(&a);
        Some(scorer(&b).is_some())
    }

    /// The most words that may be replaced in one passage of a document of `words` words, if no
    /// shingle repeats; `None` if not even one.
    fn longest_passage(&self, words: usize) -> Option<usize> {
        let Verification { shingle, least } = self.verification;
        let shingles = (words + 1).checked_sub(shingle)?;
        let thousandths = least.thousandths as usize;
        let lost = shingles * (1000 - thousandths) / (1000 + thousandths);
        (lost + 1).checked_sub(shingle).filter(|&words| words > 0)
    }

    /// `None` if the method finds nothing to compare.
    fn sketch(&mut self, words: &WordHashes) -> Option<Vec<u8>> {
        let mut sketch = Vec::new();
        let document = TokenizedDocument {
            // For digests of texts: different texts have different hashes.
            text: bytemuck::cast_slice(&words.short),
            short: &words.short,
            long: &words.long,
            spelled: Spelled::default(),
        };
        let has_features = self.method.sketch(document, &mut self.scratch, &mut sketch);
        has_features.then_some(sketch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_core::sketch::registry::Spec;
    use simtool_core::text::{LeastSimilarity, WordSet};
    use simtool_engine::methods::{Common, build_without_statistics};

    /// `count` documents of `words` random words each.
    fn copies(count: u64, words: u64) -> EditedCopies<'static> {
        let mut copies =
            EditedCopies::new(&[], &Reading::default(), Choice::default(), Level::best());
        let word = |document: u64, word: u64| xxh3_64(bytemuck::cast_slice(&[document, word]));
        copies.documents = (0..count)
            .map(|document| WordHashes {
                short: (0..words).map(|place| word(document, place)).collect(),
                long: (0..words)
                    .map(|place| u128::from(word(document, place)) << 64 | u128::from(place))
                    .collect(),
            })
            .collect();
        copies
    }

    fn found(copies: &EditedCopies<'_>, method: &str) -> Option<FoundCopies> {
        let common = Common {
            tokenizer: Choice::default(),
            stop_words: &WordSet::default(),
            level: Level::best(),
        };
        let spec = Spec::parse(method).unwrap();
        let method = build_without_statistics(&spec, common).unwrap();
        let verification = Verification {
            shingle: 5,
            least: LeastSimilarity::resemblance(800),
        };
        copies.found_by(&*method, verification)
    }

    #[test]
    fn exact_methods_find_all_copies_or_none() {
        let copies = copies(100, 300);
        let all = found(&copies, "shingles").unwrap();
        assert_eq!((all.found, all.of), (300, 300));
        let found = |method| found(&copies, method).map(|copies| copies.found);
        assert_eq!(found("normalized"), Some(0));
        // Each pair of at least this similarity is found with this probability, nearer ones with a
        // larger one.
        assert!(found("minhash:recall=0.95") >= Some(285));
        assert!(found("minhash:recall=0.1") < Some(285));
        assert!(found("simhash:distance=0") < found("simhash:distance=6"));
        // This method needs the text.
        assert_eq!(found("characters"), None);
    }

    /// Passages may be as long as the document that they are taken from, or longer.
    #[test]
    fn documents_of_any_length_give_passages() {
        let mut copies = copies(400, 0);
        for (documents, words) in [(1, 300), (2, 0), (3, 23), (4, 1), (5, 7), (6, 60)] {
            for place in (documents..400).step_by(7) {
                copies.documents[place].short = (0..words).collect();
                copies.documents[place].long = (0..u128::from(words)).collect();
            }
        }
        for longest in 0..60 {
            copies.documents[0].short = (0..longest).collect();
            copies.documents[0].long = (0..u128::from(longest)).collect();
            let _ = found(&copies, "minhash");
        }
    }

    #[test]
    fn few_or_short_documents_say_nothing() {
        assert_eq!(found(&copies(9, 300), "minhash"), None);
        assert_eq!(found(&copies(400, 40), "minhash"), None);
        assert_eq!(found(&copies(0, 0), "minhash"), None);
    }
}
