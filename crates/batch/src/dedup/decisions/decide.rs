//! Decides which documents are dropped, and for which kept ones, within the scope of the job.
//!
//! Older documents with the same URL are dropped first. Of the others, those with the same words follow
//! the first of them, their leader. Leaders that are copies of a known document are dropped, and what
//! is left is compared with each other.

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
    let known = context.run().known;
    let mut is_follower = Bits::none_of(match known {
        Some(_) => context.table().rows.len(),
        None => 0,
    });
    let (groups, captures) = groups(&context, known.map(|_| &mut is_follower))?;
    let Groups { followers, leaders } = groups;
    let progress = context.progress();
    let by_known = match known {
        Some(known) => {
            progress.begin(Stage::Search, context.table().rows.len());
            let method = methods.map(|(method, _)| method);
            let matches = known::query(known, method, &context, &is_follower)?;
            progress.end(0);
            Some(matches)
        }
        None => None,
    };
    let asks_only = known.is_some() && context.job.against_only;
    let found = match methods.filter(|_| !context.job.is_by_equality() && !asks_only) {
        Some((signed, stored)) => NearSearch {
            context,
            method: signed.plain(),
            stored,
        }
        .decide(leaders, by_known.as_ref().map(|known| &known.gone))?,
        None => LeaderDecisions {
            decisions: space.sorter(memory::LEADER_DECISIONS).finish()?,
            refused: Refused::none(space)?,
            lower: LowerSample::default(),
        },
    };
    // Only copies of the documents before this one are dropped.
    let against = match asks_only {
        true => Some(0),
        false => context
            .only_against()
            .then(|| context.documents.references()),
    };
    let (by_known, ids) = by_known.map(|known| (known.decisions, known.ids)).unzip();
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

/// The groups of documents with the same words, and the older documents with the same URL, which are
/// in none. Both these and the followers are added to `settled`.
fn groups(
    context: &JobContext<'_>,
    settled: Option<&mut Bits>,
) -> Result<(Groups, Option<OlderCaptures>)> {
    context.progress().begin(Stage::Group, 0);
    let captures = match context.job.url {
        UrlRule::Ignored => None,
        UrlRule::First | UrlRule::Only => Some(OlderCaptures::find(context)?),
    };
    let older = captures.as_ref().map(|captures| &captures.gone);
    let groups = same_words::group(context, older, settled)?;
    context.progress().end(0);
    Ok((groups, captures))
}
