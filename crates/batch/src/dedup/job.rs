//! The settings of a deduplication.

use serde_json::{Value, json};

use crate::shards::ShardSettings;
use crate::{Error, ErrorKind, Result};
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
use crate::table::columns::Columns;
use crate::write::settings::DumpSettings;

/// The directory of dropped documents.
pub const REMOVED: &str = "removed";

/// The settings that determine the output, besides the inputs and what they are compared with.
#[derive(Clone, Debug)]
pub struct Job {
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
    /// Scopes whose counts are computed besides; they do not change the other output.
    pub compare_scopes: Vec<Scope>,
    /// The number of copies of a cluster that are kept, the first in keep order; at least one.
    pub keep_copies: u32,
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

impl Job {
    /// All settings but the limit of losses, as `summary.json` and the work directory have them.
    pub fn settings(&self) -> Value {
        json!({
            "method": self.method_name(),
            "parameters": match self.url {
                UrlRule::Only => Value::Null,
                UrlRule::Ignored | UrlRule::First => parameters(self.method.list()),
            },
            "tokenizer": self.tokenizer.to_string(),
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
            "compare_scopes": self.compare_scopes.iter().map(Scope::to_string).collect::<Vec<_>>(),
            "keep_copies": self.keep_copies,
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

    /// The names of the files that a run writes into the output directory, not counting the
    /// inputs that [`WriteMode::Kept`] and [`WriteMode::Annotated`] write again.
    pub fn reports(&self) -> Vec<&'static str> {
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
            "skipped.jsonl",
            "summary.json",
            "timings.json",
        ];
        always
            .into_iter()
            .chain(further.map(|(name, _)| name))
            .collect()
    }

    /// The directories of the streams of shards that are written.
    pub(super) fn streams(&self) -> Vec<&'static str> {
        let kept = matches!(self.write, WriteMode::Kept | WriteMode::Text);
        let streams = [(self.write.name(), kept), (REMOVED, self.removed)];
        let written = streams.into_iter().filter(|(_, is_written)| *is_written);
        match self.shards.is_used() {
            true => written.map(|(name, _)| name).collect(),
            false => Vec::new(),
        }
    }

    /// Whether documents with fields of their own are written by their text.
    pub(super) fn writes_only_text(&self) -> bool {
        self.write == WriteMode::Text
    }

    /// Refuses settings of shards that have no effect or no meaning.
    fn check_shards(&self) -> Result<()> {
        self.shards.check(self.dump.compression_level)?;
        let message = match (self.shards.is_used(), self.write) {
            (false, WriteMode::Text) => {
                "texts are written as shards: choose a write_format other than input"
            }
            (true, WriteMode::Annotated) => {
                "only the inputs in their own format are annotated: choose the write_format input"
            }
            (true, WriteMode::None | WriteMode::Ids) if !self.removed => {
                "a write_format has an effect only where documents are written"
            }
            (true, _) if self.dump.drops_skipped() => {
                "records that could not be read are never in shards, so skipped has no effect"
            }
            (true, _) if self.dump.empty_files => {
                "shards are not the files of the inputs, so empty_files has no effect"
            }
            _ => return Ok(()),
        };
        Err(refuse(message.to_owned()))
    }

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
    pub(super) fn least_words(&self, method: &dyn Method) -> usize {
        match self.verification.least.measure {
            Measure::Resemblance => method.least_words(),
            Measure::Containment => method.least_words().max(containment::LEAST_WORDS),
        }
    }

    /// The settings of the job that the method is built with.
    pub(super) fn common(&self, level: Level) -> Common<'_> {
        Common {
            tokenizer: self.tokenizer,
            stop_words: &self.stop_words,
            level,
        }
    }

    /// The scopes whose groups are stored besides those of [`within`](Self::within).
    pub(super) fn stored_scopes(&self) -> Vec<&Scope> {
        let scopes = self.compare_scopes.iter();
        scopes
            .filter(|&scope| *scope != self.within && *scope != Scope::Global)
            .collect()
    }

    /// The further numbers of each document that are stored.
    pub(super) fn columns(&self) -> Columns {
        Columns {
            groups: self.stored_scopes().len(),
            keys: self.keep.compared().len().saturating_sub(1),
            urls: self.url != UrlRule::Ignored,
        }
    }

    /// Refuses settings about copies of a text that URLs contradict.
    fn check_url(&self) -> Result<()> {
        let message = match self.url {
            UrlRule::Ignored => return Ok(()),
            _ if self.drop_all => {
                "keep none keeps no copy, and url keeps the newest document of each URL, so they \
                 cannot be combined (remove one in a run of its own)"
            }
            UrlRule::Only if self.keep_copies > 1 => {
                "keep_copies counts copies of a text, and url compares no texts, so they cannot be \
                 combined"
            }
            UrlRule::First | UrlRule::Only => return Ok(()),
        };
        Err(refuse(message.to_owned()))
    }

    /// Refuses compared scopes that say nothing.
    fn check_compared(&self) -> Result<()> {
        let scopes = &self.compare_scopes;
        let mut numbered = scopes.iter().enumerate();
        if let Some((_, twice)) = numbered.find(|(place, scope)| scopes[..*place].contains(scope)) {
            return Err(refuse(format!("compare_scopes has {twice} twice")));
        }
        match &scopes[..] {
            [only] if *only == self.within => Err(refuse(format!(
                "compare_scopes {only}: the run has this scope already, so name another one to \
                 compare it with"
            ))),
            _ => Ok(()),
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
        let scopes = std::iter::once(&self.within).chain(&self.compare_scopes);
        let of_records = match self.shards.is_used() {
            true => &LANGUAGE_FIELDS[..],
            false => &[],
        };
        let of_records = of_records.iter().map(|&field| field.to_owned());
        for field in scopes.flat_map(Scope::fields).chain(of_records) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// Refuses settings that would drop a document for a part of it, or miss a pair.
    fn check_containment(&self) -> Result<()> {
        containment::check(&self.method, self.verification, &self.keep)?;
        let message = match (self.clusters, self.drop_all) {
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

    /// Checks the settings before anything is read.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] naming the setting and what is expected of it.
    pub fn check(&self) -> Result<()> {
        self.reading.check()?;
        let fields = self.fields();
        if let Some(field) = fields
            .iter()
            .find(|field| !self.reading.fields.contains(field))
        {
            let message = format!("the field {field:?} is needed, but not requested");
            return Err(refuse(message));
        }
        self.check_compared()?;
        self.check_shards()?;
        self.check_url()?;
        within("keep_copies", self.keep_copies, 1, u32::MAX)?;
        if self.drop_all && self.keep_copies > 1 {
            let message = "keep none keeps no copy, so it cannot be combined with keep_copies";
            return Err(refuse(message.to_owned()));
        }
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
            self.check_containment()?;
        }
        methods::build_without_statistics(&self.method, self.common(Level::Scalar)).map(drop)
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
/// The method that finds candidates by default: of measured collections, it missed 0.2 % of what an
/// exact search drops, SimHash 1 to 13 % (docs/EVALUATION.md, "Which method is the default").
pub const DEFAULT_METHOD: &str = "minhash";
/// The least similarity of duplicates by default, in thousandths.
pub const DEFAULT_THOUSANDTHS: u32 = 800;
/// The method that finds only texts with the same bytes.
pub const EXACT: &str = "exact";
/// The method that finds only texts with the same words in the same order.
pub const NORMALIZED: &str = "normalized";

/// Parameters as JSON: whole numbers as numbers, everything else as text.
fn parameters(list: Vec<(String, String)>) -> Value {
    let value = |text: String| text.parse::<u64>().map_or(Value::from(text), Value::from);
    let fields = list.into_iter().map(|(name, text)| (name, value(text)));
    Value::Object(fields.collect())
}

/// The most words in a shingle.
pub const MOST_SHINGLE: usize = 100;
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
