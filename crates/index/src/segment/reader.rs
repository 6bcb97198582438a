//! An open segment: its documents and their search.
//!
//! Every read fails with [`ErrorKind::Content`] if the segment is damaged, and with
//! [`ErrorKind::Changed`] if the file was truncated meanwhile.

use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::attributes::Attributes;
use super::fingerprints::Fingerprints;
use super::lists::{self, Lists};
use super::look_up::LookUpBuffers;
use super::sections::{ENDS, IDS, KEYS, RECORDS};
use crate::answer::Entry;
use crate::form::{Form, Queries};
use crate::io::{BlockFile, Faults, Source, directory};
use crate::nearest::{Admit, Nearest};
use crate::record;
use crate::sketch::{Compare, Verification};
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

    /// Document number `number`.
    pub fn document(&self, number: u32) -> Result<Entry<'_>> {
        let record = self.file.values::<u8>(RECORDS, self.record(number)?)?;
        let entry = record::decode(record)
            .ok_or_else(|| self.file.damaged("a document is shorter than it claims"))?;
        if !entry.sketch.is_empty() && !self.form.holds(entry.sketch, &*self.method) {
            return Err(self
                .file
                .damaged("a document has a sketch of another method"));
        }
        Ok(entry)
    }

    /// The location of the record of a document.
    fn record(&self, number: u32) -> Result<Range<u64>> {
        let number = u64::from(number);
        Ok(match number {
            0 => 0..self.file.values::<u64>(ENDS, 0..1)?[0],
            _ => {
                let ends = self.file.values::<u64>(ENDS, number - 1..number + 1)?;
                ends[0]..ends[1]
            }
        })
    }

    /// Whether nearly all documents are in memory or on disk.
    pub fn source(&self) -> Source {
        match [ENDS, RECORDS].map(|section| self.file.source(section)) {
            [Source::Memory, Source::Memory] => Source::Memory,
            _ => Source::Disk,
        }
    }

    /// Prefetches the location of document number `number`.
    pub fn prefetch_location(&self, number: u32, source: Source) {
        let number = u64::from(number);
        self.file
            .prefetch::<u64>(ENDS, number.saturating_sub(1)..number + 1, source);
    }

    /// Prefetches document number `number`.
    pub fn prefetch_document(&self, number: u32, source: Source) -> Result<()> {
        let record = self.record(number)?;
        self.file.prefetch::<u8>(RECORDS, record, source);
        Ok(())
    }

    /// The last document called `id` for which `live` holds.
    pub fn find(&self, id: &[u8], live: impl Fn(u32) -> bool) -> Result<Option<u32>> {
        let mut found = None;
        let hash = lists::hash(id, self.attributes.seed);
        Lists(IDS).for_each(&self.file, hash, |number| {
            if live(number) && self.document(number)?.id == id {
                found = found.max(Some(number));
            }
            Ok(())
        })?;
        self.file.unchanged()?;
        Ok(found)
    }

    /// Gives every query the nearest documents that `admit` does not refuse.
    pub fn search(
        &self,
        queries: &Queries<'_>,
        admit: &Admit<'_>,
        scratch: &mut SegmentScratch,
        out: &mut [Nearest],
    ) -> Result<()> {
        match (&self.contents, queries) {
            (Contents::Narrow(of), Queries::Narrow(values)) => {
                of.search(&self.file, values, admit, &mut scratch.narrow, out)?;
            }
            (Contents::Wide(of), Queries::Wide(values)) => {
                of.search(&self.file, values, admit, &mut scratch.wide, out)?;
            }
            (Contents::Keys, Queries::Keys(sketches)) => {
                for (query, (sketch, nearest)) in sketches.iter().zip(out).enumerate() {
                    self.search_keys(sketch, &|number| admit(query, number), nearest)?;
                }
            }
            _ => unreachable!("queries have the form of the index"),
        }
        self.file.unchanged()
    }

    fn search_keys(
        &self,
        sketch: &[u8],
        admit: &dyn Fn(u32) -> Result<Verification>,
        nearest: &mut Nearest,
    ) -> Result<()> {
        let mut numbers = Vec::new();
        for key in self.keys(sketch) {
            Lists(KEYS).for_each(&self.file, key, |number| {
                numbers.push(number);
                Ok(())
            })?;
        }
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            let score = self.method.score(sketch, self.document(number)?.sketch);
            if self.method.accepts(&score) {
                nearest.push(score, number, admit(number)?);
            }
        }
        Ok(())
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
        let Attributes { documents, .. } = self.attributes;
        let (mut found, mut keys) = (0u64, 0u64);
        for number in 0..documents {
            let sketch = self.document(number)?.sketch;
            found += u64::from(!sketch.is_empty());
            if matches!(self.contents, Contents::Keys) && !sketch.is_empty() {
                let hashes = self.keys(sketch);
                let sums = hashes.iter().map(|hash| lists::place_hash(*hash, number));
                keys = sums.fold(keys, u64::wrapping_add);
            }
        }
        let sketch = |number| Ok(self.document(number)?.sketch);
        match &self.contents {
            Contents::Narrow(of) => of.verify(&self.file, found, &sketch),
            Contents::Wide(of) => of.verify(&self.file, found, &sketch),
            Contents::Keys => Lists(KEYS).verify(&self.file, keys),
        }
    }

    /// The distinct hashes of the keys of a sketch, ascending.
    fn keys(&self, sketch: &[u8]) -> Vec<u64> {
        let mut hashes = Vec::new();
        self.method.keys(sketch, &mut |key| {
            hashes.push(lists::hash(&key.to_le_bytes(), self.attributes.seed));
        });
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }
}

/// If the removal fails, the next opening of the index removes the file.
impl Drop for Segment {
    fn drop(&mut self) {
        if let Some(faults) = self.remove_on_drop.get() {
            let _ = directory::remove(self.file.path(), faults);
        }
    }
}
