//! The text of benchmarks, and its words found naively to check the results.

// Each benchmark is a separate crate and uses a part of this.
#![allow(dead_code)]

use std::fs;
use std::sync::LazyLock;

use ahash::AHashMap;
use simtool::corpus::form_feed::{Page, pages};
use simtool::evaluate::synthetic::{self, CorpusSettings, Extent, write_directory};

/// Larger than second-level caches, small enough to be generated in a second.
const ARTICLE_BYTES: u64 = 16 << 20;
const SAMPLES: u64 = 100;

/// The inputs of the main job.
pub struct Corpus {
    pub articles: Vec<u8>,
    pub samples: Vec<u8>,
    pub stop_words: Vec<u8>,
    pub hash_table: Vec<u8>,
}

/// The generated corpus, the same on every machine.
pub static CORPUS: LazyLock<Corpus> = LazyLock::new(|| {
    let settings = CorpusSettings {
        extent: Extent::Bytes(ARTICLE_BYTES),
        samples: SAMPLES,
        ..CorpusSettings::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let corpus = synthetic::Corpus::new(&settings).unwrap();
    write_directory(&corpus, directory.path()).unwrap();
    let file = |name| fs::read(directory.path().join(name)).unwrap();
    Corpus {
        articles: file("article.txt"),
        samples: file("sample.txt"),
        stop_words: file("stopwords.txt"),
        hash_table: file("hashvalue.txt"),
    }
});

impl Corpus {
    /// The pages of the articles.
    pub fn pages(&self) -> Vec<Page<'_>> {
        pages(&self.articles).collect()
    }

    /// The number of occurrences of each word in the articles.
    pub fn counts(&self) -> AHashMap<Vec<u8>, u64> {
        let mut counts = AHashMap::new();
        for page in pages(&self.articles) {
            words(page.text).for_each(|word| *counts.entry(word).or_default() += 1);
        }
        counts
    }
}

/// The words of a text: maximal runs of letters, folded.
pub fn words(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let runs = text.split(|byte| !byte.is_ascii_alphabetic());
    runs.filter(|run| !run.is_empty())
        .map(<[u8]>::to_ascii_lowercase)
}
