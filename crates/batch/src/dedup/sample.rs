//! A sample of the inputs of a deduplication: rows, sketches and edited copies of documents, and
//! costs.

use crate::Result;
use crate::shards::ShardForm;
use simtool_core::sketch::Method;
use simtool_corpus::Chunk;
use simtool_engine::Resources;
use simtool_files::usage::thread_time;

use super::edited_copies::{EditedCopies, FoundCopies};
use super::job::{Job, WriteMode};
use super::sketching::{RowSketcher, RunInputs};
use crate::estimate::input_costs::InputCosts;
use crate::estimate::sampled_output::OutputForm;
use crate::estimate::sampling::{Measure, Measured, Sampler, since};
use crate::table::segment::Segment;

/// The measurements.
pub struct Sample {
    /// Rows and sketches of the documents in the sample.
    pub segment: Segment,
    /// For each chunk, the number of documents up to its end.
    pub chunk_ends: Vec<usize>,
    /// Costs: the time to parse, tokenize and sketch, and the time to parse and tokenize.
    pub input: InputCosts,
    /// How many edited copies of the documents the method proposes.
    pub found_copies: Option<FoundCopies>,
}

/// Sketches chunks.
struct SketchMeasure<'a> {
    sketcher: RowSketcher<'a>,
    tokenizer: RowSketcher<'a>,
    segment: Segment,
    chunk_ends: Vec<usize>,
    copies: EditedCopies<'a>,
}

impl Sample {
    /// Reads a sample of `inputs`, whose documents `method` sketches.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn of(
        job: &Job,
        method: Option<&dyn Method>,
        inputs: RunInputs<'_>,
        resources: &Resources,
    ) -> Result<Sample> {
        let (sources, reading, level) = (inputs.sources, &job.reading, resources.level);
        let measure = SketchMeasure {
            sketcher: RowSketcher::new(job, method, inputs, level),
            tokenizer: RowSketcher::new(job, None, inputs, level),
            segment: Segment::default(),
            chunk_ends: Vec::new(),
            copies: EditedCopies::new(sources, reading, job.tokenizer, level),
        };
        let form = match job.shards.is_used() {
            true => OutputForm::Shards(ShardForm {
                settings: &job.shards,
                level: job.dump.compression_level,
                only_text: job.write == WriteMode::Text,
            }),
            false => OutputForm::Files(job.dump),
        };
        let form = job.writes_documents().then_some(form);
        let references = inputs.references as usize;
        let (measure, kinds) = Sampler::sample(sources, references, reading, form, measure)?;
        let found_by = |method| measure.copies.found_by(method, job.verification);
        Ok(Sample {
            found_copies: method.and_then(found_by),
            segment: measure.segment,
            chunk_ends: measure.chunk_ends,
            input: InputCosts::new(kinds, resources),
        })
    }
}

impl Measure for SketchMeasure<'_> {
    fn chunk(&mut self, chunk: &Chunk, costly: bool) -> Result<Measured> {
        self.copies.take(chunk)?;
        let before = thread_time();
        let made = self.sketcher.sketch(chunk)?;
        let seconds = since(before);
        self.segment.append(&made);
        self.chunk_ends.push(self.segment.rows.len());
        let mut measured = Measured {
            documents: made.rows.len() as u64,
            text_bytes: made.rows.iter().map(|row| row.text_bytes).sum(),
            seconds,
            tokenized: None,
        };
        if costly {
            let before = thread_time();
            self.tokenizer.sketch(chunk)?;
            measured.tokenized = Some(since(before));
        }
        Ok(measured)
    }
}
