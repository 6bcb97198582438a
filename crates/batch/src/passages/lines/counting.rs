//! Counts of units, and the ranges that are removed for them.

use super::group::UnitOccurrences;
use super::job::Rule;
use super::occurrence::Occurrence;
use crate::Result;
use crate::passages::decisions::ranges::{RemovedRange, Why};
use crate::passages::decisions::repeated::{MostFrequent, Repeated, RepeatedTotals};
use crate::passages::settings::kept_occurrence::KeptOccurrence;
use simtool_engine::Progress;
use simtool_engine::spill_space::SpillSpace;
use simtool_files::{Sorted, Sorter};

/// Groups between two looks at whether to stop.
const CHECKED_GROUPS: u64 = 1 << 16;

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
    /// Counts the units of sorted `occurrences`, and pushes the removed ranges to `ranges`.
    ///
    /// # Errors
    /// Errors of temporary files; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted).
    pub fn count(
        &self,
        occurrences: Sorted<Occurrence>,
        ranges: Sorter<RemovedRange>,
    ) -> Result<CountedUnits> {
        let mut found = CountingState {
            ranges,
            most_frequent: MostFrequent::new(self.listed),
            totals: RepeatedTotals::default(),
        };
        let mut group = UnitOccurrences::new(self.space);
        let mut key = [0; 2];
        let mut groups = 0u64;
        for occurrence in occurrences {
            let occurrence = occurrence?;
            if occurrence.key != key && group.counts.count > 0 {
                groups += 1;
                if groups.is_multiple_of(CHECKED_GROUPS) {
                    self.progress.check()?;
                }
                self.end(&mut group, &mut found)?;
            }
            key = occurrence.key;
            group.push(occurrence)?;
        }
        self.end(&mut group, &mut found)?;
        Ok(CountedUnits {
            ranges: found.ranges.finish()?,
            most_frequent: found.most_frequent.into_sorted(),
            totals: found.totals,
        })
    }

    /// Decides about the occurrences of a unit, and removes them from the group.
    fn end(&self, group: &mut UnitOccurrences<'_>, found: &mut CountingState) -> Result<()> {
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
            found.ranges.push(RemovedRange {
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

/// The results so far.
struct CountingState {
    ranges: Sorter<RemovedRange>,
    most_frequent: MostFrequent,
    totals: RepeatedTotals,
}
