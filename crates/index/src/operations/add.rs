//! Adding and removing: look up, decide, commit, publish.

use std::sync::{Arc, MutexGuard};

use ahash::AHashSet;

use crate::answer::{Answer, Entry, Limit};
use crate::decide::Addition;
use crate::form::Form;
use crate::handle::{Index, IndexWriter};
use crate::recent::Recent;
use crate::sketch::Compare;
use crate::storage::database::Change;
use crate::{Error, ErrorKind, Result};

/// The longest id that an index takes.
pub const MAX_ID_BYTES: usize = u16::MAX as usize;
/// The longest payload that an index takes.
pub const MAX_PAYLOAD_BYTES: usize = 1 << 24;
/// The longest key of a copy.
const MAX_KEEP_BYTES: usize = u8::MAX as usize;
/// The longest sketch that an index takes.
pub const MAX_SKETCH_BYTES: usize = 1 << 28;
/// The longest label of a dump, in bytes, and the most dumps.
const MAX_LABEL_BYTES: usize = 1 << 10;
const MAX_DUMPS: usize = 1 << 16;
/// An addition of this part of the documents that are sealed is written to a segment directly.
const DIRECT: u32 = 4;

impl Index {
    /// Decides about every entry and adds it, in one step, with the matches that `limit` allows; they
    /// belong to the dump with this label.
    ///
    /// Entries are processed in order, so that the second of two near ones finds the first. An entry
    /// with the id and the text of a document of the same dump is not added: it was sent twice. No
    /// change of another thread comes between decision and addition.
    ///
    /// On success all entries are durable. One commit takes a fraction of a millisecond, so add
    /// many entries at once: they are searched for by the threads of the current rayon pool, and if
    /// they suffice for a segment, written to one. Their keys are in memory, some 40 bytes for each, so
    /// add 65 536 at a time. Some calls also seal recent documents, for some
    /// tenths of a second, or merge segments. Queries continue during both. During merges, other
    /// threads can also change the index. Do not call it from a rayon task beside others that change
    /// the same index: a thread that waits for its pool would take such a task, and wait for itself.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for an id that is empty or longer than 65 535 bytes, a payload
    /// or sketch that is too long, a sketch of another form than the method's, or a label that is too
    /// long: nothing is added then.
    /// [`ErrorKind::Write`] if the entries cannot be made durable (the disk is full), or if very
    /// many recent documents could not be sealed: all entries or none are added, and queries
    /// continue. [`ErrorKind::Write`] also for an index that is open for reading only.
    /// Errors of [`seen`](Self::seen).
    pub fn add(
        &self,
        entries: &[Entry<'_>],
        dump: &str,
        limit: impl Into<Limit>,
    ) -> Result<Vec<Answer>> {
        entries
            .iter()
            .try_for_each(|entry| check_entry(self.form, &*self.method, entry))?;
        let mut writer = self.ready()?;
        self.refuse_if_too_many(&mut writer)?;
        let limit = limit.into().checked();
        let snapshot = self.snapshot();
        let mut dumps = snapshot.dumps.to_vec();
        let number = number_of(&mut dumps, dump)?;
        let search = self.search(Some(number), &limit);
        let mut addition = Addition::new(&snapshot, search, number);
        let answers = addition.add(entries, &limit)?;
        let added = addition.added();
        if added.is_empty() {
            return Ok(answers);
        }
        if added.len() >= (self.options.seal_documents / DIRECT).max(1) as usize {
            self.seal_with(&mut writer, &addition, &dumps)?;
        } else {
            let mut fresh = Recent::new(self.form, self.manifest.seed);
            for record in added {
                fresh.push(record, &*self.method);
            }
            drop(addition);
            drop(snapshot);
            self.publish(&mut writer, fresh, &[], &dumps)?;
            self.seal_if_due(&mut writer);
        }
        drop(writer);
        self.merge_all();
        Ok(answers)
    }

    /// Removes all documents called `ids`, in one step; returns which of the ids were there.
    ///
    /// The decisions about other documents do not change: a copy of a removed document remains a
    /// copy. The next document with the text of a removed one is new.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if the removal cannot be made durable, or if the index is open for
    /// reading only; those of [`document`](Self::document).
    pub fn remove(&self, ids: &[&[u8]]) -> Result<Vec<bool>> {
        let mut writer = self.ready()?;
        let mut removed = AHashSet::new();
        let mut existed = Vec::new();
        let snapshot = self.snapshot();
        for id in ids {
            let before = removed.len();
            removed.extend(snapshot.find(id)?);
            existed.push(removed.len() > before);
        }
        let removed: Vec<u64> = removed.into_iter().collect();
        if !removed.is_empty() {
            let none = Recent::new(self.form, self.manifest.seed);
            self.publish(&mut writer, none, &removed, &snapshot.dumps)?;
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
    fn publish(
        &self,
        writer: &mut IndexWriter,
        fresh: Recent,
        removed: &[u64],
        dumps: &[String],
    ) -> Result<()> {
        let is_new = *dumps != **self.snapshot().dumps;
        let change = {
            let snapshot = self.snapshot();
            let records = (0..fresh.len()).filter_map(|number| fresh.bytes_of(number));
            let removed = removed.iter().map(|ordinal| {
                let location = snapshot.location(*ordinal);
                (snapshot.number_of(location.part), location.number)
            });
            Change {
                dumps: is_new.then_some(dumps),
                recent: (snapshot.recent.len(), records.collect()),
                removed: removed.collect(),
                ..Change::default()
            }
        };
        self.commit(writer, &change)?;
        let removed = change.removed;
        self.update(|snapshot| {
            snapshot.recent.append(fresh);
            if is_new {
                snapshot.dumps = Arc::new(dumps.to_vec());
            }
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
    let keep = entry.keep.len();
    if keep > MAX_KEEP_BYTES {
        return wrong(format!("a key of {keep} bytes: at most {MAX_KEEP_BYTES}"));
    }
    if sketch == 0 {
        Ok(())
    } else {
        form.check(entry.sketch, method)
    }
}

/// The number of the dump with this label, which is added to `dumps` if it is new.
fn number_of(dumps: &mut Vec<String>, label: &str) -> Result<u32> {
    if let Some(number) = dumps.iter().position(|dump| dump == label) {
        return Ok(number as u32);
    }
    let wrong = |message: String| Err(Error::new(ErrorKind::Parameter, message));
    if label.len() > MAX_LABEL_BYTES {
        let bytes = label.len();
        return wrong(format!(
            "a label of {bytes} bytes for a dump: at most {MAX_LABEL_BYTES}"
        ));
    }
    if dumps.len() >= MAX_DUMPS {
        return wrong(format!("more than {MAX_DUMPS} dumps"));
    }
    dumps.push(label.to_owned());
    Ok(dumps.len() as u32 - 1)
}
