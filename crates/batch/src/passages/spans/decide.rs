//! The stages of the search for repeated stretches.

use bytemuck::Pod;

use super::copies::Copies;
use super::job::SpansJob;
use super::memory;
use super::occurrences::{self, PassageCounter};
use super::passages::{PassageRange, RangeParts, most_repeated};
use super::records::{
    AnchorPlace, ClassLeader, ClassMember, Copied, KeptBytes, KeptUnits, LeaderPart, Point, Repeat,
    UnitRange,
};
use super::resolve::{Resolved, WantedRanges, resolve};
use super::stretches::Ranges;
use crate::Result;
use crate::passages::decisions::decided::{FoundPassages, PassageDecisions};
use crate::passages::first_reading::documents::PassageTable;
use crate::passages::first_reading::reading::FirstReading;
use crate::passages::settings::kept_occurrence::KeptOccurrence;
use crate::passages::spans::anchors::comparison::WindowComparison;
use crate::passages::spans::anchors::groups::AnchorGrouping;
use crate::passages::spans::anchors::members;
use crate::passages::spans::anchors::reading::{
    first_reading, key, number_from, push_periodic, second_reading,
};
use crate::passages::spans::anchors::windows::third_reading;
use crate::skeleton::context::{RunContext, text_bytes};
use crate::table::bits::Bits;
use crate::table::chunk_records::ChunkRecords;
use crate::table::numbering::Numbering;
use simtool_engine::Stage;
use simtool_engine::spill_space::SpillSpace;
use simtool_engine::units::units;
use simtool_files::{RecordFile, Sorted, SortedParts, Sorter};

/// Finds what is removed, and stores the decisions.
///
/// # Errors
/// Errors of reading and writing; changed inputs, too little memory and interruption.
pub fn decide(job: &SpansJob, run: RunContext<'_>) -> Result<()> {
    let (space, readers) = memory::space(run.resources, &job.common.reading, job.least);
    let run = RunContext { readers, ..run };
    SpanStages { job, run, space }.decide()
}

/// The stages of a search.
struct SpanStages<'a> {
    job: &'a SpansJob,
    run: RunContext<'a>,
    space: SpillSpace<'a>,
}

/// Records that later stages need, sorted.
struct Sorters {
    repeats: Sorter<Repeat>,
    members: Sorter<ClassMember>,
    parts: Sorter<LeaderPart>,
}

impl SpanStages<'_> {
    fn decide(&self) -> Result<()> {
        let (job, run, space) = (self.job, self.run, self.space);
        let progress = run.progress;
        let mut sorters = Sorters {
            repeats: space.sorter(memory::REPEATS),
            members: space.sorter(memory::MEMBERS),
            parts: space.sorter(memory::PARTS),
        };
        let mut places = space.sorter::<AnchorPlace>(memory::PLACES);
        let total = run.pipeline().bytes();
        progress.begin(Stage::Count, total);
        let most_table_bytes = space.bytes(memory::TABLE);
        let table_bytes = memory::table_bytes(job, text_bytes(run.sources), most_table_bytes);
        let (mut reading, table) =
            FirstReading::resume_with_table(run, table_bytes, most_table_bytes)?;
        let is_resumed = reading.is_resumed();
        let most_bytes = space.bytes(memory::KEPT);
        let found = (&mut reading, &table);
        let mut periodic = ChunkRecords::new(space.directory)?;
        let kept = first_reading(job, run, found, most_bytes, &mut periodic)?;
        let documents = reading.finish(kept.is_none().then_some(&table))?;
        progress.end(total);
        let units = units(run.sources);
        let numbering = Numbering::new(&documents.chunks, run.sources.len(), &units)?;
        periodic.for_each_chunk(|place, found| {
            push_periodic(numbering.first_in(place)?, found, &mut sorters.repeats)
        })?;
        match kept {
            Some(kept) => kept
                .into_repeated((&table, &numbering), |place| key(place.id), number_from)?
                .try_for_each(|found| places.push_all(&found))?,
            None => {
                progress.begin(Stage::Locate, total);
                let repeats = is_resumed.then_some(&mut sorters.repeats);
                second_reading(job, run, &table, &numbering, &mut places, repeats)?;
                progress.end(total);
            }
        }
        drop(table);
        let threads = rayon::current_num_threads();
        let places = places.finish_in_parts(threads, |a, b| a.id == b.id)?;
        self.compare(places, &numbering, &mut sorters)?;
        self.resolve(&documents, &numbering, sorters)
    }

    /// Finds the repeated windows of all places of anchors.
    fn compare(
        &self,
        places: SortedParts<AnchorPlace>,
        numbering: &Numbering<'_>,
        sorters: &mut Sorters,
    ) -> Result<()> {
        let (job, run, space) = (self.job, self.run, self.space);
        let progress = run.progress;
        let references = numbering.documents_before(run.references);
        progress.begin(Stage::Group, 0);
        let mut leaders = space.sorter::<ClassLeader>(memory::LEADERS);
        let grouping = AnchorGrouping {
            keeps_none: job.keep == KeptOccurrence::None,
            references,
            space,
            progress,
        };
        let counts = grouping.group(&places, |found| {
            leaders.push_all(&found.leaders)?;
            sorters.members.push_all(&found.members)?;
            sorters.parts.push_all(&found.parts)?;
            sorters.repeats.push_all(&found.repeats)
        })?;
        drop(places);
        let leaders = self.stored(leaders.finish()?)?;
        progress.end(0);
        let total = run.pipeline().bytes();
        progress.begin(Stage::Verify, total);
        let hashes = third_reading(job, run, numbering, &leaders, counts, space)?;
        drop(leaders);
        let comparison = WindowComparison {
            keep: job.keep,
            space,
            progress,
        };
        comparison.compare(hashes, &mut sorters.parts, &mut sorters.repeats)?;
        progress.end(total);
        Ok(())
    }

    /// Stores the removed ranges and what is dropped.
    fn resolve(
        &self,
        table: &PassageTable,
        numbering: &Numbering<'_>,
        sorters: Sorters,
    ) -> Result<()> {
        let (job, run, space) = (self.job, self.run, self.space);
        let progress = run.progress;
        let references = numbering.documents_before(run.references);
        let total = run.pipeline().bytes();
        progress.begin(Stage::Gather, total);
        let Sorters {
            mut repeats,
            members,
            parts,
        } = sorters;
        members::join(members.finish()?, parts.finish()?, &mut repeats, progress)?;
        let mut ranges = space.spool()?;
        let mut kept = space.sorter::<KeptUnits>(memory::RANGES);
        let making = Ranges {
            window: job.least.units() as u32,
            references,
            progress,
        };
        let mut copied = space.sorter::<Copied>(memory::COPIES);
        let copies = Copies::new(making.window, &mut copied, table);
        making.make(repeats.finish()?, &mut ranges, &mut kept, copies)?;
        let mut points = space.sorter::<Point>(memory::COPIES);
        occurrences::points(copied.finish()?, table, &mut points, progress)?;
        let ranges = ranges.finish()?.into_records::<UnitRange>()?;
        let kept = self.stored(kept.finish()?)?;

        let wanted = WantedRanges {
            ranges: &ranges,
            kept: &kept,
        };
        let mut in_bytes = ChunkRecords::new(space.directory)?;
        let mut kept_bytes = space.sorter::<KeptBytes>(memory::RANGES);
        let mut gone = Bits::none_of(table.rows.len());
        let resolved = Resolved {
            ranges: &mut in_bytes,
            kept: &mut kept_bytes,
            gone: &mut gone,
        };
        resolve(job, run, numbering, &wanted, resolved)?;
        let mut passages = space.sorter::<PassageRange>(memory::RANGES);
        let parts = RangeParts {
            units: &ranges,
            bytes: &in_bytes.into_file(space)?,
            kept: kept_bytes.finish()?,
            progress,
        };
        let has_origins = job.keep == KeptOccurrence::First;
        let (ranges, origins) = parts.store(run.work, has_origins, &mut passages)?;
        let counter = PassageCounter::new(points.finish()?, table, progress);
        let (most_frequent, mut totals) =
            most_repeated(passages.finish()?, job.listed, table, counter, progress)?;
        totals.removed = ranges.1;
        let found = FoundPassages {
            ranges: ranges.0,
            origins: Some(origins),
            items: None,
            most_frequent,
            totals,
        };
        PassageDecisions::store(job, run, (table, numbering), found, |number, _, _| {
            gone.contains(number)
        })?;
        progress.end(total);
        Ok(())
    }

    /// Writes sorted records to a temporary file.
    fn stored<R: Pod + Ord>(&self, records: Sorted<R>) -> Result<RecordFile<R>> {
        let mut spool = self.space.spool()?;
        for record in records {
            spool.append(bytemuck::bytes_of(&record?))?;
        }
        spool.finish()?.into_records()
    }
}
