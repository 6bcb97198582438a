//! Groups of places of one anchor, and the classes of places with equal contexts.

use std::collections::HashMap;

use crate::Result;
use crate::passages::spans::records::{AnchorPlace, ClassLeader, ClassMember, LeaderPart, Repeat};
use simtool_engine::Progress;
use simtool_files::{Sorted, Sorter};

/// A group with more leaders is not filtered by their `sides`: all of them are compared.
const MOST_HELD: usize = 1 << 16;
/// Places between two looks at whether to stop.
const CHECKED_PLACES: u64 = 1 << 16;

/// Where the results go.
pub struct GroupSink<'a> {
    /// Leaders whose windows have to be compared.
    pub leaders: &'a mut Sorter<ClassLeader>,
    /// Places of classes besides their leaders.
    pub members: &'a mut Sorter<ClassMember>,
    /// The parts of leaders that need no comparison and have members.
    pub parts: &'a mut Sorter<LeaderPart>,
    /// If no copy is kept: leaders that need no comparison and have members.
    pub repeats: Option<&'a mut Sorter<Repeat>>,
    /// The number of documents to compare with, which come first.
    pub references: u32,
    /// The number of windows of all leaders.
    pub windows: u64,
    /// The number of leaders.
    pub count: u64,
}

/// The leaders of a group so far.
#[derive(Default)]
struct LeaderGroup {
    id: u64,
    /// How many classes began.
    classes: u64,
    held: Vec<ClassLeader>,
    /// The hashes on both sides of each of them.
    sides: Vec<[u32; 2]>,
}

/// Finds classes and leaders.
///
/// # Errors
/// Errors of temporary files; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
pub fn group(
    places: Sorted<AnchorPlace>,
    sink: &mut GroupSink<'_>,
    progress: &Progress,
) -> Result<()> {
    let mut group = LeaderGroup::default();
    let mut class: Option<(AnchorPlace, u32)> = None;
    let mut seen = 0u64;
    for place in places {
        let place = place?;
        seen += 1;
        if seen.is_multiple_of(CHECKED_PLACES) {
            progress.check()?;
        }
        match &mut class {
            Some((first, count)) if (first.id, first.context) == (place.id, place.context) => {
                *count = count.saturating_add(1);
                sink.members.push(ClassMember {
                    leader: [first.document, first.first],
                    own: [place.document, place.first],
                })?;
            }
            _ => {
                if let Some((first, count)) = class.replace((place, 1)) {
                    group.add(&first, count, sink)?;
                }
                if group.id != place.id {
                    group.end(sink)?;
                    group.id = place.id;
                }
            }
        }
    }
    if let Some((first, count)) = class {
        group.add(&first, count, sink)?;
    }
    group.end(sink)
}

impl LeaderGroup {
    /// Adds a class of `places` places.
    fn add(&mut self, first: &AnchorPlace, places: u32, sink: &mut GroupSink<'_>) -> Result<()> {
        self.classes += 1;
        if self.held.len() == MOST_HELD {
            for leader in self.held.drain(..) {
                sink.compare(leader)?;
            }
            self.sides.clear();
        }
        self.held.push(ClassLeader {
            document: first.document,
            first: first.first,
            before: first.before,
            windows: first.windows,
            id: first.id,
            places,
            _reserved: 0,
        });
        self.sides.push(first.sides);
        Ok(())
    }

    /// Passes on the leaders that may have a window in common with another one.
    fn end(&mut self, sink: &mut GroupSink<'_>) -> Result<()> {
        let mut counts: [HashMap<u32, u32, ahash::RandomState>; 2] = Default::default();
        let has_all = self.classes == self.held.len() as u64;
        if has_all && self.classes > 1 {
            for sides in &self.sides {
                for (counts, side) in counts.iter_mut().zip(sides) {
                    *counts.entry(*side).or_default() += 1;
                }
            }
        }
        let is_shared = |sides: &[u32; 2]| {
            let mut both = counts.iter().zip(sides);
            both.any(|(counts, side)| *side != 0 && counts.get(side).is_some_and(|n| *n > 1))
        };
        for (leader, sides) in self.held.drain(..).zip(&self.sides) {
            match !has_all || is_shared(sides) {
                true => sink.compare(leader)?,
                false => sink.keep(leader)?,
            }
        }
        self.sides.clear();
        self.classes = 0;
        Ok(())
    }
}

impl GroupSink<'_> {
    /// The windows of a leader have to be compared.
    fn compare(&mut self, leader: ClassLeader) -> Result<()> {
        self.windows += u64::from(leader.windows);
        self.count += 1;
        self.leaders.push(leader)
    }

    /// The windows of a leader occur nowhere earlier.
    fn keep(&mut self, leader: ClassLeader) -> Result<()> {
        if leader.places == 1 {
            return Ok(());
        }
        let place = [leader.document, leader.first];
        self.parts.push(LeaderPart {
            leader: place,
            start: leader.first,
            windows: leader.windows,
            kept: place,
            count: leader.places,
        })?;
        match &mut self.repeats {
            Some(repeats) if leader.document >= self.references => repeats.push(Repeat {
                document: leader.document,
                start: leader.first,
                windows: leader.windows,
                kept: place,
                count: leader.places,
            }),
            _ => Ok(()),
        }
    }
}
