//! Writing a segment: documents are pushed, tables are sorted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;

use super::attributes::Attributes;
use super::filter::FilterWriter;
use super::lists::{Entries, merged};
use super::plan::{TablePlan, plan};
use super::reader::Segment;
use super::sections::{directory, values};
use crate::entries::{NewEntries, keys_of};
use crate::form::Form;
use crate::io::{BlockWriter, Faults, Sorter, Spool, Spooled};
use crate::options::Layout;
use crate::permutation::{Permutation, Value};
use crate::record::{Record, Standing};
use crate::sketch::Compare;
use crate::{Error, ErrorKind, Result};

/// Tables are planned from a sample of at least this size (or of all fingerprints), spread evenly.
const SAMPLE: usize = 4096;
/// The maximum number of documents of a segment.
pub const MAX_DOCUMENTS: u32 = u32::MAX - 1;
/// Entries of lists that are written at a time.
const LISTED: usize = 1 << 10;
/// Bytes that are copied at a time.
const STEP_BYTES: usize = 1 << 20;

/// The settings of a segment.
#[derive(Clone)]
pub struct SegmentSettings {
    /// The method of the sketches.
    pub method: Arc<dyn Compare>,
    /// The form of the sketches.
    pub form: Form,
    /// The tables of fingerprints.
    pub layout: Layout,
    /// The seed of the hashes.
    pub seed: u64,
    /// The memory of sorting.
    pub memory_bytes: usize,
    /// Injected failures, for tests.
    pub faults: Faults,
}

/// Temporary files for data that does not fit in memory.
#[derive(Clone)]
struct TemporaryStorage {
    directory: PathBuf,
    faults: Faults,
}

impl TemporaryStorage {
    fn spool(&self) -> Result<Spool> {
        Ok(Spool::create(&self.directory)?.with_faults(&self.faults))
    }

    fn sorter<R: Pod + Ord>(&self, memory_bytes: usize) -> Sorter<R> {
        Sorter::new(&self.directory, memory_bytes).with_faults(&self.faults)
    }
}

/// A segment that is being written. Memory: that of sorting, and at most 80 MiB.
pub struct SegmentWriter {
    path: PathBuf,
    storage: TemporaryStorage,
    settings: SegmentSettings,
    file: BlockWriter,
    ends: Spool,
    documents: u32,
    removed: u32,
    contents: ContentsWriter,
    record: Vec<u8>,
}

enum ContentsWriter {
    Narrow(FingerprintWriter<u64>),
    Wide(FingerprintWriter<u128>),
    Keys,
}

impl SegmentWriter {
    /// Starts the segment `path`; temporary files of sorting are in the same directory.
    pub fn create(path: &Path, settings: SegmentSettings) -> Result<SegmentWriter> {
        let storage = TemporaryStorage {
            directory: path.parent().unwrap_or(Path::new(".")).to_owned(),
            faults: settings.faults.clone(),
        };
        // A quarter for fingerprints or one table at a time, half for later tables.
        let share = settings.memory_bytes / 4;
        let contents = match settings.form {
            Form::Narrow { .. } => {
                ContentsWriter::Narrow(FingerprintWriter::create(&storage, share)?)
            }
            Form::Wide { .. } => ContentsWriter::Wide(FingerprintWriter::create(&storage, share)?),
            Form::Keys => ContentsWriter::Keys,
        };
        Ok(SegmentWriter {
            path: path.to_owned(),
            file: BlockWriter::create(path, settings.form.kind(), &settings.faults)?,
            ends: storage.spool()?,
            documents: 0,
            removed: 0,
            contents,
            record: Vec::new(),
            storage,
            settings,
        })
    }

    /// The entries of records in the lists. Uses the current rayon pool if there are many.
    pub fn entries(&self, records: &[Record<'_>]) -> NewEntries {
        let SegmentSettings { method, seed, .. } = &self.settings;
        let keys = match self.contents {
            ContentsWriter::Keys => keys_of(
                records,
                |record| match record.is_compared() {
                    true => record.entry.sketch,
                    false => &[],
                },
                &**method,
                *seed,
            ),
            _ => Vec::new(),
        };
        NewEntries::new(records, keys, *seed)
    }

    /// Adds a document, whose entries are among those for [`finish`](Self::finish). Its number is the
    /// count of earlier documents.
    pub fn push(&mut self, record: &Record<'_>) -> Result<()> {
        let number = self.documents;
        if number >= MAX_DOCUMENTS {
            let message = format!(
                "a segment of more than {MAX_DOCUMENTS} documents: expected at most that number"
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        self.record.clear();
        record.encode(&mut self.record);
        self.file.append(&self.record)?;
        self.ends.append(&self.file.section_bytes().to_le_bytes())?;
        self.documents += 1;
        self.removed += u32::from(record.standing == Standing::Removed);
        if !record.is_compared() {
            return Ok(());
        }
        let sketch = record.entry.sketch;
        let (width, _) = self.settings.form.bits();
        match &mut self.contents {
            ContentsWriter::Narrow(of) => of.push(u64::of_sketch(sketch, width), number),
            ContentsWriter::Wide(of) => of.push(u128::of_sketch(sketch, width), number),
            ContentsWriter::Keys => Ok(()),
        }
    }

    /// Sorts, writes and publishes the segment. `lists` are the entries of all documents, each once:
    /// of [segments](Segment::entries) and of [new ones](NewEntries::lists).
    pub fn finish(mut self, lists: Vec<[Entries<'_>; 2]>) -> Result<Segment> {
        let (names, keys): (Vec<_>, Vec<_>) =
            lists.into_iter().map(|[names, keys]| (names, keys)).unzip();
        self.file.end_section()?;
        copy(self.ends.finish()?, &mut self.file)?;
        self.file.end_section()?;
        write_lists(merged(names), &mut self.file, &self.storage)?;
        let mut attributes = Attributes {
            documents: self.documents,
            removed: self.removed,
            seed: self.settings.seed,
            distinct: 0,
            distance: self.settings.form.bits().1 as u8,
            width: self.settings.form.bits().0 as u8,
            tables: Vec::new(),
        };
        match self.contents {
            ContentsWriter::Narrow(of) => {
                of.finish(&mut self.file, &self.settings, &mut attributes)?
            }
            ContentsWriter::Wide(of) => {
                of.finish(&mut self.file, &self.settings, &mut attributes)?
            }
            ContentsWriter::Keys => {
                write_lists(merged(keys), &mut self.file, &self.storage)?;
            }
        }
        self.file.finish(&attributes.encode())?;
        Segment::open(&self.path, self.settings.form, &self.settings.method)
    }
}

/// Writes three sections: hashes, their documents, and a filter.
fn write_lists(
    mut sorted: Entries<'_>,
    file: &mut BlockWriter,
    storage: &TemporaryStorage,
) -> Result<()> {
    let mut documents = storage.spool()?;
    let mut filter = FilterWriter::new(storage.spool()?, sorted.most);
    let (mut hashes, mut numbers) = (Vec::new(), Vec::new());
    loop {
        for entry in sorted.entries.by_ref().take(LISTED) {
            let [hash, number] = entry?;
            filter.push(hash)?;
            hashes.push(hash);
            numbers.push(number as u32);
        }
        if hashes.is_empty() {
            break;
        }
        file.append(bytemuck::cast_slice(&hashes))?;
        documents.append(bytemuck::cast_slice(&numbers))?;
        hashes.clear();
        numbers.clear();
    }
    file.end_section()?;
    copy(documents.finish()?, file)?;
    file.end_section()?;
    copy(filter.finish()?.finish()?, file)?;
    file.end_section()
}

fn copy(from: Spooled, to: &mut BlockWriter) -> Result<()> {
    for_each_step(&from, STEP_BYTES, |step| to.append(step))
}

/// Calls `visit` with at most `bytes` bytes at a time.
fn for_each_step(
    of: &Spooled,
    bytes: usize,
    mut visit: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut step = Vec::new();
    let mut at = 0;
    while at < of.bytes() {
        let length = (of.bytes() - at).min(bytes as u64);
        of.read_at(at, length as usize, &mut step)?;
        visit(&step)?;
        at += length;
    }
    Ok(())
}

/// Collected fingerprints: the plan of the tables depends on all of them.
struct FingerprintWriter<F: Value> {
    storage: TemporaryStorage,
    share: usize,
    /// Fingerprint and number of each document.
    waiting: Spool,
    count: u64,
    /// Each `step`-th fingerprint.
    sample: Vec<F>,
    step: u64,
}

impl<F: Value> FingerprintWriter<F> {
    fn create(storage: &TemporaryStorage, share: usize) -> Result<Self> {
        Ok(FingerprintWriter {
            storage: storage.clone(),
            share,
            waiting: storage.spool()?,
            count: 0,
            sample: Vec::new(),
            step: 1,
        })
    }

    fn push(&mut self, value: F, number: u32) -> Result<()> {
        if self.count.is_multiple_of(self.step) {
            self.sample.push(value);
            if self.sample.len() == 2 * SAMPLE {
                let kept = self.sample.iter().step_by(2).copied();
                self.sample = kept.collect();
                self.step *= 2;
            }
        }
        self.count += 1;
        self.waiting
            .append(bytemuck::bytes_of(&value.place(number)))?;
        Ok(())
    }

    fn finish(
        self,
        file: &mut BlockWriter,
        settings: &SegmentSettings,
        attributes: &mut Attributes,
    ) -> Result<()> {
        let (width, distance) = settings.form.bits();
        let tables = plan(&self.sample, self.count, width, distance, settings.layout);
        let orders = tables
            .iter()
            .filter_map(|table| Permutation::new(&table.order));
        let orders: Vec<Permutation<F>> = orders.collect();
        let first = &orders[0];
        let rest = orders[1..].iter().filter_map(|order| first.onto(order));
        let rest: Vec<Permutation<F>> = rest.collect();
        let share = 2 * self.share / rest.len().max(1);
        let mut others: Vec<Sorter<F>> = rest.iter().map(|_| self.storage.sorter(share)).collect();
        let mut groups = self.storage.spool()?;
        let mut members = self.storage.spool()?;
        let mut table = TableWriter::new(&tables[0]);
        let mut last = None;
        let mut listed = 0u32;
        for placed in sort_first(self.waiting, &self.storage, self.share, first)?.finish()? {
            let (value, number) = F::take(placed?);
            if last != Some(value) {
                last = Some(value);
                table.append(value, file)?;
                groups.append(&listed.to_le_bytes())?;
                for (sorter, onto) in others.iter_mut().zip(&rest) {
                    sorter.push(onto.apply(value))?;
                }
            }
            members.append(&number.to_le_bytes())?;
            listed += 1;
        }
        attributes.distinct = table.count.into();
        groups.append(&listed.to_le_bytes())?;
        file.end_section()?;
        debug_assert_eq!((values(0), directory(0)), (5, 8));
        // The section is empty if each fingerprint has one document.
        if listed > table.count {
            copy(groups.finish()?, file)?;
        }
        file.end_section()?;
        copy(members.finish()?, file)?;
        file.end_section()?;
        table.finish(file)?;
        for (sorter, of) in others.into_iter().zip(&tables[1..]) {
            let mut table = TableWriter::new(of);
            for value in sorter.finish()? {
                table.append(value?, file)?;
            }
            file.end_section()?;
            table.finish(file)?;
        }
        attributes.tables = tables;
        Ok(())
    }
}

/// The collected fingerprints, in the order of the first table.
fn sort_first<F: Value>(
    waiting: Spool,
    storage: &TemporaryStorage,
    memory_bytes: usize,
    order: &Permutation<F>,
) -> Result<Sorter<F::Placed>> {
    let mut sorter = storage.sorter(memory_bytes);
    let size = size_of::<F::Placed>();
    for_each_step(&waiting.finish()?, STEP_BYTES / size * size, |step| {
        for placed in step.chunks_exact(size) {
            let (value, number) = F::take(bytemuck::pod_read_unaligned(placed));
            sorter.push(order.apply(value).place(number))?;
        }
        Ok(())
    })?;
    Ok(sorter)
}

/// Writes the fingerprints of a table, then its directory.
struct TableWriter {
    width: u32,
    bits: u32,
    /// Bytes of each fingerprint that are written.
    each: usize,
    count: u32,
    ends: Vec<u32>,
}

impl TableWriter {
    fn new(of: &TablePlan) -> TableWriter {
        TableWriter {
            width: of.order.len() as u32,
            bits: of.directory_bits,
            each: of.value_bytes() as usize,
            count: 0,
            ends: Vec::with_capacity((1 << of.directory_bits) + 1),
        }
    }

    fn append<F: Value>(&mut self, value: F, file: &mut BlockWriter) -> Result<()> {
        let bucket = value.prefix(self.width, self.bits);
        if self.ends.len() <= bucket as usize {
            self.ends.resize(bucket as usize + 1, self.count);
        }
        self.count += 1;
        let stored = value ^ F::of_prefix(bucket, self.width, self.bits);
        file.append(&bytemuck::bytes_of(&stored)[..self.each])
    }

    fn finish(mut self, file: &mut BlockWriter) -> Result<()> {
        self.ends.resize((1 << self.bits) + 1, self.count);
        file.append(bytemuck::cast_slice(&self.ends))?;
        file.end_section()
    }
}
