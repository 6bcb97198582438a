//! Throughput of sketching on one core, from the hashes of the words of documents; bytes are those
//! of their text.

#![allow(clippy::unwrap_used)]

mod corpus;

use std::sync::LazyLock;

use corpus::{CORPUS, words};
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use simtool::kernel::Level;
use simtool::kernel::columns::Columns;
use simtool::sketch::{
    Features, Method, SketchScratch, TokenizedDocument, Weights, digest, hashed, minhash,
};
use simtool::text::WordSet;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

fn main() {
    divan::main();
}

const DOCUMENT_COUNT: usize = 200;

/// The words of a document, and the bytes of its text.
struct Document {
    short: Vec<u64>,
    long: Vec<u128>,
    bytes: usize,
}

static DOCUMENTS: LazyLock<Vec<Document>> = LazyLock::new(|| {
    let pages = CORPUS.pages();
    let document = |text: &[u8]| {
        let words: Vec<Vec<u8>> = words(text).collect();
        Document {
            short: words.iter().map(|word| xxh3_64(word)).collect(),
            long: words.iter().map(|word| xxh3_128(word)).collect(),
            bytes: text.len(),
        }
    };
    // Few enough to stay in the cache, as after tokenization.
    pages[..DOCUMENT_COUNT]
        .iter()
        .map(|page| document(page.text))
        .collect()
});

/// A method at an instruction set.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Words64,
    Words128,
    Words64LogTf,
    Words64Top1000,
    Shingles64,
    Shingles128,
    MinHash80,
    MinHash80Of64,
}

impl Kind {
    const ALL: [Kind; 8] = [
        Kind::Words64,
        Kind::Words128,
        Kind::Words64LogTf,
        Kind::Words64Top1000,
        Kind::Shingles64,
        Kind::Shingles128,
        Kind::MinHash80,
        Kind::MinHash80Of64,
    ];

    fn method(self, level: Level) -> Box<dyn Method> {
        let (features, weights, width) = match self {
            Kind::Words64 => (Features::Words, Weights::Tf, 64),
            Kind::Words128 => (Features::Words, Weights::Tf, 128),
            Kind::Words64LogTf => (Features::Words, Weights::LogTf, 64),
            Kind::Words64Top1000 => (Features::Words, Weights::Top(first_words(1000)), 64),
            Kind::Shingles64 => (Features::Shingles(3), Weights::Tf, 64),
            Kind::Shingles128 => (Features::Shingles(3), Weights::Tf, 128),
            Kind::MinHash80 => return minhash(256),
            Kind::MinHash80Of64 => return minhash(64),
        };
        let settings = hashed::SimHashSettings {
            features,
            weights,
            ..hashed::SimHashSettings::default()
        };
        settings.method(width, level).unwrap()
    }
}

/// For similarity 0.8 and recall 0.99, with at most this many permutations.
fn minhash(permutations: usize) -> Box<dyn Method> {
    let settings = minhash::MinHashSettings {
        shingle: 5,
        bands: simtool::sketch::Bands::choose(0.8, 0.99, permutations).unwrap(),
        least_words: None,
    };
    Box::new(settings.method().unwrap())
}

/// Some of the words.
fn first_words(count: usize) -> WordSet {
    let words = DOCUMENTS.iter().flat_map(|document| &document.short);
    let mut words: Vec<u64> = words.copied().take(20 * count).collect();
    words.sort_unstable();
    words.dedup();
    words.truncate(count);
    WordSet::new(words)
}

/// The concatenated sketches of some documents.
fn sketches(
    method: &dyn Method,
    documents: &[Document],
    scratch: &mut SketchScratch,
    out: &mut Vec<u8>,
) {
    out.clear();
    for document in documents {
        let words = TokenizedDocument {
            short: &document.short,
            long: &document.long,
            ..TokenizedDocument::default()
        };
        black_box(method.sketch(words, scratch, out));
    }
}

fn settings() -> impl Iterator<Item = (Kind, Level)> {
    let kinds = Kind::ALL.into_iter();
    kinds.flat_map(|kind| Level::available().map(move |level| (kind, level)))
}

#[divan::bench(args = settings(), sample_count = 100, sample_size = 1)]
fn documents(bencher: Bencher, (kind, level): (Kind, Level)) {
    let method = kind.method(level);
    let (mut scratch, mut out, mut expected) = (SketchScratch::default(), Vec::new(), Vec::new());
    sketches(&*method, &DOCUMENTS, &mut scratch, &mut out);
    let oracle = kind.method(Level::Scalar);
    sketches(&*oracle, &DOCUMENTS, &mut scratch, &mut expected);
    assert_eq!(out, expected);
    let (bytes, words) = extent();
    bencher
        .counter(BytesCount::new(bytes))
        .counter(ItemsCount::new(words))
        .bench_local(|| sketches(&*method, &DOCUMENTS, &mut scratch, &mut out));
}

/// Bytes of text and words in all documents.
fn extent() -> (usize, usize) {
    let bytes = DOCUMENTS.iter().map(|document| document.bytes).sum();
    (
        bytes,
        DOCUMENTS.iter().map(|document| document.short.len()).sum(),
    )
}

/// One document of `words` words.
#[divan::bench(args = lengths())]
fn majority(bencher: Bencher, (words, level): (usize, Level)) {
    let all = DOCUMENTS.iter().flat_map(|document| &document.short);
    let features: Vec<u64> = all.copied().take(words).collect();
    let columns = Columns::new(level);
    let bit = |column: u32| {
        let ones = features
            .iter()
            .filter(|feature| *feature >> column & 1 == 1);
        u64::from(2 * ones.count() > features.len()) << column
    };
    assert_eq!(columns.majority(&features), (0..64).map(bit).sum::<u64>());
    bencher
        .counter(ItemsCount::new(features.len()))
        .bench_local(|| columns.majority(black_box(&features)));
}

fn lengths() -> impl Iterator<Item = (usize, Level)> {
    let lengths = [50, 300, 1000, 100_000].into_iter();
    lengths.flat_map(|words| Level::available().map(move |level| (words, level)))
}

#[divan::bench(sample_count = 100)]
fn digests_of_words(bencher: Bencher) {
    let (bytes, words) = extent();
    bencher
        .counter(BytesCount::new(bytes))
        .counter(ItemsCount::new(words))
        .bench_local(|| {
            let digests = DOCUMENTS
                .iter()
                .map(|document| digest::of_words(&document.short));
            digests.fold(0, |all, digest| all ^ digest)
        });
}
