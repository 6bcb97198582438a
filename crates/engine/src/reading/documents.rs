//! The documents of inputs, chunk by chunk.

use super::pipeline::{Event, Pipeline};
use super::units::{Unit, units};
use crate::{Error, ErrorKind, Result};
use simtool_corpus::{Chunk, Document, Parsed, Parser, Place, Reading, Skip, Source};
use std::borrow::Cow;

/// A document, or a record that could not be read as one.
pub type Found<'a> = std::result::Result<Document<'a>, Skip>;

/// Parses the chunks of some sources; one for each thread.
pub struct DocumentReader<'a> {
    sources: &'a [Source],
    parser: Parser,
}

/// A chunk whose documents can be read once.
pub struct ChunkDocuments<'a> {
    /// The chunk.
    pub chunk: &'a Chunk,
    /// Its source.
    pub source: &'a Source,
    parser: &'a mut Parser,
}

/// The source with this number.
///
/// # Errors
/// [`ErrorKind::Content`] if there is none.
pub fn source_of(sources: &[Source], number: u32) -> Result<&Source> {
    sources.get(number as usize).ok_or_else(|| {
        let message = format!("no source number {number}");
        Error::new(ErrorKind::Content, message)
    })
}

/// The path of the file with a document, as reports show it.
///
/// # Errors
/// [`ErrorKind::Content`] if there is no such file.
pub fn name_of(sources: &[Source], place: Place) -> Result<Cow<'_, str>> {
    Ok(source_of(sources, place.source)?.path.to_string_lossy())
}

impl<'a> DocumentReader<'a> {
    /// A reader of `sources`.
    pub fn new(sources: &'a [Source], reading: &Reading) -> DocumentReader<'a> {
        DocumentReader {
            sources,
            parser: Parser::new(reading),
        }
    }

    /// The documents of a chunk of these sources.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if the chunk is of no source.
    pub fn documents<'c>(&'c mut self, chunk: &'c Chunk) -> Result<ChunkDocuments<'c>> {
        Ok(ChunkDocuments {
            chunk,
            source: source_of(self.sources, chunk.source)?,
            parser: &mut self.parser,
        })
    }
}

impl ChunkDocuments<'_> {
    /// Calls `visit` with each document and each skipped record, in order.
    ///
    /// # Errors
    /// The first error of `visit`, which is not called again.
    pub fn for_each(self, mut visit: impl FnMut(Found<'_>) -> Result<()>) -> Result<()> {
        self.for_each_wanted(|_| true, |_, found| visit(found))
    }

    /// [`for_each`](Self::for_each) for the documents whose numbers in the chunk are wanted.
    /// Those in `chunk.skipped` are always visited, after the others. Unwanted documents are not
    /// decoded.
    ///
    /// # Errors
    /// The first error of `visit`, which is not called again.
    pub fn for_each_wanted(
        self,
        is_wanted: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32, Found<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut outcome = Ok(());
        let visit = &mut |number, parsed: Parsed<'_>| {
            let found = match parsed {
                _ if outcome.is_err() => return,
                Parsed::Document(document) => Ok(document),
                Parsed::Skipped(skip) => Err(skip),
                Parsed::Unwanted => return,
            };
            outcome = visit(number, found);
        };
        let format = self.source.format;
        self.parser.for_each(format, self.chunk, &is_wanted, visit);
        outcome
    }
}

impl Pipeline<'_> {
    /// Reads the documents of `units`. Each worker makes its state with `start`, and turns the
    /// documents of a chunk into a result with `work`. `collect` gets the results with the numbers
    /// of their units on the calling thread, in order within each unit.
    ///
    /// # Errors
    /// Errors of [`Pipeline::run`].
    ///
    /// # Panics
    /// As [`Pipeline::run`].
    pub fn run_documents<S, T: Send>(
        &self,
        units: &[Unit],
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, ChunkDocuments<'_>) -> Result<T> + Sync,
        mut collect: impl FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        let start = || (DocumentReader::new(self.sources, self.reading), start());
        let work = |(reader, state): &mut (DocumentReader<'_>, S), chunk: &Chunk| {
            work(state, reader.documents(chunk)?)
        };
        self.run(units, start, work, |unit, event| match event {
            Event::Chunk { result, .. } => collect(unit, result),
            Event::End => Ok(()),
        })
    }

    /// [`run_documents`](Pipeline::run_documents) for all groups of sources, one after another, so
    /// that results are collected in input order and few of them wait.
    ///
    /// # Errors
    /// Errors of [`Pipeline::run`].
    ///
    /// # Panics
    /// As [`Pipeline::run`].
    pub fn run_documents_in_order<S, T: Send>(
        &self,
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, ChunkDocuments<'_>) -> Result<T> + Sync,
        mut collect: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        for unit in units(self.sources).into_iter().map(Unit::whole) {
            self.run_documents(&[unit], &start, &work, |_, result| collect(result))?;
        }
        Ok(())
    }
}
