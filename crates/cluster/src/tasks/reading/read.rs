//! The first reading: texts to rows, sketches and names.
//!
//! If the keep order is not that of the input, documents are not written to homes: they are sent to
//! the tasks that sort them, by keys that the driver chooses from samples. So they are written with
//! these keys, and the stage `sort` reads them all.

use simtool_batch::dedup::{Columns, Flags, Label, Row, RowSketcher, RunInputs, Scope, Segment};
use simtool_core::Result;
use simtool_core::kernel::Level;
use simtool_core::sketch::Method;

use super::home::{self, HomeDocument, HomeWriter, count, has_sketch};
use super::sort::{Sample, Sorted, sort_key};
use crate::context::Context;
use crate::name::Name;
use crate::numbers::mixed;
use crate::records::HomeRow;
use crate::tables::SkippedTable;
use crate::task_chunks::TaskChunks;
use crate::work::{Facts, Outbox};

/// Where documents are written.
enum Writer {
    Home(HomeWriter),
    Sorted(Sample),
}

/// Reads the files of a task.
///
/// # Errors
/// Errors of reading and writing.
pub fn run(context: &Context<'_>, task: usize) -> Result<Facts> {
    let method = context.signed_method()?;
    let sources = context.sources(task)?;
    let inputs = RunInputs {
        sources: &sources,
        references: context.plan.references,
    };
    let method = method.as_ref().map(|method| method as &dyn Method);
    let mut sketcher = RowSketcher::new(context.job, method, inputs, Level::best());
    let (mut writer, parts) = match context.is_in_order() {
        true => (
            Writer::Home(HomeWriter::new(task)),
            home::parts(context.tasks()).to_vec(),
        ),
        false => (Writer::Sorted(Sample::default()), vec![1]),
    };
    let mut out = Outbox::create(context.work, "read", task, &parts)?;
    let mut skipped = SkippedTable::new(context.plan.keys);
    let mut chunks = TaskChunks::of(context.plan, task);
    let mut buffer = Vec::new();
    while let Some(chunk) = chunks.next(&sources, &context.job.reading, buffer)? {
        context.progress.check()?;
        let segment = sketcher.sketch(&chunk)?;
        let outputs = (&mut skipped, &mut out);
        write(context, method, &segment, task, &mut writer, outputs)?;
        buffer = chunk.into_buffer();
    }
    if let Writer::Sorted(sample) = writer {
        sample.end(&mut out.facts);
    }
    // Before the file of the task, so that a task that is finished has it.
    skipped.write(context.work, task)?;
    out.finish()
}

fn write(
    context: &Context<'_>,
    method: Option<&dyn Method>,
    segment: &Segment,
    task: usize,
    writer: &mut Writer,
    (skipped, out): (&mut SkippedTable, &mut Outbox),
) -> Result<()> {
    let grouped = context.job.within != Scope::Global;
    let method = method.filter(|_| !context.has_containment());
    let sketches = method.map(|method| segment.sketches.all(method));
    let Columns { keys, urls } = context.job.columns();
    let width = 2 * keys + if urls { 4 } else { 0 };
    let mut name = Vec::new();
    for (place, row) in segment.rows.iter().enumerate() {
        let sketch = match &sketches {
            Some(sketches) if has_sketch(row.flags) => sketches.get(place),
            _ => &[],
        };
        let label = Label::read(&segment.labels[row.label as usize..]).unwrap_or_default();
        let (key, id) = match context.plan.is_keyed() {
            true => split_key(&label.id),
            false => (None, &label.id[..]),
        };
        let key = key.as_deref();
        let named = Name { id, key };
        named.write(&mut name);
        if row.flags.has(Flags::SKIPPED) {
            skipped.push(named, &label.reason, &label.detail);
        }
        count(&mut out.facts, row.flags, row.text_bytes);
        let columns = &segment.columns[place * width..][..width];
        let (columns, page) = columns.split_at(2 * keys);
        let document = HomeDocument {
            row: home_row(row, grouped),
            page: bytemuck::cast_slice(page),
            sketch,
            name: &name,
        };
        match writer {
            Writer::Home(writer) => writer.push(context, out, &document)?,
            Writer::Sorted(sample) => {
                let sort = sort_key(row, columns, key);
                sample.add(&sort);
                let sorted = Sorted {
                    sort: &sort,
                    origin: task as u64,
                    document,
                };
                sorted.write(out)?;
            }
        }
    }
    Ok(())
}

fn home_row(row: &Row, grouped: bool) -> HomeRow {
    let mask = match grouped {
        true => mixed(row.group),
        false => 0,
    };
    let digest = row.digest ^ u128::from(mask);
    HomeRow {
        digest: [(digest >> 64) as u64, digest as u64],
        text_digest: row.text_digest,
        mask,
        place: [row.place.member, row.place.offset, row.place.length],
        source: row.place.source,
        flags: row.flags.0,
    }
}

/// The key of a row of a frame and its id: hexadecimal digits up to a colon, and what follows.
fn split_key(id: &[u8]) -> (Option<Vec<u8>>, &[u8]) {
    let colon = id.iter().position(|byte| *byte == b':').unwrap_or(0);
    let (digits, rest) = id.split_at(colon);
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or_default() as u8;
    let (pairs, _) = digits.as_chunks::<2>();
    let key = pairs.iter().map(|[a, b]| digit(*a) << 4 | digit(*b));
    let id = rest.strip_prefix(b":").unwrap_or(rest);
    (Some(key.collect()), id)
}
