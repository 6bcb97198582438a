//! Sealing recent documents into a segment, and replacing segments by larger or tidier ones.
//!
//! Segments are replaced in three steps: *take* the documents that are meant, *write* a segment of
//! them, *put* it in their place by one transaction. Only the first and the last need the right to
//! change the index: while a segment of hours is written, additions and removals go on, and what
//! was removed meanwhile is removed of the new segment in the same transaction. Documents stay in
//! the order in which they were added, so that no answer says what was replaced when.

use std::sync::{Arc, PoisonError};

use ahash::AHashSet;

use super::database::{Change, Listed, RECENT};
use super::due::{self, Avoided};
use super::recent::Recent;
use super::segment::{Making, Segment, SegmentWriter};
use super::view::{Part, Place, View};
use super::{Entry, Index, Writer};
use crate::{Error, Result};

/// Records of recent documents beyond so many bytes are sealed, however few they are.
pub const SEAL_BYTES: usize = 64 << 20;
/// Recent documents beyond so many times the usual number are refused: sealing keeps failing.
const PATIENCE: u32 = 4;

/// Segments of so many times the usual number of recent documents are small.
const SMALL: u64 = 64;

/// Documents that are being put into a new segment.
struct Taken {
    /// Neighbours, the oldest first, with the documents that were removed when they were taken,
    /// ascending.
    parts: Vec<(Part, Vec<u32>)>,
    with_recent: bool,
    /// The number of the new segment.
    number: u64,
}

impl Taken {
    /// The numbers of the old segments.
    fn numbers(&self) -> Vec<u64> {
        self.parts.iter().map(|(part, _)| part.number).collect()
    }
}

impl Writer {
    /// Gives back what was taken.
    fn release(&mut self, taken: &Taken) {
        let numbers = taken.numbers();
        self.taken
            .retain(|number| *number != taken.number && !numbers.contains(number));
    }
}

/// Gives back what was taken, also after a panic.
struct Release<'a>(&'a Index, &'a Taken);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.lock().release(self.1);
    }
}

/// What is done besides what somebody asked for.
#[derive(Clone, Copy)]
enum Work {
    Sealing,
    Merging,
}

impl Index {
    /// Seals recent documents and merges all segments into one without what was removed.
    ///
    /// Takes about as long as building; needs the space of a second index meanwhile. Questions go
    /// on, changes wait.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the disk is full,
    /// [`ErrorKind::Content`](crate::ErrorKind::Content) if a segment is damaged; the index is then
    /// as it was.
    pub fn compact(&self) -> Result<()> {
        let mut writer = self.ready()?;
        let (segments, clean) = {
            let view = self.view();
            let clean = view.removed.is_empty() && view.recent.len() == 0;
            (view.parts.len(), clean)
        };
        if segments <= 1 && clean {
            return Ok(());
        }
        let taken = self.take(&mut writer, 0..segments, true);
        let written = self.write(&taken);
        let put = self.put(&mut writer, &taken, written);
        writer.release(&taken);
        put.map(drop)
    }

    /// Merges the segments that are due, if there are any, or rewrites one of which much was
    /// removed; says whether it did. At most `most_documents` at a time, as far as they are known
    /// beforehand.
    ///
    /// Everything else goes on meanwhile: several threads may call it, and work on different
    /// segments, so that one with few documents to do keeps up while another has many. Needs to
    /// be called with [`Options::merge_apart`](super::Options::merge_apart), else
    /// [`add`](Self::add) and [`remove`](Self::remove) do.
    ///
    /// # Errors
    /// Those of [`compact`](Self::compact).
    pub fn merge(&self, most_documents: u64) -> Result<bool> {
        let taken = match self.take_due(most_documents) {
            Ok(Some(taken)) => taken,
            Ok(None) => return Ok(false),
            Err(error) => {
                self.trouble(Work::Merging, Some(&error));
                return Err(error);
            }
        };
        // To the end: whatever opens the index again meanwhile has to leave the new file alone.
        let _release = Release(self, &taken);
        let written = self.write(&taken);
        let mut writer = self.lock();
        let put = self.put(&mut writer, &taken, written);
        if put.is_err() {
            writer.failed.push(taken.numbers());
        }
        self.trouble(Work::Merging, put.as_ref().err());
        put
    }

    fn take_due(&self, most_documents: u64) -> Result<Option<Taken>> {
        let mut writer = self.ready()?;
        let avoided = Avoided {
            taken: &writer.taken,
            failed: &writer.failed,
            most_documents,
        };
        let range = due::due(&self.view(), &self.options, &avoided);
        Ok(range.map(|range| self.take(&mut writer, range, false)))
    }

    /// Merges until nothing is due; if others do that, until there are not too many segments, and
    /// only small ones.
    pub(super) fn merge_all(&self) {
        // What fails is told by `info`, and tried again when more was sealed.
        if self.options.merge_apart {
            let small = u64::from(self.options.seal_documents) * SMALL;
            while due::is_overdue(&self.view()) && matches!(self.merge(small), Ok(true)) {}
        } else {
            while matches!(self.merge(u64::MAX), Ok(true)) {}
        }
    }

    /// Refuses more documents if there are too many that could not be sealed.
    pub(super) fn refuse_if_too_many(&self, writer: &mut Writer) -> Result<()> {
        let most = self.options.seal_documents.max(1).saturating_mul(PATIENCE);
        let too_many = {
            let view = self.view();
            view.recent.len() >= most || view.recent.bytes() >= SEAL_BYTES * PATIENCE as usize
        };
        match too_many {
            true => self.seal(writer),
            false => Ok(()),
        }
    }

    /// Seals if it is time. Its failure is no failure of the addition before it: that is durable,
    /// and sealing is tried again when there are some more.
    pub(super) fn seal_if_due(&self, writer: &mut Writer) {
        let (recent, bytes) = {
            let view = self.view();
            (view.recent.len(), view.recent.bytes())
        };
        let full = recent >= self.options.seal_documents.max(1) || bytes >= SEAL_BYTES;
        if full && recent >= writer.seal_from {
            // `info` tells.
            let _ = self.seal(writer);
        }
    }

    fn seal(&self, writer: &mut Writer) -> Result<()> {
        let (segments, recent) = {
            let view = self.view();
            (view.parts.len(), view.recent.len())
        };
        let taken = self.take(writer, segments..segments, true);
        let written = self.write(&taken);
        let put = self.put(writer, &taken, written);
        writer.release(&taken);
        writer.seal_from = match put {
            Ok(_) => 0,
            Err(_) => recent + recent / 4 + 1,
        };
        writer.failed.clear();
        self.trouble(Work::Sealing, put.as_ref().err());
        put.map(drop)
    }

    /// Remembers why something failed that nobody waits for, or that it went well.
    fn trouble(&self, work: Work, error: Option<&Error>) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble[work as usize] = error.map(ToString::to_string);
    }

    fn take(&self, writer: &mut Writer, range: std::ops::Range<usize>, with_recent: bool) -> Taken {
        let view = self.view();
        let part = |part: &Part| {
            let removed = view.removed.get(&part.number).into_iter().flatten();
            let mut removed: Vec<u32> = removed.copied().collect();
            removed.sort_unstable();
            (part.clone(), removed)
        };
        let taken = Taken {
            parts: view.parts[range].iter().map(part).collect(),
            with_recent,
            number: writer.next,
        };
        writer.next += 1;
        let numbers = taken.parts.iter().map(|(part, _)| part.number);
        writer.taken.extend(numbers.chain([taken.number]));
        taken
    }

    fn write(&self, taken: &Taken) -> Result<Segment> {
        let path = self.segment_path(taken.number);
        let mut segment = SegmentWriter::create(&path, self.making())?;
        for (part, removed) in &taken.parts {
            let mut removed = removed.iter().copied().peekable();
            for number in 0..part.segment.documents() {
                if removed.next_if_eq(&number).is_none() {
                    segment.push(&part.segment.document(number)?)?;
                }
            }
            part.segment.unchanged()?;
        }
        if taken.with_recent {
            // Whoever seals has the right to change the index: nothing comes or goes meanwhile.
            let view = self.view();
            let part = view.parts.len() as u32;
            for number in 0..view.recent.len() {
                let place = Place { part, number };
                if view.is_live(place) {
                    segment.push(&view.document(place)?)?;
                }
            }
        }
        segment.finish(|_| Ok(()))
    }

    /// Puts a segment in the place of what was taken for it; says whether it did. It does not if
    /// somebody else has replaced that meanwhile.
    fn put(&self, writer: &mut Writer, taken: &Taken, written: Result<Segment>) -> Result<bool> {
        let numbers = taken.numbers();
        let segment = written?;
        if writer.database.is_none() {
            self.reload(writer)?;
        }
        let place = {
            let view = self.view();
            let known: Vec<u64> = view.parts.iter().map(|part| part.number).collect();
            match numbers.first() {
                None => Some(known.len()),
                Some(first) => {
                    let place = known.iter().position(|number| number == first);
                    place.filter(|place| known[*place..].starts_with(&numbers))
                }
            }
        };
        let Some(place) = place else {
            segment.remove_when_unused(&self.options.faults);
            return Ok(false);
        };
        let part = Part {
            number: taken.number,
            segment: Arc::new(segment),
        };
        let (parts, removed) = {
            let view = self.view();
            let new = (part.segment.documents() > 0).then_some(&part);
            let (before, rest) = view.parts.split_at(place);
            let parts = before.iter().chain(new).chain(&rest[numbers.len()..]);
            (
                parts.cloned().collect::<Vec<Part>>(),
                removed_since(&taken.parts, &view),
            )
        };
        let listed: Vec<Listed> = parts.iter().map(Part::listed).collect();
        let mut replaced = numbers;
        if taken.with_recent {
            replaced.push(RECENT);
        }
        let change = Change {
            segments: Some((&listed, writer.next)),
            removed: removed
                .iter()
                .map(|document| (part.number, *document))
                .collect(),
            replaced,
            ..Change::default()
        };
        self.commit(writer, &change)?;
        if part.segment.documents() == 0 {
            part.segment.remove_when_unused(&self.options.faults);
        }
        // What is dropped, files among it, is dropped when questions are answered again.
        let _recent = self.replace(&change.replaced, parts, (part.number, removed));
        for (part, _) in &taken.parts {
            part.segment.remove_when_unused(&self.options.faults);
        }
        Ok(true)
    }

    /// Shows other segments; returns what is no longer recent.
    fn replace(
        &self,
        replaced: &[u64],
        parts: Vec<Part>,
        (number, removed): (u64, AHashSet<u32>),
    ) -> Option<Arc<Recent>> {
        let mut view = self.view.write().unwrap_or_else(PoisonError::into_inner);
        view.parts = parts;
        let gone = Arc::make_mut(&mut view.removed);
        for number in replaced {
            gone.remove(number);
        }
        if !removed.is_empty() {
            gone.insert(number, removed);
        }
        let recent = replaced.contains(&RECENT).then(|| Recent::new(self.form));
        recent.map(|recent| std::mem::replace(&mut view.recent, Arc::new(recent)))
    }

    fn making(&self) -> Making {
        Making {
            method: self.method.clone(),
            form: self.form,
            layout: self.manifest.layout,
            seed: self.manifest.seed,
            memory_bytes: self.options.memory_bytes,
            faults: self.options.faults.clone(),
        }
    }
}

/// The documents of `parts` that were removed since they were taken, as the new segment numbers
/// them.
fn removed_since(parts: &[(Part, Vec<u32>)], view: &View) -> AHashSet<u32> {
    let mut since = AHashSet::new();
    let mut first = 0;
    for (part, before) in parts {
        let now = view.removed.get(&part.number).into_iter().flatten();
        for document in now {
            let below = before.partition_point(|removed| removed < document);
            if before.get(below) != Some(document) {
                since.insert(first + document - below as u32);
            }
        }
        first += part.segment.documents() - before.len() as u32;
    }
    since
}

impl Part {
    /// As the database lists it.
    pub fn listed(&self) -> Listed {
        Listed {
            number: self.number,
            identity: self.segment.identity(),
            documents: self.segment.documents(),
        }
    }
}

impl View {
    /// Calls `visit` with every document that was not removed, oldest first.
    pub fn for_each(&self, mut visit: impl FnMut(&Entry<'_>) -> Result<()>) -> Result<()> {
        for part in 0..=self.parts.len() as u32 {
            let segment = self.parts.get(part as usize).map(|part| &part.segment);
            let count = segment.map_or(self.recent.len(), |segment| segment.documents());
            for number in 0..count {
                let place = Place { part, number };
                if self.is_live(place) {
                    visit(&self.document(place)?)?;
                }
            }
            segment.map_or(Ok(()), |segment| segment.unchanged())?;
        }
        Ok(())
    }
}
