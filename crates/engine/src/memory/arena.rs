//! Memory for data that is kept from one reading to the next.

use memmap2::MmapMut;
use simtool_files::page_cache::take_huge_pages;

use crate::{Budget, Reservation};

/// The size of a slab: large enough for huge pages, small compared with a usual budget.
const SLAB_BYTES: usize = 16 << 20;
/// The alignment of stored data.
const ALIGNMENT: usize = 16;

/// Append-only memory of one thread, taken from a [`Budget`] slab by slab and freed as a whole.
///
/// Slabs request huge pages: first accesses to ordinary pages took a fifth of the counting time.
/// The first slab does not, as a small job uses little of it.
#[derive(Debug)]
pub struct Arena<'a> {
    budget: &'a Budget,
    leave: u64,
    slabs: Vec<(MmapMut, Reservation<'a>)>,
    /// Bytes in use of the last slab.
    used: usize,
}

/// The position of stored data in an arena.
#[derive(Clone, Copy, Debug)]
pub struct ArenaSlot {
    slab: usize,
    start: usize,
    len: usize,
}

impl<'a> Arena<'a> {
    /// The bytes that `len` bytes of data occupy.
    pub fn padded(len: usize) -> usize {
        len.next_multiple_of(ALIGNMENT)
    }

    /// An arena that takes slabs as long as at least `leave` bytes of `budget` remain free.
    pub fn new(budget: &'a Budget, leave: u64) -> Arena<'a> {
        Arena {
            budget,
            leave,
            slabs: Vec::new(),
            used: SLAB_BYTES,
        }
    }

    /// Stores `parts`, each [padded](Arena::padded). `None` if there is no memory for them, or if
    /// they are larger than a slab.
    pub fn store(&mut self, parts: &[&[u8]]) -> Option<ArenaSlot> {
        let len = parts.iter().map(|part| Arena::padded(part.len())).sum();
        if self.used + len > SLAB_BYTES {
            self.add_slab(len)?;
        }
        let (slab, start) = (self.slabs.len().checked_sub(1)?, self.used);
        let memory = &mut self.slabs[slab].0;
        for part in parts {
            memory[self.used..][..part.len()].copy_from_slice(part);
            self.used += Arena::padded(part.len());
        }
        Some(ArenaSlot { slab, start, len })
    }

    fn add_slab(&mut self, len: usize) -> Option<()> {
        if len > SLAB_BYTES {
            return None;
        }
        let reservation = self.budget.reserve(SLAB_BYTES as u64, self.leave)?;
        let slab = MmapMut::map_anon(SLAB_BYTES).ok()?;
        if !self.slabs.is_empty() {
            take_huge_pages(&slab);
        }
        self.slabs.push((slab, reservation));
        self.used = 0;
        Some(())
    }

    /// The data that was stored at `slot` of this arena, aligned to 16 bytes.
    pub fn get(&self, slot: ArenaSlot) -> &[u8] {
        &self.slabs[slot.slab].0[slot.start..slot.start + slot.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_data_is_read_back() {
        let budget = Budget::new(3 * SLAB_BYTES as u64);
        let mut arena = Arena::new(&budget, SLAB_BYTES as u64);
        let large = vec![7; SLAB_BYTES - 100];
        let places: Vec<_> = [&b"abc"[..], &large, b"", &large]
            .map(|part| arena.store(&[part, b"!"]))
            .into_iter()
            .map(|slot| arena.get(slot.unwrap()))
            .collect();
        assert_eq!(places[0][..17], *b"abc\0\0\0\0\0\0\0\0\0\0\0\0\0!");
        assert_eq!(places[1][..large.len()], large);
        assert_eq!(places[2][0], b'!');
        assert_eq!(places[3][..large.len()], large);
        assert!(
            places
                .iter()
                .all(|slot| slot.as_ptr().addr().is_multiple_of(ALIGNMENT))
        );
        assert!(arena.store(&[&large]).is_none(), "the budget is spent");
        assert!(
            arena.store(&[&[0; SLAB_BYTES + 1]]).is_none(),
            "larger than a slab"
        );
        drop(arena);
        assert_eq!(budget.free(), 3 * SLAB_BYTES as u64);
    }
}
