//! The sorted entries of many documents: hashes with the numbers of documents.

use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};
use rayon::slice::{ParallelSlice as _, ParallelSliceMut as _};

use crate::Result;
use crate::record::Record;
use crate::segment::lists::{self, Entries};
use crate::sketch::Compare;

/// The hash of a name or a key, and the number of a document that has it.
pub type HashOf = (u64, u32);

/// The fewest items that a thread processes at a time, if there are more.
const LEAST_PIECE: usize = 512;

/// The hashes of the keys of sketches, each with the number of its item: ascending, each once. Empty
/// sketches have none. Uses the current rayon pool if there are many.
pub fn keys_of<T: Sync>(
    items: &[T],
    sketch: impl Fn(&T) -> &[u8] + Sync,
    method: &dyn Compare,
    seed: u64,
) -> Vec<HashOf> {
    entries_of(items, |item, hashes| {
        let sketch = sketch(item);
        if !sketch.is_empty() {
            method.append_keys(sketch, hashes);
        }
        for key in hashes {
            *key = lists::hash(&key.to_le_bytes(), seed);
        }
    })
}

/// The entries of new documents in the lists of a segment.
pub struct NewEntries {
    names: Vec<HashOf>,
    keys: Vec<HashOf>,
}

impl NewEntries {
    /// Of documents with these [keys](keys_of).
    pub fn new(records: &[Record<'_>], keys: Vec<HashOf>, seed: u64) -> NewEntries {
        let names = entries_of(records, |record, hashes| hashes.extend(record.names(seed)));
        NewEntries { names, keys }
    }

    /// The entries of names and of keys, in order, if the first document has the number `first`.
    pub fn lists(&self, first: u32) -> [Entries<'_>; 2] {
        [&self.names, &self.keys].map(|list| {
            let entries = list.iter();
            Entries {
                most: list.len() as u64,
                entries: Box::new(
                    entries.map(move |(hash, number)| Ok([*hash, u64::from(first + number)])),
                ),
            }
        })
    }
}

/// The hashes that `each` appends for items, with their numbers: ascending, each once.
fn entries_of<T: Sync>(items: &[T], each: impl Fn(&T, &mut Vec<u64>) + Sync) -> Vec<HashOf> {
    let in_order = in_pieces(items, |first, piece| {
        let (mut entries, mut hashes) = (Vec::new(), Vec::new());
        for (number, item) in (first as u32..).zip(piece) {
            hashes.clear();
            each(item, &mut hashes);
            entries.extend(hashes.iter().map(|hash| (*hash, number)));
        }
        Ok(entries)
    });
    let mut entries = in_order.unwrap_or_default().concat();
    sort(&mut entries, |entry| *entry);
    entries.dedup();
    entries
}

/// Applies `work` to pieces of `items`, with the place of the first of each; in parallel if there are
/// many. Results are in order.
pub fn in_pieces<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(usize, &[T]) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if items.len() <= LEAST_PIECE {
        return Ok(vec![work(0, items)?]);
    }
    let piece = items.len().div_ceil(rayon::current_num_threads());
    let piece = piece.max(LEAST_PIECE);
    let pieces = items.par_chunks(piece).enumerate();
    pieces
        .map(|(number, items)| work(number * piece, items))
        .collect()
}

/// Sorts by a key; in parallel if there are many.
pub fn sort<T: Send, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    match items.len() <= LEAST_PIECE {
        true => items.sort_unstable_by_key(key),
        false => items.par_sort_unstable_by_key(key),
    }
}
