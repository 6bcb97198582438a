//! Pairs of sets that share an element of their prefixes.
//!
//! For each document, the first earlier ones are proposed, a few of each element. If there are more,
//! the last pair is marked as a *cut*: what follows is unknown until a later step asks for more. So
//! documents that a first candidate decides, as most are, cost one pair, however many are equal to
//! them.

use std::ops::Range;
use std::path::Path;

use arrow_array::RecordBatch;
use simtool_core::Result;

use super::entry::{Entry, NONE, min_shared};
use super::pair_filter::PairFilter;
use crate::columns::{PairRows, ROWS, Unpacker};
use crate::settings::Settings;
use crate::step::Step;

/// The step `pairs`: the records of `prefix`. The documents of an element are divided into tiles only
/// if there are very many; each one needs candidates in one of them.
///
/// A label is [`REMOVED`](super::entry::REMOVED) for removed documents, which `prefix` leaves out, or for components the
/// number of the component. Documents without a frontier need no candidates; for others, only ranks
/// above it are proposed.
pub struct Pairs {
    most: usize,
    wanted: PairFilter,
    thousandths: u64,
    records: Unpacker<Entry>,
    group_of: Option<(i64, i64)>,
    group: Vec<Member>,
    /// A group that is complete, and the next document of it.
    complete: Option<ElementGroup>,
    next: usize,
    made: PairRows,
}

/// The documents with an element.
struct ElementGroup {
    members: Vec<Member>,
    /// The numbers of those that larger sets find by it.
    found: Vec<usize>,
    /// For each of `members` and of `found`: where the run of its component ends.
    ends: [Vec<usize>; 2],
}

/// For each of some labels: the number of the first later one that differs.
fn ends_of_runs(
    labels: impl DoubleEndedIterator<Item = Option<i64>> + ExactSizeIterator,
) -> Vec<usize> {
    let mut ends = vec![0; labels.len()];
    let mut last: Option<(i64, usize)> = None;
    for (number, label) in labels.enumerate().rev() {
        let end = match (last, label) {
            (Some((last, end)), Some(label)) if last == label => end,
            _ => number + 1,
        };
        ends[number] = end;
        last = label.map(|label| (label, end));
    }
    ends
}

#[derive(Clone, Copy)]
struct Member {
    rank: i64,
    size: u64,
    place: u64,
    label: Option<i64>,
    frontier: Option<i64>,
}

impl Pairs {
    /// The step; records that do not fit into memory are in files in `temporary`.
    pub fn new(settings: &Settings, temporary: &Path) -> Pairs {
        let thousandths = settings.verification().map(|it| it.least.thousandths);
        Pairs {
            most: settings.most.max(1),
            wanted: PairFilter::new(settings),
            thousandths: thousandths.unwrap_or(1000).into(),
            records: Unpacker::new(temporary),
            group_of: None,
            group: Vec::new(),
            complete: None,
            next: 0,
            made: PairRows::default(),
        }
    }

    fn finish(&mut self) {
        if self.group.len() < 2 {
            self.group.clear();
            return;
        }
        let members = std::mem::take(&mut self.group);
        let is_found = |number: &usize| self.is_found(members[*number]);
        let found: Vec<usize> = (0..members.len()).filter(is_found).collect();
        let is_useful = |member: &Member| member.frontier.is_some();
        if !found.is_empty() && members.iter().any(is_useful) {
            let labels = members.iter().map(|member| member.label);
            let labels_of_found = found.iter().map(|number| members[*number].label);
            let ends = [ends_of_runs(labels), ends_of_runs(labels_of_found)];
            let group = ElementGroup {
                members,
                found,
                ends,
            };
            self.complete = Some(group);
        }
    }

    /// Whether sets that are not smaller find this one by the element: it is early enough.
    fn is_found(&self, member: Member) -> bool {
        member.place + min_shared(member.size, member.size, self.thousandths) <= member.size
    }

    /// Whether sets may be similar of which this element is the first one that both have.
    fn may_be_similar(&self, a: Member, b: Member) -> bool {
        let shared = min_shared(a.size, b.size, self.thousandths);
        let small = if a.size <= b.size { a } else { b };
        self.is_found(small)
            && (a.size - a.place).min(b.size - b.place) >= shared
            && a.size.min(b.size) * 1000 >= self.thousandths * a.size.max(b.size)
    }

    /// Whether a document may be dropped for an earlier one, or is not joined with it yet.
    fn is_wanted(&self, earlier: Member, member: Member) -> bool {
        let is_joined = earlier.label.is_some() && earlier.label == member.label;
        !is_joined && self.wanted.has(member.rank, earlier.rank)
    }

    /// Proposes the candidates of a document.
    fn propose(&mut self, group: &ElementGroup, number: usize) {
        let member = group.members[number];
        let Some(frontier) = member.frontier else {
            return;
        };
        if !self.wanted.has_any(member.rank) {
            return;
        }
        // Of two sets, the smaller one is found; so this one is, or the other one.
        let (members, found) = (&group.members, &group.found);
        if self.is_found(member) {
            let start = members[..number].partition_point(|earlier| earlier.rank <= frontier);
            self.propose_of(member, start..number, &group.ends[0], |at| members[at]);
        } else {
            let end = found.partition_point(|found| *found < number);
            let start = found[..end].partition_point(|found| members[*found].rank <= frontier);
            self.propose_of(member, start..end, &group.ends[1], |at| members[found[at]]);
        }
    }

    /// Proposes those of some documents that may be similar; `ends` as in [`ElementGroup`].
    fn propose_of(
        &mut self,
        member: Member,
        range: Range<usize>,
        ends: &[usize],
        get: impl Fn(usize) -> Member,
    ) {
        let (mut at, mut found) = (range.start, 0);
        while at < range.end {
            let earlier = get(at);
            if !self.is_wanted(earlier, member) {
                at = if self.wanted.components {
                    ends[at]
                } else {
                    at + 1
                };
                continue;
            }
            at += 1;
            if self.may_be_similar(earlier, member) {
                if found == self.most {
                    self.made.cut_last();
                    return;
                }
                found += 1;
                self.made.push(member.rank, earlier.rank, false);
            }
        }
    }
}

impl Pairs {
    /// Reads documents until an element is complete; false at the end.
    fn read_group(&mut self) -> Result<bool> {
        while let Some(entry) = self.records.next()? {
            let of = (entry.element, entry.tile);
            let is_new = self.group_of.is_some_and(|group| group != of);
            if is_new {
                self.finish();
            }
            self.group_of = Some(of);
            let some = |value: i64| (value != NONE).then_some(value);
            self.group.push(Member {
                rank: entry.rank,
                size: entry.size.into(),
                place: entry.place.into(),
                label: some(entry.label),
                frontier: some(entry.frontier),
            });
            if is_new && self.complete.is_some() {
                return Ok(true);
            }
        }
        self.finish();
        self.group_of = None;
        Ok(self.complete.is_some())
    }
}

impl Step for Pairs {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        self.records.push(batch)
    }

    fn end(&mut self) -> Result<()> {
        self.records.end()
    }

    fn take(&mut self) -> Result<Option<RecordBatch>> {
        while self.made.len() < ROWS {
            if self.complete.is_none() && !self.read_group()? {
                break;
            }
            let Some(group) = self.complete.take() else {
                break;
            };
            let count = group.members.len();
            while self.next < count && self.made.len() < ROWS {
                self.propose(&group, self.next);
                self.next += 1;
            }
            match self.next < count {
                true => self.complete = Some(group),
                false => self.next = 0,
            }
        }
        self.made.take()
    }
}
