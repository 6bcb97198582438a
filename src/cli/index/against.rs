//! `simtool dedup --against INDEX`.

use std::path::PathBuf;

use simtool::index::{DATABASE, MANIFEST};
use simtool::jobs::dedup::{DedupJob, UrlRule};
use simtool::jobs::seen::{ExpectedSettings, Seen, check_similarity, settings};
use simtool::kernel::Level;
use simtool::sketch::registry::Spec;
use simtool::{Error, ErrorKind, Result};

use super::documents::read_only;
use super::settings_flags::input_settings_of;
use crate::cli::dedup::flags::DedupArgs;

/// The index to compare the input with; `None` if it is compared with documents.
///
/// # Errors
/// [`ErrorKind::Parameter`] for several indices, for an index among documents, and for flags that
/// differ from the index's settings; those of opening it.
pub fn known(args: &DedupArgs) -> Result<Option<Seen>> {
    // Opening a damaged index reports what is missing.
    let is_index = |path: &&PathBuf| path.join(MANIFEST).is_file() || path.join(DATABASE).is_file();
    let Some(index) = args.against.iter().find(is_index) else {
        return Ok(None);
    };
    if args.against.len() > 1 {
        let message = "is an index, which --against takes alone (run once for each)";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
    }
    if args.method.url_rule() != UrlRule::Ignored {
        let message =
            "is an index, which stores no URLs (leave url out of --method, or run it first)";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
    }
    if args.method.similarity().is_containment() {
        let message = "is an index, which stores signatures of whole documents, not the shingles of \
                       each: they do not tell whether a document contains another one (compare by \
                       a share, such as --similarity 0.8, or name the documents themselves)";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
    }
    let stored = settings(index)?;
    if args.against_only {
        // Otherwise it also applies to the duplicates within the input.
        check_similarity(&stored.spec, similarity(args))?;
    }
    let wanted = ExpectedSettings {
        spec: args
            .method
            .wanted(&stored.spec, stored.tokenizer, args.against_only)?,
        tokenizer: args.reading.tokenizer,
        html: args.reading.documents.html,
        stop_words: match args.reading.stop_words {
            Some(_) => Some(args.reading.stop_words()?),
            None => None,
        },
        similarity: similarity(args).filter(|_| stored.signatures.is_some()),
    };
    let seen = Seen::open(index, &wanted, Level::best(), &read_only())?;
    Ok(Some(seen))
}

fn similarity(args: &DedupArgs) -> Option<u16> {
    let given = args.method.similarity;
    given.map(|least| least.thousandths as u16)
}

/// The job of the flags, with the settings of the index.
///
/// # Errors
/// Errors of `flags`.
pub fn job(
    args: &DedupArgs,
    flags: impl FnOnce(Spec) -> Result<DedupJob>,
    seen: &Seen,
) -> Result<DedupJob> {
    let settings = seen.settings();
    let job = flags(settings.spec.clone())?;
    let input_settings = input_settings_of(settings, job.reading);
    Ok(DedupJob {
        verification: args.method.verification(input_settings.tokenizer),
        tokenizer: input_settings.tokenizer,
        stop_words: input_settings.stop_words,
        reading: input_settings.reading,
        ..job
    })
}
