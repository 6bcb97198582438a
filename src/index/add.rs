//! Adding and removing: look, decide, commit, show.

use std::sync::Arc;

use ahash::AHashSet;

use super::answer::{Listed, judge};
use super::database::Change;
use super::form::Form;
use super::nearest::Nearest;
use super::recent::Recent;
use super::view::{Place, View};
use super::{Answer, Entry, Index, Limit, Verdict, Writer};
use crate::sketch::Compare;
use crate::{Error, ErrorKind, Result};

/// The longest id that an index takes.
pub const MOST_ID_BYTES: usize = u16::MAX as usize;
/// The longest payload that an index takes.
pub const MOST_PAYLOAD_BYTES: usize = 1 << 24;
/// The longest sketch that an index takes.
pub const MOST_SKETCH_BYTES: usize = 1 << 24;

impl Index {
    /// Looks for every entry and adds it, in one step, with at most `limit` matches each.
    ///
    /// Entries are taken one after another, so that the second of two near ones finds the first.
    /// An id that is there with the same sketch stays as it is (its payload, too); one with
    /// another sketch is replaced. Nobody else's entry comes between looking and adding.
    ///
    /// When this returns, all of it is durable; one commit, of a fraction of a millisecond, for
    /// all entries: add many at once. Now and then recent documents are sealed here, for some
    /// tenths of a second, or segments merged; questions go on meanwhile, and while segments are
    /// merged, changes of other threads, too.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for an id that is empty or longer than 65 535 bytes, a payload
    /// or sketch beyond 2²⁴ bytes, or a fingerprint of another length: nothing is added then.
    /// [`ErrorKind::Write`] if it cannot be made durable (the disk is full), or if very many
    /// recent documents could not be sealed: all of it or nothing is there, and questions are
    /// answered as before. Those of [`seen`](Self::seen).
    pub fn add(&self, entries: &[Entry<'_>], limit: usize) -> Result<Vec<Answer>> {
        self.add_within(entries, limit.into())
    }

    /// The same, where what answers list is bounded as by [`seen_within`](Self::seen_within).
    ///
    /// # Errors
    /// Those of [`add`](Self::add).
    pub fn add_within(&self, entries: &[Entry<'_>], limit: Limit) -> Result<Vec<Answer>> {
        entries
            .iter()
            .try_for_each(|entry| check_entry(self.form, &*self.method, entry))?;
        let mut writer = self.ready()?;
        self.refuse_if_too_many(&mut writer)?;
        let (answers, fresh, removed) = {
            let view = self.view();
            let mut addition = Addition::new(self, &view, limit.checked());
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

    /// Removes the documents called `ids`, in one step; says which were there.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if it cannot be made durable; those of [`document`](Self::document).
    pub fn remove(&self, ids: &[&[u8]]) -> Result<Vec<bool>> {
        let mut writer = self.ready()?;
        let mut removed = Vec::new();
        let mut there = Vec::new();
        {
            let view = self.view();
            for id in ids {
                let place = view.find(id)?.filter(|place| !removed.contains(place));
                there.push(place.is_some());
                removed.extend(place);
            }
        }
        if !removed.is_empty() {
            self.publish(&mut writer, Recent::new(self.form), &removed)?;
            drop(writer);
            self.merge_all();
        }
        Ok(there)
    }

    /// The right to change the index, after repairing what failed before.
    pub(super) fn ready(&self) -> Result<std::sync::MutexGuard<'_, Writer>> {
        self.refuse_if_read_only()?;
        let mut writer = self.lock();
        if writer.database.is_none() {
            self.reload(&mut writer)?;
        }
        Ok(writer)
    }

    /// Makes additions and removals durable, then visible.
    fn publish(&self, writer: &mut Writer, fresh: Recent, removed: &[Place]) -> Result<()> {
        let change = {
            let view = self.view();
            let records = (0..fresh.len()).filter_map(|number| fresh.record(number));
            let removed = removed
                .iter()
                .map(|place| (view.number_of(place.part), place.number));
            Change {
                recent: (view.recent.len(), records.collect()),
                removed: removed.collect(),
                ..Change::default()
            }
        };
        self.commit(writer, &change)?;
        let removed = change.removed;
        let mut view = self
            .view
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        Arc::make_mut(&mut view.recent).append(fresh);
        if !removed.is_empty() {
            let gone = Arc::make_mut(&mut view.removed);
            for (number, document) in removed {
                gone.entry(number).or_default().insert(document);
            }
        }
        Ok(())
    }

    /// Commits; after a failure the database is opened again before the next change.
    pub(super) fn commit(&self, writer: &mut Writer, change: &Change<'_>) -> Result<()> {
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
    if id == 0 || id > MOST_ID_BYTES {
        return wrong(format!(
            "an id of {id} bytes: expected 1 to {MOST_ID_BYTES}"
        ));
    }
    if payload > MOST_PAYLOAD_BYTES {
        return wrong(format!(
            "a payload of {payload} bytes: at most {MOST_PAYLOAD_BYTES}"
        ));
    }
    if sketch > MOST_SKETCH_BYTES {
        return wrong(format!(
            "a sketch of {sketch} bytes: at most {MOST_SKETCH_BYTES}"
        ));
    }
    if sketch == 0 {
        Ok(())
    } else {
        form.check(entry.sketch, method)
    }
}

/// What one call adds, before it is committed.
struct Addition<'a> {
    index: &'a Index,
    view: &'a View,
    limit: Limit,
    /// What is left of its bytes for all answers.
    left: usize,
    /// Numbers continue those of the recent documents.
    fresh: Recent,
    removed: Vec<Place>,
    gone: AHashSet<Place>,
}

impl<'a> Addition<'a> {
    fn new(index: &'a Index, view: &'a View, limit: Limit) -> Addition<'a> {
        Addition {
            index,
            view,
            limit,
            left: limit.all_id_bytes,
            fresh: Recent::new(index.form),
            removed: Vec::new(),
            gone: AHashSet::new(),
        }
    }

    fn add_all(&mut self, entries: &[Entry<'_>]) -> Result<Vec<Answer>> {
        let comparable = |entry: &&Entry<'_>| !entry.sketch.is_empty();
        let sketches: Vec<&[u8]> = entries
            .iter()
            .filter(comparable)
            .map(|entry| entry.sketch)
            .collect();
        let mut known = self.search_view(&sketches)?.into_iter();
        let mut answers = Vec::with_capacity(entries.len());
        for entry in entries {
            let mut nearest = match entry.sketch.is_empty() {
                true => self.nothing(),
                false => known.next().unwrap_or_else(|| self.nothing()),
            };
            answers.push(self.add_one(entry, &mut nearest)?);
        }
        Ok(answers)
    }

    /// The nearest documents that the view has, besides those that are gone.
    fn search_view(&self, sketches: &[&[u8]]) -> Result<Vec<Nearest>> {
        let Index { method, form, .. } = self.index;
        let wanted = |place| !self.gone.contains(&place);
        self.view
            .search(&**method, *form, sketches, self.limit.matches + 1, &wanted)
    }

    /// Room for one more match than is wanted: an entry does not match itself.
    fn nothing(&self) -> Nearest {
        Nearest::new(self.limit.matches + 1)
    }

    fn add_one(&mut self, entry: &Entry<'_>, nearest: &mut Nearest) -> Result<Answer> {
        let place = |part, number| Place { part, number };
        let known = nearest.finish().iter();
        let is_gone = |&(_, part, number): &(_, u32, u32)| self.gone.contains(&place(part, number));
        if known.copied().any(|found| is_gone(&found))
            && let Some(again) = self.search_view(&[entry.sketch])?.pop()
        {
            *nearest = again;
        }
        self.search_fresh(entry, nearest);
        let (mut listed, mut left) = (Listed::default(), self.left);
        for (score, part, number) in nearest.finish() {
            let id = self.document(place(*part, *number))?.id;
            if id != entry.id {
                listed.push(&self.limit, &mut left, id, *score);
            }
        }
        self.left = left;
        let known = self.find(entry.id)?;
        let sketch = known
            .map(|place| self.document(place))
            .transpose()?
            .map(|old| old.sketch);
        let verdict = judge(&*self.index.method, entry.sketch, sketch, listed.has_any());
        let added = verdict != Verdict::Unchanged;
        if added {
            if let Some(old) = known {
                self.removed.push(old);
                self.gone.insert(old);
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

    /// Shows the documents that this call added before.
    fn search_fresh(&self, entry: &Entry<'_>, nearest: &mut Nearest) {
        if entry.sketch.is_empty() || self.fresh.len() == 0 {
            return;
        }
        let mut own = [self.nothing()];
        let queries = [entry.sketch];
        let queries = self.index.form.queries(&queries);
        let live = |number| !self.gone.contains(&self.fresh_place(number));
        self.fresh
            .search(&*self.index.method, &queries, &live, &mut own);
        for (score, _, number) in own[0].finish() {
            let place = self.fresh_place(*number);
            nearest.in_part(place.part);
            nearest.push(*score, place.number);
        }
    }

    /// The place that document `number` of this call will have.
    fn fresh_place(&self, number: u32) -> Place {
        Place {
            part: self.view.parts.len() as u32,
            number: self.view.recent.len() + number,
        }
    }

    fn document(&self, place: Place) -> Result<Entry<'_>> {
        let first = self.fresh_place(0);
        if place < first {
            return self.view.document(place);
        }
        Ok(self
            .fresh
            .document(place.number - first.number)
            .unwrap_or_default())
    }

    fn find(&self, id: &[u8]) -> Result<Option<Place>> {
        let fresh = self.fresh.find(id).map(|number| self.fresh_place(number));
        if let Some(place) = fresh.filter(|place| !self.gone.contains(place)) {
            return Ok(Some(place));
        }
        Ok(self
            .view
            .find(id)?
            .filter(|place| !self.gone.contains(place)))
    }
}
