//! Decisions about all documents, from those about leaders.

use std::iter::Peekable;

use crate::Result;
use simtool_files::Sorted;

use crate::dedup::decision::{Decision, Follower};
use crate::dedup::memory;
use simtool_engine::spill_space::SpillSpace;

/// The decisions before those about followers.
pub struct EarlierDecisions {
    /// Leaders that are dropped for a known document.
    pub known: Option<Sorted<Decision>>,
    /// Other dropped leaders.
    pub leaders: Sorted<Decision>,
}

/// All dropped documents, by number.
///
/// A follower is dropped for the same document as its leader. If the leader is kept, the follower
/// is dropped for it. With `references`, the number of documents of the reference, only duplicates
/// of these are dropped: a follower whose leader is kept and is not of the reference is kept too.
/// With `drop_all`, kept documents of the input are dropped too, with records that name them as
/// their own kept document.
///
/// # Errors
/// Errors of temporary files.
pub fn resolve(
    before: EarlierDecisions,
    followers: Sorted<Follower>,
    references: Option<u32>,
    drop_all: bool,
    space: &SpillSpace<'_>,
) -> Result<Sorted<Decision>> {
    let mut sorter = space.sorter::<Decision>(memory::DECISIONS);
    let mut all = |decision: Decision| {
        if drop_all {
            sorter.push(Decision {
                document: decision.kept,
                ..decision
            })?;
        }
        sorter.push(decision)
    };
    let known = before.known.into_iter().flatten().peekable();
    let mut decisions = by_document(known, before.leaders.peekable()).peekable();
    let mut current: Option<Decision> = None;
    for follower in followers {
        let follower = follower?;
        while let Some(decision) = next_up_to(&mut decisions, follower.leader)? {
            all(decision)?;
            current = Some(decision);
        }
        let of_leader = current.filter(|decision| decision.document == follower.leader);
        let stays = references.is_some_and(|references| follower.leader >= references);
        match of_leader {
            Some(decision) => all(Decision {
                document: follower.document,
                ..decision
            })?,
            None if stays => {}
            None => all(Decision {
                document: follower.document,
                kept: follower.leader,
                evidence: follower.evidence,
                score: [0, 1],
                verified: [1, 1],
            })?,
        }
    }
    for decision in decisions {
        all(decision?)?;
    }
    sorter.finish()
}

/// The decisions together with those about documents that are dropped for a newer one with the same
/// URL. `captures` ascend by the newest document. If that one is kept, they are dropped for it; else
/// for the document for which it is dropped.
///
/// # Errors
/// Errors of temporary files.
pub fn with_captures(
    decisions: Sorted<Decision>,
    captures: impl Iterator<Item = Result<Follower>>,
    space: &SpillSpace<'_>,
) -> Result<Sorted<Decision>> {
    let mut sorter = space.sorter::<Decision>(memory::DECISIONS);
    let mut decisions = decisions.peekable();
    let mut current: Option<Decision> = None;
    for capture in captures {
        let Follower {
            leader,
            document,
            evidence,
        } = capture?;
        while let Some(decision) = next_up_to(&mut decisions, leader)? {
            sorter.push(decision)?;
            current = Some(decision);
        }
        let of_leader = current.filter(|decision| decision.document == leader);
        sorter.push(Decision {
            document,
            kept: of_leader.map_or(leader, |decision| decision.kept),
            evidence,
            score: [leader, 0],
            verified: [0, 0],
        })?;
    }
    for decision in decisions {
        sorter.push(decision?)?;
    }
    sorter.finish()
}

/// The decisions of both by document, which is in one of them.
fn by_document(
    mut a: Peekable<impl Iterator<Item = Result<Decision>>>,
    mut b: Peekable<impl Iterator<Item = Result<Decision>>>,
) -> impl Iterator<Item = Result<Decision>> {
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(Ok(of_a)), Some(Ok(of_b))) if of_b.document < of_a.document => b.next(),
        (Some(_), Some(Err(_))) | (None, _) => b.next(),
        (Some(_), _) => a.next(),
    })
}

fn next_up_to(
    decisions: &mut Peekable<impl Iterator<Item = Result<Decision>>>,
    document: u32,
) -> Result<Option<Decision>> {
    let is_due = |next: &Result<Decision>| {
        next.as_ref()
            .map_or(true, |decision| decision.document <= document)
    };
    decisions.next_if(is_due).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(document: u32, kept: u32) -> Decision {
        Decision {
            document,
            kept,
            evidence: Decision::NEAR,
            score: [2, 64],
            verified: [9, 10],
        }
    }

    fn resolved(references: Option<u32>) -> Vec<(u32, u32, u32)> {
        let directory = tempfile::tempdir().unwrap();
        let space = SpillSpace {
            directory: directory.path(),
            memory_bytes: 1 << 20,
        };
        let mut leaders = space.sorter(memory::LEADER_DECISIONS);
        for decision in [near(20, 3), near(40, 3)] {
            leaders.push(decision).unwrap();
        }
        let mut followers = space.sorter(memory::FOLLOWERS);
        for (leader, document) in [(3, 21), (10, 11), (20, 22), (20, 2), (30, 31), (50, 51)] {
            let evidence = Decision::SAME_WORDS;
            followers
                .push(Follower {
                    leader,
                    document,
                    evidence,
                })
                .unwrap();
        }
        let sorted = |sorter: simtool_files::Sorter<_>| sorter.finish().unwrap();
        let followers = followers.finish().unwrap();
        let before = EarlierDecisions {
            known: None,
            leaders: sorted(leaders),
        };
        resolve(before, followers, references, false, &space)
            .unwrap()
            .map(|decision| decision.unwrap())
            .map(|decision| (decision.document, decision.kept, decision.evidence))
            .collect()
    }

    #[test]
    fn followers_are_dropped_for_the_document_of_their_leader() {
        let same = Decision::SAME_WORDS;
        let expected = [
            (2, 3, Decision::NEAR),
            (11, 10, same),
            (20, 3, Decision::NEAR),
            (21, 3, same),
            (22, 3, Decision::NEAR),
            (31, 30, same),
            (40, 3, Decision::NEAR),
            (51, 50, same),
        ];
        assert_eq!(resolved(None), expected);
    }

    #[test]
    fn against_a_reference_only_its_duplicates_are_dropped() {
        let same = Decision::SAME_WORDS;
        let expected = [
            (2, 3, Decision::NEAR),
            (20, 3, Decision::NEAR),
            (21, 3, same),
            (22, 3, Decision::NEAR),
            (40, 3, Decision::NEAR),
        ];
        assert_eq!(resolved(Some(5)), expected);
    }
}
