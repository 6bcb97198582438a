//! The second reading: the shingle sets of the documents that share a key.

use bytemuck::{Pod, Zeroable};
use simtool_core::kernel::Level;
use simtool_core::sketch::Needs;
use simtool_core::sketch::digest;
use simtool_core::{Error, ErrorKind, Result};
use simtool_corpus::Place;
use simtool_engine::places::documents_at;
use simtool_engine::text_words::WordReader;
use xxhash_rust::xxh3::xxh3_64;

use super::home::{ORIGINS, ROWS, SKETCHES};
use crate::context::Context;
use crate::records::{Head, HomeRow, Mark, home_of, row_of};
use crate::tasks::pairs::near::MARKS;
use crate::work::{Facts, Outbox, Stream};

/// The digest, the sketch and the set of each document that shares a key.
pub const SETS: Stream = Stream(0);
/// [`Head`], by the homes of the documents.
pub const HEADS: Stream = Stream(1);
/// The documents that are read again, by the tasks that can read them: messages of [`Wanted`] and the
/// sketch.
const WANTED: Stream = Stream(0);

/// A document that is read again.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Wanted {
    row: HomeRow,
    rank: i64,
    crowded: u64,
}

/// A document that is read again, with its sketch.
type WantedSketch = (Wanted, Vec<u8>);

/// Tells the tasks that can read the texts of a home which ones are wanted.
///
/// # Errors
/// Errors of reading and writing.
pub fn wanted(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut out = Outbox::create(context.work, "wanted", task, &[context.tasks()])?;
    let mut origins: Vec<u32> = Vec::new();
    let home = context.inbox(context.homes()).file(task)?;
    home.records(ORIGINS, 0, |origin| {
        origins.push(origin);
        Ok(())
    })?;
    for (wanted, sketch) in marked(context, task)? {
        let origin = origins[row_of(wanted.rank)] as usize;
        out.message(WANTED, origin, &[bytemuck::bytes_of(&wanted), &sketch])?;
    }
    out.finish()
}

/// Reads texts of a task again.
///
/// # Errors
/// Errors of reading and writing; [`ErrorKind::Changed`] if a text is another one now.
pub fn run(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut wanted = match context.is_in_order() {
        true => marked(context, task)?,
        false => {
            let mut found: Vec<WantedSketch> = Vec::new();
            context
                .inbox("wanted")
                .headed(WANTED, task, |wanted: Wanted, sketch| {
                    found.push((wanted, sketch.to_vec()));
                    Ok(())
                })?;
            found
        }
    };
    let order = |row: &HomeRow| (row.source, row.place[0], row.place[1]);
    let sources = context.sources(task)?;
    wanted.sort_unstable_by_key(|(wanted, _)| order(&wanted.row));
    let mut out = Outbox::create(context.work, "sets", task, &[1, context.tasks()])?;
    let mut words = WordReader::new(context.job.tokenizer, Needs::HASHES, Level::best());
    for of_source in wanted.chunk_by(|(a, _), (b, _)| a.row.source == b.row.source) {
        let places: Vec<Place> = of_source
            .iter()
            .map(|(wanted, _)| wanted.row.place())
            .collect();
        let number = of_source.first().map_or(0, |(wanted, _)| wanted.row.source);
        let source = &sources[number as usize];
        let (mut count, mut outcome) = (0, Ok(()));
        let mut visit = |place: usize, text: &[u8]| -> Result<()> {
            let (wanted, sketch) = &of_source[place];
            count += 1;
            if digest::of_text(text) as u64 != wanted.row.text_digest {
                return Err(changed(source));
            }
            let mut words = words.read(text);
            let set = masked(
                words.shingle_set(context.job.verification.shingle),
                wanted.row.mask,
            );
            write(task, wanted, sketch, &set, &mut out)
        };
        let reading = &context.job.reading;
        documents_at(
            source,
            reading,
            &places,
            context.progress,
            |place, document| {
                if outcome.is_ok() {
                    outcome = visit(place, document.text);
                }
            },
        )?;
        outcome?;
        if count != places.len() {
            return Err(changed(source));
        }
    }
    out.finish()
}

/// The documents of a home that share a key, with their sketches.
fn marked(context: &Context<'_>, task: usize) -> Result<Vec<WantedSketch>> {
    let mut sorter = context.sorter::<Mark>();
    context
        .inbox("near")
        .records(MARKS, task, |mark: Mark| sorter.push(mark))?;
    let mut marks: Vec<Mark> = Vec::new();
    for mark in sorter.finish()? {
        let mark = mark?;
        match marks.last_mut() {
            Some(last) if last.rank == mark.rank => last.crowded |= mark.crowded,
            _ => marks.push(mark),
        }
    }
    let home = context.inbox(context.homes()).file(task)?;
    let (mut wanted, mut next, mut at) = (Vec::new(), 0, 0);
    home.records(ROWS, 0, |row: HomeRow| {
        if let Some(mark) = marks.get(next).filter(|mark| row_of(mark.rank) == at) {
            next += 1;
            let wanted_row = Wanted {
                row,
                rank: mark.rank,
                crowded: mark.crowded,
            };
            wanted.push((wanted_row, Vec::new()));
        }
        at += 1;
        Ok(())
    })?;
    (next, at) = (0, 0);
    let method = context.signed_method()?;
    home.messages(SKETCHES, 0, |sketch| {
        let found: Option<&mut WantedSketch> = wanted.get_mut(next);
        if let Some((_, place)) = found.filter(|(wanted, _)| row_of(wanted.rank) == at) {
            let plain = method
                .as_ref()
                .map_or(sketch, |method| method.split(sketch).0);
            *place = plain.to_vec();
            next += 1;
        }
        at += 1;
        Ok(())
    })?;
    Ok(wanted)
}

/// A set of shingles, combined with a mask.
fn masked(set: &[u64], mask: u64) -> Vec<u64> {
    let mut set: Vec<u64> = set.iter().map(|shingle| shingle ^ mask).collect();
    if mask != 0 {
        set.sort_unstable();
    }
    set
}

fn write(task: usize, wanted: &Wanted, sketch: &[u8], set: &[u64], out: &mut Outbox) -> Result<()> {
    let mut bytes = vec![0; 16];
    bytes[8..12].copy_from_slice(&(sketch.len() as u32).to_le_bytes());
    bytes[12..].copy_from_slice(&(wanted.crowded as u32).to_le_bytes());
    bytes.extend_from_slice(sketch);
    bytes.extend_from_slice(bytemuck::cast_slice(set));
    let digest = xxh3_64(&bytes[8..]);
    bytes[..8].copy_from_slice(&digest.to_le_bytes());
    let head = Head {
        rank: wanted.rank,
        task: task as u64,
        offset: out.end_of(SETS),
        length: bytes.len() as u32,
        crowded: wanted.crowded as u32,
    };
    out.push(SETS, 0, &bytes)?;
    out.record(HEADS, home_of(wanted.rank), &head)?;
    out.facts.add("marked", 1);
    out.facts.add("crowded", wanted.crowded);
    Ok(())
}

fn changed(source: &simtool_corpus::Source) -> Error {
    let message = "changed during the job (start again with another work directory)";
    Error::new(ErrorKind::Changed, message).in_file(&source.path)
}
