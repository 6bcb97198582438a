//! The method that makes sketches, with the corpus statistics that it needs.

use super::frequencies;
use crate::Result;
use crate::dedup::memory;
use crate::dedup::settings::job::DedupJob;
use crate::skeleton::context::RunContext;
use simtool_core::sketch::SignedMethod;
use simtool_core::vocabulary::Frequencies;
use simtool_engine::Stage;
use simtool_engine::counting::Counting;
use simtool_engine::methods;

/// The method of the run, if it has one. Its corpus statistics are counted unless an earlier run did
/// so.
///
/// # Errors
/// Errors of reading and of temporary files; interruption.
pub fn of(job: &DedupJob, run: &RunContext<'_>) -> Result<Option<SignedMethod>> {
    if job.is_by_equality() {
        return Ok(None);
    }
    if let Some(known) = run.known {
        return known.method().map(Some);
    }
    let common = job.common(run.resources.level);
    let pipeline = run.pipeline();
    let mut frequencies = Vec::new();
    for (number, count) in job.method.required_counts().into_iter().enumerate() {
        let records = match frequencies::load(run.work, number)? {
            Some(records) => records,
            None => {
                run.progress.begin(Stage::Count, pipeline.bytes());
                let counting = Counting {
                    count,
                    tokenizer: common.tokenizer,
                    stop_words: common.stop_words,
                    pipeline: run.pipeline(),
                    space: memory::space(run.resources, 0),
                    level: common.level,
                };
                let counted = counting.run()?;
                let mut records = vec![[counted.documents(), 0]];
                records.extend(counted.iter().map(|(feature, count)| [feature, count]));
                frequencies::store(run.work, number, &records)?;
                run.progress.end(pipeline.bytes());
                records
            }
        };
        let documents = records.first().map_or(0, |[documents, _]| *documents);
        let counts = records.iter().skip(1);
        let counts = counts.map(|&[feature, count]| (feature, count));
        frequencies.push(Frequencies::new(documents, counts));
    }
    let method = methods::build(&job.method, common, &frequencies)?;
    Ok(Some(SignedMethod::new(method, None)))
}
