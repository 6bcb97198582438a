//! The stages of the main job, from inputs to output.

use ahash::AHashSet;

use crate::{Error, ErrorKind, Result};
use simtool_core::kernel::accumulate::MAX_COLUMNS;
use simtool_core::search::hamming::Fingerprint;
use simtool_core::sketch::hash_table;
use simtool_core::sketch::simhash::Vocabulary;
use simtool_core::vocabulary::Term;
use simtool_engine::{Budget, Progress, Resources, Stage, Workers};

use super::blocks::{Pages, Sink};
use super::count::Recount;
use super::count::count;
use super::fingerprints::{FingerprintFeatures, PageTable, survey};
use super::guess::guess;
use super::rank::{RankingEvidence, rank};
use super::search::{NearSettings, search};
use super::stop_terms::stop_terms;
use super::units::{total_bytes, units};

/// The settings of the job: everything that determines the output besides the inputs' bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MainJob {
    features: usize,
    columns: usize,
    distance: u32,
}

/// The bytes of the inputs, which must not change during a run.
///
/// Mapped files may change. Before the output of a run is published, its
/// [`Input`](simtool_files::Input)s have to be [verified](simtool_files::Input::verify).
#[derive(Clone, Debug)]
pub struct MainJobInputs<'a> {
    /// Known pages. The output lists equally near ones in this order.
    pub articles: Vec<&'a [u8]>,
    /// New pages, in the order of their blocks in the output.
    pub samples: Vec<&'a [u8]>,
    /// Words that do not count, separated by white space.
    pub stop_words: &'a [u8],
    /// At least one row of digits 0 and 1 for each feature.
    pub hash_table: &'a [u8],
}

/// The counts of a finished run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MainJobSummary {
    /// Pages in the articles.
    pub articles: u64,
    /// Pages in the samples.
    pub samples: u64,
    /// Samples with at least one article near.
    pub matched_samples: u64,
    /// Articles listed, over all samples.
    pub matches: u64,
    /// The number of features: N, or all words if there are fewer.
    pub features: u64,
    /// Bytes of articles and samples.
    pub input_bytes: u64,
    /// Bytes of output.
    pub output_bytes: u64,
    /// Bytes of the first sample's block, with which the output begins.
    pub first_block_bytes: u64,
    /// How the ranking was proven.
    pub ranking: RankingEvidence,
}

impl MainJob {
    /// The most features.
    pub const MOST_FEATURES: usize = 10_000;
    /// The most bits of a fingerprint.
    pub const MOST_COLUMNS: usize = MAX_COLUMNS;

    /// A job with fingerprints of `columns` bits from the first `features` words. Articles within
    /// `distance` bits are near.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] naming the parameter, its value and its bounds.
    pub fn new(features: usize, columns: usize, distance: u32) -> Result<MainJob> {
        within("N (features)", features, 1, MainJob::MOST_FEATURES)?;
        within("M (bits)", columns, 1, MainJob::MOST_COLUMNS)?;
        within("distance", distance as usize, 0, columns)?;
        Ok(MainJob {
            features,
            columns,
            distance,
        })
    }

    /// Runs the job and passes the text of `result.txt` to `sink`.
    ///
    /// The output is the same for all `resources`. It is complete only if the result is `Ok`. The
    /// time of reading is linear in the bytes of articles and samples. If the memory is too small
    /// for an index, each sample is compared with all articles. [`Resources::memory_bytes`] bounds
    /// the memory.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] for a hash table with missing, short or bad rows, before anything
    /// else is read; [`ErrorKind::Memory`] for too small a bound; [`ErrorKind::Write`] for
    /// temporary files; [`ErrorKind::Interrupted`] when `progress` is stopped; those of `sink`.
    pub fn run(
        &self,
        inputs: &MainJobInputs<'_>,
        resources: &Resources,
        progress: &Progress,
        sink: Sink<'_>,
    ) -> Result<MainJobSummary> {
        match self.columns {
            ..=64 => self.run_wide::<u64>(inputs, resources, progress, sink),
            _ => self.run_wide::<u128>(inputs, resources, progress, sink),
        }
    }

    fn run_wide<F: Fingerprint>(
        &self,
        inputs: &MainJobInputs<'_>,
        resources: &Resources,
        progress: &Progress,
        sink: Sink<'_>,
    ) -> Result<MainJobSummary> {
        let Resources {
            level, temporary, ..
        } = resources;
        let budget = Budget::new(resources.growing_bytes()?);
        let workers = Workers::new(resources.threads)?;
        let rows = hash_table::read_rows(inputs.hash_table, self.features, self.columns)?;
        let (stop_words, _stop_words_memory) = stop_terms(inputs.stop_words, &budget)?;

        let article_units = units(&inputs.articles);
        let article_bytes = total_bytes(&article_units);
        let is_stop = |term| stop_words.contains(&term);
        let guess = guess(
            &workers,
            progress,
            &article_units,
            self.features,
            is_stop,
            budget.free(),
            *level,
        )?;
        progress.end(0);
        // Half of the memory is for kept words; the rest is for pages, suspects and the search.
        let leave = budget.free() / 2;
        let counts = count(
            &workers,
            progress,
            &article_units,
            &guess,
            &budget,
            leave,
            *level,
        )?;
        progress.end(article_bytes);

        progress.begin(Stage::Rank, 0);
        let recount = Recount {
            workers: &workers,
            progress,
            units: &article_units,
            guess: &guess,
            stop_words: &stop_words,
            level: *level,
        };
        let (ranked, evidence) = rank(&recount, &counts, self.features, &budget, temporary)?;
        let vocabulary = Vocabulary {
            features: &ranked,
            rows: &rows,
            columns: self.columns,
        };
        let slots = guess.lexicon.slots().iter();
        let likely: AHashSet<Term> = slots.map(|&(term, _)| term).collect();
        let late = ranked.iter().any(|term| !likely.contains(term));
        let late = late.then(|| vocabulary.select(|term| !likely.contains(&term), *level));
        let sketching = FingerprintFeatures {
            features: &vocabulary.select(|_| true, *level),
            kept_rows: &vocabulary.rows_of(&guess.lexicon, *level),
            late: late.as_ref(),
            level: *level,
        };
        progress.end(evidence.bytes_read_again);

        let sample_units = units(&inputs.samples);
        let sample_bytes = total_bytes(&sample_units);
        progress.begin(Stage::Fingerprint, article_bytes + sample_bytes);
        let place = (&budget, temporary.as_path());
        // Late features need the words outside the lexicon, so kept words without these are
        // useless.
        let counts = if late.is_some() && !guess.keep_missed {
            counts.forget_words()
        } else {
            counts
        };
        let kept = (&counts.units[..], &counts.arenas[..]);
        let articles =
            PageTable::<F>::read(&workers, progress, &article_units, kept, &sketching, place)?;
        drop(counts);
        let survey = survey(&workers, progress, &sample_units)?;
        let nothing_kept = (&survey[..], &[][..]);
        let samples = PageTable::read(
            &workers,
            progress,
            &sample_units,
            nothing_kept,
            &sketching,
            place,
        )?;
        progress.end(article_bytes + sample_bytes);

        progress.begin(Stage::Search, samples.fingerprints().len() as u64);
        let near = NearSettings {
            columns: self.columns as u32,
            distance: self.distance,
            level: *level,
        };
        let pages = Pages {
            articles: &articles,
            samples: &samples,
        };
        let written = search(&workers, progress, pages, near, &budget, sink)?;
        progress.end(written.bytes);
        Ok(MainJobSummary {
            articles: articles.fingerprints().len() as u64,
            samples: samples.fingerprints().len() as u64,
            matched_samples: written.matched_samples,
            matches: written.matches,
            features: ranked.len() as u64,
            input_bytes: article_bytes + sample_bytes,
            output_bytes: written.bytes,
            first_block_bytes: written.first_block_bytes,
            ranking: evidence,
        })
    }
}

fn within(name: &str, value: usize, least: usize, most: usize) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let message = format!("{name} is {value}: expected a number from {least} to {most}");
    Err(Error::new(ErrorKind::Parameter, message))
}
