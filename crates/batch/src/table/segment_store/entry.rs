//! The index of the segments: an entry for each.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use bytemuck::{Pod, Zeroable};
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use crate::table::segment::ChunkEntry;
use crate::workdir::{Work, damaged};
use crate::{Error, Result};
use simtool_corpus::Position;
use simtool_engine::Progress;
use simtool_files::regular_contents;

/// The file of the segments, and that of the entries.
pub const DATA: &str = "segments";
pub const INDEX: &str = "segment-index";
/// The most entries that are written at a time. After a loss of power, at most this many entries at the
/// end of the index are incomplete.
pub const WRITTEN_TOGETHER: usize = 16;
/// Bytes that are read at a time to compare them with their digest.
const BLOCK_BYTES: usize = 1 << 20;

/// A segment in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Entry {
    /// The unit of the first reading to which it belongs.
    pub unit: u32,
    /// One if the unit is complete.
    pub complete: u32,
    /// The source in which the next segment of the unit begins.
    pub source: u32,
    /// Bytes of a row that is not packed.
    pub row_bytes: u32,
    /// The position in that source: chunk, member, offset.
    pub end: [u64; 3],
    /// Where its data begins.
    pub begin: u64,
    pub chunks: u64,
    pub rows: u64,
    /// Bytes of the packed rows and the description of their packing.
    pub packed_bytes: u64,
    /// Borders of sketches, if their lengths vary.
    pub borders: u64,
    /// Numbers of [`Columns`](crate::table::columns::Columns), as many for each row.
    pub columns: u64,
    pub sketch_bytes: u64,
    pub label_bytes: u64,
    /// The xxh3-128 of its data: low half, high half.
    pub digest: [u64; 2],
    /// The xxh3-64 of the entry up to here.
    pub check: u64,
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
    pub fn offsets(&self) -> Option<[u64; 7]> {
        let lengths = [
            self.chunks.checked_mul(size_of::<ChunkEntry>() as u64)?,
            self.packed_bytes,
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

    pub fn checksum(&self) -> u64 {
        let bytes = bytemuck::bytes_of(self);
        xxh3_64(&bytes[..bytes.len() - size_of::<u64>()])
    }
}

/// The sound entries of the index; none if it does not exist. If one of the last
/// [`WRITTEN_TOGETHER`] entries is incomplete or wrong, it and those after it are left out.
pub fn read_entries(work: &Work) -> Result<Vec<Entry>> {
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
        let is_last = (entries.len() + WRITTEN_TOGETHER) * size >= bytes.len();
        let entry = bytemuck::try_pod_read_unaligned::<Entry>(entry).ok();
        let entry = entry.filter(|entry| entry.checksum() == entry.check && entry.begin == end);
        match entry.and_then(|entry| Some((entry, entry.offsets()?))) {
            Some((entry, [.., after])) => {
                entries.push(entry);
                end = after;
            }
            None if is_last => break,
            None => return Err(damaged(&path)),
        }
    }
    Ok(entries)
}

/// Compares the data of all segments with their digests; returns where they end.
pub fn verify(work: &Work, entries: &[Entry], progress: &Progress) -> Result<u64> {
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
pub fn describe(entries: &[Entry]) -> Map<String, Value> {
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

pub fn halves(digest: u128) -> [u64; 2] {
    [digest as u64, (digest >> 64) as u64]
}
