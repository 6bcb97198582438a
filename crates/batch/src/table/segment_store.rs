//! The store of the first reading: its segments, as one file that grows, and an index of them.
//!
//! ```text
//! segments        chunks │ rows │ borders │ columns │ sketches │ labels │ chunks │ rows │ …
//! segment-index   an entry for each segment, in the same order
//! ```
//!
//! The segments of a unit are in order; those of several units may be mixed. A segment is durable
//! before its entry is written, and an entry before the next segment: only what follows the last
//! sound entry may be incomplete, and is cut off when a run resumes.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use super::row::{Row, TableRow};
use super::segment::{ChunkEntry, Segment};
use crate::workdir::{GrowingFile, Work, damaged};
use crate::{Error, Result};
use simtool_corpus::Position;
use simtool_engine::Progress;
use simtool_files::{RecordFile, regular_contents};

const DATA: &str = "segments";
const INDEX: &str = "segment-index";
/// Written last: the first reading is complete.
const MARKER: &str = "gathered";
/// Bytes that are read at a time to compare them with their digest.
const BLOCK_BYTES: usize = 1 << 20;

/// A segment in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Entry {
    /// The unit of the first reading to which it belongs.
    unit: u32,
    /// One if the unit is complete.
    complete: u32,
    /// The source in which the next segment of the unit begins.
    source: u32,
    /// Bytes of a row.
    row_bytes: u32,
    /// The position in that source: chunk, member, offset.
    end: [u64; 3],
    /// Where its data begins.
    begin: u64,
    chunks: u64,
    rows: u64,
    /// Borders of sketches, if their lengths vary.
    borders: u64,
    /// Numbers of [`Columns`](crate::table::columns::Columns), as many for each row.
    columns: u64,
    sketch_bytes: u64,
    label_bytes: u64,
    /// The xxh3-128 of its data: low half, high half.
    digest: [u64; 2],
    /// The xxh3-64 of the entry up to here.
    check: u64,
}

/// The segments of a run, to which it appends.
pub struct SegmentStore<'a, R = Row> {
    work: &'a Work,
    row: PhantomData<R>,
    data: GrowingFile,
    index: GrowingFile,
    entries: Vec<Entry>,
    /// The position of the last segment of each unit.
    last: HashMap<u32, usize>,
    /// The number of rows of all segments.
    documents: u64,
    is_complete: bool,
}

/// The segments in the order of the documents, and the open file with their data.
pub struct StoredSegments<'a, R = Row> {
    work: &'a Work,
    row: PhantomData<R>,
    file: Arc<File>,
    entries: Vec<Entry>,
}

/// Where the sketches of a segment are in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SketchRun {
    /// The number of the segment's first document.
    pub first: u64,
    /// The offset of the sketch of that document.
    pub sketches: u64,
    /// The offset of the borders of the sketches, relative to the first sketch; if lengths vary.
    pub borders: u64,
}

impl Entry {
    /// Where the next segment of the unit begins; `None` if the unit is complete.
    pub fn next(&self) -> Option<(u32, Position)> {
        let [chunk, member, offset] = self.end;
        let position = Position {
            chunk,
            member,
            offset,
        };
        (self.complete == 0).then_some((self.source, position))
    }

    /// The offsets of chunks, rows, borders, columns, sketches and labels, and the end of the
    /// segment. `None` if one is beyond all files.
    fn offsets(&self) -> Option<[u64; 7]> {
        let lengths = [
            self.chunks.checked_mul(size_of::<ChunkEntry>() as u64)?,
            self.rows.checked_mul(self.row_bytes.into())?,
            self.borders.checked_mul(size_of::<u64>() as u64)?,
            self.columns.checked_mul(size_of::<u64>() as u64)?,
            self.sketch_bytes,
            self.label_bytes,
        ];
        let mut offsets = [self.begin; 7];
        for (place, length) in lengths.into_iter().enumerate() {
            offsets[place + 1] = offsets[place].checked_add(length)?;
        }
        Some(offsets)
    }

    fn checksum(&self) -> u64 {
        let bytes = bytemuck::bytes_of(self);
        xxh3_64(&bytes[..bytes.len() - size_of::<u64>()])
    }
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
    /// removed. The units have to be stored one after another.
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
        let numbered = entries.iter().enumerate();
        let last = numbered.map(|(place, entry)| (entry.unit, place)).collect();
        // The index first: data without an entry is cut off, an entry without data is damage.
        let index = work.growing_file(INDEX, index_bytes)?;
        Ok(SegmentStore {
            work,
            row: PhantomData,
            last,
            documents: entries.iter().map(|entry| entry.rows).sum(),
            data: work.growing_file(DATA, end)?,
            index,
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
        let place = self.last.get(&u32::try_from(unit).ok()?)?;
        self.entries.get(*place)
    }

    /// Appends the next segment of `unit`, and makes it durable. The one after it begins at `next`,
    /// a source and a position; with `None`, the unit is complete.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn append(
        &mut self,
        unit: usize,
        mut segment: Segment<R>,
        next: Option<(u32, Position)>,
    ) -> Result<()> {
        let (source, end) = next.unwrap_or_default();
        let mut entry = Entry {
            unit: unit as u32,
            complete: next.is_none().into(),
            source,
            row_bytes: size_of::<R>() as u32,
            end: [end.chunk, end.member, end.offset],
            begin: self.data.bytes(),
            chunks: segment.chunks.len() as u64,
            rows: segment.rows.len() as u64,
            borders: segment.sketches.borders.len() as u64,
            columns: segment.columns.len() as u64,
            sketch_bytes: segment.sketches.bytes.len() as u64,
            label_bytes: segment.labels.len() as u64,
            ..Entry::zeroed()
        };
        let beyond = || damaged(&self.work.path(DATA));
        let [.., labels, end] = entry.offsets().ok_or_else(beyond)?;
        for row in &mut segment.rows {
            row.move_label(labels);
        }
        let mut bytes = Vec::with_capacity((end - entry.begin) as usize);
        bytes.extend_from_slice(bytemuck::cast_slice(&segment.chunks));
        bytes.extend_from_slice(bytemuck::cast_slice(&segment.rows));
        bytes.extend_from_slice(bytemuck::cast_slice(&segment.sketches.borders));
        bytes.extend_from_slice(bytemuck::cast_slice(&segment.columns));
        bytes.extend_from_slice(&segment.sketches.bytes);
        bytes.extend_from_slice(&segment.labels);
        drop(segment);
        entry.digest = halves(xxh3_128(&bytes));
        entry.check = entry.checksum();
        self.data.append(&bytes)?;
        self.index.append(bytemuck::bytes_of(&entry))?;
        self.last.insert(entry.unit, self.entries.len());
        self.documents += entry.rows;
        self.entries.push(entry);
        Ok(())
    }

    /// Marks the first reading as complete: all of `units` units are.
    ///
    /// # Errors
    /// [`ErrorKind::Content`](crate::ErrorKind::Content) if a unit is not;
    /// [`ErrorKind::Write`](crate::ErrorKind::Write).
    pub fn complete(&mut self, units: usize) -> Result<()> {
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
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn segments(&self) -> Result<StoredSegments<'a, R>> {
        self.stored(self.entries.clone())
    }

    /// [`segments`](Self::segments) of a complete store.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn finish(mut self) -> Result<StoredSegments<'a, R>> {
        let entries = std::mem::take(&mut self.entries);
        self.stored(entries)
    }

    fn stored(&self, mut entries: Vec<Entry>) -> Result<StoredSegments<'a, R>> {
        let path = self.work.path(DATA);
        let file = File::open(&path).map_err(|cause| Error::unreadable(&path, cause))?;
        // Stable, so that the segments of a unit stay in order.
        entries.sort_by_key(|entry| entry.unit);
        Ok(StoredSegments {
            work: self.work,
            row: PhantomData,
            file: Arc::new(file),
            entries,
        })
    }
}

impl<R: TableRow> StoredSegments<'_, R> {
    /// The chunks of all inputs, in order.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn chunks(&self) -> Result<Vec<ChunkEntry>> {
        let stored = self.records::<ChunkEntry>(|entry| entry.chunks, 0);
        let mut chunks = Vec::new();
        stored.read(0, usize::MAX, &mut chunks)?;
        Ok(chunks)
    }

    /// The rows of all documents.
    pub fn rows(&self) -> RecordFile<R> {
        self.records(|entry| entry.rows, 1)
    }

    /// The further numbers of all documents.
    pub fn columns(&self) -> RecordFile<u64> {
        self.records(|entry| entry.columns, 3)
    }

    /// All bytes of the store, for labels and sketches.
    pub fn bytes(&self) -> RecordFile<u8> {
        let ends = self.entries.iter().filter_map(Entry::offsets);
        let end = ends.map(|[.., end]| end).max().unwrap_or(0);
        RecordFile::of_runs(Arc::clone(&self.file), &self.work.path(DATA), [(end, 0)])
    }

    /// Where the sketches are, by the number of the first document.
    pub fn sketches(&self) -> Vec<SketchRun> {
        let mut first = 0;
        let mut runs = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.rows > 0) {
            if let Some([_, _, borders, _, sketches, ..]) = entry.offsets() {
                runs.push(SketchRun {
                    first,
                    sketches,
                    borders,
                });
            }
            first += entry.rows;
        }
        runs
    }

    /// The records that each segment has `count` of, in its part number `part`.
    fn records<T: Pod>(&self, count: impl Fn(&Entry) -> u64, part: usize) -> RecordFile<T> {
        let run = |entry: &Entry| Some((count(entry), entry.offsets()?[part]));
        let runs = self.entries.iter().filter_map(run);
        RecordFile::of_runs(Arc::clone(&self.file), &self.work.path(DATA), runs)
    }
}

/// The sound entries of the index; none if it does not exist. Only the last one may be incomplete
/// or wrong, and is left out.
fn read_entries(work: &Work) -> Result<Vec<Entry>> {
    let path = work.path(INDEX);
    let bytes = match regular_contents(&path) {
        Ok(bytes) => bytes,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(cause) => return Err(Error::unreadable(&path, cause)),
    };
    let size = size_of::<Entry>();
    let mut entries: Vec<Entry> = Vec::with_capacity(bytes.len() / size);
    let mut end = 0;
    for entry in bytes.chunks(size) {
        let is_last = (entries.len() + 1) * size >= bytes.len();
        let entry = bytemuck::try_pod_read_unaligned::<Entry>(entry).ok();
        let entry = entry.filter(|entry| entry.checksum() == entry.check && entry.begin == end);
        match entry.and_then(|entry| Some((entry, entry.offsets()?))) {
            Some((entry, [.., after])) => {
                entries.push(entry);
                end = after;
            }
            None if is_last => {}
            None => return Err(damaged(&path)),
        }
    }
    Ok(entries)
}

/// Compares the data of all segments with their digests; returns where they end.
fn verify(work: &Work, entries: &[Entry], progress: &Progress) -> Result<u64> {
    let path = work.path(DATA);
    let Some([.., end]) = entries.last().and_then(Entry::offsets) else {
        return Ok(0);
    };
    let file = File::open(&path).map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound => damaged(&path),
        _ => Error::unreadable(&path, cause),
    })?;
    let mut block = vec![0; BLOCK_BYTES];
    for entry in entries {
        let [mut at, .., end] = entry.offsets().unwrap_or_default();
        let mut hash = Xxh3::new();
        while at < end {
            progress.check()?;
            let length = (end - at).min(BLOCK_BYTES as u64) as usize;
            let part = &mut block[..length];
            file.read_exact_at(part, at)
                .map_err(|cause| match cause.kind() {
                    io::ErrorKind::UnexpectedEof => damaged(&path),
                    _ => Error::unreadable(&path, cause),
                })?;
            hash.update(part);
            at += length as u64;
        }
        if halves(hash.digest128()) != entry.digest {
            return Err(damaged(&path));
        }
    }
    Ok(end)
}

/// What the marker of a complete reading says of the index.
fn describe(entries: &[Entry]) -> Map<String, Value> {
    let digest = xxh3_128(bytemuck::cast_slice(entries));
    let described = [
        ("segments", json!(entries.len())),
        ("xxh3_128", json!(format!("{digest:032x}"))),
    ];
    described
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

fn halves(digest: u128) -> [u64; 2] {
    [digest as u64, (digest >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::workdir::{Opened, StartOptions};
    use simtool_core::sketch::SketchList;
    use simtool_files::Faults;

    fn open(out: &Path) -> Work {
        let start = StartOptions::default();
        match Work::open(out, &json!({"a": 1}), start, &Faults::default()).unwrap() {
            Opened::Unfinished(work) => work,
            Opened::Finished(_) => unreachable!(),
        }
    }

    fn open_store(work: &Work) -> Result<SegmentStore<'_>> {
        SegmentStore::open(work, &Progress::new())
    }

    /// A segment of two documents with `label`s.
    fn segment(label: &[u8; 3]) -> Segment {
        let row = |label| Row {
            label,
            words: 7,
            ..Row::zeroed()
        };
        Segment {
            chunks: vec![
                ChunkEntry {
                    documents: label[0].into(),
                    ..ChunkEntry::zeroed()
                };
                2
            ],
            rows: vec![row(0), row(1)],
            sketches: SketchList {
                bytes: vec![label[1]; 16],
                borders: vec![0, 5, 16],
            },
            labels: label.to_vec(),
            columns: vec![label[0].into(), 8],
        }
    }

    fn at(offset: u64) -> Option<(u32, Position)> {
        let position = Position {
            chunk: 4,
            member: 5,
            offset,
        };
        Some((3, position))
    }

    /// Stores four segments of two units, mixed.
    fn fill(work: &Work) {
        let mut store = open_store(work).unwrap();
        store.append(1, segment(b"abc"), at(6)).unwrap();
        let mut long = segment(b"def");
        long.append(&segment(b"ghi"));
        store.append(0, long, at(7)).unwrap();
        store.append(1, segment(b"jkl"), None).unwrap();
    }

    #[test]
    fn segments_are_read_in_the_order_of_units_and_labels_move() {
        let out = tempfile::tempdir().unwrap();
        let work = open(out.path());
        fill(&work);
        let mut store = open_store(&work).unwrap();
        assert_eq!(store.last_of(0).unwrap().next(), at(7));
        assert_eq!(store.last_of(1).unwrap().next(), None);
        assert!(store.last_of(2).is_none() && !store.is_complete());
        store.complete(2).unwrap_err();
        store.append(0, segment(b"mno"), None).unwrap();
        store.complete(2).unwrap();
        let store = open_store(&work).unwrap();
        assert!(store.is_complete());
        assert_eq!(SegmentStore::state(&work).unwrap(), (4, true));

        let stored = store.finish().unwrap();
        let order = b"dgmaj";
        let documents: Vec<u32> = stored
            .chunks()
            .unwrap()
            .iter()
            .map(|chunk| chunk.documents)
            .collect();
        let expected = order.iter().flat_map(|&first| [u32::from(first); 2]);
        assert_eq!(documents, expected.collect::<Vec<_>>());
        let (rows, bytes, columns) = (stored.rows(), stored.bytes(), stored.columns());
        let runs = stored.sketches();
        assert_eq!(
            runs.iter().map(|run| run.first).collect::<Vec<_>>(),
            [0, 4, 6, 8]
        );
        for (number, &first) in (0..).zip(order.iter().flat_map(|first| [first; 2])) {
            let row = rows.get(number).unwrap();
            assert_eq!(bytes.get(row.label).unwrap(), first + (number % 2) as u8);
            let expected = [u64::from(first), 8][(number % 2) as usize];
            assert_eq!(columns.get(number).unwrap(), expected);
            let run = runs.iter().rfind(|run| run.first <= number).unwrap();
            let mut sketch = Vec::new();
            bytes.read(run.sketches, 16, &mut sketch).unwrap();
            let of_run = order[(run.first / 2) as usize];
            assert_eq!(sketch, [of_run + 1; 16]);
            let mut borders = Vec::new();
            bytes.read(run.borders, 24, &mut borders).unwrap();
            assert_eq!(
                bytemuck::pod_collect_to_vec::<u8, u64>(&borders),
                [0, 5, 16]
            );
        }
        assert_eq!(rows.len(), 10);
    }

    /// Promise (Deduplication): A damaged file of the work …
    #[test]
    fn an_incomplete_end_is_cut_off_and_other_damage_is_an_error() {
        let out = tempfile::tempdir().unwrap();
        let work = open(out.path());
        fill(&work);
        let [data, index] = [DATA, INDEX].map(|name| fs::read(work.path(name)).unwrap());
        let write = |data: &[u8], index: &[u8]| {
            fs::write(work.path(DATA), data).unwrap();
            fs::write(work.path(INDEX), index).unwrap();
        };
        let size = size_of::<Entry>();
        let last = index.len() - size;
        let begin = bytemuck::pod_read_unaligned::<Entry>(&index[last..]).begin as usize;
        // The last entry is incomplete or wrong, or data follows the last segment.
        for end in last..index.len() {
            write(&data, &index[..end]);
            let store = open_store(&work).unwrap();
            assert_eq!((store.entries.len(), store.data.bytes()), (2, begin as u64));
            assert_eq!(fs::read(work.path(DATA)).unwrap(), data[..begin]);
            assert_eq!(fs::read(work.path(INDEX)).unwrap(), index[..last]);
        }
        for bit in 0..8 * size {
            let mut wrong = index.clone();
            wrong[last + bit / 8] ^= 1 << (bit % 8);
            write(&data, &wrong);
            assert_eq!(open_store(&work).unwrap().entries.len(), 2);
        }
        write(&[&data[..], b"more"].concat(), &index);
        assert_eq!(open_store(&work).unwrap().entries.len(), 3);
        // Everything else.
        let refused = |data: &[u8], index: &[u8]| {
            write(data, index);
            let error = open_store(&work).err().unwrap();
            assert!(error.to_string().contains("--restart"), "{error}");
        };
        for bit in 0..8 * last {
            let mut wrong = index.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            refused(&data, &wrong);
        }
        for bit in 0..8 * data.len() {
            let mut wrong = data.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            refused(&wrong, &index);
        }
        for end in 0..data.len() {
            refused(&data[..end], &index);
        }
        fs::remove_file(work.path(DATA)).unwrap();
        let error = open_store(&work).err().unwrap();
        assert!(error.to_string().contains("--restart"), "{error}");
        // After the first reading, the index has to be whole.
        write(&data, &index);
        let mut store = open_store(&work).unwrap();
        store.append(0, segment(b"mno"), None).unwrap();
        store.complete(2).unwrap();
        let [data, index] = [DATA, INDEX].map(|name| fs::read(work.path(name)).unwrap());
        for end in 0..index.len() {
            refused(&data, &index[..end]);
        }
    }
}
