//! The first reading of a search: a row and a label for each document. It resumes after the last
//! segment of an interrupted run.
//!
//! Several units of sources are read at a time, so documents have their numbers in the end. What a
//! search finds in them, besides their rows, is lost with the process, except the table of what was
//! seen twice: it is saved from time to time, with the number of stored documents whose keys it has.
//! A resumed run goes on after these, and collects the rest in its second reading.

use super::documents::{ChunkRows, PassageRow, PassageTable};
use super::seen_twice::SeenTwice;
use crate::Result;
use crate::skeleton::context::{RunContext, text_bytes};
use crate::table::document_table::DocumentTable;
use crate::table::numbering::too_many;
use crate::table::open_unit::OpenUnit;
use crate::table::segment::ChunkPlace;
use crate::table::segment_store::SegmentStore;
use simtool_corpus::Chunk;
use simtool_engine::documents::{ChunkDocuments, DocumentReader};
use simtool_engine::pipeline::Event;
use simtool_engine::units::Unit;

/// The texts are divided into this many equal parts; the table is saved after each.
const SAVED_PARTS: u64 = 4;
/// It is saved earlier if this multiple of its size was read: then saving takes little time.
const SAVED_SIZES: u64 = 16;

/// The documents that a search reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collection {
    /// The documents to compare with.
    References,
    /// The documents of the input.
    Input,
}

/// The first reading of a run.
pub struct FirstReading<'a> {
    run: RunContext<'a>,
    store: SegmentStore<'a, PassageRow>,
    /// The number of documents that an earlier run stored.
    stored: u64,
    /// The number of documents so far.
    documents: u64,
    /// Bytes of text since the table was saved.
    unsaved_bytes: u64,
}

impl<'a> FirstReading<'a> {
    /// The reading of a run, after what an earlier one stored.
    ///
    /// # Errors
    /// Errors of [`SegmentStore::open`].
    pub fn resume(run: RunContext<'a>) -> Result<FirstReading<'a>> {
        FirstReading::after(run, u64::MAX)
    }

    /// [`resume`](Self::resume), unless an earlier run did not store all documents to compare with:
    /// then it starts from the beginning.
    ///
    /// # Errors
    /// Errors of [`SegmentStore::open`].
    pub fn resume_after_references(run: RunContext<'a>) -> Result<FirstReading<'a>> {
        let reading = FirstReading::resume(run)?;
        match reading.has_references() {
            true => Ok(reading),
            false => FirstReading::after(run, 0),
        }
    }

    /// Whether all documents to compare with are stored.
    pub fn has_references(&self) -> bool {
        let last = |number| self.store.last_of(number);
        let is_complete = |number| last(number).is_some_and(|last| last.next().is_none());
        (0..self.run.reference_units().len()).all(is_complete)
    }

    /// The documents that are stored so far.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write); [`ErrorKind::Read`](crate::ErrorKind::Read).
    pub fn stored(&mut self) -> Result<PassageTable> {
        DocumentTable::of(&self.store.segments()?)
    }

    /// [`resume`](Self::resume) with the table of what was seen twice: a new one of `bytes` bytes, or
    /// that of an earlier run, with at most `most` bytes.
    ///
    /// # Errors
    /// Errors of [`SegmentStore::open`] and [`SeenTwice::load`].
    pub fn resume_with_table(
        run: RunContext<'a>,
        bytes: usize,
        most: usize,
    ) -> Result<(FirstReading<'a>, SeenTwice)> {
        Ok(match SeenTwice::load(run.work, most)? {
            Some((table, documents)) => (FirstReading::after(run, documents)?, table),
            None => (FirstReading::after(run, 0)?, SeenTwice::new(bytes)),
        })
    }

    /// The reading after the first `documents` documents.
    fn after(run: RunContext<'a>, documents: u64) -> Result<FirstReading<'a>> {
        let store = SegmentStore::open_within(run.work, documents, run.progress)?;
        Ok(FirstReading {
            run,
            stored: store.documents(),
            documents: store.documents(),
            store,
            unsaved_bytes: 0,
        })
    }

    /// The run.
    pub fn run(&self) -> RunContext<'a> {
        self.run
    }

    /// The same reading with this number of threads that read.
    pub fn with_readers(mut self, readers: usize) -> FirstReading<'a> {
        self.run.readers = readers;
        self
    }

    /// Whether what was found in some documents is lost.
    pub fn is_resumed(&self) -> bool {
        self.stored > 0
    }

    /// Reads the documents of a collection that are not stored yet. Each worker makes its state with
    /// `start`, and turns a chunk into rows and a result with `work`. `collect` gets the results with
    /// the places of their chunks, in any order. The `table` is saved with the rows.
    ///
    /// # Errors
    /// Errors of reading and writing, of `work` and of `collect`;
    /// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn read<S, T: Send>(
        &mut self,
        collection: Collection,
        start: &(impl Fn() -> S + Sync),
        work: &(impl Fn(&mut S, ChunkDocuments<'_>) -> Result<(ChunkRows, T)> + Sync),
        mut collect: impl FnMut(ChunkPlace, T) -> Result<()>,
        table: Option<&SeenTwice>,
    ) -> Result<()> {
        let run = self.run;
        let references = run.reference_units();
        let (first, units, pipeline) = match collection {
            Collection::References => (0, references, run.reference_pipeline()),
            Collection::Input => (references.len(), run.own_units(), run.pipeline()),
        };
        let units = (first..).zip(units);
        let mut open: Vec<OpenUnit<PassageRow>> = units
            .filter_map(|(number, unit)| OpenUnit::resume(number, unit, &pipeline, &self.store))
            .collect();
        let rest: Vec<Unit> = open.iter().map(|unit| unit.rest.clone()).collect();
        let start = || {
            let reader = DocumentReader::new(pipeline.sources, pipeline.reading);
            (reader, start())
        };
        let work = |(reader, state): &mut (DocumentReader<'_>, S), chunk: &Chunk| {
            Ok((
                ChunkPlace::of(chunk),
                work(state, reader.documents(chunk)?)?,
            ))
        };
        pipeline.run(&rest, start, work, |unit, event| match event {
            Event::Chunk {
                source,
                end,
                result: (place, (rows, found)),
            } => {
                self.documents += u64::from(rows.documents());
                if self.documents > u32::MAX.into() {
                    return Err(too_many());
                }
                collect(place, found)?;
                self.unsaved_bytes += rows.text_bytes();
                match open[unit].append(rows, (source, end), &mut self.store)? {
                    true => self.save(table),
                    false => Ok(()),
                }
            }
            Event::End => open[unit].finish(&mut self.store),
        })
    }

    /// Saves the table, if there has been enough text since the last time.
    fn save(&mut self, table: Option<&SeenTwice>) -> Result<()> {
        let Some(table) = table else {
            return Ok(());
        };
        let part = text_bytes(self.run.sources) / SAVED_PARTS;
        if self.unsaved_bytes < part.min(SAVED_SIZES * table.bytes() as u64) {
            return Ok(());
        }
        self.unsaved_bytes = 0;
        self.store.flush()?;
        table.store(self.run.work, self.store.documents())
    }

    /// Marks the reading as complete; returns the documents. A second reading needs the `table`.
    ///
    /// # Errors
    /// Errors of reading and writing.
    pub fn finish(mut self, table: Option<&SeenTwice>) -> Result<PassageTable> {
        if !self.store.is_complete() {
            self.store.flush()?;
            if let Some(table) = table {
                table.store(self.run.work, self.store.documents())?;
            }
            let units = self.run.reference_units().len() + self.run.own_units().len();
            self.store.complete(units)?;
        }
        DocumentTable::of(&self.store.finish()?)
    }
}
