//! The summary of a finished run.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use simtool_core::sketch::Method;
use simtool_corpus::{LeftOut, Source};

use super::largest::LargestCluster;
use super::reports::PairTotals;
use crate::dedup::lower::counts::LowerCounts;
use crate::dedup::settings::job::{DedupJob, EXACT, FEW_SOURCES, NORMALIZED};
use crate::dedup::settings::url_rule::{URL, UrlRule};
use crate::scope::Scope;
use crate::skeleton::job::BatchJob;
use crate::skeleton::summary::{described_source, left_out_json, summary_text};
use crate::skeleton::warning::Warning;
use crate::table::document_table::{DocumentCounts, SourceCounts};
use crate::write::related::RelatedCounts;

/// Counts that add up: seen = kept + dropped + skipped. Documents of the reference, those of
/// `--against`, are counted separately.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DedupSummary {
    /// Documents of each kind.
    pub(crate) counts: DocumentCounts,
    /// Dropped documents, and clusters.
    pub(crate) totals: PairTotals,
    /// Pairs that the method found and verification did not confirm, at most
    /// [`MAX_REFUSALS`](simtool_core::dedup::MAX_REFUSALS) for each document.
    pub refused: u64,
    /// Of these, the pairs that `refused.jsonl` lists.
    pub refused_listed: u64,
    /// Records of WARC files that were dropped with their response.
    pub related: RelatedCounts,
    /// Inputs without a file in `kept/` or `annotated/`, as all their documents were dropped.
    pub unwritten: u64,
    /// Settings without effect, and documents whose characters may be wrong.
    pub warnings: Vec<Warning>,
    /// The shards of each stream, if documents are written as shards.
    pub shards: Option<Value>,
    /// The documents of each source of the input.
    pub(crate) sources: Vec<SourceCounts>,
    /// The largest clusters, by size.
    pub largest: Vec<LargestCluster>,
    /// What lower thresholds would remove.
    pub(crate) lower: LowerCounts,
}

/// The inputs of a run.
pub(crate) struct DedupSummaryInputs<'a> {
    /// All sources, those of the reference first.
    pub sources: &'a [Source],
    /// How many of them are the reference.
    pub references: usize,
    /// A description of known documents, if these take the place of the reference.
    pub known: Option<Value>,
    /// Files that were not read.
    pub left_out: &'a [LeftOut],
    /// A digest of each source.
    pub digests: &'a [u128],
}

impl DedupSummary {
    /// Documents of the input, including skipped ones.
    pub fn seen(&self) -> u64 {
        self.counts.seen
    }

    /// Dropped documents.
    pub fn dropped(&self) -> u64 {
        self.totals.dropped
    }

    /// Documents of the input that could not be read.
    pub fn skipped(&self) -> u64 {
        self.counts.skipped
    }

    /// Documents of the reference, including skipped ones.
    pub fn references(&self) -> u64 {
        self.counts
            .references
            .saturating_add(self.counts.skipped_references)
    }

    /// Documents of the reference that could not be read.
    pub fn skipped_references(&self) -> u64 {
        self.counts.skipped_references
    }

    /// Kept documents.
    pub fn kept(&self) -> u64 {
        self.seen() - self.dropped() - self.skipped()
    }

    /// Clusters of two or more documents.
    pub fn clusters(&self) -> u64 {
        self.totals.clusters
    }

    /// Bytes of text of the documents of the input.
    pub fn text_bytes(&self) -> u64 {
        self.counts.text_bytes
    }

    /// The counts in the parsed text of [`json`](DedupSummary::json); `None` if one without a
    /// default is missing, or if they do not add up.
    pub(crate) fn parse(text: &Value) -> Option<DedupSummary> {
        let number = |value: &Value| value.as_u64();
        let flagged = &text["flagged"];
        let summary = DedupSummary {
            counts: DocumentCounts {
                seen: number(&text["seen"])?,
                references: text["against"]["documents"].as_u64().unwrap_or_default(),
                // An index has no skipped documents.
                skipped_references: text["against"]["skipped"].as_u64().unwrap_or_default(),
                skipped: number(&text["skipped"])?,
                empty: number(&flagged["empty"])?,
                short: number(&flagged["short"])?,
                broken_text: number(&flagged["broken_text"])?,
                unknown_charset: number(&flagged["unknown_charset"]).unwrap_or_default(),
                text_bytes: number(&text["text_bytes"])?,
                ..DocumentCounts::default()
            },
            totals: PairTotals {
                dropped: number(&text["dropped"])?,
                against: number(&text["dropped_against"])?,
                clusters: number(&text["clusters"])?,
                largest_cluster: number(&text["largest_cluster"])?,
                ..PairTotals::default()
            },
            refused: number(&text["refused"])?,
            refused_listed: number(&text["refused_listed"]).unwrap_or_default(),
            related: ["request", "metadata"]
                .map(|kind| text["related_dropped"][kind].as_u64().unwrap_or_default()),
            unwritten: number(&text["unwritten_files"]).unwrap_or_default(),
            warnings: Vec::deserialize(&text["warnings"]).ok()?,
            shards: text
                .get("written")
                .filter(|shards| !shards.is_null())
                .cloned(),
            sources: parse_sources(&text["inputs"])?,
            largest: Vec::deserialize(&text["largest_clusters"]).ok()?,
            lower: LowerCounts::deserialize(&text["lower_thresholds"]).ok()?,
        };
        let gone = summary.dropped().checked_add(summary.skipped())?;
        let kept = summary.seen().checked_sub(gone)?;
        (number(&text["kept"]) == Some(kept)).then_some(summary)
    }

    /// The text of `summary.json`, which depends neither on threads nor on memory or time.
    pub(crate) fn json(
        &self,
        job: &DedupJob,
        method: Option<&dyn Method>,
        inputs: DedupSummaryInputs<'_>,
    ) -> String {
        let DedupSummaryInputs {
            sources,
            references,
            known,
            left_out,
            digests,
        } = inputs;
        let described = || sources.iter().zip(digests).map(described_source);
        let with_counts = |(mut input, counts): (Value, &SourceCounts)| {
            input["seen"] = counts.seen.into();
            input["kept"] = (counts.seen - counts.dropped - counts.skipped).into();
            input["dropped"] = counts.dropped.into();
            input["skipped"] = counts.skipped.into();
            input
        };
        let inputs = described().skip(references).zip(&self.sources);
        let mut settings = job.settings();
        let limit = job.loss_limit.map(|limit| limit.to_string());
        settings["refuse_above"] = limit.into();
        let is_unverified = known.is_some() && job.against_only || job.url == UrlRule::Only;
        if is_unverified {
            // No texts are compared.
            settings["verification"] = Value::Null;
        }
        let against = known.unwrap_or_else(|| {
            json!({
                "documents": self.counts.references,
                "skipped": self.counts.skipped_references,
                "inputs": described().take(references).collect::<Vec<_>>(),
            })
        });
        if let Some(method) = method {
            let chosen: serde_json::Map<String, Value> = method
                .parameters()
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.into()))
                .collect();
            settings["chosen"] = chosen.into();
        }
        let has_groups = job.within != Scope::Global;
        let [requests, metadata] = self.related;
        let text = json!({
            "seen": self.seen(),
            "kept": self.kept(),
            "dropped": self.dropped(),
            "skipped": self.skipped(),
            "flagged": {
                "empty": self.counts.empty,
                "short": self.counts.short,
                "broken_text": self.counts.broken_text,
                "unknown_charset": self.counts.unknown_charset,
                "without_group": has_groups.then_some(self.counts.without_group),
            },
            "dropped_by": dropped_by(job, &self.totals),
            "dropped_against": self.totals.against,
            "related_dropped": {"request": requests, "metadata": metadata},
            "unwritten_files": job.writes_dump().then_some(self.unwritten),
            "written": self.shards,
            "refused": self.refused,
            "refused_listed": job.refused.then_some(self.refused_listed),
            "clusters": self.totals.clusters,
            "largest_cluster": self.totals.largest_cluster,
            "largest_clusters": self.largest,
            "lower_thresholds": self.lower,
            "text_bytes": self.counts.text_bytes,
            "warnings": self.warnings,
            "against": against,
            "settings": settings,
            "left_out": left_out_json(left_out),
            "version": env!("CARGO_PKG_VERSION"),
        });
        summary_text(text, inputs.map(with_counts))
    }
}

fn parse_sources(inputs: &Value) -> Option<Vec<SourceCounts>> {
    let parse = |input: &Value| {
        Some(SourceCounts {
            seen: input["seen"].as_u64()?,
            dropped: input["dropped"].as_u64()?,
            skipped: input["skipped"].as_u64()?,
        })
    };
    inputs.as_array()?.iter().map(parse).collect()
}

/// The number of dropped documents by what found them. Equality and the method have an entry in any
/// case, URLs if they are compared, and few sources if they are a reason; if only URLs are compared,
/// equality and the method have none.
fn dropped_by(job: &DedupJob, totals: &PairTotals) -> Map<String, Value> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    if job.url != UrlRule::Only {
        counts.insert(EXACT.to_owned(), totals.same_text);
        counts.insert(NORMALIZED.to_owned(), totals.same_words);
        // The method may be one of these two.
        *counts.entry(job.method.name()).or_default() += totals.near;
    }
    if job.url != UrlRule::Ignored {
        counts.insert(URL.to_owned(), totals.same_url);
    }
    if job.min_sources > 1 {
        counts.insert(FEW_SOURCES.to_owned(), totals.few_sources);
    }
    let counts = counts.into_iter();
    counts.map(|(name, count)| (name, count.into())).collect()
}
