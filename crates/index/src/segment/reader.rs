//! An open segment: its documents and their search.
//!
//! Every read fails with [`ErrorKind::Content`] if the segment is damaged, and with
//! [`ErrorKind::Changed`] if the file was truncated meanwhile.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use ahash::AHashSet;

use super::attributes::Attributes;
use super::fingerprints::Fingerprints;
use super::lists::{self, Entries, Lists};
use super::look_up::LookUpBuffers;
use super::sections::{ENDS, KEYS, NAMES, RECORDS};
use crate::form::{Form, Queries};
use crate::found::Offer;
use crate::io::{BlockFile, Faults, directory};
use crate::record::{Record, Standing};
use crate::sketch::Compare;
use crate::{Error, ErrorKind, Result};

/// An open segment; threads may share it.
pub struct Segment {
    file: BlockFile,
    attributes: Attributes,
    contents: Contents,
    method: Arc<dyn Compare>,
    form: Form,
    /// Set if the file is to be removed when the last user drops the segment.
    remove_on_drop: OnceLock<Faults>,
}

/// Buffers of a search.
#[derive(Debug, Default)]
pub struct SegmentScratch {
    narrow: LookUpBuffers<u64>,
    wide: LookUpBuffers<u128>,
}

enum Contents {
    Narrow(Fingerprints<u64>),
    Wide(Fingerprints<u128>),
    Keys,
}

impl Segment {
    /// Opens the segment `path`; an error unless it has sketches of `method` in the form `form`.
    pub fn open(path: &Path, form: Form, method: &Arc<dyn Compare>) -> Result<Segment> {
        Segment::of(path, BlockFile::open(path)?, form, method)
    }

    /// The same for a file that may be truncated: documents with correct checksums can be read.
    pub fn open_damaged(path: &Path, form: Form, method: &Arc<dyn Compare>) -> Result<Segment> {
        Segment::of(path, BlockFile::open_damaged(path)?, form, method)
    }

    fn of(path: &Path, file: BlockFile, form: Form, method: &Arc<dyn Compare>) -> Result<Segment> {
        let wrong = || {
            let message = "is not a segment of this index";
            Error::new(ErrorKind::Content, message).in_file(path)
        };
        let attributes = Attributes::decode(file.attributes()).ok_or_else(wrong)?;
        let bits = (attributes.width.into(), attributes.distance.into());
        if file.kind() != form.kind()
            || bits != form.bits()
            || attributes.removed > attributes.documents
            || file.len::<u64>(ENDS) != u64::from(attributes.documents)
        {
            return Err(wrong());
        }
        let contents = match form {
            Form::Keys => Contents::Keys,
            Form::Narrow { .. } => {
                Contents::Narrow(Fingerprints::of(&attributes).ok_or_else(wrong)?)
            }
            Form::Wide { .. } => Contents::Wide(Fingerprints::of(&attributes).ok_or_else(wrong)?),
        };
        Ok(Segment {
            file,
            attributes,
            contents,
            method: method.clone(),
            form,
            remove_on_drop: OnceLock::new(),
        })
    }

    /// The number of documents, including removed ones.
    pub fn documents(&self) -> u32 {
        self.attributes.documents
    }

    /// The number of documents that were removed before the segment was written.
    pub fn removed(&self) -> u32 {
        self.attributes.removed
    }

    /// The number of bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// The identity, which no other segment has.
    pub fn identity(&self) -> u64 {
        self.file.identity()
    }

    /// The name of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The number of distinct fingerprints; 0 if sketches are searched by keys.
    pub fn distinct(&self) -> u64 {
        self.attributes.distinct
    }

    /// The record of document number `number`.
    pub fn record(&self, number: u32) -> Result<Record<'_>> {
        let record = self.file.values::<u8>(RECORDS, self.place(number)?)?;
        let record = Record::decode(record)
            .ok_or_else(|| self.file.damaged("a document is shorter than it claims"))?;
        let sketch = record.entry.sketch;
        if !sketch.is_empty() && !self.form.holds(sketch, &*self.method) {
            return Err(self
                .file
                .damaged("a document has a sketch of another method"));
        }
        Ok(record)
    }

    /// The location of the record of a document.
    fn place(&self, number: u32) -> Result<Range<u64>> {
        let number = u64::from(number);
        Ok(match number {
            0 => 0..self.file.values::<u64>(ENDS, 0..1)?[0],
            _ => {
                let ends = self.file.values::<u64>(ENDS, number - 1..number + 1)?;
                ends[0]..ends[1]
            }
        })
    }

    /// Calls `visit` with the query and the documents, ascending, of every [name](crate::record::Name)
    /// that has any. `names` are hashes with the numbers of their queries, ascending.
    pub fn with_names<'s>(
        &'s self,
        names: &[(u64, u32)],
        visit: impl FnMut(u32, &'s [u32]) -> Result<()>,
    ) -> Result<()> {
        Lists(NAMES).for_each(&self.file, names, visit)
    }

    /// The same for [hashes of keys](super::lists::hash).
    pub fn with_keys<'s>(
        &'s self,
        keys: &[(u64, u32)],
        visit: impl FnMut(u32, &'s [u32]) -> Result<()>,
    ) -> Result<()> {
        Lists(KEYS).for_each(&self.file, keys, visit)
    }

    /// The number of documents with a name of this hash, and the last of them.
    pub fn count_named(&self, name: u64) -> Result<(u64, Option<u32>)> {
        Lists(NAMES).count(&self.file, name)
    }

    /// The entries of the list of names, and of that of keys, with `offset` added to the numbers of
    /// documents, without those that are `removed`.
    pub fn entries<'s>(&'s self, offset: u32, removed: &'s AHashSet<u32>) -> [Entries<'s>; 2] {
        [NAMES, KEYS].map(|section| -> Entries<'s> {
            match section == KEYS && !matches!(self.contents, Contents::Keys) {
                true => Entries::none(),
                false => {
                    let numbers = (self.attributes.documents, offset);
                    Lists(section).entries(&self.file, numbers, removed)
                }
            }
        })
    }

    /// Offers the documents with a fingerprint near those of `queries`.
    pub fn search(
        &self,
        queries: &Queries,
        scratch: &mut SegmentScratch,
        offer: &mut Offer<'_>,
    ) -> Result<()> {
        match (&self.contents, queries) {
            (Contents::Narrow(of), Queries::Narrow(values)) => {
                of.search(&self.file, values, &mut scratch.narrow, offer)
            }
            (Contents::Wide(of), Queries::Wide(values)) => {
                of.search(&self.file, values, &mut scratch.wide, offer)
            }
            _ => unreachable!("queries have the form of the index"),
        }
    }

    /// Fails if the file was truncated, so that reads may be wrong.
    pub fn unchanged(&self) -> Result<()> {
        self.file.unchanged()
    }

    /// Copies the file, checking each block.
    pub fn copy(&self, to: &Path, faults: &Faults) -> Result<()> {
        self.file.copy(to, faults)
    }

    /// Has the file removed when the last user drops the segment.
    pub fn remove_when_unused(&self, faults: &Faults) {
        let _ = self.remove_on_drop.set(faults.clone());
    }

    /// Checks every byte, and properties that checksums do not cover.
    pub fn verify(&self) -> Result<()> {
        self.file.verify()?;
        let Attributes {
            documents, seed, ..
        } = self.attributes;
        let (mut compared, mut removed) = (0u64, 0);
        let (mut names, mut keys) = (0u64, 0u64);
        let mut hashes = Vec::new();
        for number in 0..documents {
            let record = self.record(number)?;
            removed += u32::from(record.standing == Standing::Removed);
            let sums = record
                .names(seed)
                .map(|hash| lists::place_hash(hash, number));
            names = sums.fold(names, u64::wrapping_add);
            if !record.is_compared() {
                continue;
            }
            compared += 1;
            if matches!(self.contents, Contents::Keys) {
                hashes.clear();
                key_hashes(&*self.method, record.entry.sketch, seed, &mut hashes);
                let sums = hashes.iter().map(|hash| lists::place_hash(*hash, number));
                keys = sums.fold(keys, u64::wrapping_add);
            }
        }
        if removed != self.attributes.removed {
            return Err(self
                .file
                .damaged("it has another number of removed documents"));
        }
        Lists(NAMES).verify(&self.file, names)?;
        let sketch = |number| Ok(self.record(number)?.entry.sketch);
        match &self.contents {
            Contents::Narrow(of) => of.verify(&self.file, compared, &sketch),
            Contents::Wide(of) => of.verify(&self.file, compared, &sketch),
            Contents::Keys => Lists(KEYS).verify(&self.file, keys),
        }
    }
}

/// Appends the distinct hashes of the keys of a sketch, ascending.
pub fn key_hashes(method: &dyn Compare, sketch: &[u8], seed: u64, hashes: &mut Vec<u64>) {
    let start = hashes.len();
    method.append_keys(sketch, hashes);
    let own = &mut hashes[start..];
    own.iter_mut()
        .for_each(|key| *key = lists::hash(&key.to_le_bytes(), seed));
    own.sort_unstable();
    let mut last = None;
    let distinct = own
        .iter()
        .copied()
        .filter(|hash| last.replace(*hash) != Some(*hash));
    let distinct: Vec<u64> = distinct.collect();
    hashes.truncate(start);
    hashes.extend(distinct);
}

/// If the removal fails, the next opening of the index removes the file.
impl Drop for Segment {
    fn drop(&mut self) {
        if let Some(faults) = self.remove_on_drop.get() {
            let _ = directory::remove(self.file.path(), faults);
        }
    }
}
