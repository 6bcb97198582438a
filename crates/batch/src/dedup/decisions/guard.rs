//! The guard against runs that would drop too many documents of a source.

use std::fmt::Write;

use crate::{Error, ErrorKind, Result};
use simtool_corpus::Source;

use super::clusters::Clusters;
use crate::dedup::report::largest::Shown;
use crate::dedup::settings::loss_limit::LossLimit;
use crate::scope::{numbered_sources, path_of};
use crate::table::document_table::SourceCounts;

/// The sources whose losses are counted together: the input files, and the files of a directory that
/// are one document each.
pub(crate) struct LossGroups {
    /// The name of each group.
    names: Vec<String>,
    /// The group of each source; those of the reference lose nothing.
    pub of: Vec<u32>,
}

/// The most sources that a message describes.
const MOST_DESCRIBED: usize = 3;

impl LossGroups {
    /// The groups of all sources, of which the first `references` are the reference.
    pub fn new(sources: &[Source], references: usize) -> LossGroups {
        let (of_reference, own) = sources.split_at(references.min(sources.len()));
        let mut groups = LossGroups {
            names: Vec::new(),
            of: vec![0; of_reference.len()],
        };
        for (source, number) in own.iter().zip(numbered_sources(own)) {
            if groups.names.len() == number as usize {
                groups
                    .names
                    .push(path_of(source).to_string_lossy().into_owned());
            }
            groups.of.push(number);
        }
        groups
    }

    /// The groups that lose more than `limit`, with their dropped and read documents; the largest
    /// share first.
    fn exceeding(&self, limit: LossLimit, sources: &[SourceCounts]) -> Vec<(usize, u64, u64)> {
        let mut totals = vec![(0u64, 0u64); self.names.len()];
        // Those of the reference are not among the counts.
        let groups = self
            .of
            .iter()
            .skip(self.of.len() - sources.len().min(self.of.len()));
        for (group, source) in groups.zip(sources) {
            let total = &mut totals[*group as usize];
            total.0 += source.dropped;
            total.1 += source.seen - source.skipped;
        }
        let all = totals.into_iter().enumerate();
        let mut found: Vec<(usize, u64, u64)> = all
            .map(|(group, (dropped, read))| (group, dropped, read))
            .filter(|&(_, dropped, read)| limit.is_exceeded_by(dropped, read))
            .collect();
        // The sort is stable, so equal shares stay in input order.
        found.sort_by(|a, b| {
            (u128::from(b.1) * u128::from(a.2)).cmp(&(u128::from(a.1) * u128::from(b.2)))
        });
        found
    }

    /// Refuses a finished run that dropped more than `limit` of a source.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] naming the sources.
    pub fn check_finished(&self, limit: LossLimit, sources: &[SourceCounts]) -> Result<()> {
        let found = self.exceeding(limit, sources);
        if found.is_empty() {
            return Ok(());
        }
        let message = format!(
            "the output of an earlier run without this limit is complete, and it lost {}\n(add \
             --restart to make it again, or another output directory)",
            self.lines(limit, &found, |_| Ok(String::new()))?
        );
        Err(Error::new(ErrorKind::Parameter, message))
    }

    /// Refuses to write the output of a run that drops more than `limit` of a source.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] naming the sources and the clusters that most of the dropped
    /// documents are in; those of reading work files.
    pub fn check(
        &self,
        limit: LossLimit,
        sources: &[SourceCounts],
        clusters: &Clusters,
        shown: &Shown<'_>,
    ) -> Result<()> {
        let found = self.exceeding(limit, sources);
        if found.is_empty() {
            return Ok(());
        }
        let worst = |group: usize| {
            let mut lines = String::new();
            for &(dropped, kept) in &clusters.losses[group].worst {
                let document = shown.document(kept)?;
                let _ = write!(
                    lines,
                    "\n    {dropped} as duplicates of {}",
                    one_line(&document.id)
                );
                if let Some(beginning) = document.beginning {
                    let _ = write!(lines, ": {beginning}");
                }
            }
            match clusters.losses[group].alone {
                0 => {}
                alone => {
                    let _ = write!(lines, "\n    {alone} without duplicates");
                }
            }
            Ok(lines)
        };
        let message = format!(
            "nothing was written, as the input would lose {}\n(check these duplicates; the same \
             command with another limit, or without one, goes on from the decisions)",
            self.lines(limit, &found, worst)?
        );
        Err(Error::new(ErrorKind::Parameter, message))
    }

    fn lines(
        &self,
        limit: LossLimit,
        found: &[(usize, u64, u64)],
        details: impl Fn(usize) -> Result<String>,
    ) -> Result<String> {
        let (count, all) = (found.len(), self.names.len());
        let mut text = format!("more than {limit} of {count} of {all} sources:");
        for &(group, dropped, read) in found.iter().take(MOST_DESCRIBED) {
            let percent = dropped as f64 * 100.0 / read.max(1) as f64;
            let name = one_line(&self.names[group]);
            let _ = write!(
                text,
                "\n  {name}: {dropped} of {read} documents ({percent:.1}%)"
            );
            text += &details(group)?;
        }
        if let Some(more @ 1..) = count.checked_sub(MOST_DESCRIBED) {
            let _ = write!(text, "\n  and {more} more");
        }
        Ok(text)
    }
}

/// Text of the input on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
