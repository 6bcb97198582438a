//! Stars, one document after another.
//!
//! A document is kept if all its earlier neighbours are removed. Other documents are removed, each for
//! its first neighbour that is kept. A document with a cut needs more candidates before it can be kept.

use std::collections::HashMap;

use ahash::RandomState;

/// Documents, each with another one.
pub type Decided = Vec<(i64, i64)>;

/// Decides documents from their verified pairs, by member, then by the earlier document; a cut is a
/// pair with the last document that is known. Holds some bytes for each member that does not stay.
#[derive(Default)]
pub struct Stars {
    states: HashMap<i64, State, RandomState>,
    current: Option<Current>,
    removed: Vec<(i64, i64)>,
    frontiers: Vec<(i64, i64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Removed,
    Undecided,
}

struct Current {
    member: i64,
    outcome: Outcome,
    frontier: Option<i64>,
}

#[derive(PartialEq, Eq)]
enum Outcome {
    /// All earlier neighbours so far are removed.
    Stays,
    RemovedFor(i64),
    Waits,
}

impl Stars {
    /// Takes the next pair.
    pub fn push(&mut self, member: i64, earlier: i64, cut: bool) {
        if self
            .current
            .as_ref()
            .is_none_or(|current| current.member != member)
        {
            self.finish();
            self.current = Some(Current {
                member,
                outcome: Outcome::Stays,
                frontier: None,
            });
        }
        let Some(current) = &mut self.current else {
            return;
        };
        if cut {
            current.frontier = Some(earlier);
        } else if current.outcome == Outcome::Stays {
            current.outcome = match self.states.get(&earlier) {
                None => Outcome::RemovedFor(earlier),
                Some(State::Undecided) => Outcome::Waits,
                Some(State::Removed) => Outcome::Stays,
            };
        }
    }

    fn finish(&mut self) {
        let Some(current) = self.current.take() else {
            return;
        };
        match (current.outcome, current.frontier) {
            (Outcome::RemovedFor(earlier), _) => {
                self.states.insert(current.member, State::Removed);
                self.removed.push((current.member, earlier));
            }
            (Outcome::Waits, _) => {
                self.states.insert(current.member, State::Undecided);
            }
            (Outcome::Stays, Some(frontier)) => {
                self.states.insert(current.member, State::Undecided);
                self.frontiers.push((current.member, frontier));
            }
            (Outcome::Stays, None) => {}
        }
    }

    /// The removed documents, each with the one for which it is removed, and those that need more
    /// candidates, each with the last one that is known.
    pub fn end(mut self) -> (Decided, Decided) {
        self.finish();
        (self.removed, self.frontiers)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// One document after another: it is kept if all earlier neighbours are removed.
    fn naive(pairs: &BTreeSet<(i64, i64)>, documents: i64) -> Vec<(i64, i64)> {
        let mut removed: Vec<(i64, i64)> = Vec::new();
        for member in 0..documents {
            let is_removed = |document: i64| removed.iter().any(|(gone, _)| *gone == document);
            let mut neighbours = (0..member).filter(|earlier| pairs.contains(&(member, *earlier)));
            if let Some(earlier) = neighbours.find(|earlier| !is_removed(*earlier)) {
                removed.push((member, earlier));
            }
        }
        removed
    }

    proptest! {
        // Promise (On a cluster): Stars of any graph, also with pairs that are not known yet, and
        // components are those of their definitions
        /// Pairs that are known only up to a cut never decide otherwise than all pairs do.
        #[test]
        fn cuts_decide_nothing_that_is_wrong(
            pairs in prop::collection::btree_set((1i64..30, 0i64..30), 0..120),
            known in prop::collection::vec(0usize..4, 30),
        ) {
            let pairs: BTreeSet<(i64, i64)> = pairs.into_iter().filter(|(a, b)| a > b).collect();
            let all = naive(&pairs, 30);
            let mut stars = Stars::default();
            pairs.iter().for_each(|(member, earlier)| stars.push(*member, *earlier, false));
            prop_assert_eq!(stars.end(), (all.clone(), Vec::new()));

            let mut stars = Stars::default();
            for member in 0..30 {
                let own: Vec<i64> = (0..30).filter(|e| pairs.contains(&(member, *e))).collect();
                let most = known[member as usize];
                for (number, earlier) in own.iter().take(most).enumerate() {
                    stars.push(member, *earlier, false);
                    if number + 1 == most && own.len() > most {
                        stars.push(member, *earlier, true);
                    }
                }
                if most == 0 && !own.is_empty() {
                    stars.push(member, -1, true);
                }
            }
            let (removed, frontiers) = stars.end();
            prop_assert!(removed.iter().all(|found| all.contains(found)));
            let is_open = |member: i64| frontiers.iter().any(|(open, _)| *open == member);
            let first_difference = all.iter().find(|found| !removed.contains(found));
            // Whatever is not decided waits for a document that needs more pairs.
            if let Some((member, _)) = first_difference {
                prop_assert!((0..=*member).any(is_open));
            }
        }
    }
}
