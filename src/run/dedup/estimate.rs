//! What a run would take, from a look at a few chunks.

use std::time::{Duration, Instant};

use crate::Result;
use crate::corpus::{ChunkReader, Compression, Position};
use crate::kernel::columns::Columns;
use crate::run::{Resources, methods};
use crate::sketch::accidental::Chance;
use crate::sketch::{Method, Shape};

use super::job::Job;
use super::row::Row;
use super::segment::Segment;
use super::sketching::{Inputs, Sketcher};
use super::{Against, Place};

/// At most so many sources are looked into, at the start of each.
const SOURCES: usize = 12;
const CHUNKS: usize = 3;
/// A label and what else varies, about.
const LABEL_BYTES: u64 = 96;
/// Bytes of shingle hashes for a byte of text, about: eight for a word.
const SHINGLES_OF_TEXT: f64 = 1.4;
/// The share of documents with somebody near, about, if nobody knows better.
const MARKED: f64 = 0.2;

/// What to expect of a run: for people, and never for a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Documents of all inputs.
    pub documents: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Temporary space.
    pub temporary_bytes: u64,
    /// How long.
    pub time: Duration,
    /// How many documents a document has near it by accident, if the method makes fingerprints:
    /// with fair bits, and with the bits of the sample.
    pub accidental: Option<(f64, f64)>,
}

impl Job {
    /// Reads a little and extrapolates; writes nothing.
    ///
    /// # Errors
    /// Those of reading and of a job that cannot be done.
    pub fn estimate(&self, place: &Place<'_>, resources: &Resources) -> Result<Estimate> {
        self.check()?;
        let references = place.against.documents();
        let sources = [references, place.sources].concat();
        let inputs = Inputs {
            sources: &sources,
            references: references.len() as u32,
        };
        let method = match (place.against, self.is_by_equality()) {
            (Against::Known(known), _) => Some(known.method()?),
            (_, true) => None,
            // What is counted ahead is not known before everything was read.
            (_, false) => {
                let common = self.common(resources.level);
                Some(methods::preview(&self.method, common)?)
            }
        };
        let begin = Instant::now();
        let mut sketcher = Sketcher::new(self, method.as_deref(), inputs, resources.level);
        let (mut seen, mut covered) = (Segment::default(), 0);
        let known = sources
            .iter()
            .zip(0..)
            .filter(|(source, _)| !source.is_stream());
        for (source, number) in known.step_by(sources.len().div_ceil(SOURCES).max(1)) {
            let mut reader = ChunkReader::open(source, number, &self.reading, Position::default())?;
            let mut end = Position::default();
            for _ in 0..CHUNKS {
                let Some(chunk) = reader.next(Vec::new())? else {
                    break;
                };
                end = chunk.end;
                seen.append(&sketcher.sketch(&chunk)?);
            }
            covered += match source.compression {
                Compression::None => end.offset,
                // As far as it was read ahead.
                _ => reader.file_offset(),
            };
        }
        let time = begin.elapsed();
        let total: u64 = sources.iter().filter_map(|source| source.bytes).sum();
        let scale = total as f64 / covered.max(1) as f64;
        let known = match place.against {
            Against::Known(known) => Some(known.documents()),
            Against::Itself | Against::Documents(_) => None,
        };
        let mut estimate = self.extrapolate(&seen, scale, time, resources, method.as_deref());
        estimate.accidental = Self::accidental(
            &seen,
            known.unwrap_or(estimate.documents),
            method.as_deref(),
            resources,
        );
        Ok(estimate)
    }

    fn extrapolate(
        &self,
        seen: &Segment,
        scale: f64,
        time: Duration,
        resources: &Resources,
        method: Option<&dyn Method>,
    ) -> Estimate {
        let text: u64 = seen.rows.iter().map(|row| row.text_bytes).sum();
        let documents = (seen.rows.len() as f64 * scale).round() as u64;
        let text_bytes = (text as f64 * scale).round() as u64;
        let sketches = seen.sketches.bytes.len() + size_of_val(&seen.sketches.borders[..]);
        let sketch_bytes = sketches.div_ceil(seen.rows.len().max(1)) as u64;
        let stored = size_of::<Row>() as u64 + sketch_bytes + LABEL_BYTES;
        let again = if method.is_some() { MARKED } else { 0.0 };
        let shingles = (text_bytes as f64 * again * SHINGLES_OF_TEXT) as u64;
        let seconds = time.as_secs_f64() * scale * (1.0 + again) / resources.threads as f64;
        Estimate {
            documents,
            text_bytes,
            // Segments and what they are gathered into exist side by side for a while.
            temporary_bytes: 2 * documents * stored + shingles,
            time: Duration::from_secs_f64(seconds.min(1e9)),
            accidental: None,
        }
    }

    /// How many of so many documents each document is near by accident.
    fn accidental(
        seen: &Segment,
        documents: u64,
        method: Option<&dyn Method>,
        resources: &Resources,
    ) -> Option<(f64, f64)> {
        match method?.shape() {
            Shape::Bits {
                width: 64,
                distance,
            } => {
                let columns = Columns::<u64>::new(resources.level);
                let prints: Vec<u64> = bytemuck::pod_collect_to_vec(&seen.sketches.bytes);
                let counts = columns.count(&prints);
                let measured = Chance::measured(&counts.0, prints.len() as u64, 64, distance);
                let fair = Chance::uniform(64, distance);
                Some((
                    fair.hits_per_query(documents),
                    measured.hits_per_query(documents),
                ))
            }
            _ => None,
        }
    }
}
