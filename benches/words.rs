//! How many bytes of text a second become word hashes, and how many words a second shingles? One
//! core, each tokenizer.

#![allow(clippy::unwrap_used)]

mod corpus;

use corpus::CORPUS;
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use simtool::kernel::Level;
use simtool::text::{Choice, Tokenizer, WordHashes, builtin_stop_words, shingles};
use xxhash_rust::xxh3::xxh3_64;

fn main() {
    divan::main();
}

/// Generated English, in every instruction set.
#[divan::bench(args = Level::available(), consts = [0, 1], sample_count = 20)]
fn ascii_text<const CHOICE: usize>(bencher: Bencher, level: Level) {
    let pages: Vec<&[u8]> = CORPUS.pages().iter().map(|page| page.text).collect();
    hash(
        bencher,
        [Choice::Auto, Choice::Ascii][CHOICE],
        level,
        &pages,
    );
}

/// A document of each script for each page, all tokenizers.
#[divan::bench(args = Choice::ALL, consts = [0, 1, 2, 3], sample_count = 5)]
fn script<const SCRIPT: usize>(bencher: Bencher, choice: Choice) {
    let text = [LATIN, CYRILLIC, CHINESE, JAPANESE][SCRIPT].repeat(40);
    let pages = vec![text.as_bytes(); 50];
    hash(bencher, choice, Level::best(), &pages);
}

const LATIN: &str = "“Don’t worry,” she said — it’s only the café’s old menu, naïve as it reads. ";
const CYRILLIC: &str = "Все счастливые семьи похожи друг на друга, каждая несчастлива по-своему. ";
const CHINESE: &str = "我们今天来到北京清华大学，讨论全文检索和近似重复文档的发现。";
const JAPANESE: &str = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。";

fn hash(bencher: Bencher, choice: Choice, level: Level, pages: &[&[u8]]) {
    let (mut tokenizer, mut words) = (Tokenizer::new(choice, level), WordHashes::default());
    for page in pages.iter().step_by(10) {
        let mut expected = Vec::new();
        tokenizer.for_each_word(page, &mut |word| expected.push(xxh3_64(word)));
        tokenizer.hash_words(page, false, &mut words);
        assert_eq!(words.short, expected);
        assert!(!matches!(choice, Choice::Auto) || !expected.is_empty());
    }
    let bytes: usize = pages.iter().map(|page| page.len()).sum();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        let mut found = 0;
        for page in pages {
            tokenizer.hash_words(page, false, &mut words);
            found += words.short.len();
        }
        found
    });
}

/// The words of the generated pages.
fn hashed_pages() -> Vec<WordHashes> {
    let mut tokenizer = Tokenizer::new(Choice::Auto, Level::best());
    let pages = CORPUS.pages();
    let hashed = pages.iter().map(|page| {
        let mut words = WordHashes::default();
        tokenizer.hash_words(page.text, false, &mut words);
        words
    });
    hashed.collect()
}

/// Shingles as they come, by width.
#[divan::bench(args = [3, 5, 7, 9], sample_count = 20)]
fn shingles_of(bencher: Bencher, width: usize) {
    let pages = hashed_pages();
    let count: usize = pages.iter().map(|words| words.short.len()).sum();
    let mut found = Vec::new();
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        let mut total = 0;
        for words in &pages {
            shingles::shingles(&words.short, width, &mut found);
            assert_eq!(
                found.len(),
                words.short.len().saturating_sub(width - 1).max(1)
            );
            total += found.len();
        }
        total
    });
}

/// Sorted sets of 5-shingles.
fn sets() -> Vec<Vec<u64>> {
    let set = |words: WordHashes| {
        let mut set = Vec::new();
        shingles::shingles(&words.short, 5, &mut set);
        shingles::sort_to_set(&mut set);
        set
    };
    hashed_pages().into_iter().map(set).collect()
}

/// Sorting to a set, of shingles in text order.
#[divan::bench(sample_count = 20)]
fn sort_to_set(bencher: Bencher) {
    let pages = hashed_pages();
    let count: usize = pages.iter().map(|words| words.short.len()).sum();
    let mut set = Vec::new();
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        for words in &pages {
            shingles::shingles(&words.short, 5, &mut set);
            shingles::sort_to_set(&mut set);
            assert!(set.is_sorted());
        }
    });
}

/// Exact comparison of each set with a copy that lacks one in `gap` elements.
#[divan::bench(args = [3, 20], sample_count = 20)]
fn jaccard(bencher: Bencher, gap: usize) {
    let sets = sets();
    let lacks = |set: &Vec<u64>| {
        let kept = set.iter().enumerate().filter(|(place, _)| place % gap != 0);
        kept.map(|(_, &hash)| hash).collect()
    };
    let copies: Vec<Vec<u64>> = sets.iter().map(lacks).collect();
    let count: usize = sets.iter().map(Vec::len).sum();
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        for (set, copy) in sets.iter().zip(&copies) {
            let fraction = (copy.len() as u64, set.len() as u64);
            let found = shingles::jaccard(set, copy);
            assert_eq!(found, fraction);
        }
    });
}

/// Asking for each word of the pages whether it is one of the built-in stop words.
#[divan::bench(sample_count = 20)]
fn stop_words(bencher: Bencher) {
    let (stop_words, pages) = (builtin_stop_words(), hashed_pages());
    let count: usize = pages.iter().map(|words| words.short.len()).sum();
    let found = || {
        let words = pages.iter().flat_map(|words| &words.short);
        words.filter(|word| stop_words.contains(**word)).count()
    };
    let expected = found();
    assert!(expected > 0 && expected < count);
    bencher
        .counter(ItemsCount::new(count))
        .bench_local(|| assert_eq!(found(), expected));
}
