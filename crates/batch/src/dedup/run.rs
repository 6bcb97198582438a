//! A deduplication from the first reading to the summary. Results of stages that an interrupted run
//! finished are loaded from the work directory.

use crate::Result;
use simtool_core::sketch::{Method, SignedMethod};
use simtool_engine::Stage;
use simtool_engine::units::units;

use super::decisions::clusters::Clusters;
use super::decisions::decide::decide;
use super::decisions::decided::StoredDecisions;
use super::decisions::guard::LossGroups;
use super::first_reading::{method, sketching};
use super::groups::keep_ranks::KeepKeys;
use super::job_context::JobContext;
use super::lower::counts::{LowerCounts, lower_thresholds};
use super::lower::thresholds::thresholds;
use super::marks::ClusterMarks;
use super::memory;
use super::report::beginnings::Beginnings;
use super::report::largest::Shown;
use super::report::page::RunFacts;
use super::report::reported::Reported;
use super::report::summary::{self, DedupSummary};
use super::report::write;
use super::settings::job::DedupJob;
use super::settings::warnings::warnings;
use crate::skeleton::context::RunContext;
use crate::skeleton::run_documents::RunDocuments;
use crate::skeleton::summary::digests;
use crate::table::bits::Bits;
use crate::table::document_table::DocumentTable;
use crate::table::numbering::Numbering;
use crate::table::segment_store::SegmentStore;
use crate::write::documents::{Output, WriteReport};
use crate::write::edits::{Edits, Marks};

/// Runs all stages; returns the summary and the text of `summary.json`.
///
/// # Errors
/// Errors of reading and writing; changed inputs, too little memory and interruption.
pub fn run(job: &DedupJob, run: RunContext<'_>) -> Result<(DedupSummary, String)> {
    let RunContext { work, progress, .. } = run;
    let signed = method::of(job, &run)?;
    let signed = signed.as_ref();
    let method = signed.map(SignedMethod::plain);
    let coarse = match run.known {
        // Sketches are compared with those of the index.
        Some(_) => None,
        None => method.and_then(|method| method.coarse()),
    };
    let coarse = coarse.map(|method| SignedMethod::new(method, None));
    let stored = coarse.as_ref().or(signed);
    let mut store = SegmentStore::open(work, progress)?;
    if !store.is_complete() {
        let method = stored.map(|stored| stored as &dyn Method);
        sketching::sketch(job, method, &run, &mut store)?;
    }

    progress.begin(Stage::Gather, 0);
    let table = DocumentTable::of(&store.finish()?)?;
    let (counts, mut sources, doubts) = table.counts(run.sources, progress)?;
    let units = units(run.sources);
    let numbering = Numbering::new(&table.chunks, run.sources.len(), &units)?;
    let chunks = table.chunks.len() as u64;
    let table_bytes = memory::reserve_tables(run.resources, chunks, numbering.documents())?;
    let space = memory::space(run.resources, table_bytes);
    let keys = KeepKeys::of(job, &table, &space, progress)?;
    progress.end(0);
    let context = JobContext {
        job,
        documents: RunDocuments {
            run,
            table: &table,
            numbering: &numbering,
        },
        keys: &keys,
        space,
    };

    let decided = match StoredDecisions::load(work, progress)? {
        Some(decided) => decided,
        None => StoredDecisions::store(work, decide(context, signed.zip(stored))?, progress)?,
    };

    progress.begin(Stage::Report, 0);
    let references = run.references as usize;
    let losses = LossGroups::new(run.sources, references);
    let clusters = Clusters::of(decided.decisions(), context, &losses.of)?;
    for (source, dropped) in sources.iter_mut().zip(&clusters.dropped_of) {
        source.dropped = *dropped;
    }
    let sources = sources.split_off(references);
    let shown = Shown {
        table: &table,
        known: decided.known.as_ref(),
        beginnings: Beginnings {
            sources: run.sources,
            reading: &job.reading,
            progress,
        },
    };
    if let Some(limit) = job.loss_limit {
        losses.check(limit, &sources, &clusters, &shown)?;
    }
    let largest = shown.largest(&clusters)?;
    let dropped = dropped(&context, &decided, &clusters)?;
    let lower = lower_thresholds(thresholds(job), &decided.lower, &dropped);
    let warnings = warnings(job, &counts, &keys.without, &doubts, run.sources);
    let reported = match Reported::load(work, run.out)? {
        Some(reported) => reported,
        None => {
            let facts = RunFacts {
                counts: &counts,
                warnings: &warnings,
                lower: &lower,
                left_out: run.left_out.len(),
                known: run.known.map(|known| known.documents()),
                references: run.references,
            };
            write::reports(context, method, (&decided, &clusters), &dropped, facts)?
        }
    };
    progress.end(0);

    let written = write_documents(&context, (&decided, &clusters), &dropped)?;

    let summary = DedupSummary {
        warnings,
        counts,
        totals: reported.totals,
        refused: decided.refused_count,
        refused_listed: reported.refused_listed,
        related: written.related,
        unwritten: written.unwritten.unwrap_or_default(),
        shards: written.shards,
        sources,
        largest,
        lower: LowerCounts::of(&decided.lower, &lower),
    };
    let digests = digests(&table.chunks, run.sources.len());
    let inputs = summary::DedupSummaryInputs {
        sources: run.sources,
        references,
        known: run.known.map(|known| known.describe()),
        left_out: run.left_out,
        digests: &digests,
    };
    let text = summary.json(job, method, inputs);
    Ok((summary, text))
}

/// The dropped documents: those that decisions are about, without the copies that are kept.
fn dropped(
    context: &JobContext<'_>,
    decided: &StoredDecisions,
    clusters: &Clusters,
) -> Result<Bits> {
    let mut dropped = Bits::none_of(context.documents.numbering.documents());
    for decision in decided.decisions() {
        let document = decision?.document;
        if document.is_multiple_of(8192) {
            context.progress().check()?;
        }
        if !clusters.copies.contains(document) {
            dropped.insert(document);
        }
    }
    Ok(dropped)
}

/// Writes documents, if the job does.
fn write_documents(
    context: &JobContext<'_>,
    (decided, clusters): (&StoredDecisions, &Clusters),
    dropped: &Bits,
) -> Result<WriteReport> {
    let marks = match context.run().written.marks {
        true => Some(ClusterMarks {
            decisions: decided.by_document()?,
            clusters,
            table: context.table(),
            known: decided.known.as_ref(),
        }),
        false => None,
    };
    let marks = marks.as_ref().map(|marks| marks as &dyn Marks);
    let output = Output {
        documents: context.documents,
        edits: marks.map_or(Edits::None, Edits::Marks),
        reading: &context.job.reading,
    };
    output.write(dropped)
}
