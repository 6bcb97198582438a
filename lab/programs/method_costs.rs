//! Costs of each method as a Markdown table: the time of sketching on one thread, bytes per
//! document, and the time of a self-join as the collection grows tenfold. All times are CPU time,
//! so that other load has little effect.
//!
//! `method_costs PAGES [DOCUMENTS [METHOD...]]` reads at most DOCUMENTS pages separated by form
//! feeds, such as those of `simtool generate --size 400M`; default: all methods. Every join of the
//! smallest collection is compared with that of all pairs.
//!
//! Promise (Methods and their evaluation): Searches by any method give the result … (on real sizes)

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Duration;

use simtool::corpus::form_feed::pages;
use simtool::engine::methods::{Common, build};
use simtool::engine::sketcher::{Sketched, Sketcher};
use simtool::io::usage::thread_time;
use simtool::kernel::Level;
use simtool::search::join::{NearQuery, Scratch, SketchIndex};
use simtool::sketch::registry::{CountRequest, FeatureUnit, METHODS, Spec};
use simtool::sketch::{Method, SketchList};
use simtool::text::shingles::{shingles, sort_to_set};
use simtool::text::{Choice, Tokenizer, WordHashes, builtin_stop_words};
use simtool::vocabulary::Frequencies;

/// The sizes of the collections.
const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Joins expected to take longer than this are skipped.
const MAX_JOIN_TIME: Duration = Duration::from_secs(300);
/// The number of queries in a batch.
const QUERIES: usize = 256;

fn main() -> Result<(), Box<dyn Error>> {
    // Tables of fingerprints are built by the threads of the current pool.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let measured = pool.install(|| measure().map_err(|error| error.to_string()));
    Ok(measured?)
}

fn measure() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("expected a file of pages")?;
    let most = arguments.next().map_or(Ok(SIZES[2]), |text| text.parse())?;
    let wanted: Vec<String> = arguments.collect();
    let bytes = std::fs::read(path)?;
    let texts: Vec<&[u8]> = pages(&bytes).map(|page| page.text).take(most).collect();
    let sizes: Vec<usize> = SIZES
        .into_iter()
        .filter(|&size| size <= texts.len())
        .collect();
    let megabytes = texts.iter().map(|text| text.len()).sum::<usize>() as f64 / 1e6;
    println!("{} documents, {megabytes:.1} MB, one thread\n", texts.len());
    let joins: String = sizes
        .iter()
        .map(|size| format!(" join of {size} |"))
        .collect();
    println!("| method | MB/s | documents/s | times simhash | bytes a document |{joins} pairs |");
    println!("|---|--:|--:|--:|--:|{}--:|", "--:|".repeat(sizes.len()));

    let stop_words = builtin_stop_words();
    let common = Common {
        tokenizer: Choice::Auto,
        stop_words: &stop_words,
        level: Level::best(),
    };
    let mut reference = None;
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    for entry in METHODS.iter().filter(|entry| is_wanted(entry.name)) {
        let spec = Spec::parse(entry.name)?;
        let frequencies: Vec<_> = spec
            .required_counts()
            .iter()
            .map(|count| frequencies(count, &texts, common))
            .collect();
        let methods = [build(&spec, common, &frequencies)?];
        let (sketched, time) = sketch(&methods, &texts, common);
        let per_document = time.as_secs_f64() / texts.len() as f64;
        let reference = *reference.get_or_insert(per_document);
        let mut row = format!(
            "| `{}` | {:.0} | {:.0} | {:.1} | {:.0} |",
            entry.name,
            megabytes / time.as_secs_f64(),
            1.0 / per_document,
            per_document / reference,
            sketched.sketches.bytes.len() as f64 / texts.len() as f64,
        );
        row += &joins_of(&*methods[0], &sketched, &sizes)?;
        println!("{row}");
    }
    Ok(())
}

/// Sketches of all texts, and the minimum of three times for tokenizing and sketching them.
fn sketch(
    methods: &[Box<dyn Method>],
    texts: &[&[u8]],
    common: Common<'_>,
) -> (Sketched, Duration) {
    let mut sketcher = Sketcher::new(methods, common);
    let mut least = Duration::MAX;
    let mut made = Vec::new();
    for _ in 0..3 {
        made = sketcher.nothing();
        let begin = thread_time();
        texts
            .iter()
            .for_each(|text| sketcher.sketch(text, &mut made));
        least = least.min(thread_time() - begin);
    }
    (made.pop().unwrap_or_default(), least)
}

/// The cells for joins of growing collections, and the number of pairs of the last one.
fn joins_of(
    method: &dyn Method,
    sketched: &Sketched,
    sizes: &[usize],
) -> Result<String, Box<dyn Error>> {
    let (mut cells, mut last) = (String::new(), None);
    let mut before = Duration::ZERO;
    for &size in sizes {
        if before * 100 > MAX_JOIN_TIME {
            cells += " too long |";
            continue;
        }
        let all = sketched.sketches.all(method);
        let mut list = SketchList::new(method);
        (0..size)
            .filter(|&number| sketched.usable[number])
            .for_each(|number| list.push(all.get(number)));
        let begin = thread_time();
        let pairs = join(method, &list)?;
        before = thread_time() - begin;
        if size == sizes[0] {
            assert_eq!(pairs, all_pairs(method, &list), "{}", method.name());
        }
        cells += &format!(" {:.3} s |", before.as_secs_f64());
        last = Some(pairs);
    }
    Ok(cells + &last.map_or(" |".to_owned(), |pairs| format!(" {pairs} |")))
}

/// The number of pairs that the method accepts, by a join.
fn join(method: &dyn Method, list: &SketchList) -> Result<u64, Box<dyn Error>> {
    let sketches = list.all(method);
    let index = SketchIndex::build(method, sketches, 16 << 30, Level::best())?;
    let (mut scratch, mut pairs) = (Scratch::default(), 0);
    for start in (0..sketches.count()).step_by(QUERIES) {
        let queries: Vec<NearQuery<'_>> = (start..sketches.count().min(start + QUERIES))
            .map(|position| NearQuery {
                sketch: sketches.get(position),
                within: position as u32 + 1..index.count(),
                limit: usize::MAX,
            })
            .collect();
        index.near_batch(&queries, &mut scratch, |_, near, _| {
            pairs += near.len() as u64
        });
    }
    Ok(pairs)
}

/// The number of pairs that the method accepts, by comparing all pairs.
fn all_pairs(method: &dyn Method, list: &SketchList) -> u64 {
    let sketches = list.all(method);
    let near = |(a, b): (usize, usize)| {
        let score = method.score(sketches.get(a), sketches.get(b));
        method.accepts(&score)
    };
    let pairs = (0..sketches.count()).flat_map(|b| (0..b).map(move |a| (a, b)));
    pairs.filter(|pair| near(*pair)).count() as u64
}

/// The counts that a method requires, by definition.
fn frequencies(count: &CountRequest, texts: &[&[u8]], common: Common<'_>) -> Frequencies {
    let choice = match count.unit {
        FeatureUnit::Words => common.tokenizer,
        FeatureUnit::Characters => Choice::Chars,
    };
    let mut tokenizer = Tokenizer::new(choice, common.level);
    let mut words = WordHashes::default();
    let mut counts = ahash::AHashMap::new();
    for text in texts {
        tokenizer.hash_words(text, false, &mut words);
        if count.skip_stop_words {
            words
                .short
                .retain(|word| !common.stop_words.contains(*word));
        }
        let mut features = words.short.clone();
        if count.shingle > 1 {
            shingles(&words.short, count.shingle, &mut features);
        }
        if count.documents {
            sort_to_set(&mut features);
        }
        for feature in features {
            *counts.entry(feature).or_insert(0) += 1;
        }
    }
    let mut counts: Vec<(u64, u64)> = counts.into_iter().collect();
    counts.sort_unstable_by_key(|&(feature, count)| (std::cmp::Reverse(count), feature));
    counts.truncate(count.most);
    Frequencies::new(texts.len() as u64, counts)
}
