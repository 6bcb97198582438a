//! The words of a unit, kept so that its fingerprints need no second reading.

use bytemuck::{Pod, Zeroable, cast_slice};

use simtool_core::vocabulary::{Lookup, Term};
use simtool_engine::{Arena, ArenaSlot};

/// The words of a unit's pages: slots of the lexicon, and optionally words outside it:
/// by key, or as terms if they are too long for a key.
#[derive(Debug, Default)]
pub(super) struct Words {
    pages: Vec<PageEnd>,
    ids: Vec<u8>,
    slots: Vec<u16>,
    keys: Vec<u64>,
    terms: Vec<Term>,
}

/// The end of a page in each of the lists.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct PageEnd {
    id: u32,
    slots: u32,
    keys: u32,
    terms: u32,
}

/// [`Words`] stored in an arena.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredWords {
    place: ArenaSlot,
    /// Bytes of each list.
    bytes: [u32; 5],
}

/// [`Words`] read from an arena.
#[derive(Clone, Copy)]
pub(super) struct KeptWords<'a> {
    pages: &'a [PageEnd],
    ids: &'a [u8],
    slots: &'a [u16],
    keys: &'a [u64],
    terms: &'a [Term],
}

/// One page of [`KeptWords`].
pub(super) struct PageWords<'a> {
    pub(super) id: &'a [u8],
    pub(super) slots: &'a [u16],
    pub(super) keys: &'a [u64],
    pub(super) terms: &'a [Term],
}

impl Words {
    /// Longer units are not kept. This bounds the memory of a thread, and lets list positions fit
    /// into 32 bits.
    pub(super) const MOST_UNIT_BYTES: usize = 2 << 20;

    pub(super) fn clear(&mut self) {
        self.pages.clear();
        self.ids.clear();
        self.slots.clear();
        self.keys.clear();
        self.terms.clear();
    }

    pub(super) fn add(&mut self, lookup: &Lookup, missed: bool) {
        for slots in lookup.slots() {
            self.slots.extend_from_slice(slots);
        }
        if missed {
            self.keys.extend_from_slice(lookup.missed_keys());
            self.terms.extend_from_slice(lookup.missed_terms());
        }
    }

    pub(super) fn end_page(&mut self, id: &[u8]) {
        self.ids.extend_from_slice(id);
        self.pages.push(PageEnd {
            id: self.ids.len() as u32,
            slots: self.slots.len() as u32,
            keys: self.keys.len() as u32,
            terms: self.terms.len() as u32,
        });
    }

    /// Stores the words if there is enough memory.
    pub(super) fn keep(&self, arena: &mut Arena<'_>) -> Option<StoredWords> {
        let parts: [&[u8]; 5] = [
            cast_slice(&self.pages),
            &self.ids,
            cast_slice(&self.slots),
            cast_slice(&self.keys),
            cast_slice(&self.terms),
        ];
        let place = arena.store(&parts)?;
        Some(StoredWords {
            place,
            bytes: parts.map(|part| part.len() as u32),
        })
    }
}

impl StoredWords {
    /// The words, from the arena that stores them.
    pub(super) fn words<'a>(&self, arena: &'a Arena<'_>) -> KeptWords<'a> {
        let mut rest = arena.get(self.place);
        let mut next = |bytes: u32| {
            let (part, behind) = rest.split_at(Arena::padded(bytes as usize));
            rest = behind;
            &part[..bytes as usize]
        };
        let [pages, ids, slots, keys, terms] = self.bytes.map(&mut next);
        KeptWords {
            pages: cast_slice(pages),
            ids,
            slots: cast_slice(slots),
            keys: cast_slice(keys),
            terms: cast_slice(terms),
        }
    }
}

impl<'a> KeptWords<'a> {
    /// All words that the lexicon missed.
    pub(super) fn missed(self) -> (&'a [u64], &'a [Term]) {
        (self.keys, self.terms)
    }

    pub(super) fn pages(self) -> impl Iterator<Item = PageWords<'a>> {
        let starts = std::iter::once(PageEnd::default()).chain(self.pages.iter().copied());
        starts.zip(self.pages).map(move |(start, end)| PageWords {
            id: &self.ids[start.id as usize..end.id as usize],
            slots: &self.slots[start.slots as usize..end.slots as usize],
            keys: &self.keys[start.keys as usize..end.keys as usize],
            terms: &self.terms[start.terms as usize..end.terms as usize],
        })
    }
}
