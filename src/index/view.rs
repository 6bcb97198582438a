//! What a search sees: sealed and recent documents, and which of them were removed.

use std::sync::Arc;

use ahash::{AHashMap, AHashSet};

use super::Entry;
use super::database::RECENT;
use super::form::Form;
use super::nearest::Nearest;
use super::recent::Recent;
use super::segment::{MANY, Scratch, Segment};
use crate::Result;
use crate::io::Source;
use crate::sketch::{Compare, Score};

/// Where a document is: the part of the view (behind the segments, the recent ones), and its
/// number there. Older documents have smaller places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub part: u32,
    pub number: u32,
}

/// A segment and its number in the database's list.
#[derive(Clone)]
pub struct Part {
    pub number: u64,
    pub segment: Arc<Segment>,
}

/// One state of the index. A copy of it shares what it holds until that changes.
#[derive(Clone)]
pub struct View {
    /// Oldest documents first.
    pub parts: Vec<Part>,
    pub recent: Arc<Recent>,
    /// By the number of a segment, or [`RECENT`].
    pub removed: Arc<AHashMap<u64, AHashSet<u32>>>,
}

impl View {
    /// The number by which the database knows a part.
    pub fn number_of(&self, part: u32) -> u64 {
        self.parts
            .get(part as usize)
            .map_or(RECENT, |part| part.number)
    }

    /// Whether a document was not removed.
    pub fn is_live(&self, place: Place) -> bool {
        let removed = self.removed.get(&self.number_of(place.part));
        !removed.is_some_and(|removed| removed.contains(&place.number))
    }

    /// How many documents are there, without removed ones.
    pub fn documents(&self) -> u64 {
        let sealed: u64 = self
            .parts
            .iter()
            .map(|part| u64::from(part.segment.documents()))
            .sum();
        let removed: usize = self.removed.values().map(|removed| removed.len()).sum();
        sealed + u64::from(self.recent.len()) - removed as u64
    }

    /// The document at `place`.
    pub fn document(&self, place: Place) -> Result<Entry<'_>> {
        match self.parts.get(place.part as usize) {
            Some(part) => part.segment.document(place.number),
            None => Ok(self.recent.document(place.number).unwrap_or_default()),
        }
    }

    /// Calls `visit` with the number of a query, the score and the document of all that was found,
    /// query by query, while others are on their way.
    pub fn for_each_found(
        &self,
        found: &mut [Nearest],
        mut visit: impl FnMut(usize, Score, Entry<'_>) -> Result<()>,
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
        let place = |(_, (_, part, number)): (usize, &(Score, u32, u32))| {
            if let Some((segment, source)) = segment(*part) {
                segment.prefetch_place(*number, source);
            }
        };
        let document = |(_, (_, part, number)): (usize, &(Score, u32, u32))| match segment(*part) {
            Some((segment, source)) => segment.prefetch_document(*number, source),
            None => Ok(()),
        };
        let (mut places, mut documents) = (all(), all());
        places.by_ref().take(steps).for_each(place);
        documents.by_ref().take(steps / 2).try_for_each(document)?;
        for (query, (score, part, number)) in all() {
            places.next().map(place);
            documents.next().map_or(Ok(()), document)?;
            let (part, number) = (*part, *number);
            visit(query, *score, self.document(Place { part, number })?)?;
        }
        Ok(())
    }

    /// Where the document called `id` is.
    pub fn find(&self, id: &[u8]) -> Result<Option<Place>> {
        let part = self.parts.len() as u32;
        let recent = self.recent.find(id).map(|number| Place { part, number });
        if let Some(place) = recent.filter(|place| self.is_live(*place)) {
            return Ok(Some(place));
        }
        for part in (0..self.parts.len() as u32).rev() {
            let live = |number| self.is_live(Place { part, number });
            let segment = &self.parts[part as usize].segment;
            if let Some(number) = segment.find(id, live)? {
                return Ok(Some(Place { part, number }));
            }
        }
        Ok(None)
    }

    /// The nearest documents of each sketch, none of which may be empty; those for which
    /// `wanted` does not hold are passed over.
    pub fn search(
        &self,
        method: &dyn Compare,
        form: Form,
        sketches: &[&[u8]],
        limit: usize,
        wanted: &dyn Fn(Place) -> bool,
    ) -> Result<Vec<Nearest>> {
        let queries = form.queries(sketches);
        let mut found = vec![Nearest::new(limit); sketches.len()];
        let mut scratch = Scratch::default();
        for (segment, part) in self.parts.iter().zip(0..) {
            found.iter_mut().for_each(|nearest| nearest.in_part(part));
            let removed = self.removed.get(&segment.number);
            let live = |number: u32| {
                !removed.is_some_and(|removed| removed.contains(&number))
                    && wanted(Place { part, number })
            };
            segment
                .segment
                .search(&queries, &live, &mut scratch, &mut found)?;
        }
        let part = self.parts.len() as u32;
        found.iter_mut().for_each(|nearest| nearest.in_part(part));
        let removed = self.removed.get(&RECENT);
        let live = |number: u32| {
            !removed.is_some_and(|removed| removed.contains(&number))
                && wanted(Place { part, number })
        };
        self.recent.search(method, &queries, &live, &mut found);
        Ok(found)
    }
}
