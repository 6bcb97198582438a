//! The documents of a home that are dropped for equal or near ones.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_core::Result;

use crate::context::Context;
use crate::records::{Drop, EXACT, Follower, NEAR, NORMALIZED, Verified};
use crate::settings::has_fingerprints;
use crate::tasks::pairs::known;
use crate::tasks::pairs::rounds::{labels, last_round};
use crate::tasks::pairs::spread::FOLLOWERS;
use crate::tasks::pairs::verified::VERIFIED;
use crate::work::Stream;

/// Removed leaders, by the homes of their followers: [`Drop`].
pub const OUTCOMES: Stream = Stream(0);

/// The removed leaders of a home, with what they have in common with the documents for which they are
/// removed.
pub fn removed(context: &Context<'_>, home: usize) -> Result<HashMap<i64, Drop, RandomState>> {
    let known = known::removed(context, home)?;
    let known = known.into_iter().map(|drop| (drop.pair.member, drop));
    let mut found: HashMap<i64, Drop, RandomState> = known.collect();
    let near = |pair: Verified| (pair.member, Drop { pair, method: NEAR });
    let Some(last) = last_round(context)? else {
        return Ok(found);
    };
    if context.has_components() {
        let file = context.inbox("compared-0").file(home)?;
        file.records(VERIFIED, 0, |pair: Verified| {
            found.extend([near(pair)]);
            Ok(())
        })?;
        return Ok(found);
    }
    let labels = labels(context, last, home)?;
    for round in 0..=last {
        let stage = format!("verified-{round}");
        let file = context.inbox(&stage).file(home)?;
        file.records(VERIFIED, 0, |pair: Verified| {
            if labels.get(&pair.member) == Some(&pair.earlier) {
                found.extend([near(pair)]);
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// The dropped documents of a home, without those that are dropped for their URL.
///
/// # Errors
/// Errors of reading.
pub fn drops(context: &Context<'_>, task: usize) -> Result<Vec<Drop>> {
    let mut outcomes: HashMap<i64, Drop, RandomState> = HashMap::default();
    context
        .inbox("outcomes")
        .records(OUTCOMES, task, |drop: Drop| {
            outcomes.insert(drop.pair.member, drop);
            Ok(())
        })?;
    let mut drops: Vec<Drop> = removed(context, task)?.into_values().collect();
    let has_distances = match context.method()? {
        Some(method) => has_fingerprints(&*method),
        None => false,
    };
    let references = context.references();
    context
        .inbox("spread")
        .file(task)?
        .records(FOLLOWERS, 0, |follower: Follower| {
            let outcome = outcomes.get(&follower.leader);
            let member = follower.rank;
            drops.push(match outcome {
                Some(Drop { pair, method }) => Drop {
                    pair: Verified { member, ..*pair },
                    method: *method,
                },
                None if context.job.against_only && follower.leader >= references => return Ok(()),
                None => Drop {
                    pair: Verified::equal(member, follower.leader, has_distances),
                    method: match follower.same_text {
                        0 => NORMALIZED,
                        _ => EXACT,
                    },
                },
            });
            Ok(())
        })?;
    Ok(drops)
}
