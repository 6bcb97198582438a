//! Sealing recent documents into a segment, and merging segments.
//!
//! Segments are replaced in three steps: *take* their documents, *write* a new segment, *put* it in
//! their place by one transaction. A merge needs the writer only in the first and the last step.
//! While it writes a segment, which may take hours, additions and removals go on; the last
//! transaction applies these removals to the new segment. Sealing and compaction keep the writer in
//! all steps. Documents keep their ordinals, since a removed one leaves a record without content.

use std::ops::Range;
use std::sync::{Arc, PoisonError};

use ahash::AHashSet;

use super::merge_policy::{Exclusions, SEAL_BYTES, is_overdue, next_merge};
use crate::decide::Addition;
use crate::handle::{Index, IndexWriter};
use crate::recent::Recent;
use crate::record::{Record, Standing};
use crate::segment::{MAX_DOCUMENTS, Segment, SegmentSettings, SegmentWriter};
use crate::snapshot::{Location, Part, Snapshot};
use crate::storage::database::{Change, ListedSegment, RECENT};
use crate::{Error, ErrorKind, Result};

/// At this multiple of the sealing threshold, additions are refused unless sealing succeeds.
const REFUSAL_FACTOR: u32 = 4;

/// Segments of at most this multiple of the sealing threshold are small.
const SMALL: u64 = 64;

/// The documents of a new segment.
struct MergeInput {
    /// Adjacent segments, the oldest first, with the documents that were already removed.
    parts: Vec<(Part, Arc<AHashSet<u32>>)>,
    with_recent: bool,
    /// The number of the new segment.
    number: u64,
}

impl MergeInput {
    /// The numbers of the old segments.
    fn numbers(&self) -> Vec<u64> {
        self.parts.iter().map(|(part, _)| part.number).collect()
    }
}

impl IndexWriter {
    /// Releases the segments that were taken.
    fn release(&mut self, input: &MergeInput) {
        let numbers = input.numbers();
        self.taken
            .retain(|number| *number != input.number && !numbers.contains(number));
    }
}

/// Releases the segments that were taken, also after a panic.
struct Release<'a>(&'a Index, &'a MergeInput);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.lock().release(self.1);
    }
}

/// Documents that are rewritten between two checks whether to stop.
const CHECKED: u32 = 1 << 12;

/// Work that no caller asked for.
#[derive(Clone, Copy)]
enum Maintenance {
    Sealing,
    Merging,
}

impl Index {
    /// Seals recent documents and merges all segments into one without what was removed.
    ///
    /// Takes about as long as building, and the space of a second index. Queries go on, changes
    /// wait.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the disk is full or the index is open for
    /// reading only, [`ErrorKind::Content`](crate::ErrorKind::Content) if a segment is damaged; the
    /// index is unchanged then.
    pub fn compact(&self) -> Result<()> {
        self.compact_checked(&mut || Ok(()))
    }

    /// The same, which stops with the error of `check`, called every 4096 documents.
    ///
    /// # Errors
    /// Errors of [`compact`](Self::compact) and of `check`; the index is unchanged then.
    pub fn compact_checked(&self, check: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let mut writer = self.ready()?;
        let snapshot = self.snapshot();
        let segments = snapshot.parts.len();
        match segments <= 1 && snapshot.removed.is_empty() && snapshot.recent.len() == 0 {
            true => Ok(()),
            // A segment may have that many.
            false if snapshot.next_ordinal() > MAX_DOCUMENTS.into() => {
                let message =
                    format!("more than {MAX_DOCUMENTS} documents are not merged into one");
                Err(Error::new(ErrorKind::Parameter, message).in_file(&self.directory))
            }
            false => self.replace_by_one(&mut writer, 0..segments, check),
        }
    }

    /// Writes the recent documents and the segments of `range` into one segment; changes wait.
    fn replace_by_one(
        &self,
        writer: &mut IndexWriter,
        range: Range<usize>,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        self.replace_with(writer, range, None, check)
    }

    /// The same with more documents behind the recent ones, and with the labels of all dumps.
    fn replace_with(
        &self,
        writer: &mut IndexWriter,
        range: Range<usize>,
        added: Option<(&Addition<'_>, &[String])>,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let input = self.take(writer, range, true);
        let written = self.write(&input, added.map(|(addition, _)| addition), check);
        let put = self.put(writer, &input, added.map(|(_, dumps)| dumps), written);
        writer.release(&input);
        put.map(drop)
    }

    /// Makes the recent documents and `added` a segment.
    pub(super) fn seal_with(
        &self,
        writer: &mut IndexWriter,
        added: &Addition<'_>,
        dumps: &[String],
    ) -> Result<()> {
        let segments = self.snapshot().parts.len();
        let added = Some((added, dumps));
        self.replace_with(writer, segments..segments, added, &mut || Ok(()))?;
        writer.seal_from = 0;
        writer.failed.clear();
        self.trouble(Maintenance::Sealing, None);
        Ok(())
    }

    /// Merges segments that are due, or rewrites one with many removed documents; returns whether
    /// there was work. Segments of more than `most_documents` together are left alone.
    ///
    /// Queries and changes go on meanwhile. Several threads may merge different segments, so that
    /// small merges need not wait for a large one. It has to be called with
    /// [`Options::merge_apart`](crate::Options::merge_apart); otherwise [`add`](Self::add) and
    /// [`remove`](Self::remove) merge.
    ///
    /// # Errors
    /// Errors of [`compact`](Self::compact).
    pub fn merge(&self, most_documents: u64) -> Result<bool> {
        let input = match self.take_due(most_documents) {
            Ok(Some(input)) => input,
            Ok(None) => return Ok(false),
            Err(error) => {
                self.trouble(Maintenance::Merging, Some(&error));
                return Err(error);
            }
        };
        // Held to the end: a reload must not remove the new file.
        let _release = Release(self, &input);
        let written = self.write(&input, None, &mut || Ok(()));
        let mut writer = self.lock();
        let put = self.put(&mut writer, &input, None, written);
        if put.is_err() {
            writer.failed.push(input.numbers());
        }
        self.trouble(Maintenance::Merging, put.as_ref().err());
        put
    }

    fn take_due(&self, most_documents: u64) -> Result<Option<MergeInput>> {
        let mut writer = self.ready()?;
        let exclusions = Exclusions {
            taken: &writer.taken,
            failed: &writer.failed,
            most_documents,
        };
        let range = next_merge(&self.snapshot(), &self.options, &exclusions);
        Ok(range.map(|range| self.take(&mut writer, range, false)))
    }

    /// Merges until nothing is due. If other threads merge, only small segments are merged, and
    /// only while there are too many.
    pub(super) fn merge_all(&self) {
        // `info` shows failures; merging is tried again after the next sealing.
        if self.options.merge_apart {
            let small = u64::from(self.options.seal_documents) * SMALL;
            while is_overdue(&self.snapshot()) && matches!(self.merge(small), Ok(true)) {}
        } else {
            while matches!(self.merge(u64::MAX), Ok(true)) {}
        }
    }

    /// Refuses more documents if too many could not be sealed.
    pub(super) fn refuse_if_too_many(&self, writer: &mut IndexWriter) -> Result<()> {
        let most = self
            .options
            .seal_documents
            .max(1)
            .saturating_mul(REFUSAL_FACTOR);
        let snapshot = self.snapshot();
        let recent = &snapshot.recent;
        match recent.len() >= most || recent.bytes() >= SEAL_BYTES * REFUSAL_FACTOR as usize {
            true => self.seal(writer),
            false => Ok(()),
        }
    }

    /// Seals if enough documents are recent. A failure does not affect the addition before it,
    /// which is durable; sealing is tried again when there are more documents.
    pub(super) fn seal_if_due(&self, writer: &mut IndexWriter) {
        let snapshot = self.snapshot();
        let recent = &snapshot.recent;
        let enough = recent.len() >= self.options.seal_documents.max(1);
        if (enough || recent.bytes() >= SEAL_BYTES) && recent.len() >= writer.seal_from {
            // `info` shows failures.
            let _ = self.seal(writer);
        }
    }

    fn seal(&self, writer: &mut IndexWriter) -> Result<()> {
        let snapshot = self.snapshot();
        let (segments, recent) = (snapshot.parts.len(), snapshot.recent.len());
        let sealed = self.replace_by_one(writer, segments..segments, &mut || Ok(()));
        writer.seal_from = match sealed {
            Ok(()) => 0,
            Err(_) => recent + recent / 4 + 1,
        };
        writer.failed.clear();
        self.trouble(Maintenance::Sealing, sealed.as_ref().err());
        sealed
    }

    /// Records the error of background work for `info`, or its success.
    fn trouble(&self, work: Maintenance, error: Option<&Error>) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble[work as usize] = error.map(ToString::to_string);
    }

    fn take(&self, writer: &mut IndexWriter, range: Range<usize>, with_recent: bool) -> MergeInput {
        let snapshot = self.snapshot();
        let part = |part: &Part| {
            let removed = snapshot.removed.get(&part.number).cloned();
            (part.clone(), removed.unwrap_or_default())
        };
        let input = MergeInput {
            parts: snapshot.parts[range].iter().map(part).collect(),
            with_recent,
            number: writer.next,
        };
        writer.next += 1;
        let numbers = input.parts.iter().map(|(part, _)| part.number);
        writer.taken.extend(numbers.chain([input.number]));
        input
    }

    fn write(
        &self,
        input: &MergeInput,
        added: Option<&Addition<'_>>,
        check: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Segment> {
        let path = self.segment_path(input.number);
        let mut segment = SegmentWriter::create(&path, self.segment_settings())?;
        let gone = Record {
            standing: Standing::Removed,
            ..Record::default()
        };
        // Sealing holds the writer, so that recent documents do not change meanwhile. A merge needs no
        // snapshot, which would hold segments that others replace.
        let snapshot = input.with_recent.then(|| self.snapshot());
        let mut recent = Vec::new();
        if let Some(snapshot) = &snapshot {
            let part = snapshot.parts.len() as u32;
            for number in 0..snapshot.recent.len() {
                let record = snapshot.live(Location { part, number })?;
                recent.push(record.unwrap_or(gone));
            }
        }
        let of_recent = segment.entries(&recent);
        let of_added = added.map(Addition::listed);
        let mut lists = Vec::new();
        let mut first = 0;
        for (part, removed) in &input.parts {
            lists.push(part.segment.entries(first, removed));
            first += part.segment.documents();
            for number in 0..part.segment.documents() {
                if number % CHECKED == 0 {
                    check()?;
                }
                match removed.contains(&number) {
                    true => segment.push(&gone)?,
                    false => segment.push(&part.segment.record(number)?)?,
                }
            }
            part.segment.unchanged()?;
        }
        lists.push(of_recent.lists(first));
        first += recent.len() as u32;
        lists.extend(of_added.as_ref().map(|entries| entries.lists(first)));
        let added = added.into_iter().flat_map(Addition::added);
        recent
            .iter()
            .chain(added)
            .try_for_each(|record| segment.push(record))?;
        segment.finish(lists)
    }

    /// Replaces the input of a merge by its result. Returns false, and replaces nothing, if another
    /// thread has replaced the input meanwhile.
    fn put(
        &self,
        writer: &mut IndexWriter,
        input: &MergeInput,
        dumps: Option<&[String]>,
        written: Result<Segment>,
    ) -> Result<bool> {
        let numbers = input.numbers();
        let segment = written?;
        if writer.database.is_none() {
            self.reload(writer)?;
        }
        let snapshot = self.snapshot();
        let known: Vec<u64> = snapshot.parts.iter().map(|part| part.number).collect();
        let place = match numbers.first() {
            None => Some(known.len()),
            Some(first) => {
                let place = known.iter().position(|number| number == first);
                place.filter(|place| known[*place..].starts_with(&numbers))
            }
        };
        let Some(place) = place else {
            segment.remove_when_unused(&self.options.faults);
            return Ok(false);
        };
        let part = Part {
            number: input.number,
            first: snapshot.first_of(place as u32),
            segment: Arc::new(segment),
        };
        let new = (part.segment.documents() > 0).then_some(&part);
        let (before, rest) = snapshot.parts.split_at(place);
        let parts = before.iter().chain(new).chain(&rest[numbers.len()..]);
        let parts: Vec<Part> = parts.cloned().collect();
        let removed = removed_since(&input.parts, &snapshot);
        let listed: Vec<ListedSegment> = parts.iter().map(Part::listed).collect();
        let mut replaced = numbers;
        if input.with_recent {
            replaced.push(RECENT);
        }
        let change = Change {
            segments: Some((&listed, writer.next)),
            dumps,
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
        // The old documents are dropped after the lock of the snapshot is released.
        let _recent = self.replace(&change.replaced, parts, dumps, (part.number, removed));
        for (part, _) in &input.parts {
            part.segment.remove_when_unused(&self.options.faults);
        }
        Ok(true)
    }

    /// Publishes other segments; returns the documents that are not recent any more.
    fn replace(
        &self,
        replaced: &[u64],
        parts: Vec<Part>,
        dumps: Option<&[String]>,
        (number, removed): (u64, AHashSet<u32>),
    ) -> Option<Recent> {
        self.update(|snapshot| {
            snapshot.parts = parts;
            if let Some(dumps) = dumps {
                snapshot.dumps = Arc::new(dumps.to_vec());
            }
            for number in replaced {
                snapshot.removed.remove(number);
            }
            if !removed.is_empty() {
                snapshot.removed.insert(number, Arc::new(removed));
            }
            let recent = replaced
                .contains(&RECENT)
                .then(|| Recent::new(self.form, self.manifest.seed));
            recent.map(|recent| std::mem::replace(&mut snapshot.recent, recent))
        })
    }

    pub(super) fn segment_settings(&self) -> SegmentSettings {
        SegmentSettings {
            method: self.method.clone(),
            form: self.form,
            layout: self.manifest.layout,
            seed: self.manifest.seed,
            memory_bytes: self.options.memory_bytes,
            faults: self.options.faults.clone(),
        }
    }
}

/// The documents of `parts` that were removed since they were taken, with their numbers in the new
/// segment.
fn removed_since(parts: &[(Part, Arc<AHashSet<u32>>)], snapshot: &Snapshot) -> AHashSet<u32> {
    let mut since = AHashSet::new();
    let mut first = 0;
    for (part, before) in parts {
        let now = snapshot.removed.get(&part.number);
        let now = now.into_iter().flat_map(|set| set.iter());
        since.extend(
            now.filter(|number| !before.contains(number))
                .map(|number| first + number),
        );
        first += part.segment.documents();
    }
    since
}
