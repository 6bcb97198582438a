//! The checks of a job and of its inputs, before a run starts.

use std::path::Path;

use super::job::BatchJob;
use super::settings::BatchSettings;
use crate::shards;
use crate::write::check::check_files;
#[cfg(feature = "parquet")]
use crate::write::check::check_tables;
use crate::write::targets;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::Source;
use simtool_engine::Resources;

/// Refuses settings of shards that have no effect or no meaning.
///
/// # Errors
/// [`ErrorKind::Parameter`].
pub fn check_shards(batch: BatchSettings<'_>) -> Result<()> {
    batch.shards.check(batch.dump.compression_level)?;
    let message = match batch.shards.is_used() {
        true if batch.dump.drops_skipped() => {
            "records that could not be read are never in shards, so skipped has no effect"
        }
        true if batch.dump.empty_files => {
            "shards are not the files of the inputs, so empty_files has no effect"
        }
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Parameter, message))
}

/// Refuses a memory bound that is too small for the job.
///
/// # Errors
/// [`ErrorKind::Memory`] with the bound that suffices.
pub fn check_memory<J: BatchJob>(job: &J, resources: &Resources) -> Result<()> {
    let least = job.least_memory_bytes(resources.threads);
    if resources.memory_bytes >= least {
        return Ok(());
    }
    let message = format!(
        "a memory bound of {} MiB is too small: {} threads and documents of {} MiB need at least \
         {} MiB",
        resources.memory_bytes >> 20,
        resources.threads,
        job.batch().reading.max_document_bytes >> 20,
        least.div_ceil(1 << 20),
    );
    Err(Error::new(ErrorKind::Memory, message))
}

/// Refuses inputs that cannot be read and outputs that cannot be written. Streams are checked only
/// after they are copied to files.
///
/// # Errors
/// [`ErrorKind::Parameter`] naming the file; those of opening tables.
pub fn check_sources<J: BatchJob>(
    job: &J,
    references: &[Source],
    inputs: &[Source],
    out: &Path,
) -> Result<()> {
    let (batch, written) = (job.batch(), job.written());
    let writes_records = !written.streams.is_empty() && !written.only_text;
    #[cfg(feature = "parquet")]
    {
        check_tables(references, batch.reference_reading, false)?;
        let is_copied = writes_records || !written.files.is_empty();
        check_tables(inputs, batch.reading, is_copied)?;
    }
    #[cfg(not(feature = "parquet"))]
    let _ = references;
    if writes_records {
        shards::check(inputs, batch.reading, batch.shards)?;
    }
    if !written.files.is_empty() {
        check_files(inputs, written.marks, batch.dump)?;
    }
    job.check_inputs(inputs)?;
    targets::check(out, &job.outputs(inputs)?)?;
    shards::check_names(batch.shards, &written.streams, out)
}
