//! Documents that are not sealed yet, in memory.

use ahash::AHashMap;

use super::form::{Form, Queries};
use super::nearest::Nearest;
use super::permutation::Value;
use super::{Entry, record};
use crate::kernel::Level;
use crate::kernel::hamming::{Hit, TILE, Threshold};
use crate::sketch::{Compare, Score};

/// The youngest documents, with numbers from 0; a copy of what the database holds of them.
///
/// Fingerprints are compared one by one: 65 536 of them take some microseconds.
#[derive(Clone, Debug)]
pub struct Recent {
    records: Vec<Box<[u8]>>,
    bytes: usize,
    /// The last document of each id.
    ids: AHashMap<Box<[u8]>, u32>,
    form: Form,
    narrow: Fingerprints<u64>,
    wide: Fingerprints<u128>,
    keys: AHashMap<u64, Vec<u32>>,
}

#[derive(Clone, Debug, Default)]
struct Fingerprints<F> {
    values: Vec<F>,
    numbers: Vec<u32>,
}

impl Recent {
    /// None.
    pub fn new(form: Form) -> Recent {
        Recent {
            records: Vec::new(),
            bytes: 0,
            ids: AHashMap::new(),
            form,
            narrow: Fingerprints::default(),
            wide: Fingerprints::default(),
            keys: AHashMap::new(),
        }
    }

    /// How many there are, removed ones included.
    pub fn len(&self) -> u32 {
        self.records.len() as u32
    }

    /// How many bytes their records take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a document.
    pub fn push(&mut self, entry: &Entry<'_>, method: &dyn Compare) {
        let number = self.len();
        let mut bytes = Vec::new();
        record::encode(entry, &mut bytes);
        self.bytes += bytes.len();
        self.records.push(bytes.into());
        self.ids.insert(entry.id.into(), number);
        if entry.sketch.is_empty() {
            return;
        }
        match self.form {
            Form::Narrow { .. } => self.narrow.push(entry.sketch, number),
            Form::Wide { .. } => self.wide.push(entry.sketch, number),
            Form::Keys => method.keys(entry.sketch, &mut |key| {
                self.keys.entry(key).or_default().push(number);
            }),
        }
    }

    /// Adds all documents of `other`, in order.
    pub fn append(&mut self, other: Recent) {
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

    /// Document number `number`.
    pub fn document(&self, number: u32) -> Option<Entry<'_>> {
        record::decode(self.records.get(number as usize)?)
    }

    /// The record of document `number`, as the database keeps it.
    pub fn record(&self, number: u32) -> Option<&[u8]> {
        self.records.get(number as usize).map(|record| &record[..])
    }

    /// The last document called `id`, removed or not.
    pub fn find(&self, id: &[u8]) -> Option<u32> {
        self.ids.get(id).copied()
    }

    /// Gives every query the nearest documents for which `live` holds.
    pub fn search(
        &self,
        method: &dyn Compare,
        queries: &Queries<'_>,
        live: &dyn Fn(u32) -> bool,
        out: &mut [Nearest],
    ) {
        let (width, k) = self.form.bits();
        match queries {
            Queries::Narrow(values) => self.narrow.search(values, width, k, live, out),
            Queries::Wide(values) => self.wide.search(values, width, k, live, out),
            Queries::Keys(sketches) => {
                for (sketch, nearest) in sketches.iter().zip(out) {
                    self.search_keys(method, sketch, live, nearest);
                }
            }
        }
    }

    fn search_keys(
        &self,
        method: &dyn Compare,
        sketch: &[u8],
        live: &dyn Fn(u32) -> bool,
        nearest: &mut Nearest,
    ) {
        let mut numbers = Vec::new();
        method.keys(sketch, &mut |key| {
            numbers.extend(self.keys.get(&key).into_iter().flatten().copied());
        });
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers.into_iter().filter(|number| live(*number)) {
            let Some(entry) = self.document(number) else {
                continue;
            };
            let score = method.score(sketch, entry.sketch);
            if method.accepts(&score) {
                nearest.push(score, number);
            }
        }
    }
}

impl<F: Value> Fingerprints<F> {
    fn push(&mut self, sketch: &[u8], number: u32) {
        self.values.push(F::of_bytes(sketch));
        self.numbers.push(number);
    }

    fn append(&mut self, other: Fingerprints<F>, first: u32) {
        self.values.extend(other.values);
        let numbers = other.numbers.iter();
        self.numbers.extend(numbers.map(|number| first + number));
    }

    fn search(
        &self,
        queries: &[F],
        width: u32,
        k: u32,
        live: &dyn Fn(u32) -> bool,
        out: &mut [Nearest],
    ) {
        let kernels = F::kernels(Level::best());
        let near = Threshold {
            mask: F::low_bits(width),
            k,
        };
        let mut lists: [Vec<Hit>; TILE] = Default::default();
        for (queries, out) in queries.chunks(TILE).zip(out.chunks_mut(TILE)) {
            match queries.try_into() {
                Ok(tile) => (kernels.scan_tile)(&self.values, tile, near, 0, &mut lists),
                Err(_) => {
                    for (query, hits) in queries.iter().zip(&mut lists) {
                        (kernels.scan)(&self.values, *query, near, 0, hits);
                    }
                }
            }
            for (hits, nearest) in lists.iter_mut().zip(out) {
                for hit in hits.drain(..) {
                    let number = self.numbers[hit.position as usize];
                    if live(number) {
                        nearest.push(Score::Distance(hit.distance), number);
                    }
                }
            }
        }
    }
}
