//! The stages of the search for repeated units.

use super::counting::UnitCounter;
use super::job::{LinesJob, Rule};
use super::memory::{self, Shares};
use super::occurrence::Occurrence;
use super::reading::{OccurrenceReader, WantedUnits, number_from};
use crate::Result;
use crate::passages::decisions::decided::{FoundPassages, PassageDecisions, store_ranges};
use crate::passages::decisions::ranges::RemovedRange;
use crate::passages::first_reading::reading::FirstReading;
use crate::passages::first_reading::seen_twice::SeenTwice;
use crate::skeleton::context::{RunContext, text_bytes};
use crate::table::chunk_records::ChunkRecords;
use crate::table::numbering::Numbering;
use simtool_engine::Stage;
use simtool_engine::units::units;

/// Finds what is removed, and stores the decisions.
///
/// # Errors
/// Errors of reading and writing; changed inputs, too little memory and interruption.
pub fn decide(job: &LinesJob, run: RunContext<'_>) -> Result<()> {
    let progress = run.progress;
    let shares = Shares::of(run.resources, job.kind, &job.common.reading);
    let readers = shares.readers;
    let run = RunContext { readers, ..run };
    let reader = OccurrenceReader {
        job,
        pipeline: run.pipeline(),
    };
    let mut sorter = shares.sorter::<Occurrence>(shares.occurrences);
    let total = reader.pipeline.bytes();
    progress.begin(Stage::Count, total);
    let bytes = memory::table_bytes(job, text_bytes(run.sources), shares.table);
    let (mut reading, table) = match job.is_by_list() {
        true => (FirstReading::resume(run)?, SeenTwice::new(bytes)),
        false => FirstReading::resume_with_table(run, bytes, shares.table)?,
    };
    let mut listed = ChunkRecords::new(shares.space.directory)?;
    let kept = reader.first(&mut reading, &table, shares.kept, &mut listed)?;
    let needs_table = kept.is_none() && !job.is_by_list();
    let documents = reading.finish(needs_table.then_some(&table))?;
    progress.end(total);
    let units = units(run.sources);
    let numbering = Numbering::new(&documents.chunks, run.sources.len(), &units)?;
    match (kept, &job.rule) {
        (Some(kept), Rule::Repeated { .. }) => {
            let number = |first, found: &mut [_]| number_from(first, found, job.per());
            kept.into_repeated((&table, &numbering), |occurrence| occurrence.key, number)?
                .try_for_each(|occurrences| sorter.push_all(&occurrences))?;
        }
        (Some(_), Rule::Listed(_)) => listed.for_each_chunk(|place, mut occurrences: Vec<_>| {
            number_from(numbering.first_in(place)?, &mut occurrences, job.per());
            sorter.push_all(&occurrences)
        })?,
        (None, rule) => {
            progress.begin(Stage::Locate, total);
            let wanted = match rule {
                Rule::Repeated { .. } => WantedUnits::Repeated(&table),
                Rule::Listed(listed) => WantedUnits::Listed(listed),
            };
            reader.second(wanted, &numbering, &mut sorter)?;
            progress.end(total);
        }
    }
    drop(table);
    progress.begin(Stage::Gather, 0);
    let counter = UnitCounter {
        rule: &job.rule,
        references: numbering.documents_before(run.references),
        listed: job.listed,
        space: shares.space,
        progress,
    };
    let ranges = shares.sorter::<RemovedRange>(shares.ranges);
    let threads = rayon::current_num_threads();
    let occurrences = sorter.finish_in_parts(threads, |a, b| a.key == b.key)?;
    let counted = counter.count(&occurrences, ranges)?;
    drop(occurrences);
    let found = FoundPassages {
        ranges: store_ranges(run.work, counted.ranges)?,
        origins: None,
        items: None,
        most_frequent: counted.most_frequent,
        totals: counted.totals,
    };
    PassageDecisions::store(
        job,
        run,
        (&documents, &numbering),
        found,
        |_, removed, row| removed >= row.unit_bytes,
    )?;
    progress.end(0);
    Ok(())
}
