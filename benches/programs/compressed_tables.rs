//! Time and space of compressed tables of fingerprints. Compares sorted 64-bit fingerprints in the
//! format of Manku, Jain and Das Sarma (WWW 2007) with plain and quotiented ones. A query decodes
//! its bucket, all fingerprints with its leading 16 bits, into a buffer and counts those within 3
//! bits.
//!
//! - plain: 8 bytes each, and the start of each bucket. Quotiented: 6 bytes, without the bits of
//!   the bucket.
//! - compressed: blocks of 1024 bytes. The first fingerprint is stored whole; each successor as the
//!   highest bit in which it differs from its predecessor, Huffman coded, and the XOR below that
//!   bit. The last fingerprints of all blocks form an index, which finds the block of a bucket.
//!
//! One thread, 0.2 GB of memory, 10 s. Each time is a median of CPU times. Linux only. `cargo run
//! --release --example compressed_tables [COUNT]`

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::array::from_fn;

const QUERIES: usize = 100_000;
const ROUNDS: usize = 5;
/// The number of bits of a fingerprint below those of its bucket.
const REST: u32 = 48;
const BUCKETS: u64 = 1 << (64 - REST);
const BLOCK: usize = 1024;
/// The maximum width of a load, which may start in the last byte of a block.
const LOAD: usize = 16;
const LONGEST: u32 = 15;
/// Codes up to this length use the start of the table, which stays in the L1 cache.
const SHORT: u32 = 12;

/// The bytes of a table, and the function that decodes a bucket into a buffer (with space for one
/// more) and returns its length.
type Form<'t> = (usize, Box<dyn Fn(u64, &mut [u64]) -> usize + 't>);

fn range(starts: &[u32], prefix: u64) -> std::ops::Range<usize> {
    starts[prefix as usize] as usize..starts[prefix as usize + 1] as usize
}

fn plain<'t>(table: &'t [u64], starts: &'t [u32]) -> Form<'t> {
    let bucket = |prefix, buffer: &mut [u64]| {
        let found = &table[range(starts, prefix)];
        buffer[..found.len()].copy_from_slice(found);
        found.len()
    };
    (size_of_val(table) + size_of_val(starts), Box::new(bucket))
}

fn quotiented<'t>(table: &[u64], starts: &'t [u32]) -> Form<'t> {
    const WIDTH: usize = REST as usize / 8;
    let rest = |value: &u64| value.to_le_bytes().into_iter().take(WIDTH);
    // Eight bytes are read at a time, two beyond the last.
    let rests: Vec<u8> = table.iter().flat_map(rest).chain([0; 2]).collect();
    let bytes = rests.len() + size_of_val(starts);
    let bucket = move |prefix, buffer: &mut [u64]| {
        let range = range(starts, prefix);
        let words = rests[range.start * WIDTH..].windows(8).step_by(WIDTH);
        for (value, word) in buffer[..range.len()].iter_mut().zip(words) {
            let word = u64::from_le_bytes(word.try_into().unwrap());
            *value = prefix << REST | word & ((1 << REST) - 1);
        }
        range.len()
    };
    (bytes, Box::new(bucket))
}

/// Lengths of the optimal prefix code of at most `LONGEST` bits (package-merge). Unused symbols get
/// long codes, at almost no cost to the others.
fn lengths(counts: &[usize; 64]) -> [u32; 64] {
    let leaves: [_; 64] = from_fn(|symbol| (counts[symbol].max(1), vec![symbol]));
    let mut packages = vec![];
    for _ in 0..LONGEST {
        let join = |p: &[(_, Vec<_>)]| (p[0].0 + p[1].0, [&*p[0].1, &p[1].1].concat());
        let pairs = packages.chunks_exact(2).map(join);
        packages = leaves.iter().cloned().chain(pairs).collect();
        packages.sort();
    }
    let mut lengths = [0; 64];
    for (_, symbols) in packages.iter().take(2 * leaves.len() - 2) {
        symbols.iter().for_each(|&symbol| lengths[symbol] += 1);
    }
    lengths
}

/// Canonical codes of these lengths, first bit lowest. The table is indexed by the next `LONGEST`
/// bits. It has the length of the code at their start, and that length plus the bits below the
/// position, so that one addition leads to the next code.
fn code(lengths: &[u32; 64]) -> ([u128; 64], Vec<[u8; 2]>) {
    let reverse = |bits: usize| bits.reverse_bits() >> (usize::BITS - LONGEST);
    let mut order: [usize; 64] = from_fn(|symbol| symbol);
    order.sort_by_key(|&symbol| lengths[symbol]);
    let (mut codes, mut table) = ([0; 64], vec![]);
    for symbol in order {
        codes[symbol] = reverse(table.len()) as u128;
        let entry = [lengths[symbol], lengths[symbol] + symbol as u32].map(|n| n as u8);
        let times = 1 << (LONGEST - lengths[symbol]);
        table.extend(std::iter::repeat_n(entry, times));
    }
    let table = (0..table.len()).map(|bits| table[reverse(bits)]).collect();
    (codes, table)
}

struct Compressed {
    blocks: Vec<u8>,
    /// The last fingerprint of each block.
    last: Vec<u64>,
    lookup: Vec<[u8; 2]>,
}

impl Compressed {
    /// The first block whose last fingerprint is not below `value`.
    fn block(&self, value: u64) -> usize {
        let (mut from, mut to, mut low, mut high) = (0, self.last.len(), 0, u64::MAX);
        // With skewed fingerprints, interpolation gets close and then stops converging.
        for _ in 0..8 {
            let share = (value - low) as f64 / (high - low) as f64;
            let middle = from + (share * (to - from) as f64) as usize;
            match self.last[..to].get(middle) {
                Some(&last) if last < value => (from, low) = (middle + 1, last),
                Some(&last) => (to, high) = (middle, last),
                None => break,
            }
        }
        from + self.last[from..to].partition_point(|&last| last < value)
    }

    /// The successor of `value`, whose code starts at bit `at`.
    #[inline(always)]
    fn next(&self, block: &[u8; BLOCK + LOAD], at: &mut usize, value: u64) -> u64 {
        let (byte, bit) = (*at / 8, *at % 8);
        let word = u64::from_le_bytes(block[byte..byte + 8].try_into().unwrap()) >> bit;
        let [mut length, mut total] = self.lookup[word as usize % (1 << SHORT)];
        if u32::from(length) > SHORT {
            [length, total] = self.lookup[word as usize % (1 << LONGEST)];
        }
        *at += usize::from(total);
        let mut below = word >> length;
        // The number of valid bits of a load, for any start within a byte.
        if total > 57 {
            let word = u128::from_le_bytes(block[byte..byte + LOAD].try_into().unwrap());
            below = (word >> bit >> length) as u64;
        }
        let highest = 1 << (total - length);
        value ^ (highest | below & (highest - 1))
    }

    fn bucket(&self, prefix: u64, buffer: &mut [u64]) -> usize {
        let (lower, upper) = (prefix << REST, prefix << REST | ((1 << REST) - 1));
        let mut length = 0;
        for number in self.block(lower)..self.last.len() {
            let block = self.blocks[number * BLOCK..].first_chunk().unwrap();
            let (mut at, mut value) = (64, u64::from_le_bytes(*block.first_chunk().unwrap()));
            while value < lower {
                value = self.next(block, &mut at, value);
            }
            // One comparison finds the end of the bucket and of the block.
            let end = upper.min(self.last[number]);
            while value < end {
                buffer[length] = value;
                length += 1;
                value = self.next(block, &mut at, value);
            }
            // This one may be beyond the bucket.
            buffer[length] = value;
            length += usize::from(value <= upper);
            if self.last[number] >= upper {
                break;
            }
        }
        length
    }
}

fn compressed(table: &[u64]) -> Form<'static> {
    let mut counts = [0; 64];
    for pair in table.windows(2) {
        counts[(pair[0] ^ pair[1]).ilog2() as usize] += 1;
    }
    let lengths = lengths(&counts);
    let (codes, lookup) = code(&lengths);
    let bits: usize = (0..64).map(|i| counts[i] * lengths[i] as usize).sum();
    println!("codes of {:.2} bits", bits as f64 / table.len() as f64);
    let (mut blocks, mut last) = (vec![0; LOAD], vec![]);
    // In bits; initially full, so that the first fingerprint starts a block.
    let (mut at, mut end, mut previous) = (0, 0, 0);
    for &value in table {
        let differing: u64 = previous ^ value;
        let position = differing.max(1).ilog2() as usize;
        let (code, length) = (codes[position], lengths[position] as usize);
        if at + length + position <= end {
            let bits = u128::from(differing ^ 1 << position) << length | code;
            let bytes: &mut [u8; LOAD] = blocks[at / 8..].first_chunk_mut().unwrap();
            *bytes = (u128::from_le_bytes(*bytes) | bits << (at % 8)).to_le_bytes();
            at += length + position;
        } else {
            last.extend((end > 0).then_some(previous));
            blocks.resize(end / 8 + BLOCK + LOAD, 0);
            blocks[end / 8..][..8].copy_from_slice(&value.to_le_bytes());
            (at, end) = (end + 64, end + BLOCK * 8);
        }
        previous = value;
    }
    last.push(previous);
    let bytes = blocks.len() + size_of_val(&last[..]);
    let table = Compressed {
        blocks,
        last,
        lookup,
    };
    let bucket = move |prefix, buffer: &mut [u64]| table.bucket(prefix, buffer);
    (bytes, Box::new(bucket))
}

/// SplitMix64.
fn mix(seed: u64) -> u64 {
    let mixed = (seed ^ seed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

fn generate(number: usize, skewed: bool) -> u64 {
    let seed = mix(number as u64 + 1);
    let set = |bit: u64| mix(seed ^ (bit * 0x9E37)) & 255 < 5 + bit * 249 / 63;
    let bits = (0..64).map(|bit| u64::from(set(bit)) << bit);
    if skewed { bits.sum() } else { seed }
}

/// `count` fingerprints, sorted and distinct, and queries, half of which are in the table.
fn data(count: usize, skewed: bool) -> (Vec<u64>, Vec<u64>) {
    let all = (0..count + QUERIES / 2).map(|number| generate(number, skewed));
    let mut all: Vec<u64> = all.collect();
    if skewed {
        // Bits in order of descending entropy, from the highest bit on.
        let ones = |bit: &usize| all.iter().filter(|&v| v >> bit & 1 == 1).count();
        let mut order: [usize; 64] = from_fn(|bit| bit);
        order.sort_by_cached_key(|bit| ones(bit).abs_diff(all.len() / 2));
        let reorder = |v: u64| order.iter().fold(0, |bits, bit| bits << 1 | v >> bit & 1);
        all.iter_mut().for_each(|value| *value = reorder(*value));
    }
    let strange = all.split_off(count);
    let pair = |(i, strange)| [all[mix(i) as usize % count], strange];
    let queries = (0..).zip(strange).flat_map(pair).collect();
    all.sort_unstable();
    all.dedup();
    (all, queries)
}

/// The CPU time of this thread in nanoseconds. Yielding updates the kernel's count.
fn processor() -> f64 {
    std::thread::yield_now();
    let account = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    account.split(' ').next().unwrap().parse().unwrap()
}

fn compare(count: usize, skewed: bool) {
    let (table, mut queries) = data(count, skewed);
    println!("\n{} fingerprints, skewed: {skewed}", table.len());
    let start = |prefix| table.partition_point(|value| value >> REST < prefix) as u32;
    let starts: Vec<u32> = (0..=BUCKETS).map(start).collect();
    let (plain, quotiented) = (plain(&table, &starts), quotiented(&table, &starts));
    let forms = [plain, quotiented, compressed(&table)];
    let mut buffer = vec![0; table.len() + 1];
    for prefix in 0..BUCKETS {
        for (_, bucket) in &forms {
            let length = bucket(prefix, &mut buffer);
            assert_eq!(buffer[..length], table[range(&starts, prefix)]);
        }
    }
    let size = |query: &u64| range(&starts, query >> REST).len();
    let mean = queries.iter().map(size).sum::<usize>() as f64 / QUERIES as f64;
    let mut times = [[[0.0; ROUNDS]; 2]; 3];
    for order in 0..2 {
        let mut expected = None;
        // In rounds, so that other load on the machine affects all formats equally.
        for round in 0..ROUNDS {
            for ((_, bucket), times) in forms.iter().zip(&mut times) {
                let start = processor();
                let count = |query: &u64| {
                    let length = bucket(query >> REST, &mut buffer);
                    let near = |value: &&u64| (*value ^ query).count_ones() <= 3;
                    buffer[..length].iter().filter(near).count()
                };
                let counts: Vec<usize> = queries.iter().map(count).collect();
                times[order][round] = (processor() - start) / QUERIES as f64 / mean;
                assert_eq!(expected.get_or_insert(counts.clone()), &counts);
            }
        }
        queries.sort_unstable();
    }
    println!("{mean:.1} a query; bytes, ns in random order, ns sorted");
    let median = |mut all: [f64; ROUNDS]| *all.select_nth_unstable_by(ROUNDS / 2, f64::total_cmp).1;
    let names = ["plain", "quotiented", "compressed"];
    for ((name, (bytes, _)), times) in names.iter().zip(&forms).zip(times) {
        let [random, sorted] = times.map(median);
        let bytes = *bytes as f64 / table.len() as f64;
        println!("{name:12} {bytes:8.3} {random:8.2} {sorted:8.2}");
    }
}

fn main() {
    let count = std::env::args().nth(1);
    let count = count.map_or(10_000_000, |count| count.parse().unwrap());
    compare(count, false);
    compare(count, true);
}
