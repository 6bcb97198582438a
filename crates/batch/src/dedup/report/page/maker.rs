//! The page, from the counts and the shown documents.

use crate::Result;
use crate::dedup::decision::Decision;
use crate::dedup::decisions::decided::StoredDecisions;
use crate::dedup::lower::counts::LowerThreshold;
use crate::dedup::report::reports::DedupReports;
use crate::dedup::settings::job::{ClusterRule, EXACT, FEW_SOURCES, NORMALIZED};
use crate::dedup::settings::url_rule::{URL, UrlRule};
use crate::dedup::settings::verification::Verification;
use crate::scope::Scope;
use crate::skeleton::reading_memory;
use crate::skeleton::warning::Warning;
use crate::table::document_table::DocumentCounts;
use simtool_engine::Resources;
use simtool_engine::spill_space::SpillSpace;
use simtool_report::dedup::{
    self as page, BEGINNING_BYTES, Cluster, ClusterMember, ComparedPair, DedupPage,
    LowerThresholds, MethodRow, PAIR_BYTES, Refused, ShownSites, Totals,
};
use simtool_report::places::{Place, Places};

use super::samples::ClusterSamples;
use super::shown_pairs::{Order, ShownPairs};
use super::shown_texts::ShownTexts;
use super::tally::{EVIDENCE, Tally};

/// The number of refused pairs that are shown.
const REFUSED: usize = 10;

/// The number of pairs that are shown of each lower threshold.
const OF_LOWER: usize = 2;

/// What the page says of the run, besides the documents.
#[derive(Clone, Copy)]
pub struct RunFacts<'a> {
    /// Documents of each kind.
    pub counts: &'a DocumentCounts,
    /// The warnings of the run.
    pub warnings: &'a [Warning],
    /// What lower thresholds would remove.
    pub lower: &'a [LowerThreshold],
    /// The number of files that are not read.
    pub left_out: usize,
    /// The number of documents of the index with which the input is compared, if any.
    pub known: Option<u64>,
    /// The number of sources of the reference, which come first.
    pub references: u32,
}

/// Makes the page of a run.
pub struct DedupPageMaker<'a> {
    /// The reports, whose documents the page names.
    pub reports: &'a DedupReports<'a>,
    /// The decisions.
    pub decided: &'a StoredDecisions,
    /// The run.
    pub facts: RunFacts<'a>,
    /// Threads, memory, temporary space.
    pub resources: &'a Resources,
    /// Memory and temporary space for sorting.
    pub space: SpillSpace<'a>,
}

impl DedupPageMaker<'_> {
    /// The page in HTML. `refused_listed` pairs are in `refused.jsonl`.
    ///
    /// Reads all rows and decisions again, and the texts of at most 100 documents.
    ///
    /// # Errors
    /// Errors of reading and of temporary files; interruption.
    pub fn html(&self, samples: &ClusterSamples, refused_listed: u64) -> Result<Vec<u8>> {
        let DedupReports {
            job,
            table,
            sources,
            progress,
            ..
        } = *self.reports;
        let Verification { least, .. } = job.verification;
        let threshold = self.verifies().then_some(least.thousandths);
        let copies = &self.reports.clusters.copies;
        let is_kept = |decision: &Decision| copies.contains(decision.document);
        let decisions = self.decided.decisions();
        let decisions = decisions.filter(|decision| !decision.as_ref().is_ok_and(is_kept));
        let similarities = (threshold, self.reports.estimates);
        let tally = Tally::count(
            table,
            sources,
            decisions,
            similarities,
            &self.space,
            progress,
        )?;
        let mut refused = ShownPairs::new(REFUSED, Order::MostSimilar);
        for pair in self.decided.refused() {
            refused.add(&pair?);
        }
        let lower: Vec<(&LowerThreshold, ShownPairs)> = (self.facts.lower.iter())
            .map(|threshold| (threshold, least_similar(&threshold.pairs)))
            .collect();
        let of_lower = lower.iter().flat_map(|(_, shown)| shown.pairs());
        let pairs = tally.least_similar.pairs().iter().chain(refused.pairs());
        let pairs = pairs
            .chain(of_lower)
            .flat_map(|pair| [pair.kept, pair.document]);
        let wanted = (pairs.map(|document| (document, PAIR_BYTES))).chain(
            samples
                .documents()
                .map(|document| (document, BEGINNING_BYTES)),
        );
        let text_bytes = self.facts.counts.text_bytes;
        let readers = reading_memory::readers(self.resources, job.reading.max_document_bytes);
        let texts = ShownTexts::read(wanted, self.reports, text_bytes, readers)?;

        let page = DedupPage {
            facts: self.run_facts(),
            totals: self.totals(&tally),
            skipped: skipped(&tally),
            methods: self.methods(&tally),
            sources: self.sources(&tally),
            sites: self.sites(&tally)?,
            sizes: samples.sizes.clone(),
            clusters: self.clusters(samples, &texts)?,
            keeps_a_copy: !job.drop_all,
            is_containment: least.is_containment(),
            similarities: tally.similarities.clone(),
            least_similar: self.pairs(tally.least_similar.pairs(), &texts)?,
            refused: match self.verifies() {
                true => Some(Refused {
                    count: self.decided.refused_count,
                    listed: job.refused.then_some(refused_listed),
                    nearest: self.pairs(refused.pairs(), &texts)?,
                }),
                false => None,
            },
            lower: self.lower(&lower, &texts)?,
            warnings: self.warnings(),
        };
        Ok(page.html())
    }

    fn lower(
        &self,
        lower: &[(&LowerThreshold, ShownPairs)],
        texts: &ShownTexts,
    ) -> Result<Option<LowerThresholds>> {
        if lower.is_empty() {
            return Ok(None);
        }
        let shown = lower.iter().map(|(threshold, shown)| {
            Ok(page::LowerThreshold {
                thousandths: threshold.thousandths,
                removed: threshold.removed,
                pairs: self.pairs(shown.pairs(), texts)?,
            })
        });
        Ok(Some(LowerThresholds {
            sampled: self.decided.lower.sampled,
            of: self.decided.lower.leaders,
            thresholds: shown.collect::<Result<_>>()?,
        }))
    }

    /// Whether proposed pairs are verified by their shingles.
    fn verifies(&self) -> bool {
        let job = self.reports.job;
        let asks_index_only = self.facts.known.is_some() && job.against_only;
        !job.is_by_equality() && !asks_index_only
    }

    fn totals(&self, tally: &Tally) -> Totals {
        let mut totals = Totals::default();
        for source in &tally.sources {
            totals += *source;
        }
        totals
    }

    fn run_facts(&self) -> Vec<(String, String)> {
        let (job, facts) = (self.reports.job, &self.facts);
        let mut list = vec![("method", job.describe())];
        let kept = match (job.drop_all, job.url) {
            (true, _) => "none".to_owned(),
            (false, UrlRule::Only) => "newest".to_owned(),
            (false, _) => job.keep.to_string(),
        };
        list.push(("kept copy", kept));
        if job.keep_copies > 1 {
            list.push((
                "kept copies",
                format!("{} of each cluster", job.keep_copies),
            ));
        }
        if job.min_sources > 1 {
            list.push((
                "sources of a cluster",
                format!("at least {}", job.min_sources),
            ));
        }
        if job.within != Scope::Global {
            list.push(("groups", job.within.to_string()));
        }
        if job.clusters == ClusterRule::Components {
            list.push(("clusters", "components".to_owned()));
        }
        match facts.known {
            Some(known) => list.push(("compared with", format!("an index of {known} documents"))),
            None if facts.references > 0 => {
                let documents = facts.counts.references;
                list.push((
                    "compared with",
                    format!("{documents} documents of --against"),
                ));
            }
            None => {}
        }
        if job.against_only {
            list.push(("within the input", "duplicates are kept".to_owned()));
        }
        let files = self.reports.sources.len() - facts.references as usize;
        list.push(("files", files.to_string()));
        list.push(("simtool", env!("CARGO_PKG_VERSION").to_owned()));
        let list = list.into_iter();
        list.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn methods(&self, tally: &Tally) -> Vec<MethodRow> {
        let method = self.reports.job.method.name();
        let rows: [(&str, &str, u32); EVIDENCE] = [
            (EXACT, "the same text", Decision::SAME_TEXT),
            (
                NORMALIZED,
                "the same words in the same order",
                Decision::SAME_WORDS,
            ),
            (&method, "near, and verified by shingles", Decision::NEAR),
            (&method, "near a document of the index", Decision::KNOWN),
            (
                URL,
                "the same URL as a newer document, whatever the text",
                Decision::SAME_URL,
            ),
            (
                FEW_SOURCES,
                "the first document of a cluster from too few sources",
                Decision::FEW_SOURCES,
            ),
            (FEW_SOURCES, "without duplicates", Decision::ALONE),
        ];
        let rows = rows.into_iter().map(|(name, note, evidence)| {
            let (documents, bytes) = tally.evidence[evidence as usize];
            MethodRow {
                name: name.to_owned(),
                note,
                documents,
                bytes,
            }
        });
        rows.filter(|row| row.documents > 0).collect()
    }

    fn sources(&self, tally: &Tally) -> Places<Totals> {
        let own = self.reports.sources.iter().zip(&tally.sources);
        let own = own.skip(self.facts.references as usize);
        let sources: Vec<(&[u8], Totals)> = own
            .map(|(source, totals)| (source.path.as_os_str().as_encoded_bytes(), *totals))
            .collect();
        Places::largest(
            &sources,
            |totals| totals.seen,
            |totals| totals.dropped,
            |sum, more| *sum += *more,
        )
    }

    fn sites(&self, tally: &Tally) -> Result<Option<ShownSites>> {
        let Some(sites) = &tally.sites else {
            return Ok(None);
        };
        let rows = sites.sites.iter().map(|(first, totals)| {
            let url = self.reports.named(*first)?.url;
            let host = simtool_core::dedup::keep::host(&url);
            Ok(Place {
                name: host.to_ascii_lowercase(),
                files: None,
                totals: *totals,
            })
        });
        let places = Places {
            rows: rows.collect::<Result<_>>()?,
            others: sites.others,
            rest: sites.rest,
        };
        Ok(Some(ShownSites {
            places,
            without: sites.without,
        }))
    }

    fn pairs(&self, pairs: &[Decision], texts: &ShownTexts) -> Result<Vec<ComparedPair>> {
        let method = self.reports.job.method.name();
        let pairs = pairs.iter().map(|pair| {
            let found = match pair.score {
                [bits, 0] => format!("{method}: {bits} different bits"),
                [share, of] => {
                    let estimate = f64::from(share) / f64::from(of);
                    format!("{method}: estimated similarity {estimate:.3}")
                }
            };
            Ok(ComparedPair {
                kept: texts.get(pair.kept)?,
                document: texts.get(pair.document)?,
                verified: pair.verified,
                is_estimated: pair.evidence == Decision::KNOWN && self.reports.estimates,
                found,
            })
        });
        pairs.collect()
    }

    fn clusters(&self, samples: &ClusterSamples, texts: &ShownTexts) -> Result<Vec<Cluster>> {
        let copies = &self.reports.clusters.copies;
        let clusters = samples.samples.iter().map(|sample| {
            let cluster = &sample.cluster;
            let counts = self.reports.clusters.counts(cluster.kept)?;
            let keeps_first = self.reports.keeps(counts);
            let members = sample.members.iter().map(|&(position, document)| {
                let is_first = document == cluster.kept;
                Ok(ClusterMember {
                    position,
                    is_kept: copies.contains(document) || (is_first && keeps_first),
                    document: texts.get(document)?,
                })
            });
            Ok(Cluster {
                size: cluster.size,
                same_text: cluster.same_text,
                same_words: cluster.same_words,
                same_url: cluster.same_url,
                near: cluster.near,
                least: cluster.least,
                members: members.collect::<Result<_>>()?,
            })
        });
        clusters.collect()
    }

    fn warnings(&self) -> Vec<String> {
        let warnings = self.facts.warnings.iter();
        let mut list: Vec<String> = warnings.map(|warning| warning.message.clone()).collect();
        if self.facts.left_out > 0 {
            list.push(format!(
                "{} files and directories were found and not read: summary.json has the reasons \
                 (left_out)",
                self.facts.left_out
            ));
        }
        list
    }
}

/// The pairs of a lower threshold that are shown.
fn least_similar(pairs: &[Decision]) -> ShownPairs {
    let mut shown = ShownPairs::new(OF_LOWER, Order::LeastSimilar);
    pairs.iter().for_each(|pair| shown.add(pair));
    shown
}

/// The reasons with the most skipped documents first.
fn skipped(tally: &Tally) -> Vec<(String, u64)> {
    let reasons = tally.skipped.iter();
    let mut reasons: Vec<(String, u64)> = reasons
        .map(|(reason, count)| (String::from_utf8_lossy(reason).into_owned(), *count))
        .collect();
    reasons.sort_by_key(|(_, count)| u64::MAX - count);
    reasons
}
