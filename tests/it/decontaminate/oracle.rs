//! The definition: sets of word vectors.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use simtool::jobs::passages::decontaminate::{DecontaminateJob, EditedRule};
use simtool::kernel::Level;
use simtool::text::Tokenizer;

pub type Gram = Vec<Vec<u8>>;

/// A word and its bytes.
type Word = (Vec<u8>, Range<usize>);

/// What the definition says of some documents.
pub struct Definition {
    /// The n-grams of each item.
    pub grams: Vec<HashSet<Gram>>,
    /// The words of each item.
    pub items: Vec<Vec<Word>>,
    /// The words of each document.
    pub words: Vec<Vec<Word>>,
    /// The n-grams that are ignored.
    pub ignored: HashSet<Gram>,
    all: HashSet<Gram>,
}

/// What the definition says of an item.
#[derive(Debug, PartialEq, Eq)]
pub struct ItemFound {
    pub grams: usize,
    pub found: usize,
    pub documents: usize,
    pub best: Option<(usize, usize)>,
}

impl Definition {
    pub fn new(job: &DecontaminateJob, items: &[&str], texts: &[&str]) -> Definition {
        let items: Vec<Vec<Word>> = items.iter().map(|text| words(job, text)).collect();
        let grams: Vec<HashSet<Gram>> = items.iter().map(|words| grams(job, words)).collect();
        let words: Vec<Vec<Word>> = texts.iter().map(|text| words(job, text)).collect();
        let all: HashSet<Gram> = grams.iter().flatten().cloned().collect();
        let mut definition = Definition {
            grams,
            items,
            words,
            ignored: HashSet::new(),
            all,
        };
        if let Some(most) = job.most_documents {
            let mut counts: HashMap<Gram, u32> = HashMap::new();
            for document in 0..texts.len() {
                for gram in definition.found_in(document) {
                    *counts.entry(gram).or_default() += 1;
                }
            }
            let many = counts.into_iter().filter(|(_, count)| *count > most);
            definition.ignored = many.map(|(gram, _)| gram).collect();
        }
        definition
    }

    /// The n-grams by which edited items are found.
    pub fn of_edited(
        job: &DecontaminateJob,
        rule: EditedRule,
        items: &[&str],
        texts: &[&str],
    ) -> Definition {
        let job = DecontaminateJob {
            least: rule.least,
            least_item: rule.least,
            ..job.clone()
        };
        let mut definition = Definition::new(&job, items, texts);
        let all = definition.grams.iter_mut().zip(&definition.items);
        for ((grams, words), text) in all.zip(items) {
            if words.len() < rule.least_item.0 || text.contains('中') {
                grams.clear();
            }
        }
        definition.all = definition.grams.iter().flatten().cloned().collect();
        definition
    }

    /// The places of a document with an n-gram that is not ignored.
    pub fn hits(&self, document: usize) -> Vec<Range<usize>> {
        let words = &self.words[document];
        let lengths: BTreeSet<usize> = self.all.iter().map(Vec::len).collect();
        let mut hits = Vec::new();
        for start in 0..words.len() {
            for length in &lengths {
                if let Some(own) = words.get(start..start + length) {
                    let gram: Gram = own.iter().map(|(word, _)| word.clone()).collect();
                    if self.all.contains(&gram) && !self.ignored.contains(&gram) {
                        hits.push(start..start + length);
                    }
                }
            }
        }
        hits
    }

    pub fn gram(&self, document: usize, hit: &Range<usize>) -> Gram {
        let words = &self.words[document][hit.clone()];
        words.iter().map(|(word, _)| word.clone()).collect()
    }

    /// The different n-grams of a document that are not ignored.
    pub fn found_in(&self, document: usize) -> HashSet<Gram> {
        let hits = self.hits(document);
        hits.iter().map(|hit| self.gram(document, hit)).collect()
    }

    /// The contaminated bytes of a document, without what goes with them.
    pub fn stretches(&self, text: &str, document: usize) -> Vec<Range<usize>> {
        let mut is_covered = vec![false; self.words[document].len()];
        for hit in self.hits(document) {
            is_covered[hit].fill(true);
        }
        self.bytes_of(text, document, &is_covered)
    }

    /// The bytes of the covered words of a document.
    pub fn bytes_of(&self, text: &str, document: usize, is_covered: &[bool]) -> Vec<Range<usize>> {
        let words = &self.words[document];
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (place, (_, bytes)) in words
            .iter()
            .enumerate()
            .filter(|(place, _)| is_covered[*place])
        {
            let start = if place == 0 { 0 } else { bytes.start };
            let end = if place + 1 == words.len() {
                text.len()
            } else {
                bytes.end
            };
            match ranges.last_mut() {
                Some(last) if place > 0 && is_covered[place - 1] => last.end = end,
                _ => ranges.push(start..end),
            }
        }
        ranges
    }

    /// What the documents have of an item.
    pub fn item(&self, item: usize) -> ItemFound {
        let own = &self.grams[item];
        let mut all = HashSet::new();
        let (mut documents, mut best) = (0, None);
        for document in 0..self.words.len() {
            let found: HashSet<Gram> = self.found_in(document).intersection(own).cloned().collect();
            if found.is_empty() {
                continue;
            }
            documents += 1;
            if best.is_none_or(|(_, most)| found.len() > most) {
                best = Some((document, found.len()));
            }
            all.extend(found);
        }
        ItemFound {
            grams: own.len(),
            found: all.len(),
            documents,
            best,
        }
    }
}

fn grams(job: &DecontaminateJob, words: &[Word]) -> HashSet<Gram> {
    let words: Vec<Vec<u8>> = words.iter().map(|(word, _)| word.clone()).collect();
    match words.len() {
        0 => HashSet::new(),
        length if length >= job.least.0 => words.windows(job.least.0).map(<[_]>::to_vec).collect(),
        length if length >= job.least_item.0 => HashSet::from([words]),
        _ => HashSet::new(),
    }
}

fn words(job: &DecontaminateJob, text: &str) -> Vec<Word> {
    let mut tokenizer = Tokenizer::new(job.tokenizer, Level::best());
    let (mut words, mut ranges) = (Vec::new(), Vec::new());
    tokenizer.for_each_word(text.as_bytes(), &mut |word| words.push(word.to_vec()));
    tokenizer.word_ranges(text.as_bytes(), &mut ranges);
    let ranges = ranges
        .iter()
        .map(|range| range.start as usize..range.end as usize);
    words.into_iter().zip(ranges).collect()
}
