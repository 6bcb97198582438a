//! The leaders that are compared by sketch.

use bytemuck::Zeroable;

use crate::Result;
use simtool_files::{Sorted, Sorter};

use crate::dedup::decision::{GroupedLeader, Grouping, Leader};
use crate::dedup::job_context::JobContext;
use crate::dedup::memory;
use crate::scope::Scope;
use crate::table::bits::Bits;

/// The leaders, to which more are added: those of the reference first, then by the scope's groups, then in keep order.
pub enum LeaderList {
    /// Documents of one group in input order, those of the reference first: their numbers, and the
    /// number of documents of the reference.
    Ascending(Bits, u32),
    /// Any others.
    Sorted(Sorter<GroupedLeader>),
}

impl LeaderList {
    /// An empty list.
    pub fn of(context: &JobContext<'_>) -> LeaderList {
        let JobContext { job, documents, .. } = context;
        match job.within == Scope::Global && job.keep.is_input_order() {
            true => LeaderList::Ascending(
                Bits::none_of(documents.numbering.documents()),
                documents.references(),
            ),
            false => LeaderList::Sorted(context.space.sorter(memory::LEADERS)),
        }
    }

    /// Adds the leader of a group, in any order, unless it is compared by its digest only.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn add(&mut self, grouping: &Grouping) -> Result<()> {
        let Leader {
            class,
            keep_key,
            document,
        } = grouping.leader;
        match self {
            _ if grouping.is_short != 0 => Ok(()),
            LeaderList::Ascending(numbers, _) => {
                numbers.insert(document);
                Ok(())
            }
            LeaderList::Sorted(sorter) => sorter.push(GroupedLeader {
                class,
                group: grouping.group.to_be_bytes(),
                keep_key,
                document,
            }),
        }
    }

    /// The leaders, in order.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn finish(self) -> Result<LeadersInOrder> {
        Ok(match self {
            LeaderList::Ascending(numbers, references) => LeadersInOrder::Ascending {
                next: numbers.next(0),
                numbers,
                references,
            },
            LeaderList::Sorted(sorter) => LeadersInOrder::Sorted(sorter.finish()?),
        })
    }
}

/// The leaders in order.
pub enum LeadersInOrder {
    /// By number.
    Ascending {
        /// The next one.
        next: Option<u32>,
        /// All of them.
        numbers: Bits,
        /// The number of documents of the reference, which come first.
        references: u32,
    },
    /// Sorted.
    Sorted(Sorted<GroupedLeader>),
}

impl Iterator for LeadersInOrder {
    type Item = Result<GroupedLeader>;

    fn next(&mut self) -> Option<Result<GroupedLeader>> {
        match self {
            LeadersInOrder::Sorted(sorted) => sorted.next(),
            LeadersInOrder::Ascending {
                next,
                numbers,
                references,
            } => {
                let document = (*next)?;
                *next = numbers.next(document.saturating_add(1));
                Some(Ok(GroupedLeader {
                    class: u32::from(document >= *references),
                    document,
                    ..GroupedLeader::zeroed()
                }))
            }
        }
    }
}
