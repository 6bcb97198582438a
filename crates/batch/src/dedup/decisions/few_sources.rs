//! `--min-sources`: documents whose cluster comes from too few sources are dropped, too.

use crate::Result;
use crate::dedup::decision::Decision;
use crate::dedup::decisions::origins::Origins;
use crate::dedup::job_context::JobContext;
use crate::dedup::memory;
use crate::table::bits::Bits;
use crate::table::row::Flags;
use simtool_files::{Sorted, Sorter};

/// Rows that are read at a time.
const ROWS: usize = 8192;

/// The decisions together with those about the kept documents of clusters from fewer than
/// `min_sources` sources, and about the documents in no cluster, which have one source. All of
/// these name themselves as their kept document. `decisions` ascend by document; none is about a
/// document that is kept.
///
/// # Errors
/// Errors of reading and of temporary files; interruption.
pub fn with_few_sources(
    decisions: Sorted<Decision>,
    context: &JobContext<'_>,
) -> Result<Sorted<Decision>> {
    let (table, progress) = (context.table(), context.progress());
    let mut sorter = context.space.sorter::<Decision>(memory::DECISIONS);
    let mut in_clusters = Bits::none_of(table.rows.len());
    let mut origins = Origins::new(context);
    let mut cursor = table.cursor();
    for (number, decision) in decisions.enumerate() {
        let decision = decision?;
        if number % ROWS == 0 {
            progress.check()?;
        }
        in_clusters.insert(decision.document);
        origins.add(decision.kept, &cursor.row(decision.document)?)?;
        sorter.push(decision)?;
    }
    for (number, cluster) in origins.finish()?.enumerate() {
        let cluster = cluster?;
        if number % ROWS == 0 {
            progress.check()?;
        }
        in_clusters.insert(cluster.kept);
        if cluster.sources < context.job.min_sources {
            drop_itself(&mut sorter, cluster.kept, Decision::FEW_SOURCES)?;
        }
    }
    table.rows.for_each_block(ROWS, |first, rows| {
        progress.check()?;
        for (number, row) in (first as u32..).zip(rows) {
            if !row.flags.has(Flags::SKIPPED) && !in_clusters.contains(number) {
                drop_itself(&mut sorter, number, Decision::ALONE)?;
            }
        }
        Ok(())
    })?;
    sorter.finish()
}

fn drop_itself(sorter: &mut Sorter<Decision>, document: u32, evidence: u32) -> Result<()> {
    sorter.push(Decision {
        document,
        kept: document,
        evidence,
        score: [0, 0],
        verified: [0, 0],
    })
}
