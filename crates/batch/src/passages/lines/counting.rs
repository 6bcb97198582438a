//! Counts of units, and the ranges that are removed for them.

use super::group::{MOST_HELD, UnitOccurrences};
use super::job::Rule;
use super::occurrence::Occurrence;
use crate::Result;
use crate::passages::decisions::ranges::{RemovedRange, Why};
use crate::passages::decisions::repeated::{MostFrequent, Repeated, RepeatedTotals};
use crate::passages::settings::kept_occurrence::KeptOccurrence;
use simtool_engine::Progress;
use simtool_engine::spill_space::SpillSpace;
use simtool_engine::tasks;
use simtool_files::{Sorted, SortedPart, SortedParts, Sorter};

/// Groups between two looks at whether to stop.
const CHECKED_GROUPS: u64 = 1 << 16;
/// Ranges that are passed on at a time.
const BLOCK: usize = 1 << 12;

/// The results of counting.
pub struct CountedUnits {
    /// The ranges that are removed, which may overlap.
    pub ranges: Sorted<RemovedRange>,
    /// The most frequent units, in order.
    pub most_frequent: Vec<Repeated>,
    /// Totals.
    pub totals: RepeatedTotals,
}

/// Counts the occurrences of units.
pub struct UnitCounter<'a> {
    /// Which units are removed.
    pub rule: &'a Rule,
    /// The number of documents to compare with, which are the first ones and lose nothing.
    pub references: u32,
    /// The most units in the list.
    pub listed: usize,
    /// Temporary space.
    pub space: SpillSpace<'a>,
    /// Stops the run.
    pub progress: &'a Progress,
}

impl UnitCounter<'_> {
    /// Counts the units of `occurrences`, and pushes the removed ranges to `ranges`. Each part has all
    /// occurrences of its units. Uses as many threads as there are parts.
    ///
    /// # Errors
    /// Errors of temporary files; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn count(
        &self,
        occurrences: &SortedParts<Occurrence>,
        mut ranges: Sorter<RemovedRange>,
    ) -> Result<CountedUnits> {
        let parts: Vec<usize> = (0..occurrences.count()).collect();
        let most_held = (MOST_HELD / parts.len().max(1)).max(1);
        let work = |part, pass_on: &mut dyn FnMut(Vec<RemovedRange>) -> Result<()>| {
            let mut found = CountingState {
                ranges: Vec::new(),
                pass_on,
                most_frequent: MostFrequent::new(self.listed),
                totals: RepeatedTotals::default(),
            };
            self.count_part(occurrences.part(part)?, most_held, &mut found)?;
            (found.pass_on)(found.ranges)?;
            Ok((found.most_frequent, found.totals))
        };
        let collect = |found: Vec<RemovedRange>| ranges.push_all(&found);
        let counted = tasks::collect_from(parts.len(), parts, work, collect)?;
        let mut most_frequent = MostFrequent::new(self.listed);
        let mut totals = RepeatedTotals::default();
        for (own, counts) in counted {
            own.into_sorted()
                .into_iter()
                .for_each(|unit| most_frequent.note(unit));
            totals.different += counts.different;
            totals.occurrences += counts.occurrences;
            totals.removed += counts.removed;
        }
        Ok(CountedUnits {
            ranges: ranges.finish()?,
            most_frequent: most_frequent.into_sorted(),
            totals,
        })
    }

    fn count_part(
        &self,
        occurrences: SortedPart<'_, Occurrence>,
        most_held: usize,
        found: &mut CountingState<'_>,
    ) -> Result<()> {
        let mut group = UnitOccurrences::new(self.space, most_held);
        let mut key = [0; 2];
        let mut groups = 0u64;
        for occurrence in occurrences {
            let occurrence = occurrence?;
            if occurrence.key != key && group.counts.count > 0 {
                groups += 1;
                if groups.is_multiple_of(CHECKED_GROUPS) {
                    self.progress.check()?;
                }
                self.end(&mut group, found)?;
            }
            key = occurrence.key;
            group.push(occurrence)?;
        }
        self.end(&mut group, found)
    }

    /// Decides about the occurrences of a unit, and removes them from the group.
    fn end(&self, group: &mut UnitOccurrences<'_>, found: &mut CountingState<'_>) -> Result<()> {
        let counts = group.counts;
        let Some(first) = counts.first else {
            return Ok(());
        };
        let is_reference = |occurrence: &Occurrence| occurrence.document < self.references;
        let (keeps_first, why) = match self.rule {
            Rule::Repeated { threshold, .. }
                if !threshold.is_reached_by(counts.count, counts.documents) =>
            {
                group.clear();
                return Ok(());
            }
            Rule::Repeated { keep, .. } => match is_reference(&first) {
                true => (*keep == KeptOccurrence::First, Why::Against),
                false => (*keep == KeptOccurrence::First, Why::Repeated),
            },
            Rule::Listed(_) => (false, Why::Listed),
        };
        let sites = group.sites();
        let (mut removed, mut removed_bytes) = (0, 0);
        let mut is_first = true;
        group.drain(|occurrence| {
            let stays = keeps_first && std::mem::take(&mut is_first);
            if stays || is_reference(occurrence) {
                return Ok(());
            }
            removed += 1;
            removed_bytes += u64::from(occurrence.length);
            found.remove(RemovedRange {
                document: occurrence.document,
                start: occurrence.start,
                length: occurrence.length,
                why: why as u32,
                count: counts.count,
            })
        })?;
        if removed == 0 {
            return Ok(());
        }
        found.totals.different += 1;
        found.totals.occurrences += counts.count;
        found.totals.removed += removed;
        found.most_frequent.note(Repeated {
            count: counts.count,
            removed,
            removed_bytes,
            documents: counts.documents,
            sites,
            document: first.document,
            start: first.start,
            length: first.length,
            _reserved: 0,
        });
        Ok(())
    }
}

/// The results of a part so far; ranges are passed on in blocks.
struct CountingState<'a> {
    ranges: Vec<RemovedRange>,
    pass_on: &'a mut dyn FnMut(Vec<RemovedRange>) -> Result<()>,
    most_frequent: MostFrequent,
    totals: RepeatedTotals,
}

impl CountingState<'_> {
    fn remove(&mut self, range: RemovedRange) -> Result<()> {
        self.ranges.push(range);
        match self.ranges.len() >= BLOCK {
            true => (self.pass_on)(std::mem::take(&mut self.ranges)),
            false => Ok(()),
        }
    }
}
