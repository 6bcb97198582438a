//! Snapshots: the sealed and recent documents of an index, and the removals.

use std::sync::Arc;

use ahash::{AHashMap, AHashSet};

use crate::Result;
use crate::recent::Recent;
use crate::record::{Name, NearCopy, Record, Standing};
use crate::segment::Segment;
use crate::storage::database::{ListedSegment, RECENT};

/// Where a document is: the part of the snapshot (the recent documents follow the segments), and
/// its number there. Older documents have smaller locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    pub part: u32,
    pub number: u32,
}

/// A segment with its number in the database's list and the ordinal of its first document.
#[derive(Clone)]
pub struct Part {
    pub number: u64,
    pub first: u64,
    pub segment: Arc<Segment>,
}

impl Part {
    /// Its entry in the database.
    pub fn listed(&self) -> ListedSegment {
        ListedSegment {
            number: self.number,
            identity: self.segment.identity(),
            documents: self.segment.documents(),
        }
    }
}

/// One state of the index. A clone shares what does not change.
#[derive(Clone)]
pub struct Snapshot {
    /// Oldest documents first.
    pub parts: Vec<Part>,
    pub recent: Recent,
    /// By the number of a segment, or [`RECENT`].
    pub removed: AHashMap<u64, Arc<AHashSet<u32>>>,
    /// The labels of the dumps, by number.
    pub dumps: Arc<Vec<String>>,
    /// The seed of the hashes of names and keys.
    pub seed: u64,
}

impl Snapshot {
    /// The number in the database of the segment at index `part`, or [`RECENT`] for the recent
    /// documents.
    pub fn number_of(&self, part: u32) -> u64 {
        self.parts
            .get(part as usize)
            .map_or(RECENT, |part| part.number)
    }

    /// Whether the segment with this number in the database is a part.
    pub fn has(&self, number: u64) -> bool {
        self.parts.iter().any(|part| part.number == number)
    }

    /// The ordinal of the first recent document.
    pub fn first_recent(&self) -> u64 {
        let last = self.parts.last();
        last.map_or(0, |part| part.first + u64::from(part.segment.documents()))
    }

    /// The number of documents that were ever added: the ordinal of the next one.
    pub fn next_ordinal(&self) -> u64 {
        self.first_recent() + u64::from(self.recent.len())
    }

    /// The ordinal of the first document of a part.
    pub fn first_of(&self, part: u32) -> u64 {
        let part = self.parts.get(part as usize);
        part.map_or_else(|| self.first_recent(), |part| part.first)
    }

    /// Where the document with this ordinal is.
    pub fn location(&self, ordinal: u64) -> Location {
        let part = match ordinal >= self.first_recent() {
            true => self.parts.len(),
            false => self.parts.partition_point(|part| part.first <= ordinal) - 1,
        };
        let part = part as u32;
        let number = u32::try_from(ordinal - self.first_of(part)).unwrap_or(u32::MAX);
        Location { part, number }
    }

    /// The number of documents, without removed ones.
    pub fn documents(&self) -> u64 {
        let gone = self.parts.iter().map(|part| part.segment.removed());
        let gone: u64 = gone.map(u64::from).sum();
        let removed: usize = self.removed.values().map(|removed| removed.len()).sum();
        self.next_ordinal() - gone - removed as u64
    }

    /// The document at `location`; `None` if it was removed.
    pub fn live(&self, location: Location) -> Result<Option<Record<'_>>> {
        let removed = self.removed.get(&self.number_of(location.part));
        if removed.is_some_and(|removed| removed.contains(&location.number)) {
            return Ok(None);
        }
        let record = match self.parts.get(location.part as usize) {
            Some(part) => part.segment.record(location.number)?,
            None => self.recent.record(location.number).unwrap_or_default(),
        };
        Ok(Some(record).filter(|record| record.standing != Standing::Removed))
    }

    /// The document with this ordinal; `None` if it was removed.
    pub fn get(&self, ordinal: u64) -> Result<Option<Record<'_>>> {
        match ordinal < self.next_ordinal() {
            true => self.live(self.location(ordinal)),
            false => Ok(None),
        }
    }

    /// Calls `visit` with the ordinal of every document from `first` on that was not removed.
    pub fn for_each(
        &self,
        first: u64,
        mut visit: impl FnMut(u64, &Record<'_>) -> Result<()>,
    ) -> Result<()> {
        for ordinal in first..self.next_ordinal() {
            if let Some(record) = self.get(ordinal)? {
                visit(ordinal, &record)?;
            }
        }
        let mut segments = self.parts.iter().map(|part| &part.segment);
        segments.try_for_each(|segment| segment.unchanged())
    }

    /// The ordinals of the documents with a name of this hash, ascending; others may be among them,
    /// and removed ones.
    pub fn with_name(&self, name: Name<'_>) -> Result<Vec<u64>> {
        let hash = name.hash(self.seed);
        let mut found: Vec<u64> = Vec::new();
        let first = self.first_recent();
        found.extend(
            self.recent
                .with_name(hash)
                .map(|number| first + u64::from(number)),
        );
        for part in self.parts.iter().rev() {
            part.segment.with_names(&[(hash, 0)], |_, numbers| {
                found.extend(numbers.iter().map(|number| part.first + u64::from(*number)));
                Ok(())
            })?;
        }
        found.sort_unstable();
        Ok(found)
    }

    /// The number of documents that were added as copies of the one with this ordinal, without removed
    /// ones, which a merge forgets, and the ordinal of the last of them.
    pub fn copies(&self, kept: u64) -> Result<(u64, Option<u64>)> {
        let hash = Name::CopyOf(kept).hash(self.seed);
        let (mut count, mut last) = (0, None);
        for part in &self.parts {
            let (in_part, last_there) = match self.removed.get(&part.number) {
                None => part.segment.count_named(hash)?,
                Some(removed) => {
                    let (mut count, mut last) = (0, None);
                    part.segment.with_names(&[(hash, 0)], |_, numbers| {
                        let is_there = |number: &&u32| !removed.contains(*number);
                        last = numbers.iter().rev().find(is_there).copied();
                        count = numbers.len() as u64;
                        if (removed.len() as u64) > count {
                            count = numbers.iter().filter(is_there).count() as u64;
                            return Ok(());
                        }
                        let is_listed = |number: &&u32| numbers.binary_search(number).is_ok();
                        count -= removed.iter().filter(is_listed).count() as u64;
                        Ok(())
                    })?;
                    (count, last)
                }
            };
            count += in_part;
            last = last_there
                .map(|number| part.first + u64::from(number))
                .or(last);
        }
        let removed = self.removed.get(&RECENT);
        for number in self.recent.with_name(hash) {
            if removed.is_some_and(|removed| removed.contains(&number)) {
                continue;
            }
            count += 1;
            last = Some(self.first_recent() + u64::from(number));
        }
        Ok((count, last))
    }

    /// The ordinals of the documents called `id`, ascending.
    pub fn find(&self, id: &[u8]) -> Result<Vec<u64>> {
        let mut found = self.with_name(Name::Id(id))?;
        let mut failed = Ok(());
        found.retain(|ordinal| match self.get(*ordinal) {
            Ok(record) => record.is_some_and(|record| record.entry.id == id),
            Err(error) => {
                failed = Err(error);
                false
            }
        });
        failed.map(|()| found)
    }

    /// Whether a first document with its words still has the kept document that it is a copy of.
    pub fn is_followed(&self, record: &Record<'_>) -> Result<bool> {
        Ok(match record.standing {
            Standing::Near(NearCopy { kept, .. }) => self.get(kept)?.is_some(),
            _ => record.is_first(),
        })
    }
}

/// The sketch of a document: its own, or that of the first one with its words. `get` returns the
/// record of an ordinal, unless it was removed.
pub fn sketch_of<'s>(
    record: &Record<'s>,
    get: &dyn Fn(u64) -> Result<Option<Record<'s>>>,
) -> Result<&'s [u8]> {
    Ok(match record.standing {
        Standing::Same { first, .. } if record.shares_sketch => {
            // Of a damaged index, the ordinals may be wrong.
            let first = get(first)?.filter(|first| first.entry.words == record.entry.words);
            first.map_or(&[], |first| first.entry.sketch)
        }
        _ => record.entry.sketch,
    })
}
