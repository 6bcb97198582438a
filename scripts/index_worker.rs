//! Changes an index until it is killed, and verifies that acknowledged changes are present.
//!
//! `index_worker work DIRECTORY SEED FIRST STEPS` does STEPS steps from FIRST on and prints `begin
//! N` and `done N` around each; step 0 builds the index. `index_worker verify DIRECTORY SEED DONE`
//! checks the index against a list in memory after DONE steps, or one more, and prints the number.
//! If step 0 was not done, the index may be missing. Run by `scripts/crash-loop-index`.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use simtool::index::{Build, Entry, Index, Options, Standing};
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
    dump: String,
    /// Whether no kept page was near it.
    kept: bool,
}

impl Page {
    fn entry(&self) -> Entry<'_> {
        Entry {
            id: &self.id,
            sketch: &self.sketch,
            payload: &self.payload,
            ..Entry::default()
        }
    }

    fn bits(&self, sketch: [u8; 8]) -> u32 {
        (u64::from_le_bytes(self.sketch) ^ u64::from_le_bytes(sketch)).count_ones()
    }
}

enum Step {
    Build(Vec<Page>),
    Add(Vec<Page>),
    Remove(Vec<Vec<u8>>),
    RemoveDump(String),
    Compact,
}

/// The action of step number `step`; deterministic.
fn step(seed: u64, step: u64) -> Step {
    let random = |place: u64| mix(mix(seed ^ step << 20) ^ place);
    let page = |place: u64| Page {
        id: format!("page {}", random(place) % IDS).into_bytes(),
        sketch: (mix(random(place + 500) % 400) ^ 1 << (random(place + 900) % 64)).to_le_bytes(),
        payload: format!("step {step}").into_bytes(),
        dump: dump_of(step),
        kept: true,
    };
    let count = random(77_777);
    match random(88_888) % 20 {
        _ if step == 0 => Step::Build((0..500).map(page).collect()),
        0..=13 => Step::Add((0..1 + count % 60).map(page).collect()),
        14 => Step::RemoveDump(dump_of(count % step)),
        15..=18 => Step::Remove((0..1 + count % 20).map(|place| page(place).id).collect()),
        _ => Step::Compact,
    }
}

/// The label of the dump of a step.
fn dump_of(step: u64) -> String {
    format!("dump {}", step / 8)
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
                let build = Build::create(directory, method(), SPEC, &options()).unwrap();
                let entries: Vec<Entry<'_>> = pages.iter().map(Page::entry).collect();
                build.index().add(&entries, &dump_of(number), 3).unwrap();
                index = Some(build.finish().unwrap());
            }
            Step::Add(pages) => {
                let entries: Vec<Entry<'_>> = pages.iter().map(Page::entry).collect();
                open().add(&entries, &dump_of(number), 3).unwrap();
            }
            Step::Remove(ids) => {
                let ids: Vec<&[u8]> = ids.iter().map(|id| &id[..]).collect();
                open().remove(&ids).unwrap();
            }
            // All of its pages may be removed already.
            Step::RemoveDump(label) if open().info().dumps.contains(&label) => {
                open().remove_dump(&label).unwrap();
            }
            Step::RemoveDump(_) => {}
            Step::Compact => open().compact().unwrap(),
        }
        say("done", number);
    }
}

/// Pages after the first `steps` steps, oldest first.
fn model(seed: u64, steps: u64) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    let add = |pages: &mut Vec<Page>, page: Page| {
        let kept = !pages
            .iter()
            .any(|known| known.kept && known.bits(page.sketch) <= 3);
        pages.push(Page { kept, ..page });
    };
    for number in 0..steps {
        match step(seed, number) {
            Step::Build(added) | Step::Add(added) => {
                for page in added {
                    let is_there = pages.iter().any(|known| {
                        (&known.id, known.sketch, &known.dump)
                            == (&page.id, page.sketch, &page.dump)
                    });
                    if !is_there {
                        add(&mut pages, page);
                    }
                }
            }
            Step::Remove(ids) => pages.retain(|page| !ids.contains(&page.id)),
            Step::RemoveDump(label) => {
                let first = pages.iter().position(|page| page.dump == label);
                let later = pages.split_off(first.unwrap_or(pages.len()));
                for page in later.into_iter().filter(|page| page.dump != label) {
                    add(&mut pages, page);
                }
            }
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
    let (mut found, dumps) = (Vec::new(), index.info().dumps);
    index
        .for_each(|_, record| {
            found.push(Page {
                id: record.entry.id.to_vec(),
                sketch: record.entry.sketch.try_into().unwrap(),
                payload: record.entry.payload.to_vec(),
                dump: dumps[record.dump as usize].clone(),
                kept: record.standing == Standing::Kept,
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
        let asked = Entry {
            sketch: &query,
            ..Entry::default()
        };
        let answer = &index.seen(&[asked], 10_000).unwrap()[0];
        let is_near = |page: &&Page| page.kept && page.bits(query) <= 3;
        let near: Vec<&Page> = found.iter().filter(is_near).collect();
        let near = near.iter().map(|page| &page.id);
        assert!(
            answer.matches.iter().map(|found| &found.id).eq(near),
            "query {place}"
        );
    }
    println!("steps {}", done + state as u64);
}
