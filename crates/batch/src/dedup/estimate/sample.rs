//! A sample of the inputs of a deduplication: rows and sketches of documents, and costs.

use crate::Result;
use crate::shards::ShardForm;
use simtool_core::sketch::Method;
use simtool_core::text::OcrSigns;
use simtool_corpus::Chunk;
use simtool_engine::Resources;
use simtool_files::usage::thread_time;

use crate::dedup::first_reading::sketching::{RowSketcher, RunInputs};
use crate::dedup::settings::job::{DedupJob, WriteMode};
use crate::estimate::input_costs::InputCosts;
use crate::estimate::sampled_output::OutputForm;
use crate::estimate::sampling::{Measure, Measured, Sampler, since};
use crate::table::segment::Segment;

/// The measurements.
pub struct Sample {
    /// Rows and sketches of the documents in the sample.
    pub segment: Segment,
    /// Signs of OCR in their texts.
    pub ocr: OcrSigns,
    /// The time to read, to process (parse, tokenize and sketch) and to write.
    pub input: InputCosts,
}

/// Sketches chunks.
struct SketchMeasure<'a> {
    sketcher: RowSketcher<'a>,
    segment: Segment,
    ocr: OcrSigns,
}

impl Sample {
    /// Reads a sample of `inputs`, whose documents `method` sketches.
    ///
    /// # Errors
    /// Errors of reading.
    pub fn of(
        job: &DedupJob,
        method: Option<&dyn Method>,
        inputs: RunInputs<'_>,
        resources: &Resources,
    ) -> Result<Sample> {
        let (sources, reading, level) = (inputs.sources, &job.reading, resources.level);
        let measure = SketchMeasure {
            sketcher: RowSketcher::new(job, method, inputs, level),
            segment: Segment::default(),
            ocr: OcrSigns::default(),
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
        Ok(Sample {
            segment: measure.segment,
            ocr: measure.ocr,
            input: InputCosts::new(kinds, resources),
        })
    }
}

impl Measure for SketchMeasure<'_> {
    fn chunk(&mut self, chunk: &Chunk) -> Result<Measured> {
        let before = thread_time();
        let made = self.sketcher.sketch(chunk)?;
        let seconds = since(before);
        self.segment.append(&made);
        if !self.ocr.is_enough() {
            self.sketcher.texts(chunk, |text| self.ocr.add(text))?;
        }
        Ok(Measured {
            documents: made.rows.len() as u64,
            text_bytes: made.rows.iter().map(|row| row.text_bytes).sum(),
            seconds,
        })
    }
}
