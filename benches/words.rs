//! Throughput of word hashes in bytes of text per second, and of shingles in words per second, on
//! one core for each tokenizer.

#![allow(clippy::unwrap_used)]

mod corpus;

use corpus::CORPUS;
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use simtool::kernel::Level;
use simtool::text::{Choice, Tokenizer, WordHashes, builtin_stop_words, shingles};
use unicode_segmentation::UnicodeSegmentation;
use xxhash_rust::xxh3::xxh3_64;

fn main() {
    divan::main();
}

/// Generated English, at every instruction-set level.
#[divan::bench(args = Level::available(), consts = [0, 1, 2], sample_count = 20)]
fn ascii_text<const CHOICE: usize>(bencher: Bencher, level: Level) {
    let pages: Vec<&[u8]> = CORPUS.pages().iter().map(|page| page.text).collect();
    hash(
        bencher,
        [Choice::Auto, Choice::Ascii, Choice::Unicode][CHOICE],
        level,
        &pages,
    );
}

/// Generated English with a curly apostrophe or an accent in every fiftieth word.
#[divan::bench(args = [Choice::Auto, Choice::Unicode], sample_count = 20)]
fn nearly_ascii(bencher: Bencher, choice: Choice) {
    let mark = |page: &[u8]| {
        let words = page.split(|byte| *byte == b' ').zip(1..);
        let marked = words.map(|(word, number)| match number % 100 {
            0 => [word, "’s".as_bytes()].concat(),
            50 => [word, "é".as_bytes()].concat(),
            _ => word.to_vec(),
        });
        marked.collect::<Vec<_>>().join(&b' ')
    };
    let pages = CORPUS.pages();
    let marked: Vec<Vec<u8>> = pages.iter().map(|page| mark(page.text)).collect();
    let marked: Vec<&[u8]> = marked.iter().map(Vec::as_slice).collect();
    hash(bencher, choice, Level::best(), &marked);
}

/// Documents of each script, all tokenizers.
#[divan::bench(args = Choice::ALL, consts = [0, 1, 2, 3], sample_count = 20)]
fn script<const SCRIPT: usize>(bencher: Bencher, choice: Choice) {
    let pages = documents(SCRIPT);
    let pages: Vec<&[u8]> = pages.iter().map(String::as_bytes).collect();
    hash(bencher, choice, Level::best(), &pages);
}

/// The same documents, split only by the library that defines Unicode words.
#[divan::bench(consts = [0, 1, 2, 3], sample_count = 5)]
fn unicode_segmentation<const SCRIPT: usize>(bencher: Bencher) {
    let pages = documents(SCRIPT);
    let count = |page: &String| page.unicode_words().count();
    cut(bencher, &pages, &count);
}

fn cut(bencher: Bencher, pages: &[String], count: &dyn Fn(&String) -> usize) {
    let bytes: usize = pages.iter().map(String::len).sum();
    let expected: usize = pages.iter().map(count).sum();
    assert!(expected > 0);
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        let found: usize = pages.iter().map(count).sum();
        assert_eq!(found, expected);
    });
}

/// About 50 documents of 5 KB: the phrases of a script in pseudo-random order, the same on every
/// run.
fn documents(script: usize) -> Vec<String> {
    let phrases: Vec<&str> = SCRIPTS[script].split_inclusive(['|', ' ']).collect();
    let mut state = 1u64;
    let mut phrase = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        phrases[(state >> 33) as usize % phrases.len()].trim_end_matches('|')
    };
    let document = |_| {
        let mut text = String::new();
        while text.len() < 5000 {
            text.push_str(phrase());
        }
        text
    };
    (0..50).map(document).collect()
}

const SCRIPTS: [&str; 4] = [
    "“Don’t worry,” she said — it’s only the café’s old menu, naïve as it reads. Über den Dächern \
     wächst große Stille; niemand weiß, wofür 3,14 Meter genügen. À l’été, les élèves “rêvent” déjà \
     d’être ailleurs : où ? ",
    "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему. \
     Всё смешалось в доме — Облонских… У 1877 році з’явилося перше видання; тираж 5000 примірників. ",
    "我们今天来到|北京清华大学，|讨论|全文检索|和近似重复文档的|发现。|使用|Rust|语言编写的|程序|在|2|\
     个处理器上|运行，|速度|与|分词器|本身|相当。|因为|词典|很大，|所以|内存|也|不小；|",
    "吾輩は|猫である。|名前は|まだ無い。|どこで|生れたか|とんと|見当が|つかぬ。|コンピュータで|\
     テキストを|比較する|プログラム、|Rust|で|書かれた。|",
];

fn hash(bencher: Bencher, choice: Choice, level: Level, pages: &[&[u8]]) {
    let (mut tokenizer, mut words) = (Tokenizer::new(choice, level), WordHashes::default());
    for page in pages.iter().step_by(10) {
        let mut expected = Vec::new();
        tokenizer.for_each_word(page, &mut |word| expected.push(xxh3_64(word)));
        tokenizer.hash_words(page, false, &mut words);
        assert_eq!(words.short, expected);
        assert!(!matches!(choice, Choice::Auto) || !expected.is_empty());
        if choice == Choice::Unicode {
            let text = std::str::from_utf8(page).unwrap();
            let lower = |word: &str| {
                word.chars()
                    .flat_map(char::to_lowercase)
                    .collect::<String>()
            };
            let defined = text
                .unicode_words()
                .map(|word| xxh3_64(lower(word).as_bytes()));
            assert!(defined.eq(expected));
        }
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

/// Shingles in text order, by width.
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

/// Lookup of each word of the pages in the built-in stop words.
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
