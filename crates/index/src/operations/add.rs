//! Adding and removing: look up, decide, commit, publish.

use std::sync::{Arc, MutexGuard};

use ahash::AHashSet;

use crate::answer::{Answer, Entry, Limit, MatchList, Verdict, judge};
use crate::form::Form;
use crate::handle::{Index, IndexWriter};
use crate::nearest::{Found, Nearest};
use crate::recent::Recent;
use crate::sketch::{Compare, Verification};
use crate::snapshot::{Location, Snapshot};
use crate::storage::database::Change;
use crate::{Error, ErrorKind, Result};

/// The longest id that an index takes.
pub const MAX_ID_BYTES: usize = u16::MAX as usize;
/// The longest payload that an index takes.
pub const MAX_PAYLOAD_BYTES: usize = 1 << 24;
/// The longest sketch that an index takes.
pub const MAX_SKETCH_BYTES: usize = 1 << 24;

impl Index {
    /// Looks up every entry and adds it, in one step, with the matches that `limit` allows.
    ///
    /// Entries are processed in order, so that the second of two near ones finds the first. A
    /// document with the same id and sketch stays as it is (its payload, too); with another sketch
    /// it is replaced. No change of another thread comes between look-up and addition.
    ///
    /// On success all entries are durable. One commit takes a fraction of a millisecond, so add
    /// many entries at once. Some calls also seal recent documents, for some tenths of a second, or
    /// merge segments. Queries continue during both. During merges, other threads can also change
    /// the index.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for an id that is empty or longer than 65 535 bytes, a payload
    /// or sketch beyond 2²⁴ bytes, or a sketch of another form than the method's: nothing is added
    /// then.
    /// [`ErrorKind::Write`] if the entries cannot be made durable (the disk is full), or if very
    /// many recent documents could not be sealed: all entries or none are added, and queries
    /// continue. [`ErrorKind::Write`] also for an index that is open for reading only.
    /// Errors of [`seen`](Self::seen).
    pub fn add(&self, entries: &[Entry<'_>], limit: impl Into<Limit>) -> Result<Vec<Answer>> {
        entries
            .iter()
            .try_for_each(|entry| check_entry(self.form, &*self.method, entry))?;
        let mut writer = self.ready()?;
        self.refuse_if_too_many(&mut writer)?;
        let (answers, fresh, removed) = {
            let snapshot = self.snapshot();
            let mut addition = Addition::new(self, &snapshot, limit.into().checked());
            let answers = addition.add_all(entries)?;
            (answers, addition.fresh, addition.removed)
        };
        if fresh.len() > 0 {
            self.publish(&mut writer, fresh, &removed)?;
            self.seal_if_due(&mut writer);
            drop(writer);
            self.merge_all();
        }
        Ok(answers)
    }

    /// Removes the documents called `ids`, in one step; returns which of them existed.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if the removal cannot be made durable, or if the index is open for
    /// reading only; those of [`document`](Self::document).
    pub fn remove(&self, ids: &[&[u8]]) -> Result<Vec<bool>> {
        let mut writer = self.ready()?;
        let mut removed = Vec::new();
        let mut existed = Vec::new();
        {
            let snapshot = self.snapshot();
            for id in ids {
                let location = snapshot
                    .find(id)?
                    .filter(|location| !removed.contains(location));
                existed.push(location.is_some());
                removed.extend(location);
            }
        }
        if !removed.is_empty() {
            self.publish(&mut writer, Recent::new(self.form), &removed)?;
            drop(writer);
            self.merge_all();
        }
        Ok(existed)
    }

    /// The writer; after a failure, the database is opened again first.
    pub(super) fn ready(&self) -> Result<MutexGuard<'_, IndexWriter>> {
        self.refuse_if_read_only()?;
        let mut writer = self.lock();
        if writer.database.is_none() {
            self.reload(&mut writer)?;
        }
        Ok(writer)
    }

    /// Makes additions and removals durable, then visible.
    fn publish(&self, writer: &mut IndexWriter, fresh: Recent, removed: &[Location]) -> Result<()> {
        let change = {
            let snapshot = self.snapshot();
            let records = (0..fresh.len()).filter_map(|number| fresh.record(number));
            let removed = removed.iter();
            let removed = removed.map(|at| (snapshot.number_of(at.part), at.number));
            Change {
                recent: (snapshot.recent.len(), records.collect()),
                removed: removed.collect(),
                ..Change::default()
            }
        };
        self.commit(writer, &change)?;
        let removed = change.removed;
        self.update(|snapshot| {
            snapshot.recent.append(fresh);
            for (number, document) in removed {
                let removed = snapshot.removed.entry(number).or_default();
                Arc::make_mut(removed).insert(document);
            }
        });
        Ok(())
    }

    /// Commits; after a failure the database is opened again before the next change.
    pub(crate) fn commit(&self, writer: &mut IndexWriter, change: &Change<'_>) -> Result<()> {
        let database = writer
            .database
            .as_ref()
            .ok_or_else(|| Error::new(ErrorKind::Write, "is not open").in_file(&self.directory))?;
        let done = database.commit(change);
        if done.is_err() {
            writer.database = None;
        }
        done
    }
}

/// Fails unless `entry` may be in an index of `form`.
pub(super) fn check_entry(form: Form, method: &dyn Compare, entry: &Entry<'_>) -> Result<()> {
    let wrong = |message: String| Err(Error::new(ErrorKind::Parameter, message));
    let (id, payload, sketch) = (entry.id.len(), entry.payload.len(), entry.sketch.len());
    if id == 0 || id > MAX_ID_BYTES {
        return wrong(format!("an id of {id} bytes: expected 1 to {MAX_ID_BYTES}"));
    }
    if payload > MAX_PAYLOAD_BYTES {
        return wrong(format!(
            "a payload of {payload} bytes: at most {MAX_PAYLOAD_BYTES}"
        ));
    }
    if sketch > MAX_SKETCH_BYTES {
        return wrong(format!(
            "a sketch of {sketch} bytes: at most {MAX_SKETCH_BYTES}"
        ));
    }
    if sketch == 0 {
        Ok(())
    } else {
        form.check(entry.sketch, method)
    }
}

/// The additions of one call before they are committed.
struct Addition<'a> {
    index: &'a Index,
    snapshot: &'a Snapshot,
    limit: Limit,
    /// Bytes of ids that the remaining answers may list.
    left: usize,
    /// Numbers continue those of the recent documents.
    fresh: Recent,
    removed: Vec<Location>,
    /// The same locations, for look-ups.
    removed_set: AHashSet<Location>,
}

impl<'a> Addition<'a> {
    fn new(index: &'a Index, snapshot: &'a Snapshot, limit: Limit) -> Addition<'a> {
        Addition {
            index,
            snapshot,
            limit,
            left: limit.all_id_bytes,
            fresh: Recent::new(index.form),
            removed: Vec::new(),
            removed_set: AHashSet::new(),
        }
    }

    fn add_all(&mut self, entries: &[Entry<'_>]) -> Result<Vec<Answer>> {
        let comparable = |entry: &&Entry<'_>| !entry.sketch.is_empty();
        let sketches: Vec<&[u8]> = entries
            .iter()
            .filter(comparable)
            .map(|entry| entry.sketch)
            .collect();
        let mut known = self.search_snapshot(&sketches)?.into_iter();
        let mut answers = Vec::with_capacity(entries.len());
        for entry in entries {
            let mut nearest = match entry.sketch.is_empty() {
                true => self.empty_nearest(),
                false => known.next().unwrap_or_else(|| self.empty_nearest()),
            };
            answers.push(self.add_one(entry, &mut nearest)?);
        }
        Ok(answers)
    }

    /// The nearest documents of the snapshot, except those that this call has replaced.
    fn search_snapshot(&self, sketches: &[&[u8]]) -> Result<Vec<Nearest>> {
        let Index { method, form, .. } = self.index;
        let wanted = |location| !self.removed_set.contains(&location);
        self.snapshot
            .search(&**method, *form, sketches, self.limit.matches + 1, &wanted)
    }

    /// An empty list. It takes one more match than the limit: the entry itself may be found, and is
    /// left out of the answer.
    fn empty_nearest(&self) -> Nearest {
        Nearest::new(self.limit.matches + 1)
    }

    fn add_one(&mut self, entry: &Entry<'_>, nearest: &mut Nearest) -> Result<Answer> {
        let location = |part, number| Location { part, number };
        let known = nearest.finish().iter();
        let is_removed = |found: &Found| {
            let location = location(found.part, found.number);
            self.removed_set.contains(&location)
        };
        if known.copied().any(|found| is_removed(&found))
            && let Some(again) = self.search_snapshot(&[entry.sketch])?.pop()
        {
            *nearest = again;
        }
        self.search_fresh(entry, nearest)?;
        let (mut listed, mut left) = (MatchList::default(), self.left);
        for found in nearest.finish() {
            let id = self.document(location(found.part, found.number))?.id;
            if id != entry.id {
                listed.push(&self.limit, &mut left, id, found);
            }
        }
        self.left = left;
        let known = self.find(entry.id)?;
        let sketch = known
            .map(|location| self.document(location))
            .transpose()?
            .map(|old| old.sketch);
        let verdict = judge(&*self.index.method, entry.sketch, sketch, listed.has_any());
        let added = verdict != Verdict::Unchanged;
        if added {
            if let Some(old) = known {
                self.removed.push(old);
                self.removed_set.insert(old);
            }
            self.fresh.push(entry, &*self.index.method);
        }
        Ok(Answer {
            verdict,
            matches: listed.matches,
            added,
            truncated: listed.truncated,
        })
    }

    /// Adds the near documents among the earlier additions of this call to `nearest`.
    fn search_fresh(&self, entry: &Entry<'_>, nearest: &mut Nearest) -> Result<()> {
        if entry.sketch.is_empty() || self.fresh.len() == 0 {
            return Ok(());
        }
        let mut own = [self.empty_nearest()];
        let queries = [entry.sketch];
        let queries = self.index.form.queries(&queries);
        let method = &*self.index.method;
        let verifier = method.verifier(entry.sketch);
        let admit = |_, number| {
            if self.removed_set.contains(&self.fresh_location(number)) {
                return Ok(Verification::Different);
            }
            let known = self.fresh.document(number).unwrap_or_default();
            Ok(match &verifier {
                Some(verifier) => verifier(known.sketch),
                None => Verification::Unknown,
            })
        };
        self.fresh.search(method, &queries, &admit, &mut own)?;
        for found in own[0].finish() {
            let location = self.fresh_location(found.number);
            nearest.in_part(location.part);
            let verified = match found.similarity {
                Some([shared, of]) => Verification::Similar { shared, of },
                None => Verification::Unknown,
            };
            nearest.push(found.score, location.number, verified);
        }
        Ok(())
    }

    /// The location that document `number` of this call will have.
    fn fresh_location(&self, number: u32) -> Location {
        Location {
            part: self.snapshot.parts.len() as u32,
            number: self.snapshot.recent.len() + number,
        }
    }

    fn document(&self, location: Location) -> Result<Entry<'_>> {
        let first = self.fresh_location(0);
        if location < first {
            return self.snapshot.document(location);
        }
        Ok(self
            .fresh
            .document(location.number - first.number)
            .unwrap_or_default())
    }

    fn find(&self, id: &[u8]) -> Result<Option<Location>> {
        let fresh = self
            .fresh
            .find(id)
            .map(|number| self.fresh_location(number));
        if let Some(location) = fresh.filter(|location| !self.removed_set.contains(location)) {
            return Ok(Some(location));
        }
        Ok(self
            .snapshot
            .find(id)?
            .filter(|location| !self.removed_set.contains(location)))
    }
}
