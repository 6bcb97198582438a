//! The stages of the search for parts of reference items.

use super::finding::grams::Grams;
use super::finding::reading::{ChunkFound, Finder};
use super::finding::records::item_records;
use super::finding::tables::ReferenceTables;
use super::job::DecontaminateJob;
use super::reference;
use crate::Result;
use crate::passages::decisions::decided::{
    FoundPassages, ITEMS, ORIGINS, Origin, PassageDecisions, RANGES,
};
use crate::passages::decisions::ranges::RemovedRange;
use crate::passages::decisions::repeated::RepeatedTotals;
use crate::passages::first_reading::documents::{ChunkRows, PassageTable};
use crate::passages::first_reading::reading::{Collection, FirstReading};
use crate::skeleton::context::RunContext;
use crate::table::bits::Bits;
use crate::table::chunk_records::ChunkRecords;
use crate::table::numbering::Numbering;
use crate::table::segment::ChunkPlace;
use crate::table::stamp::changed;
use simtool_corpus::Place;
use simtool_engine::Stage;
use simtool_engine::documents::{ChunkDocuments, source_of};
use simtool_engine::places::documents_at;
use simtool_engine::units::units;

/// Finds what is removed, and stores the decisions.
///
/// # Errors
/// Errors of reading and writing; changed inputs, too little memory and interruption.
pub fn decide(job: &DecontaminateJob, run: RunContext<'_>) -> Result<()> {
    let total = run.pipeline().bytes();
    run.progress.begin(Stage::Count, total);
    // Until the size of the reference is known.
    let run = RunContext { readers: 1, ..run };
    let reading = FirstReading::resume_after_references(run)?;
    let (items, reading) = reference::read(job, run, reading)?;
    let run = reading.run();
    let tables = ReferenceTables::new(job, items);
    let grams = Grams::new(&tables.index, job.most_documents);
    let running = DecontaminateStages {
        job,
        run,
        tables: &tables,
        grams: &grams,
    };
    running.decide(reading)
}

/// The stages of a search.
struct DecontaminateStages<'a> {
    job: &'a DecontaminateJob,
    run: RunContext<'a>,
    tables: &'a ReferenceTables,
    grams: &'a Grams,
}

/// What is found while the input is read, with the numbers of documents in their chunks.
struct FoundRecords {
    ranges: ChunkRecords<RemovedRange>,
    origins: ChunkRecords<Origin>,
    gone: ChunkRecords<u32>,
}

impl DecontaminateStages<'_> {
    fn decide(&self, mut reading: FirstReading<'_>) -> Result<()> {
        let (job, run) = (self.job, self.run);
        let total = run.pipeline().bytes();
        let directory = &run.resources.temporary;
        let mut records = FoundRecords {
            ranges: ChunkRecords::new(directory)?,
            origins: ChunkRecords::new(directory)?,
            gone: ChunkRecords::new(directory)?,
        };
        self.find_stored(&reading.stored()?, &mut records)?;
        match job.most_documents {
            None => self.find_at_once(&mut reading, &mut records)?,
            Some(_) => self.count(&mut reading)?,
        }
        run.progress.end(total);
        let table = reading.finish(None)?;
        let units = units(run.sources);
        let numbering = Numbering::new(&table.chunks, run.sources.len(), &units)?;
        if job.most_documents.is_some() {
            run.progress.begin(Stage::Locate, total);
            let mut wanted = Bits::none_of(numbering.documents());
            table.for_each_row(0..numbering.documents() as u32, |number, row| {
                if row.has_hits() {
                    wanted.insert(number);
                }
                Ok(())
            })?;
            self.find_again(&numbering, &wanted, &mut records)?;
            run.progress.end(total);
        }
        run.progress.begin(Stage::Gather, 0);
        self.store(&table, &numbering, records)?;
        run.progress.end(0);
        Ok(())
    }

    fn finder(&self) -> Finder<'_> {
        Finder::new(self.job, self.tables, self.grams, self.run.resources)
    }

    /// Finds or counts the n-grams of the documents that an earlier run stored. Those that have any
    /// are read at their places.
    fn find_stored(&self, table: &PassageTable, records: &mut FoundRecords) -> Result<()> {
        let (run, counts) = (self.run, self.job.most_documents.is_some());
        let (mut finder, mut next) = (self.finder(), 0);
        for chunks in table.chunks.chunk_by(|a, b| a.source == b.source) {
            let mut wanted = Vec::new();
            for chunk in chunks {
                let first = next;
                next += chunk.documents;
                let place = chunk.place();
                table.for_each_row(first..next, |document, row| {
                    if row.has_hits() {
                        wanted.push((place, document - first, row.place));
                    }
                    Ok(())
                })?;
            }
            let Some(&(.., place)) = wanted.first() else {
                continue;
            };
            let places: Vec<Place> = wanted.iter().map(|(.., place)| *place).collect();
            let mut found: Vec<(ChunkPlace, ChunkFound)> = Vec::new();
            let mut seen = 0;
            let source = source_of(run.sources, place.source)?;
            documents_at(
                source,
                run.batch.reading,
                &places,
                run.progress,
                |at, text| {
                    let (place, ordinal, _) = wanted[at];
                    seen += 1;
                    if counts {
                        finder.count(text.text);
                        return;
                    }
                    if found.last().is_none_or(|(last, _)| *last != place) {
                        finder.begin_chunk(place);
                        found.push((place, ChunkFound::default()));
                    }
                    if let Some((_, found)) = found.last_mut() {
                        finder.find(text.text, ordinal, found);
                    }
                },
            )?;
            if seen < places.len() {
                return Err(changed(source));
            }
            for (place, found) in found {
                records.add(place, &found)?;
            }
        }
        Ok(())
    }

    /// Finds all n-grams in one reading, which also stores the rows of documents.
    fn find_at_once(
        &self,
        reading: &mut FirstReading<'_>,
        records: &mut FoundRecords,
    ) -> Result<()> {
        let start = || self.finder();
        let work = |finder: &mut Finder<'_>, documents: ChunkDocuments<'_>| {
            let mut found = ChunkFound::default();
            let rows = finder.chunk(documents, &mut found)?;
            Ok((rows, found))
        };
        let collect = |place, found| records.add(place, &found);
        reading.read(Collection::Input, &start, &work, collect, None)
    }

    /// Counts the documents with each n-gram, and stores the rows of all.
    fn count(&self, reading: &mut FirstReading<'_>) -> Result<()> {
        let start = || self.finder();
        let work = |finder: &mut Finder<'_>, documents: ChunkDocuments<'_>| {
            let rows = ChunkRows::read(documents, |_, document, _, row| {
                let (words, has_hits) = finder.count(document.text);
                row.set_hits(has_hits);
                row.units = u32::try_from(words).unwrap_or(u32::MAX);
                row.unit_bytes = document.text.trim_ascii().len() as u64;
                Ok(())
            })?;
            Ok((rows, ()))
        };
        reading.read(Collection::Input, &start, &work, |_, ()| Ok(()), None)
    }

    /// Finds the n-grams that are not ignored in the `wanted` documents.
    fn find_again(
        &self,
        numbering: &Numbering<'_>,
        wanted: &Bits,
        records: &mut FoundRecords,
    ) -> Result<()> {
        let work = |finder: &mut Finder<'_>, documents: ChunkDocuments<'_>| {
            let place = ChunkPlace::of(documents.chunk);
            let first = numbering
                .numbers_of(documents.chunk, documents.source)?
                .start;
            let mut found = ChunkFound::default();
            finder.begin_chunk(place);
            let is_wanted = |ordinal| wanted.contains(first.saturating_add(ordinal));
            documents.for_each_wanted(is_wanted, |ordinal, document| {
                if let Ok(document) = document {
                    finder.find(document.text, ordinal, &mut found);
                }
                Ok(())
            })?;
            Ok((place, found))
        };
        self.run.pipeline().run_documents(
            &self.run.own_units(),
            || self.finder(),
            work,
            |_, (place, found)| records.add(place, &found),
        )
    }

    /// Stores what was found.
    fn store(
        &self,
        table: &PassageTable,
        numbering: &Numbering<'_>,
        records: FoundRecords,
    ) -> Result<()> {
        let FoundRecords {
            ranges,
            origins,
            gone,
        } = records;
        let work = self.run.work;
        let (mut ranges_file, mut removed) = (work.create_file(RANGES)?, 0);
        ranges.for_each_chunk(|place, mut ranges| {
            let first = numbering.first_in(place)?;
            ranges.iter_mut().for_each(|range| range.document += first);
            removed += ranges.len() as u64;
            ranges_file.append(bytemuck::cast_slice(&ranges))
        })?;
        let mut origins_file = work.create_file(ORIGINS)?;
        origins.for_each_chunk(|_, origins| origins_file.append(bytemuck::cast_slice(&origins)))?;
        let mut documents = Bits::none_of(numbering.documents());
        gone.for_each_chunk(|place, gone| {
            let first = numbering.first_in(place)?;
            gone.iter()
                .for_each(|ordinal| documents.insert(first + ordinal));
            Ok(())
        })?;
        let items = item_records(self.tables, self.grams, numbering);
        let mut file = work.create_file(ITEMS)?;
        file.append(bytemuck::cast_slice(&items))?;
        let found = FoundPassages {
            ranges: ranges_file.publish()?,
            origins: Some(origins_file.publish()?),
            items: Some(file.publish()?),
            most_frequent: Vec::new(),
            totals: RepeatedTotals {
                different: items.iter().filter(|item| item.found > 0).count() as u64,
                occurrences: items.iter().map(|item| u64::from(item.documents)).sum(),
                removed,
            },
        };
        PassageDecisions::store(
            self.job,
            self.run,
            (table, numbering),
            found,
            |number, _, _| documents.contains(number),
        )
    }
}

impl FoundRecords {
    /// Adds what was found in the chunk at `place`.
    fn add(&mut self, place: ChunkPlace, found: &ChunkFound) -> Result<()> {
        self.ranges.add(place, &found.ranges)?;
        self.origins.add(place, &found.origins)?;
        self.gone.add(place, &found.gone)
    }
}
