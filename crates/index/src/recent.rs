//! Documents that are not sealed yet, in memory.

use std::sync::Arc;

use ahash::AHashMap;

use super::answer::Entry;
use super::form::{Form, Queries};
use super::nearest::{Admit, Nearest};
use super::permutation::Value;
use super::record;
use crate::Result;
use crate::kernel::Level;
use crate::kernel::hamming::{Hit, TILE, Threshold};
use crate::sketch::{Compare, Score, Verification};

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
    /// Each chunk, with the number of its first document.
    chunks: Vec<(u32, Arc<Chunk>)>,
}

/// Some documents, numbered from 0.
#[derive(Clone, Debug, Default)]
struct Chunk {
    records: Vec<Box<[u8]>>,
    bytes: usize,
    /// The last document of each id.
    ids: AHashMap<Box<[u8]>, u32>,
    narrow: RecentFingerprints<u64>,
    wide: RecentFingerprints<u128>,
    keys: AHashMap<u64, Vec<u32>>,
}

#[derive(Clone, Debug, Default)]
struct RecentFingerprints<F> {
    values: Vec<F>,
    numbers: Vec<u32>,
}

impl Recent {
    /// No documents.
    pub fn new(form: Form) -> Recent {
        Recent {
            form,
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
    pub fn push(&mut self, entry: &Entry<'_>, method: &dyn Compare) {
        let last = self.chunks.last();
        if !last.is_some_and(|(_, last)| last.has_space_for(1, 0)) {
            self.chunks.push((self.len(), Arc::default()));
        }
        if let Some((_, last)) = self.chunks.last_mut() {
            Arc::make_mut(last).push(entry, method, self.form);
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

    /// Document number `number`.
    pub fn document(&self, number: u32) -> Option<Entry<'_>> {
        record::decode(self.record(number)?)
    }

    /// The record of document `number`, as the database keeps it.
    pub fn record(&self, number: u32) -> Option<&[u8]> {
        let next = self.chunks.partition_point(|(first, _)| *first <= number);
        let (first, chunk) = self.chunks.get(next.checked_sub(1)?)?;
        let record = chunk.records.get((number - first) as usize);
        record.map(|record| &record[..])
    }

    /// The last document called `id`, removed or not.
    pub fn find(&self, id: &[u8]) -> Option<u32> {
        let mut newest_first = self.chunks.iter().rev();
        newest_first.find_map(|(first, chunk)| Some(first + chunk.ids.get(id)?))
    }

    /// Gives every query the nearest documents that `admit` does not refuse.
    pub fn search(
        &self,
        method: &dyn Compare,
        queries: &Queries<'_>,
        admit: &Admit<'_>,
        out: &mut [Nearest],
    ) -> Result<()> {
        let (width, k) = self.form.bits();
        match queries {
            Queries::Narrow(values) => {
                for (first, chunk) in &self.chunks {
                    chunk
                        .narrow
                        .search(values, (width, k), *first, admit, out)?;
                }
            }
            Queries::Wide(values) => {
                for (first, chunk) in &self.chunks {
                    chunk.wide.search(values, (width, k), *first, admit, out)?;
                }
            }
            Queries::Keys(sketches) => {
                for (query, (sketch, nearest)) in sketches.iter().zip(out).enumerate() {
                    self.search_keys(method, sketch, &|number| admit(query, number), nearest)?;
                }
            }
        }
        Ok(())
    }

    fn search_keys(
        &self,
        method: &dyn Compare,
        sketch: &[u8],
        admit: &dyn Fn(u32) -> Result<Verification>,
        nearest: &mut Nearest,
    ) -> Result<()> {
        let mut numbers = Vec::new();
        method.keys(sketch, &mut |key| {
            for (first, chunk) in &self.chunks {
                let with_key = chunk.keys.get(&key).into_iter().flatten();
                numbers.extend(with_key.map(|number| first + number));
            }
        });
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            let Some(entry) = self.document(number) else {
                continue;
            };
            let score = method.score(sketch, entry.sketch);
            if method.accepts(&score) {
                nearest.push(score, number, admit(number)?);
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

    fn push(&mut self, entry: &Entry<'_>, method: &dyn Compare, form: Form) {
        let number = self.len();
        let mut bytes = Vec::new();
        record::encode(entry, &mut bytes);
        self.bytes += bytes.len();
        self.records.push(bytes.into());
        self.ids.insert(entry.id.into(), number);
        if entry.sketch.is_empty() {
            return;
        }
        match form {
            Form::Narrow { width, .. } => self.narrow.push(entry.sketch, width, number),
            Form::Wide { width, .. } => self.wide.push(entry.sketch, width, number),
            Form::Keys => method.keys(entry.sketch, &mut |key| {
                self.keys.entry(key).or_default().push(number);
            }),
        }
    }

    fn append(&mut self, other: Chunk) {
        let first = self.len();
        self.bytes += other.bytes;
        self.records.extend(other.records);
        let ids = other.ids.into_iter();
        self.ids
            .extend(ids.map(|(id, number)| (id, first + number)));
        self.narrow.append(other.narrow, first);
        self.wide.append(other.wide, first);
        for (key, numbers) in other.keys {
            let known = self.keys.entry(key).or_default();
            known.extend(numbers.iter().map(|number| first + number));
        }
    }
}

impl<F: Value> RecentFingerprints<F> {
    fn push(&mut self, sketch: &[u8], width: u32, number: u32) {
        self.values.push(F::of_sketch(sketch, width));
        self.numbers.push(number);
    }

    fn append(&mut self, other: RecentFingerprints<F>, first: u32) {
        self.values.extend(other.values);
        let numbers = other.numbers.iter();
        self.numbers.extend(numbers.map(|number| first + number));
    }

    fn search(
        &self,
        queries: &[F],
        (width, k): (u32, u32),
        first: u32,
        admit: &Admit<'_>,
        out: &mut [Nearest],
    ) -> Result<()> {
        let kernels = F::kernels(Level::best());
        let near = Threshold {
            mask: F::low_bits(width),
            k,
        };
        let mut lists: [Vec<Hit>; TILE] = Default::default();
        let tiles = queries.chunks(TILE).zip(out.chunks_mut(TILE));
        for ((queries, out), tile) in tiles.zip((0..).step_by(TILE)) {
            match queries.try_into() {
                Ok(tile) => (kernels.scan_tile)(&self.values, tile, near, 0, &mut lists),
                Err(_) => {
                    for (query, hits) in queries.iter().zip(&mut lists) {
                        (kernels.scan)(&self.values, *query, near, 0, hits);
                    }
                }
            }
            for ((hits, nearest), query) in lists.iter_mut().zip(out).zip(tile..) {
                for hit in hits.drain(..) {
                    let number = first + self.numbers[hit.position as usize];
                    let score = Score::Distance(hit.distance);
                    nearest.push(score, number, admit(query, number)?);
                }
            }
        }
        Ok(())
    }
}
