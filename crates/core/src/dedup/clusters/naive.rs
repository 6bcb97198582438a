//! Quadratic reference implementations: the definition of star clusters and components, and the
//! oracle of their tests.

use crate::dedup::{Event, Verdict};
use crate::sketch::Score;

/// The events of the star rule over documents 0 to `count`, centre by centre, members ascending.
///
/// `near` returns the score of a pair that sketches propose. All refusals are events, not only the
/// first of each document. Quadratic.
pub fn star(
    count: u64,
    near: impl Fn(u64, u64) -> Option<Score>,
    verify: impl Fn(u64, u64) -> Verdict,
) -> Vec<Event> {
    let mut removed = vec![false; count as usize];
    let mut events = Vec::new();
    for centre in 0..count {
        if removed[centre as usize] {
            continue;
        }
        for member in centre + 1..count {
            if removed[member as usize] {
                continue;
            }
            if let Some(score) = near(centre, member) {
                let verdict = verify(centre, member);
                removed[member as usize] = verdict != Verdict::Refused;
                events.push(Event {
                    member,
                    centre,
                    score,
                    verdict,
                });
            }
        }
    }
    events
}

/// For each of documents 0 to `count`, the first document of its component.
///
/// `is_copy` returns whether a pair is proposed and verified. Quadratic.
pub fn components(count: u64, is_copy: impl Fn(u64, u64) -> bool) -> Vec<u64> {
    let mut first: Vec<u64> = (0..count).collect();
    for a in 0..count {
        for b in a + 1..count {
            let (kept, gone) = (first[a as usize], first[b as usize]);
            if kept != gone && is_copy(a, b) {
                let (kept, gone) = (kept.min(gone), kept.max(gone));
                for name in first.iter_mut().filter(|name| **name == gone) {
                    *name = kept;
                }
            }
        }
    }
    first
}
