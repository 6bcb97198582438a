//! Tests of the store.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::entry::WRITTEN_TOGETHER;
use super::*;
use crate::table::segment::ChunkEntry;
use crate::workdir::{Opened, StartOptions};
use simtool_core::sketch::SketchList;
use simtool_files::{Faults, Operation};

fn open(out: &Path) -> Work {
    open_with(out, &Faults::default())
}

fn open_with(out: &Path, faults: &Faults) -> Work {
    match Work::open(out, &json!({"a": 1}), StartOptions::default(), faults).unwrap() {
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
    store.append(1, vec![segment(b"abc")], at(6)).unwrap();
    let parts = vec![segment(b"def"), segment(b"ghi")];
    store.append(0, parts, at(7)).unwrap();
    store.append(1, vec![segment(b"jkl")], None).unwrap();
    store.flush().unwrap();
}

/// Writes of segments take different times, so that they end in another order.
#[test]
fn segments_that_are_written_at_once_are_in_order() {
    let out = tempfile::tempdir().unwrap();
    let slow = Faults::decided_by(|_, path| {
        if path.ends_with(DATA) {
            let nanoseconds =
                xxhash_rust::xxh3::xxh3_64(format!("{:?}", Instant::now()).as_bytes());
            std::thread::sleep(Duration::from_nanos(nanoseconds % 1_000_000));
        }
        Ok(())
    });
    let work = open_with(out.path(), &slow);
    let mut store = open_store(&work).unwrap();
    for number in 0..100 {
        store
            .append(0, vec![segment(&[number, 1, 2])], at(number.into()))
            .unwrap();
    }
    store.append(0, Vec::new(), None).unwrap();
    store.complete(1).unwrap();
    let labels = |store: SegmentStore<'_>| {
        let stored = store.finish().unwrap();
        let (rows, bytes) = (stored.rows(), stored.bytes());
        let label = |number| bytes.get(rows.get(number).unwrap().label).unwrap();
        (0..100)
            .map(|number| label(2 * number))
            .collect::<Vec<u8>>()
    };
    let expected: Vec<u8> = (0..100).collect();
    assert_eq!(labels(store), expected);
    assert_eq!(labels(open_store(&work).unwrap()), expected);
}

#[test]
fn a_segment_that_cannot_be_written_stops_the_reading() {
    let out = tempfile::tempdir().unwrap();
    let writes = AtomicUsize::new(0);
    let full = Faults::decided_by(move |operation, path| {
        let is_data = operation == Operation::Write && path.ends_with(DATA);
        match is_data && writes.fetch_add(1, Ordering::Relaxed) == 5 {
            true => Err(io::Error::from(io::ErrorKind::StorageFull)),
            false => Ok(()),
        }
    });
    let work = open_with(out.path(), &full);
    let mut store = open_store(&work).unwrap();
    let mut append = |number| store.append(0, vec![segment(&[number, 1, 2])], at(number.into()));
    let failed = (0..100).find_map(|number| append(number).err());
    let error = failed.unwrap();
    assert!(error.to_string().contains("segments"), "{error}");
    store.flush().unwrap_err();
    drop(store);
    let stored = open_store(&work).unwrap().documents();
    assert!(stored <= 10 && stored.is_multiple_of(2), "{stored}");
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
    store.append(0, vec![segment(b"mno")], None).unwrap();
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
    let mut store = open_store(&work).unwrap();
    for number in 0..WRITTEN_TOGETHER as u64 {
        store.append(0, vec![segment(b"xyz")], at(number)).unwrap();
    }
    store.flush().unwrap();
    drop(store);
    let [data, index] = [DATA, INDEX].map(|name| fs::read(work.path(name)).unwrap());
    let write = |data: &[u8], index: &[u8]| {
        fs::write(work.path(DATA), data).unwrap();
        fs::write(work.path(INDEX), index).unwrap();
    };
    let size = size_of::<Entry>();
    let last = index.len() - size;
    let sound = last / size;
    let begin = bytemuck::pod_read_unaligned::<Entry>(&index[last..]).begin as usize;
    // The last entry is incomplete or wrong, or data follows the last segment.
    for end in last..index.len() {
        write(&data, &index[..end]);
        let store = open_store(&work).unwrap();
        assert_eq!((store.entries.len(), store.end), (sound, begin as u64));
        assert_eq!(fs::read(work.path(DATA)).unwrap(), data[..begin]);
        assert_eq!(fs::read(work.path(INDEX)).unwrap(), index[..last]);
    }
    for bit in 0..8 * size {
        let mut wrong = index.clone();
        wrong[last + bit / 8] ^= 1 << (bit % 8);
        write(&data, &wrong);
        assert_eq!(open_store(&work).unwrap().entries.len(), sound);
    }
    write(&[&data[..], b"more"].concat(), &index);
    assert_eq!(open_store(&work).unwrap().entries.len(), sound + 1);
    // As many as are written together.
    let first = index.len() - WRITTEN_TOGETHER * size;
    write(
        &data,
        &[&index[..first], &vec![0; index.len() - first]].concat(),
    );
    assert_eq!(open_store(&work).unwrap().entries.len(), first / size);
    // Everything else.
    let refused = |data: &[u8], index: &[u8]| {
        write(data, index);
        let error = open_store(&work).err().unwrap();
        assert!(error.to_string().contains("--restart"), "{error}");
    };
    for bit in (0..8 * first).step_by(3) {
        let mut wrong = index.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        refused(&data, &wrong);
    }
    for bit in (0..8 * data.len()).step_by(31) {
        let mut wrong = data.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        refused(&wrong, &index);
    }
    for end in (0..data.len()).step_by(11) {
        refused(&data[..end], &index);
    }
    fs::remove_file(work.path(DATA)).unwrap();
    let error = open_store(&work).err().unwrap();
    assert!(error.to_string().contains("--restart"), "{error}");
    // After the first reading, the index has to be whole.
    write(&data, &index);
    let mut store = open_store(&work).unwrap();
    store.append(0, vec![segment(b"mno")], None).unwrap();
    store.complete(2).unwrap();
    let [data, index] = [DATA, INDEX].map(|name| fs::read(work.path(name)).unwrap());
    for end in 0..index.len() {
        refused(&data, &index[..end]);
    }
}
