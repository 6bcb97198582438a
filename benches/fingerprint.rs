//! Throughput of fingerprints in bytes of text per second, on one core: from the text, and from
//! words looked up before.

#![allow(clippy::unwrap_used)]

mod corpus;

use ahash::AHashMap;
use corpus::{CORPUS, words};
use divan::{Bencher, counter::BytesCount};
use simtool::corpus::form_feed::Page;
use simtool::kernel::Level;
use simtool::sketch::hash_table::read_rows;
use simtool::sketch::simhash::{ColumnSums, Vocabulary};
use simtool::text::Windows;
use simtool::vocabulary::{Lexicon, Lookup, Term};

fn main() {
    divan::main();
}

/// N features and M bits at an instruction-set level.
#[derive(Clone, Copy, Debug)]
struct Setting {
    features: usize,
    columns: usize,
    level: Level,
}

fn settings() -> impl Iterator<Item = Setting> {
    let sizes = [(1000, 64), (10_000, 64), (10_000, 128)];
    sizes.into_iter().flat_map(|(features, columns)| {
        Level::available().map(move |level| Setting {
            features,
            columns,
            level,
        })
    })
}

/// The first words and their rows.
struct Ranked {
    features: Vec<Term>,
    rows: Vec<u128>,
    columns: usize,
}

impl Ranked {
    fn new(setting: Setting) -> Ranked {
        let mut counts: Vec<(Vec<u8>, u64)> = CORPUS.counts().into_iter().collect();
        counts.sort_by(|(word, count), (other, others)| others.cmp(count).then(word.cmp(other)));
        let words = counts.iter().take(setting.features);
        Ranked {
            features: words.map(|(word, _)| Term::from_letters(word)).collect(),
            rows: read_rows(&CORPUS.hash_table, setting.features, setting.columns).unwrap(),
            columns: setting.columns,
        }
    }

    fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary {
            features: &self.features,
            rows: &self.rows,
            columns: self.columns,
        }
    }

    /// The fingerprints of some pages by their definition.
    fn expected<'a>(&'a self, pages: &'a [Page<'_>]) -> impl Iterator<Item = u128> + 'a {
        let ranked = self.features.iter().zip(&self.rows);
        let rows: AHashMap<Term, u128> = ranked.map(|(&term, &row)| (term, row)).collect();
        pages.iter().map(move |page| {
            let mut sums = [0_i64; 128];
            for word in words(page.text) {
                let Some(row) = rows.get(&Term::from_letters(&word)) else {
                    continue;
                };
                for (column, sum) in sums.iter_mut().enumerate().take(self.columns) {
                    *sum += if row >> column & 1 == 1 { 1 } else { -1 };
                }
            }
            let bits = sums.iter().zip(0..);
            bits.fold(0, |all, (&sum, column)| all | u128::from(sum > 0) << column)
        })
    }
}

#[divan::bench(args = settings(), sample_count = 10)]
fn from_text(bencher: Bencher, setting: Setting) {
    let (ranked, pages) = (Ranked::new(setting), CORPUS.pages());
    let features = ranked.vocabulary().select(|_| true, setting.level);
    let mut scratch = (Windows::new(setting.level), Lookup::default());
    let mut sums = ColumnSums::new();
    let mut fingerprint = |page: &Page<'_>| {
        features.add_text(page.text, &mut scratch, &mut sums);
        sums.take_fingerprint()
    };
    let checked = &pages[..pages.len() / 10];
    assert!(
        checked
            .iter()
            .map(&mut fingerprint)
            .eq(ranked.expected(checked))
    );
    bencher
        .counter(BytesCount::of_slice(&CORPUS.articles))
        .bench_local(|| {
            pages
                .iter()
                .map(&mut fingerprint)
                .fold(0, |all, bits| all ^ bits)
        });
}

#[divan::bench(args = settings(), sample_count = 10)]
fn from_kept_words(bencher: Bencher, setting: Setting) {
    let (ranked, pages) = (Ranked::new(setting), CORPUS.pages());
    let lexicon = Lexicon::complete(&ranked.features, setting.level);
    let rows = ranked.vocabulary().rows_of(&lexicon, setting.level);
    let kept = slots(&lexicon, &pages, setting.level);
    let mut sums = ColumnSums::new();
    let mut fingerprint = |slots: &Vec<u16>| {
        sums.add(&rows, slots);
        sums.take_fingerprint()
    };
    let checked = pages.len() / 10;
    let found = kept[..checked].iter().map(&mut fingerprint);
    assert!(found.eq(ranked.expected(&pages[..checked])));
    bencher
        .counter(BytesCount::of_slice(&CORPUS.articles))
        .bench_local(|| {
            kept.iter()
                .map(&mut fingerprint)
                .fold(0, |all, bits| all ^ bits)
        });
}

/// The slots of the words of each page.
fn slots(lexicon: &Lexicon, pages: &[Page<'_>], level: Level) -> Vec<Vec<u16>> {
    let (mut windows, mut lookup) = (Windows::new(level), Lookup::default());
    let mut slots_of = |page: &Page<'_>| {
        let mut found = Vec::new();
        windows.for_each(page.text, |window| {
            lexicon.look_up(window, &mut lookup);
            found.extend(lookup.slots().concat());
        });
        found
    };
    pages.iter().map(&mut slots_of).collect()
}
