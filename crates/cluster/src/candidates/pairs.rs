//! Pairs of sets that share an element of their prefixes.
//!
//! For each document, the first earlier ones are proposed, a few of each element. If there are more,
//! the last pair is marked as a *cut*: what follows is unknown until a later step asks for more. So
//! documents that a first candidate decides, as most are, cost one pair, however many are equal to
//! them.

use std::ops::Range;

use simtool_core::Result;

use super::entry::{Entry, NONE, min_shared};
use super::pair_filter::PairFilter;
use crate::context::Context;
use crate::records::Pair;

/// Searches the pairs of entries, which come in order. The documents of an element are divided into
/// tiles only if there are very many; each one needs candidates in one of them.
///
/// A label is the number of a component. Documents without a frontier need no candidates; for others,
/// only ranks above it are proposed.
pub struct PairSearch {
    most: usize,
    wanted: PairFilter,
    thousandths: u64,
    /// Whether the later, smaller set of a pair is contained in the earlier one.
    is_containment: bool,
    group_of: Option<(i64, i64)>,
    group: Vec<Member>,
}

type Emit<'e> = dyn FnMut(&Pair) -> Result<()> + 'e;

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

impl PairSearch {
    /// At most `most` pairs of each document and element.
    pub fn new(context: &Context<'_>, most: usize) -> PairSearch {
        PairSearch {
            most: most.max(1),
            wanted: PairFilter::new(context),
            thousandths: context.job.verification.least.thousandths.into(),
            is_containment: context.has_containment(),
            group_of: None,
            group: Vec::new(),
        }
    }

    /// Takes the next entry; emits the pairs of an element that is complete.
    ///
    /// # Errors
    /// Errors of `emit`.
    pub fn push(&mut self, entry: &Entry, emit: &mut Emit<'_>) -> Result<()> {
        let of = (entry.element, entry.tile);
        if self.group_of != Some(of) {
            self.end(emit)?;
            self.group_of = Some(of);
        }
        let some = |value: i64| (value != NONE).then_some(value);
        self.group.push(Member {
            rank: entry.rank,
            size: entry.size.into(),
            place: entry.place.into(),
            label: some(entry.label),
            frontier: some(entry.frontier),
        });
        Ok(())
    }

    /// Emits the pairs of the last element.
    ///
    /// # Errors
    /// Errors of `emit`.
    pub fn end(&mut self, emit: &mut Emit<'_>) -> Result<()> {
        let members = std::mem::take(&mut self.group);
        let is_found = |number: &usize| self.is_found(members[*number]);
        let found: Vec<usize> = (0..members.len()).filter(is_found).collect();
        let is_useful = |member: &Member| member.frontier.is_some();
        if members.len() < 2 || found.is_empty() || !members.iter().any(is_useful) {
            return Ok(());
        }
        let labels = members.iter().map(|member| member.label);
        let labels_of_found = found.iter().map(|number| members[*number].label);
        let ends = [ends_of_runs(labels), ends_of_runs(labels_of_found)];
        let group = ElementGroup {
            members,
            found,
            ends,
        };
        (0..group.members.len()).try_for_each(|number| self.propose(&group, number, emit))
    }

    /// Whether sets that are not smaller find this one by the element: it is early enough.
    fn is_found(&self, member: Member) -> bool {
        self.is_containment
            || member.place + min_shared(member.size, member.size, self.thousandths) <= member.size
    }

    /// Whether sets may be similar of which this element is the first one that both have.
    fn may_be_similar(&self, a: Member, b: Member) -> bool {
        let left = (a.size - a.place).min(b.size - b.place);
        if self.is_containment {
            return left >= (b.size * self.thousandths).div_ceil(1000);
        }
        let shared = min_shared(a.size, b.size, self.thousandths);
        let small = if a.size <= b.size { a } else { b };
        self.is_found(small)
            && left >= shared
            && a.size.min(b.size) * 1000 >= self.thousandths * a.size.max(b.size)
    }

    /// Whether a document may be dropped for an earlier one, or is not joined with it yet.
    fn is_wanted(&self, earlier: Member, member: Member) -> bool {
        let is_joined = earlier.label.is_some() && earlier.label == member.label;
        !is_joined && self.wanted.has(member.rank, earlier.rank)
    }

    /// Proposes the candidates of a document.
    fn propose(&self, group: &ElementGroup, number: usize, emit: &mut Emit<'_>) -> Result<()> {
        let member = group.members[number];
        let Some(frontier) = member.frontier else {
            return Ok(());
        };
        if !self.wanted.has_any(member.rank) {
            return Ok(());
        }
        // Of two sets, the smaller one is found; so this one is, or the other one.
        let (members, found) = (&group.members, &group.found);
        if self.is_found(member) {
            let start = members[..number].partition_point(|earlier| earlier.rank <= frontier);
            self.propose_of(
                member,
                start..number,
                &group.ends[0],
                |at| members[at],
                emit,
            )
        } else {
            let end = found.partition_point(|found| *found < number);
            let start = found[..end].partition_point(|found| members[*found].rank <= frontier);
            self.propose_of(
                member,
                start..end,
                &group.ends[1],
                |at| members[found[at]],
                emit,
            )
        }
    }

    /// Proposes those of some documents that may be similar; `ends` as in [`ElementGroup`].
    fn propose_of(
        &self,
        member: Member,
        range: Range<usize>,
        ends: &[usize],
        get: impl Fn(usize) -> Member,
        emit: &mut Emit<'_>,
    ) -> Result<()> {
        let (mut at, mut found) = (range.start, 0);
        let mut last: Option<Pair> = None;
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
            if !self.may_be_similar(earlier, member) {
                continue;
            }
            if found == self.most {
                if let Some(last) = &mut last {
                    last.cut = 1;
                }
                break;
            }
            found += 1;
            let pair = Pair {
                member: member.rank,
                earlier: earlier.rank,
                cut: 0,
            };
            if let Some(before) = last.replace(pair) {
                emit(&before)?;
            }
        }
        last.map_or(Ok(()), |last| emit(&last))
    }
}
