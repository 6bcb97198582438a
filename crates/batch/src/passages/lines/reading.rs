//! The readings: the documents of all inputs, and the occurrences of units that may be removed.
//!
//! The first reading stores a row for each document and fills a table of the units that were seen
//! twice. It also collects all occurrences while they fit into memory. If they do not, a second
//! reading collects those of the units in the table. The list of removed units needs no table.

use std::sync::atomic::{AtomicBool, Ordering};

use super::job::{LinesJob, Rule};
use super::listed::ListedUnits;
use super::occurrence::Occurrence;
use super::per::{Per, halves, in_group};
use crate::Result;
use crate::passages::first_reading::documents::{ChunkRows, PassageRow, site_of};
use crate::passages::first_reading::kept_chunks::KeptChunks;
use crate::passages::first_reading::reading::{Collection, FirstReading};
use crate::passages::first_reading::seen_twice::SeenTwice;
use crate::table::chunk_records::ChunkRecords;
use crate::table::numbering::Numbering;
use simtool_core::text::units::UnitReader;
use simtool_corpus::{Document, Source};
use simtool_engine::documents::ChunkDocuments;
use simtool_engine::pipeline::Pipeline;
use simtool_files::Sorter;

/// Reads the occurrences of units in all inputs.
pub struct OccurrenceReader<'a> {
    /// The job.
    pub job: &'a LinesJob,
    /// Reads the sources, those of the reference first.
    pub pipeline: Pipeline<'a>,
}

/// Which occurrences a reading collects.
#[derive(Clone, Copy)]
pub enum WantedUnits<'a> {
    /// All of them, until `AtomicBool` is false; their units are added to the table.
    All(&'a SeenTwice, &'a AtomicBool),
    /// The occurrences of listed units.
    Listed(&'a ListedUnits),
    /// The occurrences of units in the table.
    Repeated(&'a SeenTwice),
}

impl OccurrenceReader<'_> {
    /// Stores the rows and labels of all documents that are not stored yet, and adds all their units
    /// to `table`, or the occurrences of listed units to `listed` if the job has a list. Returns all
    /// occurrences, if none is lost and they have at most `most_bytes` bytes; none of them if the job
    /// has a list.
    ///
    /// # Errors
    /// Errors of reading and writing; [`ErrorKind::Interrupted`].
    pub fn first(
        &self,
        reading: &mut FirstReading<'_>,
        table: &SeenTwice,
        most_bytes: usize,
        listed: &mut ChunkRecords<Occurrence>,
    ) -> Result<Option<KeptChunks<Occurrence>>> {
        let is_kept = AtomicBool::new(!reading.is_resumed());
        let wanted = match &self.job.rule {
            Rule::Listed(listed) => WantedUnits::Listed(listed),
            Rule::Repeated { .. } => WantedUnits::All(table, &is_kept),
        };
        let saved = matches!(wanted, WantedUnits::All(..)).then_some(table);
        let mut kept = KeptChunks::new(most_bytes);
        let mut collect = |place, occurrences: Vec<Occurrence>| {
            if !is_kept.load(Ordering::Relaxed) {
                return Ok(());
            }
            match wanted {
                WantedUnits::All(..) => {
                    is_kept.store(kept.add(place, occurrences), Ordering::Relaxed);
                    Ok(())
                }
                WantedUnits::Listed(_) | WantedUnits::Repeated(_) => {
                    listed.add(place, &occurrences)
                }
            }
        };
        let start = || UnitFinder::new(self.job, wanted);
        for collection in [Collection::References, Collection::Input] {
            reading.read(collection, &start, &UnitFinder::first, &mut collect, saved)?;
        }
        Ok(is_kept.into_inner().then_some(kept))
    }

    /// Pushes the `wanted` occurrences to `sorter`.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if a source is not as it was; those of reading and writing;
    /// [`ErrorKind::Interrupted`].
    pub fn second(
        &self,
        wanted: WantedUnits<'_>,
        numbering: &Numbering<'_>,
        sorter: &mut Sorter<Occurrence>,
    ) -> Result<()> {
        let work = |reader: &mut UnitFinder<'_>, documents: ChunkDocuments<'_>| {
            let numbers = numbering.numbers_of(documents.chunk, documents.source)?;
            let mut found = reader.second(documents)?;
            number_from(numbers.start, &mut found, self.job.per());
            Ok(found)
        };
        self.pipeline.run_documents(
            &self.pipeline.units(),
            || UnitFinder::new(self.job, wanted),
            work,
            |_, found| sorter.push_all(&found),
        )
    }
}

/// Numbers the documents of a chunk whose first one is `first`. Their units are counted within the
/// groups of `per`.
pub fn number_from(first: u32, occurrences: &mut [Occurrence], per: Per) {
    for occurrence in occurrences {
        occurrence.document += first;
        occurrence.key = per.key_at(occurrence.key, occurrence.document);
    }
}

/// Finds the units of chunks; one for each thread.
pub struct UnitFinder<'a> {
    wanted: WantedUnits<'a>,
    per: Per,
    units: UnitReader,
}

impl<'a> UnitFinder<'a> {
    /// A reader of units for a job.
    pub fn new(job: &LinesJob, wanted: WantedUnits<'a>) -> UnitFinder<'a> {
        UnitFinder {
            wanted,
            per: job.per(),
            units: job.units(),
        }
    }

    /// The rows and labels of a chunk, and its wanted occurrences.
    ///
    /// # Errors
    /// None that depends on the documents.
    pub fn first(&mut self, documents: ChunkDocuments<'_>) -> Result<(ChunkRows, Vec<Occurrence>)> {
        let mut found = Vec::new();
        let rows = ChunkRows::read(documents, |source, document, number, row| {
            self.document(source, document, row, number, &mut found);
            Ok(())
        })?;
        self.select(&mut found);
        Ok((rows, found))
    }

    /// The wanted occurrences of a chunk.
    fn second(&mut self, documents: ChunkDocuments<'_>) -> Result<Vec<Occurrence>> {
        let source = documents.source;
        let (mut found, mut number) = (Vec::new(), 0);
        documents.for_each(|document| {
            if let Ok(document) = document {
                let mut row = PassageRow::of_document(&document, site_of(&document), 0);
                self.document(source, &document, &mut row, number, &mut found);
            }
            number += 1;
            Ok(())
        })?;
        self.select(&mut found);
        Ok(found)
    }

    /// Adds occurrences to the table, and removes those that are not wanted.
    fn select(&self, found: &mut Vec<Occurrence>) {
        match self.wanted {
            WantedUnits::All(table, is_kept) => {
                table.insert_all(found, |occurrence| occurrence.key);
                if !is_kept.load(Ordering::Relaxed) {
                    *found = Vec::new();
                }
            }
            WantedUnits::Repeated(table) => {
                table.retain_repeated(found, |occurrence| occurrence.key);
            }
            WantedUnits::Listed(_) => {}
        }
        found.shrink_to_fit();
    }

    /// Appends the units of a document, and notes them in its row.
    fn document(
        &mut self,
        source: &Source,
        document: &Document<'_>,
        row: &mut PassageRow,
        number: u32,
        occurrences: &mut Vec<Occurrence>,
    ) {
        let (mut units, mut unit_bytes, mut covered) = (0u32, 0, 0);
        let group = self.per.group(source, row.site);
        self.units.for_each(document.text, |range, hash| {
            units = units.saturating_add(1);
            unit_bytes += range.end.saturating_sub(covered.max(range.start));
            covered = range.end;
            let mut key = halves(hash);
            if let WantedUnits::Listed(listed) = self.wanted
                && !listed.contains(key)
            {
                return;
            }
            if let Some(group) = group {
                key = in_group(key, group);
            }
            occurrences.push(Occurrence {
                key,
                document: number,
                // Documents are shorter than 4 GiB.
                start: range.start as u32,
                length: range.len() as u32,
                _reserved: 0,
                site: row.site,
            });
        });
        row.units = units;
        row.unit_bytes = unit_bytes as u64;
    }
}
