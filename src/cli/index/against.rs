//! `simtool dedup --against INDEX`.

use std::path::Path;

use simtool::index::is_index;
use simtool::jobs::dedup::{DedupJob, UrlRule, Verification};
use simtool::jobs::seen::{
    ExpectedSettings, IndexSettings, Seen, SeveralIndexes, check_similarity, settings,
};
use simtool::kernel::Level;
use simtool::sketch::registry::Spec;
use simtool::text::{Choice, LeastSimilarity};
use simtool::{Error, ErrorKind, Result};

use super::documents::read_only;
use super::settings_flags::input_settings_of;
use crate::cli::dedup::flags::DedupArgs;

/// The indexes to compare the input with; `None` if it is compared with documents.
///
/// # Errors
/// [`ErrorKind::Parameter`] for indexes together with documents, for indexes whose settings differ, and
/// for flags that differ from these settings; those of opening them.
pub fn known(args: &DedupArgs) -> Result<Option<SeveralIndexes>> {
    // Opening a damaged index reports what is missing.
    let (indexes, others): (Vec<_>, Vec<_>) = args.against.iter().partition(|path| is_index(path));
    let Some(first) = indexes.first() else {
        return Ok(None);
    };
    if let Some(other) = others.first() {
        let other = other.display();
        let message = format!(
            "is an index, which --against takes with other indexes alone, not with {other} (run once \
             for each)"
        );
        return Err(Error::new(ErrorKind::Parameter, message).in_file(first));
    }
    let usual = settings(first)?;
    let mut opened = Vec::new();
    for index in &indexes {
        let own = settings(index)?;
        if own.manifest()? != usual.manifest()? {
            let message = format!(
                "has other settings than {} (ask each in a run)",
                first.display()
            );
            return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
        }
        opened.push(open(args, index)?);
    }
    Ok(Some(SeveralIndexes::new(opened)))
}

fn open(args: &DedupArgs, index: &Path) -> Result<Seen> {
    if args.method.url_rule() != UrlRule::Ignored {
        let message =
            "is an index, which stores no URLs (leave url out of --method, or run it first)";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
    }
    if args.method.similarity().is_containment() {
        let message = "is an index, which finds whole documents that are similar: it does not tell \
                       whether a document contains another one (compare by \
                       a share, such as --similarity 0.8, or name the documents themselves)";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
    }
    let stored = settings(index)?;
    if args.against_only {
        // Otherwise it also applies to the duplicates within the input.
        check_similarity(&stored.spec, similarity(args))?;
    }
    let decided = stored.signatures.map(|sets| sets.thousandths);
    if !args.against_only
        && similarity(args).is_some_and(|given| decided.is_some_and(|own| own != given))
    {
        let message = "was made with another similarity, by which its documents were decided about \
                       (leave --similarity out, or drop only what is in the index: --against-only)";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
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
        signatures: false,
        keep: None,
    };
    Seen::open(index, &wanted, Level::best(), &read_only())
}

fn similarity(args: &DedupArgs) -> Option<u16> {
    let given = args.method.similarity;
    given.map(|least| least.thousandths as u16)
}

/// How candidates are verified: as in the index, as far as no flag says otherwise.
fn verification(args: &DedupArgs, settings: &IndexSettings, tokenizer: Choice) -> Verification {
    let given = args.method.verification(tokenizer);
    match settings
        .signatures
        .filter(|_| args.method.similarity.is_none())
    {
        Some(own) => Verification {
            least: LeastSimilarity::resemblance(own.thousandths.into()),
            shingle: args.method.shingle.unwrap_or(own.shingle),
        },
        None => given,
    }
}

/// The job of the flags, with the settings of the index.
///
/// # Errors
/// Errors of `flags`.
pub fn job(
    args: &DedupArgs,
    flags: impl FnOnce(Spec) -> Result<DedupJob>,
    known: &SeveralIndexes,
) -> Result<DedupJob> {
    let settings = known.first().settings();
    let job = flags(settings.spec.clone())?;
    let input_settings = input_settings_of(settings, job.reading);
    Ok(DedupJob {
        verification: verification(args, settings, input_settings.tokenizer),
        tokenizer: input_settings.tokenizer,
        stop_words: input_settings.stop_words,
        reading: input_settings.reading,
        ..job
    })
}
