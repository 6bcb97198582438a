//! The store of the first reading: its segments, as one file that grows, and an index of them.
//!
//! ```text
//! segments        chunks │ packed rows │ borders │ columns │ sketches │ labels │ chunks │ …
//! segment-index   an entry for each segment, in the same order
//! ```
//!
//! The segments of a unit are in order; those of several units may be mixed. A segment is durable
//! before its entry is written: only what follows the last sound entry may be incomplete, and is cut
//! off when a run resumes.

mod appender;
mod entry;
mod stored;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use bytemuck::Zeroable;

pub use self::entry::Entry;
pub use self::stored::{SketchRun, StoredSegments};

use self::appender::{Appender, Job};
use self::entry::{DATA, INDEX, describe, read_entries, verify};
use super::row::{Row, TableRow};
use super::rows::RowPacking;
use super::segment::Segment;
use crate::Result;
use crate::workdir::{Work, damaged};
use simtool_core::sketch::append_borders;
use simtool_corpus::Position;
use simtool_engine::Progress;

/// Written last: the first reading is complete.
const MARKER: &str = "gathered";

/// The segments of a run, to which it appends.
pub struct SegmentStore<'a, R = Row> {
    work: &'a Work,
    appender: Appender<R>,
    /// Where the next segment begins.
    end: u64,
    /// The entries of the durable segments that are known to be.
    entries: Vec<Entry>,
    /// The last segment of each unit.
    last: HashMap<u32, Entry>,
    /// The number of rows of all segments.
    documents: u64,
    is_complete: bool,
}

impl SegmentStore<'_> {
    /// The number of segments, and whether the first reading is complete, without a check of the
    /// data.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open).
    pub fn state(work: &Work) -> Result<(usize, bool)> {
        Ok((read_entries(work)?.len(), work.published(MARKER)?.is_some()))
    }
}

impl<'a, R: TableRow> SegmentStore<'a, R> {
    /// Opens the store of a work directory, or makes one. What a killed process wrote after the
    /// last sound entry is cut off; everything else is compared with its digests.
    ///
    /// # Errors
    /// [`ErrorKind::Content`](crate::ErrorKind::Content) if it is damaged;
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if it cannot be read or written;
    /// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn open(work: &'a Work, progress: &Progress) -> Result<SegmentStore<'a, R>> {
        SegmentStore::open_within(work, u64::MAX, progress)
    }

    /// [`open`](Self::open), without the segments after the first `documents` documents. They are
    /// removed.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open).
    pub fn open_within(
        work: &'a Work,
        documents: u64,
        progress: &Progress,
    ) -> Result<SegmentStore<'a, R>> {
        let mut entries = read_entries(work)?;
        if entries
            .iter()
            .any(|entry| entry.row_bytes as usize != size_of::<R>())
        {
            return Err(damaged(&work.path(INDEX)));
        }
        let marker = work.published(MARKER)?;
        if marker
            .as_ref()
            .is_some_and(|marker| *marker != describe(&entries))
        {
            return Err(damaged(&work.path(INDEX)));
        }
        let mut is_complete = marker.is_some();
        let mut rows = 0u64;
        let is_kept = |entry: &&Entry| {
            rows = rows.saturating_add(entry.rows);
            rows <= documents
        };
        let kept = entries.iter().take_while(is_kept).count();
        if kept < entries.len() {
            entries.truncate(kept);
            if is_complete {
                work.withdraw(MARKER)?;
                is_complete = false;
            }
        }
        let end = verify(work, &entries, progress)?;
        let index_bytes = size_of_val(entries.as_slice()) as u64;
        // The index first: data without an entry is cut off, an entry without data is damage.
        let index = work.growing_file(INDEX, index_bytes)?;
        let data = work.growing_file(DATA, end)?;
        Ok(SegmentStore {
            work,
            last: entries.iter().map(|entry| (entry.unit, *entry)).collect(),
            documents: entries.iter().map(|entry| entry.rows).sum(),
            appender: Appender::new(data, index, entries.len()),
            end,
            entries,
            is_complete,
        })
    }

    /// The number of stored documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Whether all units are complete.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The last segment of a unit.
    pub fn last_of(&self, unit: usize) -> Option<&Entry> {
        self.last.get(&u32::try_from(unit).ok()?)
    }

    /// Appends the next segment of `unit`, in parts, which is made durable later. The one after it
    /// begins at `next`, a source and a position; with `None`, the unit is complete.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write), also of an earlier segment.
    pub fn append(
        &mut self,
        unit: usize,
        mut parts: Vec<Segment<R>>,
        next: Option<(u32, Position)>,
    ) -> Result<()> {
        let (source, end) = next.unwrap_or_default();
        let mut labels = 0;
        for part in &mut parts {
            part.rows.iter_mut().for_each(|row| row.move_label(labels));
            labels += part.labels.len() as u64;
        }
        let packing = RowPacking::of(parts.iter().flat_map(|part| &part.rows));
        let rows = sum_of(&parts, |part| part.rows.len());
        let mut borders = Vec::new();
        parts
            .iter()
            .for_each(|part| append_borders(&mut borders, &part.sketches.borders));
        let entry = Entry {
            unit: unit as u32,
            complete: next.is_none().into(),
            source,
            row_bytes: size_of::<R>() as u32,
            end: [end.chunk, end.member, end.offset],
            begin: self.end,
            chunks: sum_of(&parts, |part| part.chunks.len()),
            rows,
            packed_bytes: RowPacking::description_bytes::<R>() as u64
                + rows * packing.packed_bytes() as u64,
            borders: borders.len() as u64,
            columns: sum_of(&parts, |part| part.columns.len()),
            sketch_bytes: sum_of(&parts, |part| part.sketches.bytes.len()),
            label_bytes: labels,
            ..Entry::zeroed()
        };
        let beyond = || damaged(&self.work.path(DATA));
        let [.., end] = entry.offsets().ok_or_else(beyond)?;
        self.appender.append(Job {
            entry,
            packing,
            borders,
            parts,
        })?;
        self.end = end;
        self.last.insert(entry.unit, entry);
        self.documents += entry.rows;
        Ok(())
    }

    /// Waits until all segments are durable.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn flush(&mut self) -> Result<()> {
        self.entries.extend(self.appender.flush()?);
        Ok(())
    }

    /// Marks the first reading as complete: all of `units` units are.
    ///
    /// # Errors
    /// [`ErrorKind::Content`](crate::ErrorKind::Content) if a unit is not;
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn complete(&mut self, units: usize) -> Result<()> {
        self.flush()?;
        let complete = self.entries.iter().filter(|entry| entry.complete == 1);
        if complete.count() != units {
            return Err(damaged(&self.work.path(INDEX)));
        }
        self.is_complete = true;
        self.work.publish(MARKER, describe(&self.entries))
    }

    /// The segments so far in the order of the documents, for reading.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write); [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn segments(&mut self) -> Result<StoredSegments<'a, R>> {
        self.flush()?;
        StoredSegments::of(self.work, self.entries.clone())
    }

    /// [`segments`](Self::segments) of a complete store.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn finish(mut self) -> Result<StoredSegments<'a, R>> {
        let entries = std::mem::take(&mut self.entries);
        StoredSegments::of(self.work, entries)
    }
}

fn sum_of<R>(parts: &[Segment<R>], of: impl Fn(&Segment<R>) -> usize) -> u64 {
    parts.iter().map(of).sum::<usize>() as u64
}
