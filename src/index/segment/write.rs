//! How a segment comes into being: documents are pushed, tables are sorted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;

use super::lists;
use super::sections::{directory, values};
use super::{Attributes, Segment};
use crate::index::form::Form;
use crate::index::permutation::{Permutation, Value};
use crate::index::plan::{Table, plan};
use crate::index::{Entry, Layout, record};
use crate::io::{BlockWriter, Faults, Sorted, Sorter, Spool, Spooled};
use crate::sketch::Compare;
use crate::{Error, ErrorKind, Result};

/// Tables are planned by so many fingerprints at least, spread evenly, if there are as many.
const SAMPLE: usize = 4096;
/// The most documents of a segment.
pub const MOST_DOCUMENTS: u32 = u32::MAX - 1;
/// Bytes that are copied at a time.
const STEP_BYTES: usize = 1 << 20;

/// What a segment is made with.
#[derive(Clone)]
pub struct Making {
    /// Whose sketches they are.
    pub method: Arc<dyn Compare>,
    /// The form of the sketches.
    pub form: Form,
    /// Which tables fingerprints get.
    pub layout: Layout,
    /// The seed of the hashes.
    pub seed: u64,
    /// Bytes that sorting may hold.
    pub memory_bytes: usize,
    /// Failures on demand.
    pub faults: Faults,
}

/// Where what does not fit in memory is put meanwhile.
#[derive(Clone)]
struct Aside {
    directory: PathBuf,
    faults: Faults,
}

impl Aside {
    fn spool(&self) -> Result<Spool> {
        Ok(Spool::create(&self.directory)?.with_faults(&self.faults))
    }

    fn sorter<R: Pod + Ord>(&self, memory_bytes: usize) -> Sorter<R> {
        Sorter::new(&self.directory, memory_bytes).with_faults(&self.faults)
    }
}

/// A segment that is being written. Memory: what sorting was given, and at most 80 MiB.
pub struct SegmentWriter {
    path: PathBuf,
    aside: Aside,
    making: Making,
    file: BlockWriter,
    ends: Spool,
    ids: Sorter<[u64; 2]>,
    documents: u32,
    contents: Contents,
    record: Vec<u8>,
}

enum Contents {
    Narrow(FingerprintWriter<u64>),
    Wide(FingerprintWriter<u128>),
    Keys(Sorter<[u64; 2]>),
}

impl SegmentWriter {
    /// Starts the segment `path`; what does not fit in memory is sorted beside it.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if it cannot be created.
    pub fn create(path: &Path, making: Making) -> Result<SegmentWriter> {
        let aside = Aside {
            directory: path.parent().unwrap_or(Path::new(".")).to_owned(),
            faults: making.faults.clone(),
        };
        // Ids; fingerprints, or one table at a time; what the tables after it are made of.
        let share = making.memory_bytes / 4;
        let contents = match making.form {
            Form::Narrow { .. } => Contents::Narrow(FingerprintWriter::create(&aside, share)?),
            Form::Wide { .. } => Contents::Wide(FingerprintWriter::create(&aside, share)?),
            Form::Keys => Contents::Keys(aside.sorter(2 * share)),
        };
        Ok(SegmentWriter {
            path: path.to_owned(),
            file: BlockWriter::create(path, making.form.kind(), &making.faults)?,
            ends: aside.spool()?,
            ids: aside.sorter(share),
            documents: 0,
            contents,
            record: Vec::new(),
            aside,
            making,
        })
    }

    /// Adds a document, whose number is that of those before it.
    ///
    /// # Errors
    /// [`ErrorKind::Write`] if the disk is full, [`ErrorKind::Memory`] if there is none for
    /// sorting, [`ErrorKind::Parameter`] beyond 2³² - 2 documents.
    pub fn push(&mut self, entry: &Entry<'_>) -> Result<u32> {
        let number = self.documents;
        if number >= MOST_DOCUMENTS {
            let message = format!(
                "more than {MOST_DOCUMENTS} documents: expected at most that many a segment"
            );
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        self.record.clear();
        record::encode(entry, &mut self.record);
        self.file.append(&self.record)?;
        self.ends.append(&self.file.section_bytes().to_le_bytes())?;
        let seed = self.making.seed;
        self.ids
            .push([lists::hash(entry.id, seed), number.into()])?;
        if !entry.sketch.is_empty() {
            match &mut self.contents {
                Contents::Narrow(of) => of.push(u64::of_bytes(entry.sketch), number)?,
                Contents::Wide(of) => of.push(u128::of_bytes(entry.sketch), number)?,
                Contents::Keys(keys) => {
                    let mut pushed = Ok(());
                    self.making.method.keys(entry.sketch, &mut |key| {
                        if pushed.is_ok() {
                            let key = lists::hash(&key.to_le_bytes(), seed);
                            pushed = keys.push([key, number.into()]);
                        }
                    });
                    pushed?;
                }
            }
        }
        self.documents += 1;
        Ok(number)
    }

    /// Sorts, writes and publishes the segment. `twice` hears of every id hash that more than
    /// one document has, with their numbers, ascending.
    ///
    /// # Errors
    /// Those of [`push`](Self::push).
    pub fn finish(mut self, mut twice: impl FnMut(&[u32]) -> Result<()>) -> Result<Segment> {
        self.file.end_section()?;
        copy(self.ends.finish()?, &mut self.file)?;
        self.file.end_section()?;
        let mut same = Same::default();
        let ids = self.ids.finish()?;
        write_lists(ids, &mut self.file, &self.aside, |hash, number| {
            same.show(hash, number, &mut twice)
        })?;
        same.end(&mut twice)?;
        let mut attributes = Attributes {
            documents: self.documents,
            seed: self.making.seed,
            distinct: 0,
            distance: self.making.form.bits().1 as u8,
            width: self.making.form.bits().0 as u8,
            whole: false,
            tables: Vec::new(),
        };
        match self.contents {
            Contents::Narrow(of) => of.finish(&mut self.file, &self.making, &mut attributes)?,
            Contents::Wide(of) => of.finish(&mut self.file, &self.making, &mut attributes)?,
            Contents::Keys(keys) => {
                write_lists(keys.finish()?, &mut self.file, &self.aside, |_, _| Ok(()))?;
            }
        }
        self.file.finish(&attributes.encode())?;
        Segment::open(&self.path, self.making.form, &self.making.method)
    }
}

/// Numbers of documents whose ids have the same hash.
#[derive(Default)]
struct Same {
    hash: u64,
    numbers: Vec<u32>,
}

impl Same {
    fn show(
        &mut self,
        hash: u64,
        number: u32,
        twice: &mut impl FnMut(&[u32]) -> Result<()>,
    ) -> Result<()> {
        if hash != self.hash {
            self.end(twice)?;
            self.hash = hash;
        }
        self.numbers.push(number);
        Ok(())
    }

    fn end(&mut self, twice: &mut impl FnMut(&[u32]) -> Result<()>) -> Result<()> {
        if self.numbers.len() > 1 {
            twice(&self.numbers)?;
        }
        self.numbers.clear();
        Ok(())
    }
}

/// Writes two sections: hashes, and their documents.
fn write_lists(
    sorted: Sorted<[u64; 2]>,
    file: &mut BlockWriter,
    aside: &Aside,
    mut visit: impl FnMut(u64, u32) -> Result<()>,
) -> Result<()> {
    let mut numbers = aside.spool()?;
    let mut last = None;
    for entry in sorted {
        let [hash, number] = entry?;
        if last == Some((hash, number)) {
            continue;
        }
        last = Some((hash, number));
        file.append(&hash.to_le_bytes())?;
        numbers.append(&(number as u32).to_le_bytes())?;
        visit(hash, number as u32)?;
    }
    file.end_section()?;
    copy(numbers.finish()?, file)?;
    file.end_section()
}

fn copy(from: Spooled, to: &mut BlockWriter) -> Result<()> {
    for_each_step(&from, STEP_BYTES, |step| to.append(step))
}

/// Calls `visit` with so many bytes at a time.
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

/// Fingerprints that are waiting: how the tables are planned depends on all of them.
struct FingerprintWriter<F: Value> {
    aside: Aside,
    share: usize,
    /// Fingerprint and number of each document.
    waiting: Spool,
    count: u64,
    /// Each `step`-th fingerprint.
    sample: Vec<F>,
    step: u64,
}

impl<F: Value> FingerprintWriter<F> {
    fn create(aside: &Aside, share: usize) -> Result<Self> {
        Ok(FingerprintWriter {
            aside: aside.clone(),
            share,
            waiting: aside.spool()?,
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
        making: &Making,
        attributes: &mut Attributes,
    ) -> Result<()> {
        let (width, distance) = making.form.bits();
        let tables = plan(&self.sample, self.count, width, distance, making.layout);
        let orders = tables
            .iter()
            .filter_map(|table| Permutation::new(&table.order));
        let orders: Vec<Permutation<F>> = orders.collect();
        let first = &orders[0];
        let rest = orders[1..].iter().filter_map(|order| first.onto(order));
        let rest: Vec<Permutation<F>> = rest.collect();
        let share = 2 * self.share / rest.len().max(1);
        let mut others: Vec<Sorter<F>> = rest.iter().map(|_| self.aside.sorter(share)).collect();
        let mut groups = self.aside.spool()?;
        let mut members = self.aside.spool()?;
        let mut table = TableWriter::new(&tables[0]);
        let mut last = None;
        let mut listed = 0u32;
        for placed in sort_first(self.waiting, &self.aside, self.share, first)?.finish()? {
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
        debug_assert_eq!((values(0), directory(0)), (4, 7));
        // One document each: nothing to say.
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

/// What was waiting, in the order of the first table.
fn sort_first<F: Value>(
    waiting: Spool,
    aside: &Aside,
    memory_bytes: usize,
    order: &Permutation<F>,
) -> Result<Sorter<F::Placed>> {
    let mut sorter = aside.sorter(memory_bytes);
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
    fn new(of: &Table) -> TableWriter {
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
