//! The words of a unit, kept so that its fingerprints need no second reading.

use crate::run::Reservation;
use crate::vocabulary::{Lookup, Term};

/// The words of a unit's pages: slots of the first lexicon, and what it missed.
#[derive(Debug, Default)]
pub(super) struct Words {
    pages: Vec<PageEnd>,
    ids: Vec<u8>,
    slots: Vec<u16>,
    keys: Vec<u64>,
    terms: Vec<Term>,
}

/// Where a page ends in each of the lists.
#[derive(Clone, Copy, Debug, Default)]
struct PageEnd {
    id: u32,
    slots: u32,
    keys: u32,
    terms: u32,
}

/// One page of [`Words`].
pub(super) struct PageWords<'a> {
    pub(super) id: &'a [u8],
    pub(super) slots: &'a [u16],
    pub(super) keys: &'a [u64],
    pub(super) terms: &'a [Term],
}

/// Words of a unit and the memory they were granted.
#[derive(Debug)]
pub(super) struct Kept<'a> {
    pub(super) words: Words,
    _memory: Reservation<'a>,
}

impl Words {
    /// Units longer than this are not kept: it bounds what a thread gathers at a time, and all
    /// list positions fit 32 bits.
    pub(super) const MOST_UNIT_BYTES: usize = 4 << 20;

    pub(super) fn clear(&mut self) {
        self.pages.clear();
        self.ids.clear();
        self.slots.clear();
        self.keys.clear();
        self.terms.clear();
    }

    pub(super) fn add(&mut self, lookup: &Lookup) {
        for slots in lookup.slots() {
            self.slots.extend_from_slice(slots);
        }
        self.keys.extend_from_slice(lookup.missed_keys());
        self.terms.extend_from_slice(lookup.missed_terms());
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

    pub(super) fn bytes(&self) -> u64 {
        let lists = size_of_val(&self.pages[..]) + self.ids.len() + size_of_val(&self.slots[..]);
        (lists + size_of_val(&self.keys[..]) + size_of_val(&self.terms[..])) as u64
    }

    /// A copy without spare room.
    pub(super) fn keep<'a>(&self, memory: Reservation<'a>) -> Kept<'a> {
        let words = Words {
            pages: self.pages.clone(),
            ids: self.ids.clone(),
            slots: self.slots.clone(),
            keys: self.keys.clone(),
            terms: self.terms.clone(),
        };
        Kept {
            words,
            _memory: memory,
        }
    }

    /// All words that the lexicon missed.
    pub(super) fn missed(&self) -> (&[u64], &[Term]) {
        (&self.keys, &self.terms)
    }

    pub(super) fn pages(&self) -> impl Iterator<Item = PageWords<'_>> {
        let starts = std::iter::once(PageEnd::default()).chain(self.pages.iter().copied());
        starts.zip(&self.pages).map(|(start, end)| PageWords {
            id: &self.ids[start.id as usize..end.id as usize],
            slots: &self.slots[start.slots as usize..end.slots as usize],
            keys: &self.keys[start.keys as usize..end.keys as usize],
            terms: &self.terms[start.terms as usize..end.terms as usize],
        })
    }
}
