//! Deciding again about documents of an index: all of them, or those behind a dump that is removed.

use std::sync::Arc;

use crate::answer::{Entry, Limit};
use crate::decide::Addition;
use crate::handle::{Index, IndexWriter};
use crate::operations::merge_policy::SEAL_BYTES;
use crate::recent::Recent;
use crate::record::{Record, Standing};
use crate::segment::{Segment, SegmentWriter};
use crate::snapshot::{Part, Snapshot, sketch_of};
use crate::storage::database::{Change, ListedSegment, RECENT};
use crate::{Error, ErrorKind, Result};

/// A group is complete when it has this many documents, or bytes of them.
const GROUP_DOCUMENTS: usize = 1 << 16;
const GROUP_BYTES: usize = 64 << 20;

/// Collects documents of one dump that are added together.
#[derive(Default)]
pub struct Groups<'r> {
    dump: u32,
    entries: Vec<Entry<'r>>,
    bytes: usize,
}

/// Adds documents of the dump with this number.
type Add<'a> = dyn FnMut(u32, &[Entry<'_>]) -> Result<()> + 'a;

impl<'r> Groups<'r> {
    /// Adds a document with its sketch; complete groups are passed to `add`. `get` returns the record
    /// of an ordinal, if it is there.
    pub fn push(
        &mut self,
        record: &Record<'r>,
        get: &dyn Fn(u64) -> Result<Option<Record<'r>>>,
        add: &mut Add<'_>,
    ) -> Result<()> {
        if record.standing == Standing::Removed {
            return Ok(());
        }
        let is_full = self.entries.len() >= GROUP_DOCUMENTS || self.bytes >= GROUP_BYTES;
        if is_full || self.dump != record.dump {
            self.add(add)?;
        }
        self.dump = record.dump;
        // The first document may be lost, with the sketch.
        let sketch = sketch_of(record, get).unwrap_or_default();
        let entry = Entry {
            sketch,
            ..record.entry
        };
        self.bytes += sketch.len() + entry.id.len() + entry.payload.len();
        self.entries.push(entry);
        Ok(())
    }

    /// Passes the last group to `add`.
    pub fn finish(mut self, add: &mut Add<'_>) -> Result<()> {
        self.add(add)
    }

    fn add(&mut self, add: &mut Add<'_>) -> Result<()> {
        if !self.entries.is_empty() {
            add(self.dump, &self.entries)?;
        }
        self.entries.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// What the removal of a dump has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemovedDump {
    /// Documents of the dump.
    pub documents: u64,
    /// Later documents that were copies and are kept now.
    pub kept_now: u64,
}

impl Index {
    /// Removes the documents of the dump with this label, as if they had never been added: later
    /// documents are decided again, each given those before it.
    ///
    /// Changes wait meanwhile; queries go on. Takes about as long as adding all later documents, and
    /// their space once more. One transaction at the end replaces them.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if there is no such dump; errors of [`add`](Self::add).
    /// The index is unchanged then.
    pub fn remove_dump(&self, label: &str) -> Result<RemovedDump> {
        let mut writer = self.ready()?;
        let snapshot = self.snapshot();
        let Some(dump) = snapshot.dumps.iter().position(|dump| dump == label) else {
            let message = format!("has no dump {label:?}");
            return Err(Error::new(ErrorKind::Parameter, message).in_file(&self.directory));
        };
        let dump = dump as u32;
        let mut dumps = snapshot.dumps.to_vec();
        dumps.remove(dump as usize);
        // The first document of the dump may be removed: those of later dumps get another number.
        let mut first = 0;
        while first < snapshot.next_ordinal()
            && snapshot.get(first)?.is_none_or(|record| record.dump < dump)
        {
            first += 1;
        }
        let mut replay = Replay::new(self, &mut writer, &snapshot, first);
        let decided = replay.without(&snapshot, dump, first);
        let state = replay.state;
        match decided {
            Ok(_) => self.replace_suffix(&mut writer, &snapshot, state, dumps)?,
            Err(_) => {
                let written = state.parts.iter().filter(|part| !snapshot.has(part.number));
                written.for_each(|part| part.segment.remove_when_unused(&self.options.faults));
            }
        }
        drop(writer);
        self.merge_all();
        decided
    }

    /// Publishes `state`, whose first parts are those of `old`.
    fn replace_suffix(
        &self,
        writer: &mut IndexWriter,
        old: &Snapshot,
        state: Snapshot,
        dumps: Vec<String>,
    ) -> Result<()> {
        let left: Vec<&Part> = old
            .parts
            .iter()
            .filter(|part| !state.has(part.number))
            .collect();
        let listed: Vec<ListedSegment> = state.parts.iter().map(Part::listed).collect();
        let replaced = left.iter().map(|part| part.number).chain([RECENT]);
        let replaced: Vec<u64> = replaced.collect();
        let recent = (0..state.recent.len()).filter_map(|number| state.recent.bytes_of(number));
        let change = Change {
            segments: Some((&listed, writer.next)),
            dumps: Some(&dumps),
            recent: (0, recent.collect()),
            replaced,
            ..Change::default()
        };
        self.commit(writer, &change)?;
        let _old = self.update(|snapshot| {
            let state = Snapshot {
                dumps: Arc::new(dumps.clone()),
                ..state
            };
            std::mem::replace(snapshot, state)
        });
        for part in left {
            part.segment.remove_when_unused(&self.options.faults);
        }
        Ok(())
    }
}

/// A state of the index that is not published: some first documents, and others that are added to it.
struct Replay<'a> {
    index: &'a Index,
    writer: &'a mut IndexWriter,
    state: Snapshot,
}

impl<'a> Replay<'a> {
    /// With the segments whose documents are all before the one with the ordinal `end`.
    fn new(index: &'a Index, writer: &'a mut IndexWriter, old: &Snapshot, end: u64) -> Replay<'a> {
        let ends = |part: &&Part| part.first + u64::from(part.segment.documents()) <= end;
        let parts: Vec<Part> = old.parts.iter().take_while(ends).cloned().collect();
        let mut removed = old.removed.clone();
        removed.retain(|number, _| parts.iter().any(|part| part.number == *number));
        let state = Snapshot {
            parts,
            recent: Recent::new(index.form, old.seed),
            removed,
            dumps: Arc::default(),
            seed: old.seed,
        };
        Replay {
            index,
            writer,
            state,
        }
    }

    /// Copies the documents before `end` that are not there yet.
    fn copy_border(&mut self, old: &Snapshot, end: u64) -> Result<()> {
        let gone = Record {
            standing: Standing::Removed,
            ..Record::default()
        };
        for ordinal in self.state.next_ordinal()..end {
            self.push(&old.get(ordinal)?.unwrap_or(gone))?;
        }
        // Only segments know which of their records are of removed documents.
        match self.state.recent.len() {
            0 => Ok(()),
            _ => self.seal(),
        }
    }

    /// Adds the documents of `old` from the ordinal `first` on that are not of this dump.
    fn without(&mut self, old: &Snapshot, dump: u32, first: u64) -> Result<RemovedDump> {
        self.copy_border(old, first)?;
        let get = |ordinal| old.get(ordinal);
        let mut removed = RemovedDump::default();
        let mut groups = Groups::default();
        // Later dumps have a number less.
        let renumbered = |number: u32| number - u32::from(number > dump);
        let mut add = |number: u32, entries: &[Entry<'_>]| self.add(renumbered(number), entries);
        for ordinal in first..old.next_ordinal() {
            match old.get(ordinal)? {
                Some(record) if record.dump == dump => removed.documents += 1,
                Some(record) => groups.push(&record, &get, &mut add)?,
                None => {}
            }
        }
        groups.finish(&mut add)?;
        let mut new = first;
        for ordinal in first..old.next_ordinal() {
            let Some(before) = old.get(ordinal)?.filter(|record| record.dump != dump) else {
                continue;
            };
            let decided = self.state.get(new)?.unwrap_or_default();
            new += 1;
            let is_kept = |record: &Record<'_>| record.standing == Standing::Kept;
            if is_kept(&decided) && !is_kept(&before) {
                removed.kept_now += 1;
            }
        }
        Ok(removed)
    }

    fn add(&mut self, dump: u32, entries: &[Entry<'_>]) -> Result<()> {
        let limit = Limit::from(1);
        let state = self.state.clone();
        let mut addition = Addition::new(&state, self.index.search(Some(dump), &limit), dump);
        addition.add(entries, &limit)?;
        let mut added = addition.added().iter();
        added.try_for_each(|record| self.push(record))
    }

    /// Appends a document. Enough recent ones become a segment.
    fn push(&mut self, record: &Record<'_>) -> Result<()> {
        let recent = &mut self.state.recent;
        recent.push(record, &*self.index.method);
        let is_full = recent.len() >= self.index.options.seal_documents.max(1);
        match is_full || recent.bytes() >= SEAL_BYTES {
            true => self.seal(),
            false => Ok(()),
        }
    }

    fn seal(&mut self) -> Result<()> {
        let number = self.writer.next;
        self.writer.next += 1;
        let path = self.index.segment_path(number);
        let mut segment = SegmentWriter::create(&path, self.index.segment_settings())?;
        let recent = &self.state.recent;
        let records: Vec<Record<'_>> = (0..recent.len())
            .filter_map(|number| recent.record(number))
            .collect();
        records.iter().try_for_each(|record| segment.push(record))?;
        let entries = segment.entries(&records);
        let segment: Segment = segment.finish(vec![entries.lists(0)])?;
        let first = self.state.first_recent();
        self.state.parts.push(Part {
            number,
            first,
            segment: Arc::new(segment),
        });
        self.state.recent = Recent::new(self.index.form, self.state.seed);
        Ok(())
    }
}
