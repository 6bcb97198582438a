//! Groups of places of one anchor, and the classes of places with equal contexts.

use std::collections::HashMap;

use crate::Result;
use crate::passages::spans::memory;
use crate::passages::spans::records::{AnchorPlace, ClassLeader, ClassMember, LeaderPart, Repeat};
use simtool_engine::Progress;
use simtool_engine::spill_space::SpillSpace;
use simtool_engine::tasks;
use simtool_files::{SortedPart, SortedParts};

/// A group with more leaders is not filtered by their `sides`: all of them are compared.
const MOST_HELD: usize = 1 << 16;
/// The memory of a leader of a group, at most.
const HELD_BYTES: usize = 128;
/// Places between two looks at whether to stop.
const CHECKED_PLACES: u64 = 1 << 16;
/// Records that are passed on at a time.
const FOUND: usize = 1 << 10;

/// How groups are made.
pub struct AnchorGrouping<'a> {
    /// Whether no copy is kept.
    pub keeps_none: bool,
    /// The number of documents to compare with, which come first.
    pub references: u32,
    /// The memory of groups.
    pub space: SpillSpace<'a>,
    /// Stops the run.
    pub progress: &'a Progress,
}

/// Some of the results.
#[derive(Default)]
pub struct FoundGroups {
    /// Leaders whose windows have to be compared.
    pub leaders: Vec<ClassLeader>,
    /// Places of classes besides their leaders.
    pub members: Vec<ClassMember>,
    /// The parts of leaders that need no comparison and have members.
    pub parts: Vec<LeaderPart>,
    /// If no copy is kept: leaders that need no comparison and have members.
    pub repeats: Vec<Repeat>,
}

/// Passes on what is found, in blocks.
struct GroupSink<'a> {
    grouping: &'a AnchorGrouping<'a>,
    found: FoundGroups,
    pass_on: &'a mut dyn FnMut(FoundGroups) -> Result<()>,
    counts: LeaderCounts,
}

/// The numbers of leaders whose windows have to be compared, and of their windows.
#[derive(Clone, Copy, Default)]
pub struct LeaderCounts {
    /// Leaders.
    pub leaders: u64,
    /// Windows.
    pub windows: u64,
}

/// The leaders of a group so far.
#[derive(Default)]
struct LeaderGroup {
    id: u64,
    most_held: usize,
    /// How many classes began.
    classes: u64,
    held: Vec<ClassLeader>,
    /// The hashes on both sides of each of them.
    sides: Vec<[u32; 2]>,
}

impl AnchorGrouping<'_> {
    /// Finds classes and leaders, and passes them to `collect` in any order. Each part has all places
    /// of its anchors. Uses as many threads as there are parts.
    ///
    /// # Errors
    /// Errors of temporary files and of `collect`;
    /// [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn group(
        &self,
        places: &SortedParts<AnchorPlace>,
        collect: impl FnMut(FoundGroups) -> Result<()>,
    ) -> Result<LeaderCounts> {
        let parts: Vec<usize> = (0..places.count()).collect();
        let most_held = self.space.bytes(memory::GROUPS) / HELD_BYTES / parts.len().max(1);
        let most_held = most_held.clamp(1, MOST_HELD);
        let work = |part, pass_on: &mut dyn FnMut(FoundGroups) -> Result<()>| {
            let mut sink = GroupSink {
                grouping: self,
                found: FoundGroups::default(),
                pass_on,
                counts: LeaderCounts::default(),
            };
            group_part(places.part(part)?, most_held, &mut sink)?;
            (sink.pass_on)(sink.found)?;
            Ok(sink.counts)
        };
        let counts = tasks::collect_from(parts.len(), parts, work, collect)?;
        Ok(LeaderCounts {
            leaders: counts.iter().map(|counts| counts.leaders).sum(),
            windows: counts.iter().map(|counts| counts.windows).sum(),
        })
    }
}

fn group_part(
    places: SortedPart<'_, AnchorPlace>,
    most_held: usize,
    sink: &mut GroupSink<'_>,
) -> Result<()> {
    let mut group = LeaderGroup {
        most_held,
        ..LeaderGroup::default()
    };
    let mut class: Option<(AnchorPlace, u32)> = None;
    let mut seen = 0u64;
    for place in places {
        let place = place?;
        seen += 1;
        if seen.is_multiple_of(CHECKED_PLACES) {
            sink.grouping.progress.check()?;
        }
        match &mut class {
            Some((first, count)) if (first.id, first.context) == (place.id, place.context) => {
                *count = count.saturating_add(1);
                sink.found.members.push(ClassMember {
                    leader: [first.document, first.first],
                    own: [place.document, place.first],
                });
                sink.pass_on_block()?;
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
        if self.held.len() == self.most_held {
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
    /// Passes on what was found, if it is much.
    fn pass_on_block(&mut self) -> Result<()> {
        let found = &self.found;
        let records = found.leaders.len() + found.members.len() + found.parts.len();
        match records < FOUND {
            true => Ok(()),
            false => (self.pass_on)(std::mem::take(&mut self.found)),
        }
    }

    /// The windows of a leader have to be compared.
    fn compare(&mut self, leader: ClassLeader) -> Result<()> {
        self.counts.windows += u64::from(leader.windows);
        self.counts.leaders += 1;
        self.found.leaders.push(leader);
        self.pass_on_block()
    }

    /// The windows of a leader occur nowhere earlier.
    fn keep(&mut self, leader: ClassLeader) -> Result<()> {
        if leader.places == 1 {
            return Ok(());
        }
        let place = [leader.document, leader.first];
        self.found.parts.push(LeaderPart {
            leader: place,
            start: leader.first,
            windows: leader.windows,
            kept: place,
            count: leader.places,
        });
        if self.grouping.keeps_none && leader.document >= self.grouping.references {
            self.found.repeats.push(Repeat {
                document: leader.document,
                start: leader.first,
                windows: leader.windows,
                kept: place,
                count: leader.places,
            });
        }
        self.pass_on_block()
    }
}
