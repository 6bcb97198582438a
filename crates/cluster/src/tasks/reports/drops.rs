//! The documents of a home that are dropped for equal or near ones.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_core::Result;

use crate::context::Context;
use crate::records::{Drop, EXACT, Follower, NEAR, NORMALIZED, Verified};
use crate::settings::has_fingerprints;
use crate::tasks::pairs::rounds::{labels, last_round};
use crate::tasks::pairs::spread::FOLLOWERS;
use crate::tasks::pairs::verified::VERIFIED;
use crate::work::Stream;

/// Removed leaders, by the homes of their followers: [`Verified`].
pub const OUTCOMES: Stream = Stream(0);

/// The removed leaders of a home, with what they have in common with the documents for which they are
/// removed.
pub fn removed(context: &Context<'_>, home: usize) -> Result<HashMap<i64, Verified, RandomState>> {
    let mut found = HashMap::default();
    let Some(last) = last_round(context)? else {
        return Ok(found);
    };
    if context.has_components() {
        let file = context.inbox("compared-0").file(home)?;
        file.records(VERIFIED, 0, |pair: Verified| {
            found.insert(pair.member, pair);
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
                found.insert(pair.member, pair);
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
    let mut outcomes: HashMap<i64, Verified, RandomState> = HashMap::default();
    context
        .inbox("outcomes")
        .records(OUTCOMES, task, |pair: Verified| {
            outcomes.insert(pair.member, pair);
            Ok(())
        })?;
    let mut drops: Vec<Drop> = removed(context, task)?
        .into_values()
        .map(|pair| Drop { pair, method: NEAR })
        .collect();
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
            let (pair, method) = match outcome {
                Some(outcome) => (*outcome, NEAR),
                None if context.job.against_only && follower.leader >= references => return Ok(()),
                None => (
                    equal(follower.leader, has_distances),
                    match follower.same_text {
                        0 => NORMALIZED,
                        _ => EXACT,
                    },
                ),
            };
            let member = follower.rank;
            drops.push(Drop {
                pair: Verified { member, ..pair },
                method,
            });
            Ok(())
        })?;
    Ok(drops)
}

/// What equal documents have in common.
fn equal(leader: i64, has_distances: bool) -> Verified {
    let pair = Verified::not_compared(0, leader);
    match has_distances {
        true => Verified {
            distance: 0,
            ..pair
        },
        false => Verified {
            estimate: 1.0,
            ..pair
        },
    }
}
