//! Snapshots: the sealed and recent documents of an index, and the removals.

use std::sync::Arc;

use ahash::{AHashMap, AHashSet};

use super::answer::Entry;
use super::form::Form;
use super::nearest::{Found, Nearest};
use super::recent::Recent;
use super::segment::{MANY, Segment, SegmentScratch};
use crate::Result;
use crate::io::Source;
use crate::sketch::{Compare, Verification, Verifier};
use crate::storage::database::{ListedSegment, RECENT};

/// Where a document is: the part of the snapshot (the recent documents follow the segments), and
/// its number there. Older documents have smaller locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    pub part: u32,
    pub number: u32,
}

/// A segment and its number in the database's list.
#[derive(Clone)]
pub struct Part {
    pub number: u64,
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
}

impl Snapshot {
    /// The number in the database of the segment at index `part`, or [`RECENT`] for the recent
    /// documents.
    pub fn number_of(&self, part: u32) -> u64 {
        self.parts
            .get(part as usize)
            .map_or(RECENT, |part| part.number)
    }

    /// Whether a document was not removed.
    pub fn is_live(&self, location: Location) -> bool {
        let removed = self.removed.get(&self.number_of(location.part));
        !removed.is_some_and(|removed| removed.contains(&location.number))
    }

    /// The number of documents, without removed ones.
    pub fn documents(&self) -> u64 {
        let sealed: u64 = self
            .parts
            .iter()
            .map(|part| u64::from(part.segment.documents()))
            .sum();
        let removed: usize = self.removed.values().map(|removed| removed.len()).sum();
        sealed + u64::from(self.recent.len()) - removed as u64
    }

    /// The document at `location`.
    pub fn document(&self, location: Location) -> Result<Entry<'_>> {
        match self.parts.get(location.part as usize) {
            Some(part) => part.segment.document(location.number),
            None => Ok(self.recent.document(location.number).unwrap_or_default()),
        }
    }

    /// Calls `visit` with every document that was not removed, oldest first.
    pub fn for_each(&self, mut visit: impl FnMut(&Entry<'_>) -> Result<()>) -> Result<()> {
        for part in 0..=self.parts.len() as u32 {
            let segment = self.parts.get(part as usize).map(|part| &part.segment);
            let count = segment.map_or(self.recent.len(), |segment| segment.documents());
            for number in 0..count {
                let location = Location { part, number };
                if self.is_live(location) {
                    visit(&self.document(location)?)?;
                }
            }
            segment.map_or(Ok(()), |segment| segment.unchanged())?;
        }
        Ok(())
    }

    /// Calls `visit` with the number of the query and every match with its document, query by query. Prefetches the documents of later matches.
    pub fn for_each_found(
        &self,
        found: &mut [Nearest],
        mut visit: impl FnMut(usize, &Found, Entry<'_>) -> Result<()>,
    ) -> Result<()> {
        let count: usize = found.iter_mut().map(|nearest| nearest.finish().len()).sum();
        let source = |part: &Part| match count < MANY {
            true => Source::Memory,
            false => part.segment.source(),
        };
        let sources: Vec<Source> = self.parts.iter().map(source).collect();
        let slowest = sources.iter().find(|source| **source == Source::Disk);
        let steps = slowest.map_or(Source::Memory.steps(), |source| source.steps());
        let of_query = |(query, nearest)| {
            let nearest: &Nearest = nearest;
            nearest.found().iter().map(move |found| (query, found))
        };
        let all = || found.iter().enumerate().flat_map(of_query);
        let segment = |part: u32| {
            let part = part as usize;
            Some((&self.parts.get(part)?.segment, *sources.get(part)?))
        };
        let location = |(_, Found { part, number, .. }): (usize, &Found)| {
            if let Some((segment, source)) = segment(*part) {
                segment.prefetch_location(*number, source);
            }
        };
        let document = |(_, Found { part, number, .. }): (usize, &Found)| match segment(*part) {
            Some((segment, source)) => segment.prefetch_document(*number, source),
            None => Ok(()),
        };
        let (mut places, mut documents) = (all(), all());
        places.by_ref().take(steps).for_each(location);
        documents.by_ref().take(steps / 2).try_for_each(document)?;
        for (query, found) in all() {
            places.next().map(location);
            documents.next().map_or(Ok(()), document)?;
            let &Found { part, number, .. } = found;
            visit(query, found, self.document(Location { part, number })?)?;
        }
        Ok(())
    }

    /// The location of the document called `id`.
    pub fn find(&self, id: &[u8]) -> Result<Option<Location>> {
        let part = self.parts.len() as u32;
        let recent = self.recent.find(id).map(|number| Location { part, number });
        if let Some(location) = recent.filter(|location| self.is_live(*location)) {
            return Ok(Some(location));
        }
        for part in (0..self.parts.len() as u32).rev() {
            let live = |number| self.is_live(Location { part, number });
            let segment = &self.parts[part as usize].segment;
            if let Some(number) = segment.find(id, live)? {
                return Ok(Some(Location { part, number }));
            }
        }
        Ok(None)
    }

    /// For each sketch, the nearest documents that were not removed, for which `wanted` holds, and
    /// that the method does not find to be different; no sketch may be empty.
    pub fn search(
        &self,
        method: &dyn Compare,
        form: Form,
        sketches: &[&[u8]],
        limit: usize,
        wanted: &dyn Fn(Location) -> bool,
    ) -> Result<Vec<Nearest>> {
        let queries = form.queries(sketches);
        let verifiers = sketches.iter().map(|sketch| method.verifier(sketch));
        let verifiers: Vec<Option<Verifier>> = verifiers.collect();
        let mut found = vec![Nearest::new(limit); sketches.len()];
        let mut scratch = SegmentScratch::default();
        for part in 0..=self.parts.len() as u32 {
            found.iter_mut().for_each(|nearest| nearest.in_part(part));
            let removed = self.removed.get(&self.number_of(part));
            let admit = |query: usize, number: u32| -> Result<Verification> {
                let location = Location { part, number };
                if removed.is_some_and(|removed| removed.contains(&number)) || !wanted(location) {
                    return Ok(Verification::Different);
                }
                match &verifiers[query] {
                    Some(verifier) => Ok(verifier(self.document(location)?.sketch)),
                    None => Ok(Verification::Unknown),
                }
            };
            match self.parts.get(part as usize) {
                Some(Part { segment, .. }) => {
                    segment.search(&queries, &admit, &mut scratch, &mut found)?;
                }
                None => self.recent.search(method, &queries, &admit, &mut found)?,
            }
        }
        Ok(found)
    }
}
