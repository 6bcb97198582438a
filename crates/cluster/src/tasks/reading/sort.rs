//! Homes whose documents are consecutive in keep order, if that is not the order of the input.

use simtool_batch::dedup::{Flags, Row};
use simtool_core::Result;
use simtool_corpus::Place;
use xxhash_rust::xxh3::xxh3_128;

use super::home::{self, HomeDocument, HomeWriter, ORIGINS};
use crate::context::Context;
use crate::name::Name;
use crate::records::HomeRow;
use crate::work::{Facts, Outbox, Stream, damaged};

/// Documents of a task of `read` with their sort keys: messages, see [`Sorted`].
const SORTED: Stream = Stream(0);
/// Documents, by their homes: as [`SORTED`].
const DOCUMENTS: Stream = Stream(0);
/// Digests of the keys of rows: `[u64; 2]`.
pub const KEYS: Stream = Stream(1);

/// Keys that the driver gets from each task.
const SAMPLES: usize = 64;

/// The key by which a document is sorted: whether it is of the input, what the policies compare, and
/// its key or its place.
pub fn sort_key(row: &Row, columns: &[u64], key: Option<&[u8]>) -> Vec<u8> {
    let mut sort = vec![u8::from(!row.flags.has(Flags::REFERENCE))];
    sort.extend_from_slice(&row.keep_key);
    for half in columns {
        sort.extend_from_slice(&half.to_be_bytes());
    }
    sort.extend(input_order(&row.place, key));
    sort
}

/// Where a document is in the order of the input: its key, or else its place. Sorts as bytes.
pub fn input_order(place: &Place, key: Option<&[u8]>) -> Vec<u8> {
    if let Some(key) = key {
        return key.to_vec();
    }
    let mut order = place.source.to_be_bytes().to_vec();
    order.extend_from_slice(&place.member.wrapping_add(1).to_be_bytes());
    order.extend_from_slice(&place.offset.to_be_bytes());
    order
}

/// Some of the keys of a task, with even distances.
#[derive(Default)]
pub struct Sample {
    keys: Vec<Vec<u8>>,
    every: usize,
    seen: usize,
}

impl Sample {
    /// Takes a key.
    pub fn add(&mut self, key: &[u8]) {
        if self.seen.is_multiple_of(self.every.max(1)) {
            self.keys.push(key.to_vec());
        }
        self.seen += 1;
        if self.keys.len() == 2 * SAMPLES {
            let mut number = 0;
            self.keys.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.every = 2 * self.every.max(1);
        }
    }

    /// Tells the driver the keys.
    pub fn end(self, facts: &mut Facts) {
        facts.samples = self.keys;
    }
}

/// The sort keys at which homes begin, but for the first home. The documents of the other collection have
/// homes of their own, which are the first ones.
pub fn borders(samples: &[Vec<u8>], references: usize, tasks: usize) -> Vec<Vec<u8>> {
    let mut sorted: Vec<&Vec<u8>> = samples.iter().collect();
    sorted.sort_unstable();
    let split = sorted.partition_point(|key| key.first() == Some(&0));
    let (of_references, own) = sorted.split_at(split);
    let even = |keys: &[&Vec<u8>], count: usize| -> Vec<Vec<u8>> {
        let places = (1..count).map(|place| place * keys.len() / count);
        places
            .map(|place| {
                keys.get(place)
                    .map_or_else(|| vec![1], |key| (*key).clone())
            })
            .collect()
    };
    let mut borders = even(of_references, references);
    if references > 0 {
        borders.push(vec![1]);
    }
    borders.extend(even(own, tasks - references));
    borders
}

/// A document that is sorted.
pub struct Sorted<'m> {
    /// Its [key](sort_key).
    pub sort: &'m [u8],
    /// The task that read it.
    pub origin: u64,
    /// The document.
    pub document: HomeDocument<'m>,
}

impl<'m> Sorted<'m> {
    fn read(message: &'m [u8]) -> Option<Sorted<'m>> {
        let (lengths, rest) = message.split_at_checked(16)?;
        let [sort, page, sketch, _]: [u32; 4] = bytemuck::pod_read_unaligned(lengths);
        let (sort, rest) = rest.split_at_checked(sort as usize)?;
        let (row, rest) = rest.split_at_checked(size_of::<HomeRow>())?;
        let (origin, rest) = rest.split_first_chunk()?;
        let (page, rest) = rest.split_at_checked(page as usize)?;
        let (sketch, name) = rest.split_at_checked(sketch as usize)?;
        Some(Sorted {
            sort,
            origin: u64::from_le_bytes(*origin),
            document: HomeDocument {
                row: bytemuck::pod_read_unaligned(row),
                page,
                sketch,
                name,
            },
        })
    }

    /// Writes the document with others of its task.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn write(&self, out: &mut Outbox) -> Result<()> {
        let Sorted { sort, document, .. } = self;
        let lengths = [sort, document.page, document.sketch].map(|bytes| bytes.len() as u32);
        let pieces = [
            bytemuck::cast_slice(&lengths),
            &[0; 4],
            *sort,
            bytemuck::bytes_of(&document.row),
            &self.origin.to_le_bytes(),
            document.page,
            document.sketch,
            document.name,
        ];
        out.message(SORTED, 0, &pieces)
    }
}

/// Sends the documents of a task to their homes.
///
/// # Errors
/// Errors of reading and writing.
pub fn divide(context: &Context<'_>, task: usize) -> Result<Facts> {
    let samples = context.facts("read")?.samples;
    let borders = borders(&samples, context.plan.reference_tasks, context.tasks());
    let parts = [context.tasks(), context.tasks()];
    let mut out = Outbox::create(context.work, "divide", task, &parts)?;
    let file = context.inbox("read").file(task)?;
    file.messages(SORTED, 0, |message| {
        let found = Sorted::read(message).ok_or_else(|| damaged(file.path()))?;
        let home = borders.partition_point(|border| &border[..] <= found.sort);
        if let Some(key) = Name::read(found.document.name).key {
            let digest = xxh3_128(key) ^ u128::from(found.sort[0]);
            let halves = [(digest >> 64) as u64, digest as u64];
            out.record(KEYS, context.part(halves[0]), &halves)?;
        }
        out.message(DOCUMENTS, home, &[message])
    })?;
    out.finish()
}

/// Sorts the documents of a home, and writes them.
///
/// # Errors
/// Errors of reading and writing.
pub fn run(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut messages: Vec<Vec<u8>> = Vec::new();
    context
        .inbox("divide")
        .messages(DOCUMENTS, task, |_, message| {
            messages.push(message.to_vec());
            Ok(())
        })?;
    let mut documents: Vec<Sorted<'_>> = messages.iter().filter_map(|m| Sorted::read(m)).collect();
    documents.sort_unstable_by(|a, b| a.sort.cmp(b.sort));
    let mut out = Outbox::create(context.work, "sort", task, &home::parts(context.tasks()))?;
    let mut writer = HomeWriter::new(task);
    for found in &documents {
        writer.push(context, &mut out, &found.document)?;
        out.record(ORIGINS, 0, &(found.origin as u32))?;
    }
    out.finish()
}
