//! The settings of a deduplication.

use crate::Result;
use crate::shards::ShardSettings;
use simtool_core::dedup::keep::{KeepOrder, Policy};
use simtool_core::kernel::Level;
use simtool_core::search::join::SketchJoin;
use simtool_core::sketch::Method;
use simtool_core::sketch::registry::Spec;
use simtool_core::text::{Choice, Measure, WordSet};
use simtool_corpus::Reading;
use simtool_engine::methods::{self, Common};

use super::containment;
use super::loss_limit::LossLimit;
use super::url_rule::{URL, UrlRule};
use super::verification::Verification;
use crate::scope::{LANGUAGE_FIELDS, Scope};
use crate::skeleton::job::BatchJob;
use crate::table::columns::Columns;
use crate::write::settings::DumpSettings;

/// The settings that determine the output, besides the inputs and what they are compared with.
#[derive(Clone, Debug)]
pub struct DedupJob {
    /// How URLs decide, before texts are compared.
    pub url: UrlRule,
    /// How candidates are found.
    pub method: Spec,
    /// What a word is.
    pub tokenizer: Choice,
    /// The words that methods with stop words leave out.
    pub stop_words: WordSet,
    /// When two candidates are duplicates.
    pub verification: Verification,
    /// How verified pairs form clusters.
    pub clusters: ClusterRule,
    /// Which copy is kept.
    pub keep: KeepOrder,
    /// Which documents are compared with each other.
    pub within: Scope,
    /// The number of copies of a cluster that are kept, the first in keep order; at least one.
    pub keep_copies: u32,
    /// The least number of sources that the documents of a cluster come from: clusters from fewer are
    /// dropped, and so are documents without duplicates if it is more than one.
    pub min_sources: u32,
    /// Whether no copy is kept at all.
    pub drop_all: bool,
    /// Whether duplicates within the input are kept, if it is compared with other documents.
    pub against_only: bool,
    /// How inputs are read.
    pub reading: Reading,
    /// What is written besides the reports.
    pub write: WriteMode,
    /// Whether the removed documents are written too.
    pub removed: bool,
    /// How the files of `kept/` and `annotated/` are written.
    pub dump: DumpSettings,
    /// How documents are written as one stream of records, cut into shards.
    pub shards: ShardSettings,
    /// Further formats of the list of pairs.
    pub pairs: PairForms,
    /// Whether pairs that verification did not confirm are listed.
    pub refused: bool,
    /// The largest share of a source that may be dropped. It stops a run before its output is
    /// written and does not change the output, so a run may resume with another limit.
    pub loss_limit: Option<LossLimit>,
    /// Whether a page for people is written.
    pub page: bool,
}

/// How verified pairs form clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum ClusterRule {
    /// Each document is compared with the kept one.
    #[default]
    Star,
    /// Documents that a chain of duplicates connects.
    Components,
}

/// What is written besides the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum WriteMode {
    /// Nothing.
    None,
    /// The ids of the kept documents.
    Ids,
    /// The input without duplicates.
    Kept,
    /// The input with a mark on each duplicate.
    Annotated,
    /// The texts of the kept documents, with what is known of each.
    Text,
}

impl WriteMode {
    /// The name that flags and reports use.
    pub fn name(self) -> &'static str {
        match self {
            WriteMode::None => "none",
            WriteMode::Ids => "ids",
            WriteMode::Kept => "kept",
            WriteMode::Annotated => "annotated",
            WriteMode::Text => "text",
        }
    }
}

/// Further formats of the list of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairForms {
    /// `duplicates.csv`.
    pub csv: bool,
    /// `duplicates.parquet`.
    pub parquet: bool,
}

impl DedupJob {
    /// The rule of URLs and the method, as flags name them.
    pub fn method_name(&self) -> String {
        match self.url {
            UrlRule::Ignored => self.method.name(),
            UrlRule::First => format!("{URL} then {}", self.method.name()),
            UrlRule::Only => URL.to_owned(),
        }
    }

    /// Whether documents are compared for equality alone, without sketches.
    pub fn is_by_equality(&self) -> bool {
        let name = self.method.name();
        self.url == UrlRule::Only || [EXACT, NORMALIZED].contains(&name.as_str())
    }

    /// Whether the method may compare each document with a part of all others, so that its time grows
    /// with the square of their number.
    pub fn may_compare_many(&self, level: Level) -> bool {
        if self.is_by_equality() {
            return false;
        }
        let method = methods::build_without_statistics(&self.method, self.common(level));
        method.is_ok_and(|method| !SketchJoin::of(&*method).is_some_and(SketchJoin::decides))
    }

    /// Whether the run writes its inputs again.
    pub(crate) fn writes_dump(&self) -> bool {
        !self.shards.is_used() && matches!(self.write, WriteMode::Kept | WriteMode::Annotated)
    }

    /// Whether the run writes a file for each input.
    pub(crate) fn writes_files(&self) -> bool {
        !self.written().files.is_empty()
    }

    /// Whether the run writes documents, in any form.
    pub(crate) fn writes_documents(&self) -> bool {
        self.removed || !matches!(self.write, WriteMode::None | WriteMode::Ids)
    }

    /// A description for the user: the method with its parameters, and the verification.
    pub fn describe(&self) -> String {
        let pages = "Equal URLs: the newest document stays";
        match self.url {
            UrlRule::Only => pages.to_owned(),
            UrlRule::First => format!("{pages}; then {}", self.describe_method()),
            UrlRule::Ignored => self.describe_method(),
        }
    }

    fn describe_method(&self) -> String {
        if self.is_by_equality() {
            return self.method.summary();
        }
        let Verification { shingle, least } = self.verification;
        let verified = match least.measure {
            Measure::Resemblance => format!("of the shingles of {shingle} words in common"),
            Measure::Containment => format!(
                "of the shingles of {shingle} words of a dropped document are in the kept one"
            ),
        };
        let method = self.common(Level::Scalar);
        let chosen = methods::build_without_statistics(&self.method, method);
        let chosen = chosen.map_or(Vec::new(), |method| method.parameters());
        let chosen = chosen.iter().map(|(name, value)| format!("{name} {value}"));
        format!(
            "{} ({}); verified: {} {verified}",
            self.method.name(),
            chosen.collect::<Vec<_>>().join(", "),
            least.share(),
        )
    }

    /// The least number of words of a document that is compared by its shingles; those with fewer
    /// are compared for equality alone.
    pub(crate) fn least_words(&self, method: &dyn Method) -> usize {
        match self.verification.least.measure {
            Measure::Resemblance => method.least_words(),
            Measure::Containment => method.least_words().max(containment::LEAST_WORDS),
        }
    }

    /// The settings of the job that the method is built with.
    pub fn common(&self, level: Level) -> Common<'_> {
        Common {
            tokenizer: self.tokenizer,
            stop_words: &self.stop_words,
            level,
        }
    }

    /// The further numbers of each document that are stored.
    pub fn columns(&self) -> Columns {
        Columns {
            keys: self.keep.compared().len().saturating_sub(1),
            urls: self.url != UrlRule::Ignored,
        }
    }

    /// The fields of documents that the settings name, besides those of every document:
    /// [`Reading::fields`] must have them.
    pub fn fields(&self) -> Vec<String> {
        let mut fields: Vec<String> = Vec::new();
        let policies = self.keep.policies().iter().filter_map(Policy::field);
        for field in policies.map(str::to_owned) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        let of_records = match self.shards.is_used() {
            true => &LANGUAGE_FIELDS[..],
            false => &[],
        };
        let of_records = of_records.iter().map(|&field| field.to_owned());
        for field in self.within.fields().into_iter().chain(of_records) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }
}

/// The method that `text` names, for pairs that `verification` confirms: `minhash` without a
/// similarity or a shingle gets them, and for containment `shingles`, so that it finds such pairs.
///
/// # Errors
/// Errors of [`Spec::parse`].
pub fn spec_for_verification(text: &str, verification: Verification) -> Result<Spec> {
    let Verification { shingle, least } = verification;
    if least.is_containment() {
        return containment::spec(text, verification);
    }
    let spec = with_similarity(text, least.thousandths)?;
    let has_shingle = OF_SHINGLES.contains(&&*spec.name()) && !text.contains("shingle=");
    match has_shingle {
        true => spec.with("shingle", &shingle.to_string()),
        false => Ok(spec),
    }
}

/// The methods that look for pairs of a similarity of shingles.
const OF_SHINGLES: [&str; 2] = ["minhash", "shingles"];

/// The method of `text`. Methods of shingles look for pairs of this similarity unless `text` has
/// another one.
///
/// # Errors
/// Errors of [`Spec::parse`].
pub fn with_similarity(text: &str, thousandths: u32) -> Result<Spec> {
    let spec = Spec::parse(text)?;
    let has_similarity = OF_SHINGLES.contains(&&*spec.name()) && !text.contains("similarity=");
    let similarity = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    match has_similarity {
        true => spec.with("similarity", &similarity),
        false => Ok(spec),
    }
}

/// The file of the page in the output directory.
pub const PAGE: &str = "page.html";
/// The method that finds candidates by default: of measured collections, it missed at most
/// 0.14 % of what an exact search drops, SimHash 1 to 13 % (docs/measurements/evaluation, "The default method of
/// `dedup`").
pub const DEFAULT_METHOD: &str = "minhash";
/// The least similarity of duplicates by default, in thousandths.
pub const DEFAULT_THOUSANDTHS: u32 = 800;
/// The method that finds only texts with the same bytes.
pub const EXACT: &str = "exact";
/// The method that finds only texts with the same words in the same order.
pub const NORMALIZED: &str = "normalized";
/// The reason of documents whose cluster comes from too few sources, where others have a method.
pub const FEW_SOURCES: &str = "few-sources";

/// The most words in a shingle.
pub const MOST_SHINGLE: usize = 100;
