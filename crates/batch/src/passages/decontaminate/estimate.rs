//! The expected cost of a search for parts of reference items.

use super::finding::grams::Grams;
use super::finding::reading::{ChunkFound, Finder};
use super::finding::tables::ReferenceTables;
use super::items::Items;
use super::job::DecontaminateJob;
use super::memory::Limit;
use super::reference::ItemReader;
use crate::Result;
use crate::estimate::ASSUMED_SHARE;
use crate::estimate::input_costs::InputCosts;
use crate::estimate::sampling::{Measure, Measured, Sampler, since};
use crate::passages::estimate::cost::{IndexSize, PassageEstimate, Readings};
use crate::passages::estimate::costs::{Findings, SampleTotals, SearchCosts};
use simtool_corpus::{Chunk, Source};
use simtool_engine::documents::DocumentReader;
use simtool_engine::{Resources, Stage};
use simtool_files::usage::thread_time;

/// Approximate seconds of one thread to sum up what was found of an item.
const ITEM_SECONDS: f64 = 0.5e-6;

/// Reads the items of a sample.
struct ItemMeasure<'a> {
    documents: DocumentReader<'a>,
    reader: ItemReader,
    items: Items,
    text_bytes: u64,
}

impl Measure for ItemMeasure<'_> {
    fn chunk(&mut self, chunk: &Chunk) -> Result<Measured> {
        let before = thread_time();
        let (rows, (_, items)) = self.reader.chunk(self.documents.documents(chunk)?)?;
        let seconds = since(before);
        let first = self.items.items.len() as u32;
        self.items.append(first, &items);
        self.text_bytes += rows.text_bytes();
        Ok(rows.measured(seconds))
    }
}

/// Finds n-grams in a sample.
struct GramMeasure<'a> {
    documents: DocumentReader<'a>,
    finder: Finder<'a>,
    totals: SampleTotals,
}

impl Measure for GramMeasure<'_> {
    fn chunk(&mut self, chunk: &Chunk) -> Result<Measured> {
        let before = thread_time();
        let mut found = ChunkFound::default();
        let rows = self
            .finder
            .chunk(self.documents.documents(chunk)?, &mut found)?;
        let seconds = since(before);
        self.totals.add(&rows);
        Ok(rows.measured(seconds))
    }
}

/// A sample of the reference.
struct ReferenceSample {
    tables: ReferenceTables,
    size: IndexSize,
    /// Seconds to read all of it and to make its index.
    seconds: f64,
}

impl ReferenceSample {
    fn of(
        job: &DecontaminateJob,
        sources: &[Source],
        resources: &Resources,
    ) -> Result<ReferenceSample> {
        let measure = ItemMeasure {
            documents: DocumentReader::new(sources, &job.reference_reading),
            reader: ItemReader::new(job, resources.level),
            items: Items {
                answer_words: job.least.0,
                ..Items::default()
            },
            text_bytes: 0,
        };
        let reading = &job.reference_reading;
        let (measure, kinds) = Sampler::sample(sources, sources.len(), reading, None, measure)?;
        let input = InputCosts::new(kinds, resources);
        let text_bytes = input.total(|kind| kind.text.over(kind.bytes));
        let factor = (text_bytes / measure.text_bytes.max(1) as f64).max(1.0);
        let all = |number: usize| (number as f64 * factor) as u64;
        let words = all(measure.items.words.len() + measure.items.answers.len());
        let items = all(measure.items.items.len());
        let limit = Limit::new(job, resources);
        let needed_bytes = limit.needed(words, items);
        let sampled = (measure.items.words.len() + measure.items.answers.len()) as u64;
        let indexed = match limit.fits(sampled, measure.items.items.len() as u64) {
            true => measure.items,
            // The run will be refused, so only the size matters.
            false => Items::default(),
        };
        let before = thread_time();
        let tables = ReferenceTables::new(job, indexed);
        let indexing = since(before) * factor;
        let process = input.total(|kind| kind.process.over(kind.bytes));
        Ok(ReferenceSample {
            tables,
            size: IndexSize {
                items,
                words,
                needed_bytes,
            },
            seconds: input.reading(process) + indexing,
        })
    }
}

/// The estimate of a run on `sources`, those of the reference first.
///
/// # Errors
/// Errors of reading.
pub fn estimate(
    job: &DecontaminateJob,
    sources: &[Source],
    references: usize,
    resources: &Resources,
) -> Result<PassageEstimate> {
    let (references, own) = sources.split_at(references.min(sources.len()));
    let reference = ReferenceSample::of(job, references, resources)?;
    let tables = &reference.tables;
    // All n-grams count, whatever the number of documents with them is.
    let grams = Grams::new(&tables.index, None);
    let measure = GramMeasure {
        documents: DocumentReader::new(own, &job.common.reading),
        finder: Finder::new(job, tables, &grams, resources),
        totals: SampleTotals::default(),
    };
    let (costs, _) =
        SearchCosts::measured(job, own, 0, resources, measure, |measure| measure.totals)?;
    let items = reference.size.items as f64;
    let findings = Findings {
        items,
        ..Findings::default()
    };
    let mut stages = vec![(Stage::Count, reference.seconds + costs.reading(1.0))];
    let reads_again = job.most_documents.is_some();
    if reads_again {
        stages.push((Stage::Locate, costs.reading(ASSUMED_SHARE)));
    }
    stages.push((Stage::Gather, items * ITEM_SECONDS));
    Ok(PassageEstimate {
        cost: costs.cost(&findings, stages),
        readings: Readings {
            whole: 1,
            partial: u32::from(reads_again),
            kept: None,
        },
        index: Some(reference.size),
    })
}
