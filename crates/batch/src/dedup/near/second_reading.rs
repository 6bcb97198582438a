//! The second reading: documents with a near sketch of another one are read again for their shingle
//! sets.
//!
//! Files in which few documents are wanted are read at their places, others as a whole.

use std::ops::Range;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::Result;
use simtool_core::sketch::{Method, Needs};
use simtool_corpus::Compression;
use simtool_engine::documents::{ChunkDocuments, source_of};
use simtool_engine::pipeline::Pipeline;
use simtool_engine::places::{ReadBytes, documents_at, is_changed};
use simtool_engine::text_words::WordReader;
use simtool_engine::units::Unit;

use super::shingle_sets::{CollectedSets, DocumentSets, SetWriter, WrittenSets};
use crate::dedup::job_context::JobContext;
use crate::table::bits::Bits;
use crate::table::stamp::{InputStamp, changed};

/// The numbers of the documents of a source that are read one after another, by one thread. Those
/// that are not wanted are left out.
type Task = Range<u32>;

/// A source is read at places if that takes at most one part in this many of its bytes.
const WHOLE_FACTOR: u64 = 2;
/// A task has more documents while it reads no more than this many bytes.
const TASK_BYTES: u64 = 1 << 20;
/// A task that has to read more than this is left to the pipeline, which bounds the memory.
const MOST_TASK_BYTES: u64 = 16 << 20;
/// Tasks of each thread whose results are held in memory.
const TASKS: usize = 4;

/// Reads documents again for their sets.
pub struct SecondReading<'a> {
    context: JobContext<'a>,
    pipeline: Pipeline<'a>,
    method: Option<&'a dyn Method>,
}

impl<'a> SecondReading<'a> {
    /// Reads documents of `context` again, also for their sketches by `method`, if there is one.
    pub fn new(context: JobContext<'a>, method: Option<&'a dyn Method>) -> SecondReading<'a> {
        SecondReading {
            context,
            pipeline: context.run().pipeline(),
            method,
        }
    }

    /// The sets of `wanted` documents.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`](crate::ErrorKind::Changed) if a chunk, or a document read at its place,
    /// differs from the first reading; those of reading and of temporary files.
    pub fn collect(&self, wanted: &Bits) -> Result<CollectedSets> {
        let file = self.context.space.shared_spool()?;
        let mut writer = SetWriter::new(&file, &self.context.space);
        let mut whole = Vec::new();
        for sources in self.context.documents.numbering.units_with(wanted) {
            match self.tasks(&sources, wanted)? {
                Some(tasks) => self.read_at_places(sources.start, &tasks, wanted, &mut writer)?,
                None => whole.extend(self.pipeline.sections(sources)),
            }
        }
        self.read_units(&whole, wanted, &mut writer)?;
        let extents = writer.finish(&self.context.space)?;
        Ok(CollectedSets::new(file, extents))
    }

    fn reader(&self) -> SetReader<'a> {
        let needs = self
            .method
            .map_or(Needs::default(), |method| method.needs());
        SetReader {
            words: WordReader::new(
                self.context.job.tokenizer,
                needs.and(Needs::HASHES),
                self.context.run().resources.level,
            ),
            method: self.method,
            width: self.context.job.verification.shingle,
            sketch: Vec::new(),
        }
    }

    /// Reads whole units.
    fn read_units(&self, units: &[Unit], wanted: &Bits, writer: &mut SetWriter<'_>) -> Result<()> {
        let file = writer.file();
        let work = |reader: &mut SetReader<'_>, documents: ChunkDocuments<'_>| {
            let numbering = self.context.documents.numbering;
            let numbers = numbering.numbers_of(documents.chunk, documents.source)?;
            reader.read(documents, wanted, numbers)?.write(file)
        };
        self.pipeline
            .run_documents(units, || self.reader(), work, |_, sets| writer.add(&sets))
    }

    /// The wanted documents of a single source in parts, if reading them at their places is much
    /// less work than reading the whole source.
    fn tasks(&self, sources: &Range<u32>, wanted: &Bits) -> Result<Option<Vec<Task>>> {
        let source = source_of(self.pipeline.sources, sources.start)?;
        let most = self.context.documents.numbering.bytes_of(sources.start) / WHOLE_FACTOR;
        if sources.len() != 1 || source.format.is_whole_file() {
            return Ok(None);
        }
        let mut read = ReadBytes::new(source);
        let mut cursor = self.context.table().cursor();
        let mut tasks: Vec<Task> = Vec::new();
        let mut begin = 0;
        for document in wanted.within(self.context.documents.numbering.of_source(sources.start)) {
            let place = cursor.row(document)?.place;
            let before = read.bytes();
            let is_new = read.add(&place);
            let may_split = is_new || source.compression == Compression::None;
            match tasks.last_mut() {
                Some(task) if !may_split || read.bytes() - begin <= TASK_BYTES => {
                    task.end = document + 1;
                }
                _ => {
                    tasks.push(document..document + 1);
                    begin = before;
                }
            }
            if read.bytes() > most || read.bytes() - begin > MOST_TASK_BYTES {
                return Ok(None);
            }
        }
        Ok(Some(tasks))
    }

    /// Reads the documents of `tasks` in parallel, a number of tasks at a time.
    fn read_at_places(
        &self,
        source: u32,
        tasks: &[Task],
        wanted: &Bits,
        writer: &mut SetWriter<'_>,
    ) -> Result<()> {
        let file = writer.file();
        let read = |reader: &mut SetReader<'_>, task: &Task| {
            self.read_task(source, task, wanted, reader)?.write(file)
        };
        for tasks in tasks.chunks(TASKS * self.pipeline.workers.max(1)) {
            let parts = tasks.par_iter().map_init(|| self.reader(), read);
            let parts: Vec<WrittenSets> = parts.collect::<Result<_>>()?;
            parts.iter().try_for_each(|sets| writer.add(sets))?;
        }
        let described = source_of(self.pipeline.sources, source)?;
        match self.context.run().stamps.get(source as usize) == Some(&InputStamp::of(described)?) {
            true => Ok(()),
            false => Err(changed(described)),
        }
    }

    fn read_task(
        &self,
        source: u32,
        task: &Task,
        wanted: &Bits,
        reader: &mut SetReader<'_>,
    ) -> Result<DocumentSets> {
        let source = source_of(self.pipeline.sources, source)?;
        let mut cursor = self.context.table().cursor();
        let (mut places, mut expected) = (Vec::new(), Vec::new());
        for document in wanted.within(task.clone()) {
            let row = cursor.row(document)?;
            places.push(row.place);
            expected.push((document, row));
        }
        let mut sets = DocumentSets::default();
        let mut is_same = true;
        let (reading, progress) = (self.pipeline.reading, self.pipeline.progress);
        let read = documents_at(source, reading, &places, progress, |place, document| {
            let (number, row) = expected[place];
            is_same &= row.has_text(document.text);
            reader.push(number, document.text, &mut sets);
        });
        match read {
            Err(error) if is_changed(&error) => return Err(changed(source)),
            read => read?,
        }
        match is_same && sets.count() == places.len() {
            true => Ok(sets),
            false => Err(changed(source)),
        }
    }
}

/// Makes the sets of texts.
struct SetReader<'a> {
    words: WordReader,
    method: Option<&'a dyn Method>,
    width: usize,
    sketch: Vec<u8>,
}

impl SetReader<'_> {
    /// The sets of the wanted ones of `documents`, which have these numbers.
    fn read(
        &mut self,
        documents: ChunkDocuments<'_>,
        wanted: &Bits,
        numbers: Range<u32>,
    ) -> Result<DocumentSets> {
        let mut sets = DocumentSets::default();
        let first = numbers.start;
        if !wanted.any_of(first, numbers.end - first) {
            return Ok(sets);
        }
        let is_wanted = |ordinal| wanted.contains(first.saturating_add(ordinal));
        documents.for_each_wanted(is_wanted, |ordinal, found| {
            if let Ok(document) = found {
                self.push(first + ordinal, document.text, &mut sets);
            }
            Ok(())
        })?;
        Ok(sets)
    }

    /// Adds the set of a text, and its sketch.
    fn push(&mut self, number: u32, text: &[u8], sets: &mut DocumentSets) {
        let mut words = self.words.read(text);
        self.sketch.clear();
        if let Some(method) = self.method {
            // Without features, it is not marked.
            let _ = words.sketch(method, &mut self.sketch);
        }
        sets.push(number, words.shingle_set(self.width), &self.sketch);
    }
}
