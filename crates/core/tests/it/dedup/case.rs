//! Collections of sketches with the verdicts about all pairs.

use proptest::prelude::*;
use rayon::prelude::*;
use simtool_core::dedup::{Parallel, Verdict};
use simtool_core::kernel::Level;
use simtool_core::search::join::SketchIndex;
use simtool_core::sketch::{Compare, Score, Shape, Sketches};
use simtool_core::text::LeastSimilarity;

/// Hamming distance at most 3, found as fingerprints or by the bytes of the sketch.
#[derive(Clone, Copy, Debug)]
pub struct Within3 {
    pub bytes: usize,
    pub by_keys: bool,
    /// Whether the method does not declare that all sketches have one length.
    pub any_length: bool,
}

pub const METHODS: [Within3; 6] = [
    Within3 {
        bytes: 8,
        by_keys: false,
        any_length: false,
    },
    Within3 {
        bytes: 16,
        by_keys: false,
        any_length: false,
    },
    Within3 {
        bytes: 4,
        by_keys: false,
        any_length: false,
    },
    Within3 {
        bytes: 8,
        by_keys: true,
        any_length: false,
    },
    Within3 {
        bytes: 5,
        by_keys: true,
        any_length: false,
    },
    Within3 {
        bytes: 5,
        by_keys: true,
        any_length: true,
    },
];

impl Compare for Within3 {
    fn name(&self) -> &'static str {
        "within 3"
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn shape(&self) -> Shape {
        match self.by_keys {
            true => Shape::Keys,
            false => Shape::Bits {
                width: 8 * self.bytes as u32,
                distance: 3,
            },
        }
    }

    fn sketch_bytes(&self) -> Option<usize> {
        (!self.any_length).then_some(self.bytes)
    }

    fn keys(&self, sketch: &[u8], emit: &mut dyn FnMut(u64)) {
        assert_eq!(sketch.len(), self.bytes);
        for (byte, place) in sketch.iter().zip(0..) {
            emit(u64::from(*byte) << 8 | place);
        }
    }

    fn score(&self, a: &[u8], b: &[u8]) -> Score {
        let differing = a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones());
        Score::Distance(differing.sum())
    }

    fn accepts(&self, score: &Score) -> bool {
        *score <= Score::Distance(3)
    }
}

pub struct Rayon(pub rayon::ThreadPool);

impl Rayon {
    pub fn new(threads: usize) -> Rayon {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        Rayon(builder.build().unwrap())
    }
}

impl Parallel for Rayon {
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
        self.0.install(|| items.par_iter_mut().for_each(work));
    }
}

/// SplitMix64; a seed determines a case.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        scramble(self.0)
    }
}

pub fn scramble(bits: u64) -> u64 {
    let mixed = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

#[derive(Clone, Copy, Debug)]
pub enum Spread {
    Uniform,
    Clustered,
    Chain,
    AllEqual,
}

pub const SPREADS: [Spread; 4] = [
    Spread::Uniform,
    Spread::Clustered,
    Spread::Chain,
    Spread::AllEqual,
];

/// The starts of `count` sketches of `bytes` bytes each, and the end of the last.
pub fn sketch_borders(count: usize, bytes: usize) -> Vec<u64> {
    (0..=count as u64)
        .map(|number| number * bytes as u64)
        .collect()
}

/// The sketches of a case, concatenated.
pub fn sketches(spread: Spread, count: usize, bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut last = [0x5A; 16];
    let mut all = Vec::new();
    for _ in 0..count {
        let flips = match spread {
            Spread::Uniform => {
                last.fill_with(|| random.next() as u8);
                0
            }
            Spread::Clustered => {
                let mut centre = Random(seed ^ (random.next() % 6));
                last.fill_with(|| centre.next() as u8);
                random.next() % 5
            }
            Spread::Chain => random.next() % 3,
            Spread::AllEqual => 0,
        };
        for _ in 0..flips {
            let bit = random.next() as usize % (8 * bytes);
            last[bit / 8] ^= 1 << (bit % 8);
        }
        all.extend_from_slice(&last[..bytes]);
    }
    all
}

/// A collection with its verdicts: by sets if there are any, else one in `one_in` is a refusal.
#[derive(Debug)]
pub struct Case {
    pub method: Within3,
    pub sketches: Vec<u8>,
    /// The start of each sketch, and the end of the last.
    pub borders: Vec<u64>,
    pub partitions: Vec<u64>,
    pub one_in: u64,
    /// A set for each document, or none at all.
    pub sets: Vec<Vec<u64>>,
}

/// The least similarity of two sets that are copies.
pub const LEAST: u32 = 800;

impl Case {
    pub fn count(&self) -> u64 {
        (self.sketches.len() / self.method.bytes) as u64
    }

    pub fn sketch(&self, rank: u64) -> &[u8] {
        &self.sketches[rank as usize * self.method.bytes..][..self.method.bytes]
    }

    pub fn partitions(&self, from: u64, to: u64) -> &[u64] {
        match self.partitions.is_empty() {
            true => &[],
            false => &self.partitions[from as usize..to as usize],
        }
    }

    pub fn verdict(&self, a: u64, b: u64) -> Verdict {
        assert!(a < b);
        if !self.sets.is_empty() {
            let [a, b] = [a, b].map(|rank| &self.sets[rank as usize][..]);
            let reached = LeastSimilarity::resemblance(LEAST).reached(a, b);
            return reached.map_or(Verdict::Refused, Verdict::Same);
        }
        match scramble(a << 32 | b) % self.one_in {
            0 => Verdict::Refused,
            _ => Verdict::Same((b, b + 1)),
        }
    }

    pub fn near(&self, a: u64, b: u64) -> Option<Score> {
        let score = self.method.score(self.sketch(a), self.sketch(b));
        let together = self.partitions.is_empty()
            || self.partitions[a as usize] == self.partitions[b as usize];
        Some(score).filter(|score| together && self.method.accepts(score))
    }

    pub fn index<'a>(&'a self, from: u64, to: u64, memory_bytes: usize) -> SketchIndex<'a> {
        let sketches = self.all(from, to);
        SketchIndex::build(&self.method, sketches, memory_bytes, Level::best()).unwrap()
    }

    /// The sketches of consecutive ranks.
    pub fn all(&self, from: u64, to: u64) -> Sketches<'_> {
        let bytes = self.method.bytes;
        let sketches = &self.sketches[from as usize * bytes..to as usize * bytes];
        match self.method.any_length {
            true => Sketches::between(sketches, &self.borders[from as usize..=to as usize]),
            false => Sketches::of_length(sketches, bytes),
        }
    }
}

pub fn cases() -> impl Strategy<Value = Case> {
    let choices = (0..METHODS.len(), 0..SPREADS.len(), 0..3usize, any::<bool>());
    (choices, 0..90usize, any::<u64>(), 1..6u64).prop_map(|(choices, count, seed, one_in)| {
        let method = METHODS[choices.0];
        let mut random = Random(!seed);
        Case {
            method,
            sketches: sketches(SPREADS[choices.1], count, method.bytes, seed),
            borders: sketch_borders(count, method.bytes),
            partitions: match choices.2 {
                0 => (0..count).map(|_| random.next() % 3).collect(),
                _ => Vec::new(),
            },
            // With 1, every pair is refused; with the maximum, none is.
            one_in: if one_in == 5 { u64::MAX } else { one_in },
            sets: match choices.3 {
                true => (0..count).map(|_| template_page(&mut random)).collect(),
                false => Vec::new(),
            },
        }
    })
}

/// The set of a page: most of the elements of a template, and some of its own.
pub fn template_page(random: &mut Random) -> Vec<u64> {
    let missing = random.next() % 6;
    let own = random.next() % 14;
    let common = (missing..50).map(scramble);
    let mut set: Vec<u64> = common.chain((0..own).map(|_| random.next())).collect();
    set.sort();
    set
}
