//! Changes an index until it is killed, and verifies that acknowledged changes are present.
//!
//! `index_worker work DIRECTORY SEED FIRST STEPS` does STEPS steps from FIRST on and prints `begin
//! N` and `done N` around each; step 0 builds the index. `index_worker verify DIRECTORY SEED DONE`
//! checks the index against a list in memory after DONE steps, or one more, and prints the number.
//! If step 0 was not done, the index may be missing. Run by `scripts/crash-loop-index`.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use simtool::index::{Build, Entry, Index, Options, Query};
use simtool::kernel::Level;
use simtool::sketch::{Compare, hashed};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

const SPEC: &str = "simhash, 64 bits, distance 3";
const IDS: u64 = 3000;

fn main() {
    // SAFETY: the inputs are verified, and nothing else handles SIGBUS.
    unsafe { simtool::io::guard::install() }.unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| arguments[place].parse::<u64>().unwrap();
    let directory = Path::new(&arguments[1]);
    match arguments[0].as_str() {
        "work" => work(directory, number(2), number(3), number(4)),
        _ => verify(directory, number(2), number(3)),
    }
}

fn method() -> Arc<dyn Compare> {
    let settings = hashed::SimHashSettings {
        distance: 3,
        ..hashed::SimHashSettings::default()
    };
    let method: Box<dyn Compare> = settings.method(64, Level::best()).unwrap();
    Arc::from(method)
}

fn options() -> Options {
    // Small segments, so that sealing and merging happen often.
    Options {
        seal_documents: 100,
        memory_bytes: 1 << 18,
        ..Options::default()
    }
}

/// SplitMix64.
fn mix(seed: u64) -> u64 {
    let mixed = (seed ^ seed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

#[derive(Clone, PartialEq)]
struct Page {
    id: Vec<u8>,
    sketch: [u8; 8],
    payload: Vec<u8>,
}

impl Page {
    fn entry(&self) -> Entry<'_> {
        Entry {
            id: &self.id,
            sketch: &self.sketch,
            payload: &self.payload,
        }
    }
}

enum Step {
    Build(Vec<Page>),
    Add(Vec<Page>),
    Remove(Vec<Vec<u8>>),
    Compact,
}

/// The action of step number `step`; deterministic.
fn step(seed: u64, step: u64) -> Step {
    let random = |place: u64| mix(mix(seed ^ step << 20) ^ place);
    let page = |place: u64| Page {
        id: format!("page {}", random(place) % IDS).into_bytes(),
        sketch: (mix(random(place + 500) % 400) ^ 1 << (random(place + 900) % 64)).to_le_bytes(),
        payload: format!("step {step}").into_bytes(),
    };
    let count = random(77_777);
    match random(88_888) % 20 {
        _ if step == 0 => Step::Build((0..500).map(page).collect()),
        0..=13 => Step::Add((0..1 + count % 60).map(page).collect()),
        14..=18 => Step::Remove((0..1 + count % 20).map(|place| page(place).id).collect()),
        _ => Step::Compact,
    }
}

fn say(what: &str, step: u64) {
    println!("{what} {step}");
    std::io::stdout().flush().unwrap();
}

fn work(directory: &Path, seed: u64, first: u64, steps: u64) {
    let mut index =
        (first > 0).then(|| Index::open(directory, method(), SPEC, &options()).unwrap());
    for number in first..first + steps {
        say("begin", number);
        let open = || index.as_ref().unwrap();
        match step(seed, number) {
            Step::Build(pages) => {
                let mut build = Build::create(directory, method(), SPEC, &options()).unwrap();
                pages
                    .iter()
                    .for_each(|page| build.push(&page.entry()).unwrap());
                index = Some(build.finish().unwrap().index);
            }
            Step::Add(pages) => {
                let entries: Vec<Entry<'_>> = pages.iter().map(Page::entry).collect();
                open().add(&entries, 3).unwrap();
            }
            Step::Remove(ids) => {
                let ids: Vec<&[u8]> = ids.iter().map(|id| &id[..]).collect();
                open().remove(&ids).unwrap();
            }
            Step::Compact => open().compact().unwrap(),
        }
        say("done", number);
    }
}

/// Pages after the first `steps` steps, oldest first.
fn model(seed: u64, steps: u64) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    for number in 0..steps {
        match step(seed, number) {
            Step::Build(added) | Step::Add(added) => {
                // If an id is built twice, the last one counts, at its position.
                for page in added {
                    let known = pages.iter().position(|known| known.id == page.id);
                    if let Some(place) = known {
                        if number > 0 && pages[place].sketch == page.sketch {
                            continue;
                        }
                        pages.remove(place);
                    }
                    pages.push(page);
                }
            }
            Step::Remove(ids) => pages.retain(|page| !ids.contains(&page.id)),
            Step::Compact => {}
        }
    }
    pages
}

fn verify(directory: &Path, seed: u64, done: u64) {
    let index = match Index::open(directory, method(), SPEC, &options()) {
        Ok(index) => index,
        Err(error) if done == 0 => return println!("none: {error}"),
        Err(error) => panic!("after {done} steps: {error}"),
    };
    let check = index.check().unwrap();
    assert!(check.problems.is_empty(), "{:?}", check.problems);
    let mut found = Vec::new();
    index
        .for_each(|entry| {
            let sketch = entry.sketch.try_into().unwrap();
            found.push(Page {
                id: entry.id.to_vec(),
                sketch,
                payload: entry.payload.to_vec(),
            });
            Ok(())
        })
        .unwrap();
    let states = [model(seed, done), model(seed, done + 1)];
    let state = states.iter().rposition(|state| *state == found);
    let Some(state) = state else {
        panic!("{} pages, no state after {done} steps", found.len())
    };
    for place in 0..50 {
        let query = (mix(mix(done ^ place) % 400) ^ 3 << (place % 63)).to_le_bytes();
        let answer = &index
            .seen(
                &[Query {
                    id: None,
                    sketch: &query,
                }],
                10_000,
            )
            .unwrap()[0];
        let bits = |page: &&Page| {
            let differing = u64::from_le_bytes(page.sketch) ^ u64::from_le_bytes(query);
            differing.count_ones()
        };
        let mut near: Vec<&Page> = found.iter().filter(|page| bits(page) <= 3).collect();
        near.sort_by_key(bits);
        let near = near.iter().map(|page| &page.id);
        assert!(
            answer.matches.iter().map(|found| &found.id).eq(near),
            "query {place}"
        );
    }
    println!("steps {}", done + state as u64);
}
