//! Decides which documents are dropped, and for which kept ones, within the scope of the job.
//!
//! Documents near a known one are dropped first, then older ones with the same URL. What is left is
//! compared with each other.

use crate::Result;
use simtool_core::sketch::SignedMethod;
use simtool_engine::Stage;

use super::decided::Decisions;
use super::few_sources::with_few_sources;
use super::known;
use super::resolve::{self, EarlierDecisions};
use crate::dedup::groups::same_url::OlderCaptures;
use crate::dedup::groups::same_words::{self, Groups};
use crate::dedup::job_context::JobContext;
use crate::dedup::lower::sample::LowerSample;
use crate::dedup::memory;
use crate::dedup::near::refused::Refused;
use crate::dedup::near::search::{LeaderDecisions, NearSearch};
use crate::dedup::settings::url_rule::UrlRule;
use crate::table::bits::Bits;

/// The decisions about all documents, by a method and the one that made their stored sketches: the
/// same, or its [coarse](simtool_core::sketch::Method::coarse) form.
///
/// # Errors
/// Errors of reading and of temporary files; too little memory; interruption.
pub fn decide(
    context: JobContext<'_>,
    methods: Option<(&SignedMethod, &SignedMethod)>,
) -> Result<Decisions> {
    let space = &context.space;
    let (mut by_known, mut gone, mut ids) = (None, None, None);
    if let (Some(known), Some((method, _))) = (context.run().known, methods) {
        let progress = context.progress();
        progress.begin(Stage::Search, context.table().rows.len());
        let matches = known::query(known, method, &context)?;
        progress.end(0);
        if context.job.against_only {
            return Ok(Decisions {
                decisions: matches.decisions,
                refused: Refused::none(space)?,
                known: Some(matches.ids),
                lower: LowerSample::default(),
            });
        }
        (by_known, gone, ids) = (
            Some(matches.decisions),
            Some(matches.gone),
            Some(matches.ids),
        );
    }
    let (Groups { followers, leaders }, captures) = groups(&context, gone.as_ref())?;
    let found = match methods.filter(|_| !context.job.is_by_equality()) {
        Some((signed, stored)) => NearSearch {
            context,
            method: signed.plain(),
            stored,
        }
        .decide(leaders)?,
        None => LeaderDecisions {
            decisions: space.sorter(memory::LEADER_DECISIONS).finish()?,
            refused: Refused::none(space)?,
            lower: LowerSample::default(),
        },
    };
    let references = context.documents.references();
    let against = context.only_against().then_some(references);
    let before = EarlierDecisions {
        known: by_known,
        leaders: found.decisions,
    };
    let mut decisions = resolve::resolve(before, followers, against, context.job.drop_all, space)?;
    if let Some(captures) = captures {
        decisions = resolve::with_captures(decisions, captures.followers(), space)?;
    }
    if context.job.min_sources > 1 {
        decisions = with_few_sources(decisions, &context)?;
    }
    Ok(Decisions {
        decisions,
        refused: found.refused,
        known: ids,
        lower: found.lower,
    })
}

/// The groups of documents with the same words, without those that are `gone`, and the older
/// documents with the same URL.
fn groups(
    context: &JobContext<'_>,
    gone: Option<&Bits>,
) -> Result<(Groups, Option<OlderCaptures>)> {
    context.progress().begin(Stage::Group, 0);
    let captures = match context.job.url {
        UrlRule::Ignored => None,
        UrlRule::First | UrlRule::Only => Some(OlderCaptures::find(context)?),
    };
    // Known documents have no URLs, so only one of both drops any.
    let older = captures.as_ref().map(|captures| &captures.gone);
    let groups = same_words::group(context, older.or(gone))?;
    context.progress().end(0);
    Ok((groups, captures))
}
