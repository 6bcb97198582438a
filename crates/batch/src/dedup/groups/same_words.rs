//! Groups of documents with the same digest: the first in keep order is the leader, the others are
//! its followers.

use crate::Result;
use simtool_files::Sorted;

use super::leader_list::{LeaderList, LeadersInOrder};
use super::repeats::Repeats;
use crate::dedup::decision::{Decision, Follower, Grouping, Leader};
use crate::dedup::job_context::JobContext;
use crate::dedup::memory;
use crate::dedup::settings::url_rule::UrlRule;
use crate::table::bits::Bits;
use crate::table::row::{Flags, Row};

/// Rows that are read at a time.
const BLOCK: usize = 8192;

/// The result of grouping.
pub struct Groups {
    /// Documents that are not leaders, by leader; documents of the reference are left out.
    pub followers: Sorted<Follower>,
    /// The leaders that are compared by sketch: those of the reference first, then by the scope's
    /// groups, then in keep order.
    pub leaders: LeadersInOrder,
}

/// Groups all documents except those in `gone`, skipped ones and empty ones; none if only URLs are
/// compared. Followers, and those in `gone`, are added to `settled`. Reads all rows twice: first to
/// see which digests may be repeated. Sorts the documents that have one of these, then the followers
/// and, unless they are in input order, the leaders.
///
/// # Errors
/// Errors of reading and of temporary files.
pub fn group(
    context: &JobContext<'_>,
    gone: Option<&Bits>,
    mut settled: Option<&mut Bits>,
) -> Result<Groups> {
    let JobContext {
        job, keys, space, ..
    } = *context;
    let rows = &context.table().rows;
    let is_compared = |number: u32, row: &Row| {
        let is_gone = gone.is_some_and(|gone| gone.contains(number));
        let is_excluded = row.flags.has(Flags::SKIPPED) || row.flags.has(Flags::EMPTY);
        job.url != UrlRule::Only && !is_gone && !is_excluded
    };
    let mut repeats = Repeats::new(rows.len(), space.bytes(memory::REPEATS));
    rows.for_each_block(BLOCK, |first, rows| {
        let compared = (first as u32..).zip(rows);
        let compared = compared.filter(|(number, row)| is_compared(*number, row));
        compared.for_each(|(_, row)| repeats.insert(row.digest as u64));
        context.progress().check()
    })?;
    let mut groupings = space.sorter::<Grouping>(memory::GROUPINGS);
    let mut leaders = LeaderList::of(context);
    let mut keep_keys = Vec::new();
    rows.for_each_block(BLOCK, |first, rows| {
        keys.read(first, rows, &mut keep_keys)?;
        let positions = rows
            .iter()
            .map(|row| row.group)
            .zip(keep_keys.iter().copied());
        for ((number, row), position) in (first as u32..).zip(rows).zip(positions) {
            if !is_compared(number, row) {
                continue;
            }
            let grouping = grouping(number, row, position);
            match repeats.may_have(row.digest as u64) {
                true => groupings.push(grouping)?,
                false => leaders.add(&grouping)?,
            }
        }
        context.progress().check()
    })?;
    drop(repeats);

    if let (Some(settled), Some(gone)) = (&mut settled, gone) {
        let all = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        gone.within(0..all)
            .for_each(|number| settled.insert(number));
    }
    let mut followers = space.sorter(memory::FOLLOWERS);
    let mut first: Option<Grouping> = None;
    for grouping in groupings.finish()? {
        let grouping = grouping?;
        let document = grouping.leader.document;
        match first {
            Some(first) if (first.digest, first.group) == (grouping.digest, grouping.group) => {
                let same_text = first.text_digest == grouping.text_digest;
                // A document of the reference is never dropped.
                if grouping.leader.class > 0 {
                    if let Some(settled) = &mut settled {
                        settled.insert(document);
                    }
                    followers.push(Follower {
                        leader: first.leader.document,
                        document,
                        evidence: match same_text {
                            true => Decision::SAME_TEXT,
                            false => Decision::SAME_WORDS,
                        },
                    })?;
                }
            }
            _ => {
                leaders.add(&grouping)?;
                first = Some(grouping);
            }
        }
    }
    Ok(Groups {
        followers: followers.finish()?,
        leaders: leaders.finish()?,
    })
}

/// The record of a document with its group and keep key.
fn grouping(document: u32, row: &Row, (group, keep_key): (u64, [u8; 16])) -> Grouping {
    Grouping {
        digest: row.digest,
        group,
        leader: Leader {
            class: u32::from(!row.flags.has(Flags::REFERENCE)),
            keep_key,
            document,
        },
        text_digest: row.text_digest,
        is_short: u32::from(row.flags.has(Flags::SHORT)),
        _reserved: 0,
    }
}
