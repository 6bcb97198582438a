//! Documents that are not sealed yet, in memory.

use std::sync::Arc;

use ahash::AHashMap;

use crate::Result;
use crate::form::{Form, Queries};
use crate::found::Offer;
use crate::kernel::Level;
use crate::kernel::hamming::{Hit, TILE, Threshold};
use crate::permutation::Value;
use crate::record::Record;
use crate::segment::key_hashes;
use crate::sketch::{Compare, Score};

/// A chunk is full at this number of documents, or if their records exceed this number of bytes.
const CHUNK_DOCUMENTS: u32 = 4096;
const CHUNK_BYTES: usize = 1 << 20;

/// The youngest documents, numbered from 0: a copy of what the database holds of them.
///
/// They are kept in chunks. If a snapshot in use shares them, an addition copies the last chunk
/// only. Fingerprints are compared one by one: 65 536 of them take some microseconds.
#[derive(Clone, Debug)]
pub struct Recent {
    form: Form,
    /// The seed of the hashes of names and keys.
    seed: u64,
    /// Each chunk, with the number of its first document.
    chunks: Vec<(u32, Arc<Chunk>)>,
}

/// Some documents, numbered from 0.
#[derive(Clone, Debug, Default)]
struct Chunk {
    records: Vec<Box<[u8]>>,
    bytes: usize,
    names: AHashMap<u64, Vec<u32>>,
    narrow: RecentFingerprints<u64>,
    wide: RecentFingerprints<u128>,
    keys: AHashMap<u64, Vec<u32>>,
}

/// Fingerprints with the numbers of their documents.
#[derive(Clone, Debug, Default)]
pub struct RecentFingerprints<F> {
    values: Vec<F>,
    numbers: Vec<u32>,
}

impl Recent {
    /// No documents.
    pub fn new(form: Form, seed: u64) -> Recent {
        Recent {
            form,
            seed,
            chunks: Vec::new(),
        }
    }

    /// The number of documents, including removed ones.
    pub fn len(&self) -> u32 {
        let last = self.chunks.last();
        last.map_or(0, |(first, chunk)| first + chunk.len())
    }

    /// The number of bytes of their records.
    pub fn bytes(&self) -> usize {
        self.chunks.iter().map(|(_, chunk)| chunk.bytes).sum()
    }

    /// Adds a document.
    pub fn push(&mut self, record: &Record<'_>, method: &dyn Compare) {
        let last = self.chunks.last();
        if !last.is_some_and(|(_, last)| last.has_space_for(1, 0)) {
            self.chunks.push((self.len(), Arc::default()));
        }
        let (form, seed) = (self.form, self.seed);
        if let Some((_, last)) = self.chunks.last_mut() {
            Arc::make_mut(last).push(record, method, form, seed);
        }
    }

    /// Adds all documents of `other`, in order.
    pub fn append(&mut self, other: Recent) {
        for (_, chunk) in other.chunks {
            let first = self.len();
            match self.chunks.last_mut() {
                Some((_, last)) if last.has_space_for(chunk.len(), chunk.bytes) => {
                    Arc::make_mut(last).append(Arc::unwrap_or_clone(chunk));
                }
                _ => self.chunks.push((first, chunk)),
            }
        }
    }

    /// The record of document number `number`.
    pub fn record(&self, number: u32) -> Option<Record<'_>> {
        Record::decode(self.bytes_of(number)?)
    }

    /// Its bytes, as the database keeps them.
    pub fn bytes_of(&self, number: u32) -> Option<&[u8]> {
        let next = self.chunks.partition_point(|(first, _)| *first <= number);
        let (first, chunk) = self.chunks.get(next.checked_sub(1)?)?;
        let record = chunk.records.get((number - first) as usize);
        record.map(|record| &record[..])
    }

    /// The documents with the [name](crate::record::Name) of this hash, ascending, removed or not.
    pub fn with_name(&self, name: u64) -> impl DoubleEndedIterator<Item = u32> {
        self.chunks.iter().flat_map(move |(first, chunk)| {
            let numbers = chunk.names.get(&name).into_iter().flatten();
            numbers.map(move |number| first + number)
        })
    }

    /// Appends the documents with a key of this hash to `numbers`.
    pub fn with_key(&self, key: u64, numbers: &mut Vec<u32>) {
        for (first, chunk) in &self.chunks {
            let with_key = chunk.keys.get(&key).into_iter().flatten();
            numbers.extend(with_key.map(|number| first + number));
        }
    }

    /// Offers the documents with a fingerprint near those of `queries`.
    pub fn search(&self, queries: &Queries, offer: &mut Offer<'_>) -> Result<()> {
        let bits = self.form.bits();
        for (first, chunk) in &self.chunks {
            match queries {
                Queries::Narrow(values) => chunk.narrow.search(values, bits, *first, offer)?,
                Queries::Wide(values) => chunk.wide.search(values, bits, *first, offer)?,
            }
        }
        Ok(())
    }
}

impl Chunk {
    fn len(&self) -> u32 {
        self.records.len() as u32
    }

    fn has_space_for(&self, documents: u32, bytes: usize) -> bool {
        self.len() + documents <= CHUNK_DOCUMENTS && self.bytes + bytes <= CHUNK_BYTES
    }

    fn push(&mut self, record: &Record<'_>, method: &dyn Compare, form: Form, seed: u64) {
        let number = self.len();
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        self.bytes += bytes.len();
        self.records.push(bytes.into());
        for name in record.names(seed) {
            self.names.entry(name).or_default().push(number);
        }
        if !record.is_compared() {
            return;
        }
        let sketch = record.entry.sketch;
        match form {
            Form::Narrow { width, .. } => self.narrow.push(sketch, width, number),
            Form::Wide { width, .. } => self.wide.push(sketch, width, number),
            Form::Keys => {
                let mut hashes = Vec::new();
                key_hashes(method, sketch, seed, &mut hashes);
                for key in hashes {
                    self.keys.entry(key).or_default().push(number);
                }
            }
        }
    }

    fn append(&mut self, other: Chunk) {
        let first = self.len();
        self.bytes += other.bytes;
        self.records.extend(other.records);
        self.narrow.append(other.narrow, first);
        self.wide.append(other.wide, first);
        let both = [(&mut self.names, other.names), (&mut self.keys, other.keys)];
        for (known, other) in both {
            for (hash, numbers) in other {
                let known = known.entry(hash).or_default();
                known.extend(numbers.iter().map(|number| first + number));
            }
        }
    }
}

impl<F: Value> RecentFingerprints<F> {
    /// Adds the fingerprint of document number `number`.
    pub fn push(&mut self, sketch: &[u8], width: u32, number: u32) {
        self.values.push(F::of_sketch(sketch, width));
        self.numbers.push(number);
    }

    fn append(&mut self, other: RecentFingerprints<F>, first: u32) {
        self.values.extend(other.values);
        let numbers = other.numbers.iter();
        self.numbers.extend(numbers.map(|number| first + number));
    }

    /// Offers the documents near `queries`, whose numbers count from `first`, in order for each.
    pub fn search(
        &self,
        queries: &[F],
        (width, k): (u32, u32),
        first: u32,
        offer: &mut Offer<'_>,
    ) -> Result<()> {
        let kernels = F::kernels(Level::best());
        let near = Threshold {
            mask: F::low_bits(width),
            k,
        };
        let mut lists: [Vec<Hit>; TILE] = Default::default();
        for (queries, tile) in queries.chunks(TILE).zip((0..).step_by(TILE)) {
            match queries.try_into() {
                Ok(tile) => (kernels.scan_tile)(&self.values, tile, near, 0, &mut lists),
                Err(_) => {
                    for (query, hits) in queries.iter().zip(&mut lists) {
                        (kernels.scan)(&self.values, *query, near, 0, hits);
                    }
                }
            }
            for (hits, query) in lists.iter_mut().zip(tile..) {
                for hit in hits.drain(..) {
                    let number = first + self.numbers[hit.position as usize];
                    if !offer(query, number, Score::Distance(hit.distance))? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}
