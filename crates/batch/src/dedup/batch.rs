//! Deduplication as a job with a work directory: its settings, its checks and its files.

use serde_json::{Value, json};

use super::run;
use crate::dedup::decisions::guard::LossGroups;
use crate::dedup::report::pair_tables;
use crate::dedup::report::summary::DedupSummary;
use crate::dedup::settings::containment;
use crate::dedup::settings::job::{ClusterRule, DedupJob, MOST_SHINGLE, PAGE, WriteMode};
use crate::dedup::settings::min_sources;
use crate::dedup::settings::url_rule::UrlRule;
use crate::scope::Scope;
use crate::skeleton::context::RunContext;
use crate::skeleton::invocation::{Against, Invocation};
use crate::skeleton::job::BatchJob;
use crate::skeleton::known_documents::{KnownDocuments, Sketching};
use crate::skeleton::settings::{BatchSettings, REMOVED, WrittenDocuments};
use crate::skeleton::skipped::SKIPPED;
use crate::{Error, ErrorKind, Result};
use simtool_core::kernel::Level;
use simtool_corpus::Source;
use simtool_engine::methods;

impl BatchJob for DedupJob {
    type Summary = DedupSummary;

    fn batch(&self) -> BatchSettings<'_> {
        BatchSettings {
            reading: &self.reading,
            reference_reading: &self.reading,
            dump: self.dump,
            shards: &self.shards,
        }
    }

    /// All settings but the limit of losses.
    fn settings(&self) -> Value {
        json!({
            "method": self.method_name(),
            "parameters": match self.url {
                UrlRule::Only => Value::Null,
                UrlRule::Ignored | UrlRule::First => parameters(self.method.list()),
            },
            "tokenizer": self.tokenizer.to_string(),
            "words": self.tokenizer.definition(),
            "stop_words": self.stop_words.to_string(),
            "verification": {
                "shingle": self.verification.shingle,
                "measure": self.verification.least.measure.name(),
                "similarity": [self.verification.least.thousandths, 1000],
            },
            "clusters": match self.clusters {
                ClusterRule::Star => "star",
                ClusterRule::Components => "components",
            },
            "keep": self.keep.to_string(),
            "within": self.within.to_string(),
            "keep_copies": self.keep_copies,
            "min_sources": self.min_sources,
            "drop_all": self.drop_all,
            "against_only": self.against_only,
            "reading": self.reading,
            "write": self.write.name(),
            "removed": self.removed,
            "write_format": self.shards.format.name(),
            "shards": self.shards.json(),
            "skipped": if self.dump.drops_skipped() { "drop" } else { "keep" },
            "compression_level": self.dump.compression_level,
            "empty_files": self.dump.empty_files,
            "pairs": {"csv": self.pairs.csv, "parquet": self.pairs.parquet},
            "refused": self.refused,
            "page": self.page,
        })
    }

    fn check(&self) -> Result<()> {
        let fields = self.fields();
        if let Some(field) = fields
            .iter()
            .find(|field| !self.reading.fields.contains(field))
        {
            let message = format!("the field {field:?} is needed, but not requested");
            return Err(refuse(message));
        }
        pair_tables::check(self.pairs)?;
        check_shards(self)?;
        check_url(self)?;
        within("keep_copies", self.keep_copies, 1, u32::MAX)?;
        if self.drop_all && self.keep_copies > 1 {
            let message = "keep none keeps no copy, so it cannot be combined with keep_copies";
            return Err(refuse(message.to_owned()));
        }
        min_sources::check(self)?;
        within(
            "similarity (thousandths)",
            self.verification.least.thousandths,
            1,
            1000,
        )?;
        within(
            "verification shingle",
            self.verification.shingle,
            1,
            MOST_SHINGLE,
        )?;
        if self.verification.least.is_containment() {
            check_containment(self)?;
        }
        methods::build_without_statistics(&self.method, self.common(Level::Scalar)).map(drop)
    }

    fn check_against(&self, against: Against<'_>) -> Result<()> {
        let message = match against {
            Against::Itself => return Ok(()),
            _ if self.keep_copies > 1 => {
                "keep_copies counts the copies within the input, so it cannot be combined with \
                 documents to compare with, whose copies are not counted"
            }
            _ if self.min_sources > 1 => {
                "min_sources counts the sources of the input, so it cannot be combined with \
                 documents to compare with, whose sources are not counted"
            }
            Against::Known(known) => return check_known(self, known),
            Against::Documents(_) if self.drop_all => {
                "keep none needs an input that is compared with itself, not with others"
            }
            Against::Documents(_) if self.within == Scope::Source => {
                "the scope source compares no input with another file, so it cannot be combined \
                 with documents to compare with"
            }
            Against::Documents(_) => return Ok(()),
        };
        Err(refuse(message.to_owned()))
    }

    fn check_inputs(&self, inputs: &[Source]) -> Result<()> {
        min_sources::check_inputs(self, inputs)
    }

    fn check_finished(&self, invocation: &Invocation<'_>, summary: &DedupSummary) -> Result<()> {
        match self.loss_limit {
            Some(limit) => {
                let losses = LossGroups::new(invocation.sources, 0);
                losses.check_finished(limit, &summary.sources)
            }
            None => Ok(()),
        }
    }

    fn written(&self) -> WrittenDocuments {
        let is_written = match self.write {
            WriteMode::None | WriteMode::Ids => false,
            WriteMode::Kept => true,
            WriteMode::Annotated => !self.shards.is_used(),
            WriteMode::Text => self.shards.is_used(),
        };
        let directories = [(self.write.name(), is_written), (REMOVED, self.removed)];
        let directories = directories
            .into_iter()
            .filter(|(_, is_written)| *is_written);
        let directories = directories.map(|(name, _)| name).collect();
        WrittenDocuments {
            only_text: self.write == WriteMode::Text,
            marks: self.write == WriteMode::Annotated,
            drops_related: true,
            advice: match self.shards.is_used() {
                true => "choose --write text or ids",
                false => "choose --write ids",
            },
            ..WrittenDocuments::new(directories, &self.shards)
        }
    }

    fn reports(&self) -> Vec<&'static str> {
        let further = [
            ("kept.jsonl", self.write == WriteMode::Ids),
            ("duplicates.csv", self.pairs.csv),
            ("duplicates.parquet", self.pairs.parquet),
            ("refused.jsonl", self.refused),
            (PAGE, self.page),
        ];
        let further = further.into_iter().filter(|(_, is_written)| *is_written);
        let always = [
            "clusters.jsonl",
            "duplicates.jsonl",
            "run.json",
            SKIPPED,
            "summary.json",
            "timings.json",
        ];
        always
            .into_iter()
            .chain(further.map(|(name, _)| name))
            .collect()
    }

    fn stages(&self, run: RunContext<'_>) -> Result<(DedupSummary, String)> {
        run::run(self, run)
    }

    fn parse_summary(text: &Value) -> Option<DedupSummary> {
        DedupSummary::parse(text)
    }
}

/// Refuses settings of shards that have no effect or no meaning.
fn check_shards(job: &DedupJob) -> Result<()> {
    let message = match (job.shards.is_used(), job.write) {
        (false, WriteMode::Text) => {
            "texts are written as shards: choose a write_format other than input"
        }
        (true, WriteMode::Annotated) => {
            "only the inputs in their own format are annotated: choose the write_format input"
        }
        (true, WriteMode::None | WriteMode::Ids) if !job.removed => {
            "a write_format has an effect only where documents are written"
        }
        _ => return Ok(()),
    };
    Err(refuse(message.to_owned()))
}

/// Refuses settings about copies of a text that URLs contradict.
fn check_url(job: &DedupJob) -> Result<()> {
    let message = match job.url {
        UrlRule::Ignored => return Ok(()),
        _ if job.drop_all => {
            "keep none keeps no copy, and url keeps the newest document of each URL, so they \
             cannot be combined (remove one in a run of its own)"
        }
        UrlRule::Only if job.keep_copies > 1 => {
            "keep_copies counts copies of a text, and url compares no texts, so they cannot be \
             combined"
        }
        UrlRule::First | UrlRule::Only => return Ok(()),
    };
    Err(refuse(message.to_owned()))
}

/// Refuses settings that would drop a document for a part of it, or miss a pair.
fn check_containment(job: &DedupJob) -> Result<()> {
    containment::check(&job.method, job.verification, &job.keep)?;
    let message = match (job.clusters, job.drop_all) {
        (ClusterRule::Components, _) => {
            "similarity containment cannot be combined with components: all documents that \
             contain one short text would be one cluster, and all but one would be dropped"
        }
        (ClusterRule::Star, true) => {
            "similarity containment cannot be combined with keep none: a document would be \
             dropped because another one is a part of it"
        }
        (ClusterRule::Star, false) => return Ok(()),
    };
    Err(refuse(message.to_owned()))
}

/// Refuses settings that need more of known documents than their ids and sketches.
fn check_known(job: &DedupJob, known: &dyn KnownDocuments) -> Result<()> {
    let refused = [
        (
            job.within != Scope::Global,
            "documents are compared within groups",
        ),
        (
            job.clusters == ClusterRule::Components,
            "components are formed",
        ),
        (job.drop_all, "no copy is kept"),
        (job.url != UrlRule::Ignored, "URLs are compared"),
        (
            job.verification.least.is_containment(),
            "containment is measured",
        ),
        (
            job.against_only && !job.keep.is_input_order(),
            "the kept copy is chosen",
        ),
    ];
    if let Some((_, what)) = refused.iter().find(|(is_asked, _)| *is_asked) {
        let message = format!("{what} only where all texts can be read, not against an index");
        return Err(Error::new(ErrorKind::Parameter, message));
    }
    known.expect(&Sketching {
        method: &job.method,
        tokenizer: job.tokenizer,
        stop_words: &job.stop_words,
        reading: &job.reading,
    })
}

/// Parameters as JSON: whole numbers as numbers, everything else as text.
fn parameters(list: Vec<(String, String)>) -> Value {
    let value = |text: String| text.parse::<u64>().map_or(Value::from(text), Value::from);
    let fields = list.into_iter().map(|(name, text)| (name, value(text)));
    Value::Object(fields.collect())
}

fn within<T: PartialOrd + Copy + std::fmt::Display>(
    name: &str,
    value: T,
    least: T,
    most: T,
) -> Result<()> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(refuse(format!(
            "{name} {value}: expected {least} to {most}"
        ))),
    }
}

fn refuse(message: String) -> Error {
    Error::new(ErrorKind::Parameter, message)
}
