//! Sketches and sets of documents, read again.

use std::collections::BTreeMap;

use simtool_core::Result;
use xxhash_rust::xxh3::xxh3_64;

use super::sets::{HEADS, SETS};
use crate::context::Context;
use crate::records::Head;
use crate::work::{TaskFile, damaged};

/// The sketches and sets of the documents of a home.
pub struct SetStore<'c> {
    context: &'c Context<'c>,
    /// By ranks.
    heads: Vec<Head>,
    files: BTreeMap<u64, TaskFile>,
}

/// A sketch and a set.
#[derive(Clone, Debug, Default)]
pub struct SketchAndSet {
    bytes: Vec<u8>,
    sketch: usize,
    /// The set, sorted.
    pub set: Vec<u64>,
}

/// The bytes before a sketch: a digest, the length of the sketch, and whether the document is crowded.
const HEADER: usize = 16;

impl SketchAndSet {
    /// The sketch.
    pub fn sketch(&self) -> &[u8] {
        &self.bytes[HEADER..HEADER + self.sketch]
    }

    /// All bytes, as they are stored.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads what is stored; `None` if it is damaged.
    pub fn read(bytes: Vec<u8>) -> Option<SketchAndSet> {
        let (digest, rest) = bytes.split_first_chunk()?;
        let length: [u8; 4] = *rest.first_chunk()?;
        let sketch = u32::from_le_bytes(length) as usize;
        let (set, partial) = bytes.get(HEADER + sketch..)?.as_chunks::<8>();
        if xxh3_64(rest) != u64::from_le_bytes(*digest) || !partial.is_empty() {
            return None;
        }
        let set = set.iter().map(|shingle| u64::from_le_bytes(*shingle));
        Some(SketchAndSet {
            set: set.collect(),
            sketch,
            bytes,
        })
    }
}

impl<'c> SetStore<'c> {
    /// The sketches and sets of the documents of a home.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn of(context: &'c Context<'c>, home: usize) -> Result<SetStore<'c>> {
        let mut heads: Vec<Head> = context.inbox("sets").all(HEADS, home)?;
        heads.sort_unstable();
        Ok(SetStore {
            context,
            heads,
            files: BTreeMap::new(),
        })
    }

    /// The documents, by ranks.
    pub fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// The sketch and the set of a document.
    ///
    /// # Errors
    /// Errors of reading, also if it has none.
    pub fn get(&mut self, rank: i64) -> Result<SketchAndSet> {
        let found = self.heads.binary_search_by_key(&rank, |head| head.rank);
        match found.ok().map(|place| self.heads[place]) {
            Some(head) => self.read(&head),
            None => Err(damaged(&self.context.work.path("sets"))),
        }
    }

    /// The sketch and the set at a place.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn read(&mut self, head: &Head) -> Result<SketchAndSet> {
        let file = match self.files.entry(head.task) {
            std::collections::btree_map::Entry::Occupied(file) => file.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(self.context.inbox("sets").file(head.task as usize)?)
            }
        };
        let mut bytes = vec![0; head.length as usize];
        file.bytes_at(SETS, head.offset, &mut bytes)?;
        SketchAndSet::read(bytes).ok_or_else(|| damaged(file.path()))
    }
}
