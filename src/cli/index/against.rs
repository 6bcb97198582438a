//! `simtool dedup --against INDEX`.

use simtool::index::{DATABASE, MANIFEST};
use simtool::kernel::Level;
use simtool::run::dedup::Job;
use simtool::run::seen::{Seen, Wanted};
use simtool::{Error, ErrorKind, Result};

use super::settings_flags::manner_of;
use super::working::read_only;
use crate::cli::dedup::DedupArgs;

/// The index that the input is to be compared with; none if it is compared with documents.
///
/// # Errors
/// [`ErrorKind::Parameter`] for several indices, for one among documents, and for flags that the
/// index was not made with; those of opening it.
pub fn known(args: &DedupArgs) -> Result<Option<Seen>> {
    let is_index =
        |path: &&std::path::PathBuf| path.join(MANIFEST).is_file() && path.join(DATABASE).is_file();
    let Some(index) = args.against.iter().find(is_index) else {
        return Ok(None);
    };
    if args.against.len() > 1 {
        let message = "is an index, which --against takes alone (run once for each)";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
    }
    let tokenizer = args.reading.tokenizer();
    let wanted = Wanted {
        spec: args.method.wanted(tokenizer)?,
        tokenizer: args.reading.tokenizer,
        html: args.reading.html.map(Into::into),
        stop_words: match args.reading.stop_words {
            Some(_) => Some(args.reading.stop_words()?),
            None => None,
        },
    };
    Seen::open(index, &wanted, Level::best(), &read_only()).map(Some)
}

/// `job` with what the index has frozen.
pub fn job(job: Job, seen: &Seen) -> Job {
    let settings = seen.settings();
    let manner = manner_of(settings, job.reading);
    Job {
        method: settings.spec.clone(),
        tokenizer: manner.tokenizer,
        stop_words: manner.stop_words,
        reading: manner.reading,
        ..job
    }
}
