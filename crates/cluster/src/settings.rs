//! The settings of a job, as tasks get them.

use serde::Deserialize;
use serde_json::json;
use simtool_batch::dedup::{
    DEFAULT_METHOD, DEFAULT_THOUSANDTHS, EXACT, MOST_SHINGLE, NORMALIZED, Scope, URL, Verification,
    spec_for_verification,
};
use simtool_core::dedup::keep::{KeepOrder, Policy};
use simtool_core::kernel::Level;
use simtool_core::sketch::registry::Spec;
use simtool_core::sketch::{Method, Shape};
use simtool_core::text::{Choice, LeastSimilarity, WordSet, builtin_stop_words, listed_stop_words};
use simtool_core::{Error, ErrorKind, Result};
use simtool_corpus::HtmlText;
use simtool_engine::methods::{Common, build_without_statistics};

/// Settings as JSON; those that are missing have the values of the command.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How candidates are found.
    pub method: Option<String>,
    /// The least share of shingles in common.
    pub similarity: Option<f64>,
    /// Words in a shingle.
    pub shingle: Option<usize>,
    /// Which copy stays.
    pub keep: Option<String>,
    /// Which documents are compared with each other.
    pub within: Option<String>,
    /// What a word is.
    pub tokenizer: Option<String>,
    /// A list of stop words, one in a line.
    pub stop_words: Option<String>,
    /// The part of texts that are HTML pages.
    pub html: Option<HtmlText>,
    /// Longer texts are skipped.
    pub max_document: Option<u64>,
    /// Whether duplicates are connected by chains.
    pub components: bool,
    /// Whether only documents of the other collection remove any.
    pub against_only: bool,

    /// Whether the rows of a task are those of the other collection.
    pub reference: bool,
    /// The number of leaders of the other collection; they have the first ranks.
    pub references: i64,
    /// The number of leaders.
    pub leaders: i64,
    /// The number of parts of records that travel in blobs.
    pub parts: usize,
    /// Elements that very many prefixes have, and over how many tasks they are divided.
    pub hot: Vec<(i64, i64)>,
    /// The least count of a frequent element.
    pub least: i64,
    /// The maximum number of rows of a group.
    pub most: usize,
    /// Whether every pair is accepted, whatever its similarity.
    pub any: bool,
}

impl Settings {
    /// Reads JSON.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`].
    pub fn parse(text: &str) -> Result<Settings> {
        serde_json::from_str(text).map_err(|cause| refuse(cause.to_string()))
    }

    fn method_text(&self) -> &str {
        self.method.as_deref().unwrap_or(DEFAULT_METHOD)
    }

    /// Whether only equal documents are duplicates.
    pub fn is_by_equality(&self) -> bool {
        [EXACT, NORMALIZED].contains(&self.method_text())
    }

    /// Whether equal texts are duplicates, and equal words are not.
    pub fn is_exact(&self) -> bool {
        self.method_text() == EXACT
    }

    /// The tokenizer.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`].
    pub fn tokenizer(&self) -> Result<Choice> {
        let name = self.tokenizer.as_deref();
        name.map_or(Ok(Choice::default()), str::parse)
    }

    /// How pairs are verified.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`].
    pub fn verification(&self) -> Result<Verification> {
        let thousandths = match self.similarity {
            None => DEFAULT_THOUSANDTHS,
            Some(share) => {
                let rounded = (share * 1000.0).round();
                let is_exact = (rounded - share * 1000.0).abs() < 1e-9;
                if !is_exact || !(1.0..=1000.0).contains(&rounded) {
                    return Err(refuse(format!(
                        "similarity {share}: expected a share from 0.001 to 1 with at most three \
                         decimals"
                    )));
                }
                rounded as u32
            }
        };
        let shingle = match self.shingle {
            None => self.tokenizer()?.usual_width(),
            Some(width) if (1..=MOST_SHINGLE).contains(&width) => width,
            Some(width) => {
                return Err(refuse(format!(
                    "shingle {width}: expected 1 to {MOST_SHINGLE}"
                )));
            }
        };
        Ok(Verification {
            shingle,
            least: LeastSimilarity::resemblance(thousandths),
        })
    }

    /// The order in which copies are preferred.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`].
    pub fn keep(&self) -> Result<KeepOrder> {
        let keep = self.keep.as_deref();
        keep.map_or(Ok(KeepOrder::default()), KeepOrder::parse)
    }

    /// Which documents are compared with each other.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`], also for input files, which rows do not have.
    pub fn within(&self) -> Result<Scope> {
        let name = self.within.as_deref();
        let scope = name.map_or(Ok(Scope::Global), Scope::parse)?;
        match scope {
            Scope::Extension => Err(refuse(
                "within extension: rows of a frame have no file (add a column with the extension, \
                 such as ext, and pass within=\"field:ext\")"
                    .to_owned(),
            )),
            Scope::Source => Err(refuse(
                "within source: rows of a frame have no input file (add a column with it, such as \
                 file of simtool_dedup.spark.read, and pass within=\"field:file\")"
                    .to_owned(),
            )),
            scope => Ok(scope),
        }
    }

    /// The method.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`], also for methods that need statistics of the collection.
    pub fn build(&self) -> Result<Box<dyn Method>> {
        let spec = self.spec()?;
        if !spec.required_counts().is_empty() {
            return Err(refuse(format!(
                "method {}: needs statistics of the whole collection, which are not counted on a \
                 cluster (use the command, or another method)",
                spec.name()
            )));
        }
        let stop_words: WordSet = match &self.stop_words {
            None => builtin_stop_words(),
            Some(list) => listed_stop_words(list.as_bytes()),
        };
        let common = Common {
            tokenizer: self.tokenizer()?,
            stop_words: &stop_words,
            level: Level::best(),
        };
        build_without_statistics(&spec, common)
    }

    fn spec(&self) -> Result<Spec> {
        if self.method_text().split_whitespace().next() == Some(URL) {
            return Err(refuse(format!(
                "method {}: URLs are not compared on a cluster (use the command, or keep the newest \
                 row of each URL first, with row_number() over a window of Spark)",
                self.method_text()
            )));
        }
        let verification = self.verification()?;
        spec_for_verification(self.method_text(), verification)
    }

    /// Checks all settings; what the driver needs of them.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`].
    pub fn describe(&self) -> Result<String> {
        let verification = self.verification()?;
        let keep = self.keep()?;
        let within = self.within()?;
        let fields: Vec<Option<&str>> = keep.compared().iter().map(Policy::field).collect();
        let has = |policy: &Policy| keep.policies().contains(policy);
        let by_equality = self.is_by_equality();
        let spec = self.spec()?;
        let built = match by_equality {
            true => None,
            false => Some(self.build()?),
        };
        let parameters: Vec<(String, String)> = match &built {
            Some(method) => method
                .parameters()
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            None => Vec::new(),
        };
        let carries = built
            .as_ref()
            .is_some_and(|method| carries_sketch(&**method));
        Ok(json!({
            "method": spec.name(),
            "parameters": parameters.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
            "by_equality": by_equality,
            "has_distances": built.as_ref().is_some_and(|method| {
                matches!(method.shape(), Shape::Bits { .. })
            }),
            "near_by_key": built.as_ref().is_some_and(|method| method.is_near_by_key()),
            "carries_sketch": carries,
            "shingle": verification.shingle,
            "thousandths": verification.least.thousandths,
            "keep": keep.to_string(),
            "fields": fields,
            "grouped": within != Scope::Global,
            "group_fields": within.fields(),
            "groups_by_language": within == Scope::Language,
            "needs_url": has(&Policy::ShortestUrl),
            "groups_by_site": within == Scope::Site,
            "needs_date": has(&Policy::Newest),
            "tokenizer": self.tokenizer()?.to_string(),
        })
        .to_string())
    }
}

/// Whether a sketch travels with its keys: it is a short fingerprint.
pub fn carries_sketch(method: &dyn Method) -> bool {
    matches!(method.shape(), Shape::Bits { .. })
}

pub fn refuse(message: String) -> Error {
    Error::new(ErrorKind::Parameter, message)
}
