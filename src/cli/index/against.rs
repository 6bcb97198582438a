//! `simtool dedup --against INDEX`.

use std::path::PathBuf;

use simtool::index::{DATABASE, MANIFEST};
use simtool::kernel::Level;
use simtool::run::dedup::{Job, Verification};
use simtool::run::seen::{Seen, Wanted, settings};
use simtool::sketch::registry::Spec;
use simtool::{Error, ErrorKind, Result};

use super::settings_flags::manner_of;
use super::working::{read_only, tell_accidents};
use crate::cli::dedup::DedupArgs;

/// The index that the input is to be compared with; none if it is compared with documents.
///
/// # Errors
/// [`ErrorKind::Parameter`] for several indices, for one among documents, and for flags that the
/// index was not made with; those of opening it.
pub fn known(args: &DedupArgs) -> Result<Option<Seen>> {
    // Of a damaged one, opening it says what is missing.
    let is_index = |path: &&PathBuf| path.join(MANIFEST).is_file() || path.join(DATABASE).is_file();
    let Some(index) = args.against.iter().find(is_index) else {
        return Ok(None);
    };
    if args.against.len() > 1 {
        let message = "is an index, which --against takes alone (run once for each)";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
    }
    let wanted = Wanted {
        spec: args
            .method
            .wanted(&settings(index)?.spec, args.against_only)?,
        tokenizer: args.reading.tokenizer,
        html: args.reading.html.map(Into::into),
        stop_words: match args.reading.stop_words {
            Some(_) => Some(args.reading.stop_words()?),
            None => None,
        },
    };
    let seen = Seen::open(index, &wanted, Level::best(), &read_only())?;
    tell_accidents(&seen);
    Ok(Some(seen))
}

/// The job that `flags` ask for, with what the index has frozen.
///
/// # Errors
/// Those of `flags`.
pub fn job(args: &DedupArgs, flags: impl FnOnce(Spec) -> Result<Job>, seen: &Seen) -> Result<Job> {
    let settings = seen.settings();
    let job = flags(settings.spec.clone())?;
    let manner = manner_of(settings, job.reading);
    Ok(Job {
        verification: Verification {
            shingle: args.method.verified_shingle(manner.tokenizer),
            ..job.verification
        },
        tokenizer: manner.tokenizer,
        stop_words: manner.stop_words,
        reading: manner.reading,
        ..job
    })
}
