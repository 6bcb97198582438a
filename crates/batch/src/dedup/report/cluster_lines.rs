//! The lines of clusters, whose members several threads format.

use std::io::Write;
use std::path::Path;

use super::reports::{BATCH, Cursors, DedupReports, Member, PairTotals};
use crate::Result;
use crate::report_lines::{ReportLines, failed};
use simtool_files::{AtomicFile, Sorted};
use simtool_report::json_lines;

/// Writes `clusters.jsonl`, ordered by the number of the kept document. Adds the clusters to
/// `totals`. `note` gets the documents of each, the kept one first.
///
/// # Errors
/// Errors of reading and writing; interruption.
pub fn clusters(
    reports: &DedupReports<'_>,
    members: Sorted<Member>,
    path: &Path,
    totals: &mut PairTotals,
    mut note: impl FnMut(&[u32]),
) -> Result<()> {
    let mut lines = ClusterLines::new(reports, reports.outputs.create(path)?);
    let mut end = |cluster: &[u32]| {
        totals.clusters += 1;
        totals.largest_cluster = totals.largest_cluster.max(cluster.len() as u64);
        note(cluster);
        lines.add(cluster)
    };
    let mut cluster: Vec<u32> = Vec::new();
    for member in members {
        let [kept, document] = member?;
        if cluster.first().is_some_and(|&first| first != kept) {
            end(&cluster)?;
            cluster.clear();
        }
        if cluster.is_empty() {
            cluster.push(kept);
        }
        if document != kept {
            cluster.push(document);
        }
    }
    if !cluster.is_empty() {
        end(&cluster)?;
    }
    lines.publish()
}

/// A member of a cluster, and the first one of it.
struct ListedMember {
    first: u32,
    number: u32,
    is_last: bool,
}

/// The lines of clusters.
struct ClusterLines<'a> {
    reports: &'a DedupReports<'a>,
    file: AtomicFile,
    lines: ReportLines,
    /// Members that are not written yet.
    batch: Vec<ListedMember>,
}

impl<'a> ClusterLines<'a> {
    /// Writes to `file`.
    fn new(reports: &'a DedupReports<'a>, file: AtomicFile) -> ClusterLines<'a> {
        ClusterLines {
            reports,
            file,
            lines: ReportLines::new(),
            batch: Vec::new(),
        }
    }

    /// Adds a cluster, which may be large.
    fn add(&mut self, members: &[u32]) -> Result<()> {
        let (Some(&first), Some(&last)) = (members.first(), members.last()) else {
            return Ok(());
        };
        for &number in members {
            self.batch.push(ListedMember {
                first,
                number,
                is_last: number == last,
            });
            if self.batch.len() >= BATCH {
                self.write()?;
            }
        }
        Ok(())
    }

    /// Publishes the file.
    fn publish(mut self) -> Result<()> {
        self.write()?;
        self.file.publish()
    }

    /// Writes the members of the batch.
    fn write(&mut self) -> Result<()> {
        let reports = self.reports;
        reports.progress.check()?;
        let start = || reports.cursors();
        let line = |cursors: &mut Cursors<'_>, listed: &ListedMember, most, out: &mut dyn Write| {
            write_member(reports, listed, most, cursors, out)
        };
        self.lines.write(&self.batch, &mut self.file, start, line)?;
        self.batch.clear();
        Ok(())
    }
}

/// Writes a member of a cluster to its line and returns true, unless its label has more than `most`
/// bytes. The first one is kept, unless the job keeps no copy, or the members come from too few
/// sources.
fn write_member(
    reports: &DedupReports<'_>,
    listed: &ListedMember,
    most: usize,
    Cursors([firsts, others]): &mut Cursors<'_>,
    out: &mut dyn Write,
) -> Result<bool> {
    let ListedMember {
        first,
        number,
        is_last,
    } = *listed;
    let is_first = number == first;
    let cursor = if is_first { firsts } else { others };
    let Some(document) = reports.document(number, most, cursor)? else {
        return Ok(false);
    };
    let mut is_kept = reports.clusters.copies.contains(number);
    if is_first {
        let counts = reports.clusters.counts(first)?;
        is_kept = reports.keeps(counts);
        let kept = is_kept.then_some(&document.id[..]);
        json_lines::begin_cluster(first.into(), kept, counts, out).map_err(failed)?;
    }
    json_lines::member(&document.member(is_kept), is_first, out).map_err(failed)?;
    if is_last {
        json_lines::end_cluster(out).map_err(failed)?;
    }
    Ok(true)
}
