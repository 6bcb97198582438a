//! Speed of the index. `index_bench DIRECTORY COUNT uniform|skewed|FILE fast|compact [DISTANCE]
//! [ask] [short]`
//!
//! Builds an index of COUNT fingerprints of 64 bits in DIRECTORY, or opens an existing one; then
//! queries it and, without `ask`, adds to it. FILE has little-endian numbers, which are repeated
//! with some bits changed until there are enough. With `short`, ids are 8 bytes long, not 45. Some
//! answers are first compared with brute force. Everything runs on one thread.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use simtool::index::{Build, Entry, Index, Layout, Options, Query};
use simtool::kernel::Level;
use simtool::sketch::{Compare, hashed};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

const SPEC: &str = "simhash, 64 bits";
/// The maximum number of queries checked by brute force.
const CHECKED: usize = 20;
/// The maximum number of comparisons for the checks.
const COMPARED: usize = 200_000_000;
const BATCH: usize = 4096;

fn main() {
    // SAFETY: the inputs are verified, and nothing else handles SIGBUS.
    unsafe { simtool::io::guard::install() }.unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, count, source, layout, rest @ ..] = &arguments[..] else {
        panic!("see the first lines of the source");
    };
    let directory = PathBuf::from(directory);
    let count: usize = count.parse().unwrap();
    let has = |word: &str| rest.iter().any(|argument| argument == word);
    SHORT.store(has("short"), Relaxed);
    let distance = rest.first().and_then(|distance| distance.parse().ok());
    let distance = distance.unwrap_or(3);
    let layout = if layout == "compact" {
        Layout::Compact
    } else {
        Layout::Fast
    };
    let settings = hashed::SimHashSettings {
        distance,
        ..hashed::SimHashSettings::default()
    };
    let method: Box<dyn Compare> = settings.method(64, Level::best()).unwrap();
    let method: Arc<dyn Compare> = Arc::from(method);

    let fingerprints = Fingerprints::of(source);
    println!("{count} fingerprints, {source}, {layout:?}, distance {distance}");
    let options = Options {
        layout,
        ..Options::default()
    };
    let index = if directory.exists() {
        let begin = Instant::now();
        let index = Index::open(&directory, method, SPEC, &options).unwrap();
        println!("opened in {:.1} ms", begin.elapsed().as_secs_f64() * 1e3);
        index
    } else {
        build(&directory, count, &fingerprints, method, &options)
    };
    check(&index, count, &fingerprints, distance);
    batches(&index, count, &fingerprints);
    points(&index, count, &fingerprints);
    if !has("ask") {
        additions(&index, count, &fingerprints);
    }
}

/// Wall-clock time and CPU time of this thread in seconds; other programs affect the former.
struct Clock(Instant, f64);

impl Clock {
    fn start() -> Clock {
        Clock(Instant::now(), Self::processor())
    }

    fn processor() -> f64 {
        let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        times.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
    }

    /// Formats a rate per second.
    fn rate(&self, count: usize) -> String {
        let (all, own) = (self.0.elapsed().as_secs_f64(), Self::processor() - self.1);
        let count = count as f64;
        format!(
            "{:.0} a second, {:.0} a second of processor time",
            count / all,
            count / own
        )
    }
}

/// SplitMix64.
fn mix(seed: u64) -> u64 {
    let mixed = (seed ^ seed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// Fingerprints by number.
enum Fingerprints {
    Uniform,
    /// Bit `j` is set with a probability between 0.02 and 0.99.
    Skewed,
    Real(Vec<u64>),
}

impl Fingerprints {
    fn of(source: &str) -> Fingerprints {
        match source {
            "uniform" => Fingerprints::Uniform,
            "skewed" => Fingerprints::Skewed,
            file => {
                let bytes = std::fs::read(file).unwrap();
                let values = bytes.chunks_exact(8).map(|bytes| bytes.try_into().unwrap());
                Fingerprints::Real(values.map(u64::from_le_bytes).collect())
            }
        }
    }

    fn get(&self, number: usize) -> u64 {
        let seed = mix(number as u64 + 1);
        match self {
            Fingerprints::Uniform => seed,
            Fingerprints::Skewed => (0..64).fold(0, |bits, bit| {
                let chance = 5 + bit * 249 / 63;
                bits | u64::from(mix(seed ^ (bit * 0x9E37)) & 255 < chance) << bit
            }),
            Fingerprints::Real(values) => {
                let value = values[number % values.len()];
                match number / values.len() {
                    0 => value,
                    // Eight to ten bits in which real fingerprints differ.
                    round => {
                        let other = values[mix(seed ^ round as u64) as usize % values.len()];
                        let differing = value ^ other;
                        let chosen = mix(seed) & mix(seed ^ 1);
                        value ^ (differing & chosen)
                    }
                }
            }
        }
    }

    /// The queries: every tenth is near a fingerprint of the index, the others are not.
    fn query(&self, number: usize, count: usize) -> u64 {
        let seed = mix(number as u64 ^ 0xABCD);
        if number.is_multiple_of(10) {
            let flips = (0..seed % 4).fold(0, |flips, i| flips | 1 << (mix(seed + i) % 64));
            self.get(seed as usize % count) ^ flips
        } else {
            self.get(count + number)
        }
    }
}

/// Whether ids are short.
static SHORT: AtomicBool = AtomicBool::new(false);

fn id(number: usize) -> String {
    if SHORT.load(Relaxed) {
        return format!("{number:08x}");
    }
    format!(
        "http://www.example.org/{:08x}/{number}",
        mix(number as u64) as u32
    )
}

fn build(
    directory: &Path,
    count: usize,
    fingerprints: &Fingerprints,
    method: Arc<dyn Compare>,
    options: &Options,
) -> Index {
    let clock = Clock::start();
    let mut build = Build::create(directory, method, SPEC, options).unwrap();
    for number in 0..count {
        let sketch = fingerprints.get(number).to_le_bytes();
        let id = id(number);
        let entry = Entry {
            id: id.as_bytes(),
            sketch: &sketch,
            payload: b"",
        };
        build.push(&entry).unwrap();
    }
    let index = build.finish().unwrap().index;
    let (_, distinct, bytes) = index.info().segments[0];
    println!(
        "build: {}; {distinct} distinct; {:.1} bytes a document",
        clock.rate(count),
        bytes as f64 / count as f64
    );
    index
}

fn check(index: &Index, count: usize, fingerprints: &Fingerprints, distance: u32) {
    for number in 0..CHECKED.min(COMPARED / count) {
        let query = fingerprints.query(number, count);
        let near = |other: &usize| (fingerprints.get(*other) ^ query).count_ones() <= distance;
        let expected = (0..count).filter(near).count();
        let query = Query {
            id: None,
            sketch: &query.to_le_bytes(),
        };
        let found = index.seen(&[query], count).unwrap()[0].matches.len();
        assert_eq!(found, expected, "query {number}");
    }
}

fn batches(index: &Index, count: usize, fingerprints: &Fingerprints) {
    let total = 1_000_000;
    let sketches: Vec<[u8; 8]> = (0..total)
        .map(|number| fingerprints.query(number, count).to_le_bytes())
        .collect();
    for (round, size) in [("cold", BATCH), ("warm", BATCH), ("warm", total)] {
        let clock = Clock::start();
        let mut found = 0;
        for batch in sketches.chunks(size) {
            let queries: Vec<Query<'_>> = batch
                .iter()
                .map(|sketch| Query { id: None, sketch })
                .collect();
            let answers = index.seen(&queries, 10).unwrap();
            found += answers
                .iter()
                .filter(|answer| !answer.matches.is_empty())
                .count();
        }
        let rate = clock.rate(total);
        println!("batches of {size}, {round}: {rate}, {found} duplicates");
    }
}

fn points(index: &Index, count: usize, fingerprints: &Fingerprints) {
    let mut times: Vec<f64> = (0..50_000)
        .map(|number| {
            let sketch = fingerprints.query(number + 7_000_000, count).to_le_bytes();
            let start = Instant::now();
            std::hint::black_box(
                index
                    .seen(
                        &[Query {
                            id: None,
                            sketch: &sketch,
                        }],
                        10,
                    )
                    .unwrap(),
            );
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[(times.len() as f64 * share) as usize];
    println!(
        "one by one: median {:.1} us, p99 {:.1} us, p99.9 {:.1} us",
        at(0.5),
        at(0.99),
        at(0.999)
    );
}

fn additions(index: &Index, count: usize, fingerprints: &Fingerprints) {
    for (batch, total) in [(1, 500), (1000, 200_000)] {
        let clock = Clock::start();
        for first in (0..total).step_by(batch) {
            let numbers = (count + 2_000_000 + batch * 1_000_000 + first..).take(batch);
            let documents: Vec<_> = numbers
                .map(|number| (id(number), fingerprints.get(number).to_le_bytes()))
                .collect();
            let entries: Vec<Entry<'_>> = documents
                .iter()
                .map(|(id, sketch)| Entry {
                    id: id.as_bytes(),
                    sketch,
                    payload: b"",
                })
                .collect();
            index.add(&entries, 10).unwrap();
        }
        let rate = clock.rate(total);
        println!("look and add, {batch} at a time, durable: {rate}");
    }
}
