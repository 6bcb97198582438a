//! The occurrences of one unit.

use bytemuck::cast_slice;

use super::occurrence::Occurrence;
use crate::{Error, ErrorKind, Result};
use simtool_engine::spill_space::SpillSpace;
use simtool_files::Spool;

/// The most occurrences that all threads together hold in memory.
pub const MOST_HELD: usize = 1 << 18;
/// The most sites that are counted.
pub const MOST_SITES: usize = 1 << 16;

/// The occurrences of one unit, in the order of their places.
pub struct UnitOccurrences<'a> {
    space: SpillSpace<'a>,
    /// The most occurrences that are held in memory; more are written to a temporary file.
    most_held: usize,
    held: Vec<Occurrence>,
    spool: Option<Spool>,
    sites: Vec<u64>,
    /// The counts of all occurrences.
    pub counts: GroupCounts,
}

/// Counts of the occurrences of one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupCounts {
    /// The first occurrence.
    pub first: Option<Occurrence>,
    /// All occurrences.
    pub count: u64,
    /// Documents with an occurrence.
    pub documents: u64,
    /// The document of the last occurrence.
    last: Option<u32>,
}

impl<'a> UnitOccurrences<'a> {
    /// A group without occurrences, which holds `most_held` in memory.
    pub fn new(space: SpillSpace<'a>, most_held: usize) -> UnitOccurrences<'a> {
        UnitOccurrences {
            space,
            most_held,
            held: Vec::new(),
            spool: None,
            sites: Vec::new(),
            counts: GroupCounts::default(),
        }
    }

    /// Adds the next occurrence.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn push(&mut self, occurrence: Occurrence) -> Result<()> {
        let counts = &mut self.counts;
        counts.first.get_or_insert(occurrence);
        counts.count += 1;
        counts.documents += u64::from(counts.last != Some(occurrence.document));
        counts.last = Some(occurrence.document);
        if self.held.len() == self.most_held {
            self.spill()?;
        }
        self.held.push(occurrence);
        Ok(())
    }

    /// The number of different sites, at most [`MOST_SITES`]; documents without one do not count.
    pub fn sites(&mut self) -> u64 {
        self.note_sites();
        self.sites.len() as u64
    }

    /// Passes all occurrences to `visit`, in order, and removes them.
    ///
    /// # Errors
    /// [`ErrorKind::Write`]; [`ErrorKind::Read`]; those of `visit`.
    pub fn drain(&mut self, mut visit: impl FnMut(&Occurrence) -> Result<()>) -> Result<()> {
        if let Some(spool) = self.spool.take() {
            let spooled = spool.finish()?;
            let size = size_of::<Occurrence>() as u64;
            let (mut at, mut block) = (0, Vec::new());
            while at < spooled.bytes() {
                let bytes = (spooled.bytes() - at).min(4096 * size);
                spooled.read_at(at, bytes as usize, &mut block)?;
                for record in block.chunks_exact(size as usize) {
                    let record = bytemuck::try_pod_read_unaligned(record).map_err(|_| {
                        Error::new(ErrorKind::Content, "an occurrence of a unit is cut")
                    })?;
                    visit(&record)?;
                }
                at += bytes;
            }
        }
        self.held.iter().try_for_each(visit)?;
        self.clear();
        Ok(())
    }

    /// Removes all occurrences.
    pub fn clear(&mut self) {
        self.held.clear();
        self.spool = None;
        self.sites.clear();
        self.counts = GroupCounts::default();
    }

    fn spill(&mut self) -> Result<()> {
        self.note_sites();
        let spool = match &mut self.spool {
            Some(spool) => spool,
            none => none.insert(self.space.spool()?),
        };
        spool.append(cast_slice(&self.held))?;
        self.held.clear();
        Ok(())
    }

    /// Adds the sites of the held occurrences.
    fn note_sites(&mut self) {
        if self.sites.len() >= MOST_SITES {
            return;
        }
        let sites = self.held.iter().map(|occurrence| occurrence.site);
        self.sites.extend(sites.filter(|site| *site != 0));
        self.sites.sort_unstable();
        self.sites.dedup();
        self.sites.truncate(MOST_SITES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (Repeated units): Memory and threads change no byte, with …
    #[test]
    fn long_groups_are_counted_and_come_back_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let space = SpillSpace {
            directory: directory.path(),
            memory_bytes: 1 << 20,
        };
        let mut group = UnitOccurrences::new(space, MOST_HELD);
        let count = 2 * MOST_HELD as u32 + 5;
        for _ in 0..2 {
            for number in 0..count {
                let occurrence = Occurrence {
                    key: [1, 2],
                    document: number / 3,
                    start: number % 3,
                    length: 1,
                    _reserved: 0,
                    site: u64::from(number % 7),
                };
                group.push(occurrence).unwrap();
            }
            assert_eq!(group.counts.count, u64::from(count));
            assert_eq!(group.counts.documents, u64::from(count.div_ceil(3)));
            assert_eq!(group.sites(), 6);
            let mut next = 0;
            let visit = |occurrence: &Occurrence| {
                assert_eq!(
                    (occurrence.document, occurrence.start),
                    (next / 3, next % 3)
                );
                next += 1;
                Ok(())
            };
            group.drain(visit).unwrap();
            assert_eq!(next, count);
            assert_eq!(group.counts, GroupCounts::default());
        }
    }
}
