//! The stages of the search for parts of reference items.

use super::finding::grams::Grams;
use super::finding::reading::{ChunkFound, Finder};
use super::finding::records::item_records;
use super::finding::tables::ReferenceTables;
use super::job::DecontaminateJob;
use super::reference;
use crate::Result;
use crate::passages::decisions::decided::{
    FoundPassages, ITEMS, ORIGINS, PassageDecisions, RANGES,
};
use crate::passages::decisions::repeated::RepeatedTotals;
use crate::passages::first_reading::documents::{ChunkRows, PassageTable};
use crate::passages::first_reading::reading::{Collection, FirstReading};
use crate::skeleton::context::RunContext;
use crate::table::bits::Bits;
use crate::table::numbering::Numbering;
use crate::table::stamp::changed;
use crate::workdir::WorkFile;
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
    let mut reading = FirstReading::resume_after_references(run)?;
    let items = reference::read(job, run, &mut reading)?;
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

/// The files that are written while the input is read.
struct RangeFiles {
    ranges: WorkFile,
    origins: WorkFile,
    count: u64,
    gone: Vec<u32>,
}

impl DecontaminateStages<'_> {
    fn decide(&self, mut reading: FirstReading<'_>) -> Result<()> {
        let (job, run) = (self.job, self.run);
        let total = run.pipeline().bytes();
        let mut written = RangeFiles {
            ranges: run.work.create_file(RANGES)?,
            origins: run.work.create_file(ORIGINS)?,
            count: 0,
            gone: Vec::new(),
        };
        self.find_stored(&reading.stored()?, &mut written)?;
        match job.most_documents {
            None => self.find_at_once(&mut reading, &mut written)?,
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
            self.find_again(&numbering, &wanted, &mut written)?;
            run.progress.end(total);
        }
        run.progress.begin(Stage::Gather, 0);
        self.store(&table, &numbering, written)?;
        run.progress.end(0);
        Ok(())
    }

    fn finder(&self) -> Finder<'_> {
        Finder::new(self.job, self.tables, self.grams, self.run.resources)
    }

    /// Finds or counts the n-grams of the documents that an earlier run stored. Those that have any
    /// are read at their places.
    fn find_stored(&self, table: &PassageTable, written: &mut RangeFiles) -> Result<()> {
        let (run, counts) = (self.run, self.job.most_documents.is_some());
        let (mut finder, mut next) = (self.finder(), 0);
        for chunks in table.chunks.chunk_by(|a, b| a.source == b.source) {
            let mut wanted = Vec::new();
            for (number, chunk) in (0..).zip(chunks) {
                let first = next;
                next += chunk.documents;
                table.for_each_row(first..next, |document, row| {
                    if row.has_hits() {
                        wanted.push((number, first, document, row.place));
                    }
                    Ok(())
                })?;
            }
            let Some(&(.., place)) = wanted.first() else {
                continue;
            };
            let places: Vec<Place> = wanted.iter().map(|(.., place)| *place).collect();
            let mut found: Vec<(u32, ChunkFound)> = Vec::new();
            let mut seen = 0;
            let source = source_of(run.sources, place.source)?;
            documents_at(
                source,
                run.batch.reading,
                &places,
                run.progress,
                |at, text| {
                    let (number, first, document, place) = wanted[at];
                    seen += 1;
                    if counts {
                        finder.count(text.text);
                        return;
                    }
                    if found.last().is_none_or(|(last, _)| *last != first) {
                        finder.begin_chunk(place.source, number);
                        found.push((first, ChunkFound::default()));
                    }
                    if let Some((_, found)) = found.last_mut() {
                        finder.find(text.text, document - first, found);
                    }
                },
            )?;
            if seen < places.len() {
                return Err(changed(source));
            }
            for (first, found) in found {
                written.add(first, found)?;
            }
        }
        Ok(())
    }

    /// Finds all n-grams in one reading, which also stores the rows of documents.
    fn find_at_once(&self, reading: &mut FirstReading<'_>, written: &mut RangeFiles) -> Result<()> {
        let start = || self.finder();
        let work = |finder: &mut Finder<'_>, documents: ChunkDocuments<'_>| {
            let mut found = ChunkFound::default();
            let rows = finder.chunk(documents, &mut found)?;
            Ok((rows, found))
        };
        let collect = |first, found| written.add(first, found);
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
        written: &mut RangeFiles,
    ) -> Result<()> {
        let work = |finder: &mut Finder<'_>, documents: ChunkDocuments<'_>| {
            let chunk = documents.chunk;
            let first = numbering.numbers_of(chunk, documents.source)?.start;
            let mut found = ChunkFound::default();
            finder.begin_chunk(chunk.source, chunk.start.chunk);
            let is_wanted = |ordinal| wanted.contains(first.saturating_add(ordinal));
            documents.for_each_wanted(is_wanted, |ordinal, document| {
                if let Ok(document) = document {
                    finder.find(document.text, ordinal, &mut found);
                }
                Ok(())
            })?;
            Ok((first, found))
        };
        let pipeline = self.run.pipeline();
        for unit in self.run.own_units() {
            pipeline.run_documents(
                &[unit],
                || self.finder(),
                work,
                |_, (first, found)| written.add(first, found),
            )?;
        }
        Ok(())
    }

    /// Stores what was found.
    fn store(
        &self,
        table: &PassageTable,
        numbering: &Numbering<'_>,
        written: RangeFiles,
    ) -> Result<()> {
        let RangeFiles {
            ranges,
            origins,
            count,
            gone,
        } = written;
        let work = self.run.work;
        let items = item_records(self.tables, self.grams, numbering);
        let mut file = work.create_file(ITEMS)?;
        file.append(bytemuck::cast_slice(&items))?;
        let mut documents = Bits::none_of(numbering.documents());
        gone.into_iter().for_each(|number| documents.insert(number));
        let found = FoundPassages {
            ranges: ranges.publish()?,
            origins: Some(origins.publish()?),
            items: Some(file.publish()?),
            most_frequent: Vec::new(),
            totals: RepeatedTotals {
                different: items.iter().filter(|item| item.found > 0).count() as u64,
                occurrences: items.iter().map(|item| u64::from(item.documents)).sum(),
                removed: count,
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

impl RangeFiles {
    /// Adds what was found in a chunk whose first document has the number `first`.
    fn add(&mut self, first: u32, mut found: ChunkFound) -> Result<()> {
        for range in &mut found.ranges {
            range.document += first;
        }
        self.ranges.append(bytemuck::cast_slice(&found.ranges))?;
        self.origins.append(bytemuck::cast_slice(&found.origins))?;
        self.count += found.ranges.len() as u64;
        self.gone
            .extend(found.gone.iter().map(|number| first + number));
        Ok(())
    }
}
