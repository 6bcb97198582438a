//! What becomes of followers, once it is known what becomes of their leaders.

use crate::Result;
use crate::io::Sorted;

use super::decision::{Decision, Follower};
use crate::run::room::Room;

/// What was decided before the followers.
pub struct Before {
    /// Documents that go for a known one. They are neither leaders nor followers.
    pub known: Option<Sorted<Decision>>,
    /// Leaders that go.
    pub leaders: Sorted<Decision>,
}

/// All documents that go, by number.
///
/// A follower goes where its leader goes; if that one stays, the follower goes for it. If the input
/// is compared with a reference alone (its first `references` documents), a follower whose leader
/// stays and is none of the reference stays too. With `drop_all`, those for which others go, go
/// too: each has a record in which it is its own copy.
///
/// # Errors
/// Those of temporary files.
pub fn resolve(
    before: Before,
    followers: Sorted<Follower>,
    references: Option<u32>,
    drop_all: bool,
    room: &Room<'_>,
) -> Result<Sorted<Decision>> {
    let mut sorter = room.sorter::<Decision>(3);
    for decision in before.known.into_iter().flatten() {
        sorter.push(decision?)?;
    }
    let mut all = |decision: Decision| {
        if drop_all {
            sorter.push(Decision {
                document: decision.kept,
                ..decision
            })?;
        }
        sorter.push(decision)
    };
    let mut decisions = before.leaders.peekable();
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

fn next_up_to(
    decisions: &mut std::iter::Peekable<Sorted<Decision>>,
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
        let room = Room {
            directory: directory.path(),
            memory_bytes: 1 << 20,
        };
        let mut leaders = room.sorter(1);
        for decision in [near(20, 3), near(40, 3)] {
            leaders.push(decision).unwrap();
        }
        let mut followers = room.sorter(1);
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
        let sorted = |sorter: crate::io::Sorter<_>| sorter.finish().unwrap();
        let followers = followers.finish().unwrap();
        let before = Before {
            known: None,
            leaders: sorted(leaders),
        };
        resolve(before, followers, references, false, &room)
            .unwrap()
            .map(|decision| decision.unwrap())
            .map(|decision| (decision.document, decision.kept, decision.evidence))
            .collect()
    }

    #[test]
    fn followers_go_where_their_leader_goes() {
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
    fn against_a_reference_only_what_it_has_goes() {
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
