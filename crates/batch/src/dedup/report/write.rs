//! All reports of a run, one after another.

use super::cluster_lines::clusters as clusters_report;
use super::page::{ClusterSamples, DedupPageMaker, RunFacts};
use super::reported::Reported;
use super::reports::DedupReports;
use crate::Result;
use crate::dedup::decisions::clusters::Clusters;
use crate::dedup::decisions::decided::StoredDecisions;
use crate::dedup::job_context::JobContext;
use crate::dedup::settings::job::{PAGE, WriteMode};
use crate::report_lines;
use crate::skeleton::skipped::{SKIPPED, write_skipped};
use crate::table::bits::Bits;
use simtool_core::sketch::{Method, Shape};

/// Writes the reports that the job requests, and notes that they are complete.
///
/// # Errors
/// Errors of reading and writing; interruption.
pub fn reports(
    context: JobContext<'_>,
    method: Option<&dyn Method>,
    (decided, clusters): (&StoredDecisions, &Clusters),
    dropped: &Bits,
    facts: RunFacts<'_>,
) -> Result<Reported> {
    let (job, run) = (context.job, context.run());
    let outputs = run.work.outputs();
    let reports = DedupReports {
        job,
        table: context.table(),
        known: decided.known.as_ref(),
        estimates: run.known.is_some_and(|known| known.estimates()),
        clusters,
        references: context.documents.references(),
        sources: run.sources,
        has_distances: method.is_some_and(|method| matches!(method.shape(), Shape::Bits { .. })),
        outputs,
        progress: run.progress,
    };
    let path = |name: &str| run.out.join(name);
    let decisions = decided.decisions();
    let duplicates = path("duplicates.jsonl");
    let (mut totals, members) = reports.duplicates(decisions, &duplicates, &context.space)?;
    let mut samples = ClusterSamples::new(&clusters.largest);
    let note = |members: &[u32]| samples.add(members);
    clusters_report(
        &reports,
        members,
        &path("clusters.jsonl"),
        &mut totals,
        note,
    )?;
    let refused_listed = match job.refused {
        true => reports.refused(decided.refused(), &path("refused.jsonl"))?,
        false => 0,
    };
    let file = (outputs, &*path(SKIPPED));
    write_skipped(context.table(), run.sources, file, run.progress)?;
    if job.write == WriteMode::Ids {
        reports.kept_ids(dropped, &path("kept.jsonl"))?;
    }
    if job.page {
        let maker = DedupPageMaker {
            reports: &reports,
            decided,
            facts,
            resources: run.resources,
            space: context.space,
        };
        let html = maker.html(&samples, refused_listed)?;
        let mut file = outputs.create(&path(PAGE))?;
        report_lines::write(&mut file, &html)?;
        file.publish()?;
    }
    let reported = Reported {
        totals,
        refused_listed,
    };
    reported.store(run.work)?;
    Ok(reported)
}
