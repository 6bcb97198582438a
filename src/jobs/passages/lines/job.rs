//! The settings that determine the output.

use serde_json::{Value, json};

use super::listed::ListedUnits;
use super::per::Per;
use crate::corpus::Reading;
use crate::jobs::dedup::{DumpSettings, SkippedRecords};
use crate::jobs::passages::Action;
use crate::text::Choice;
use crate::text::units::{Normal, UnitKind};
use crate::{Error, ErrorKind, Result};

/// A search for repeated units.
#[derive(Clone, Debug)]
pub struct Job {
    /// What a unit is.
    pub kind: UnitKind,
    /// Which differences between units do not count.
    pub normal: Normal,
    /// Which units are removed.
    pub rule: Rule,
    /// What happens to them.
    pub action: Action,
    /// What has to remain of a document from which units are cut.
    pub remains: Remains,
    /// The most units in `boilerplate.jsonl`.
    pub listed: usize,
    /// How documents are read.
    pub reading: Reading,
    /// How rewritten inputs are written.
    pub dump: DumpSettings,
    /// Whether `page.html` is written.
    pub page: bool,
}

/// Which units are removed.
#[derive(Clone, Debug)]
pub enum Rule {
    /// Those that occur more often than `above`, counted within the groups of `per`.
    Repeated {
        /// The largest number of occurrences of a unit that stays: at least 1.
        above: u64,
        /// Within which documents occurrences are counted.
        per: Per,
        /// Which occurrence stays.
        keep: KeptUnit,
    },
    /// The listed ones, wherever they occur.
    Listed(ListedUnits),
}

/// Which occurrence of a repeated unit stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeptUnit {
    /// The first one in each group.
    #[default]
    First,
    /// None.
    None,
}

/// What has to remain of a document from which units are cut; one with less is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remains {
    /// The least number of words.
    pub words: u64,
    /// The least number of sentences.
    pub sentences: u64,
    /// What a word is.
    pub tokenizer: Choice,
}

impl Remains {
    /// Whether a document needs more than a character that is not white space.
    pub fn has_rule(&self) -> bool {
        self.words > 0 || self.sentences > 0
    }
}

/// The file of the page in the output directory.
pub const PAGE: &str = "page.html";
/// The names of the reports, in the output directory.
pub const SPANS: &str = "spans.jsonl";
pub const BOILERPLATE: &str = "boilerplate.jsonl";
pub const SKIPPED: &str = "skipped.jsonl";
/// The longest document, so that places in texts fit four bytes.
const MOST_DOCUMENT_BYTES: u64 = 1 << 31;

impl Job {
    /// The settings that determine the output, as JSON.
    pub fn settings(&self) -> Value {
        let rule = match &self.rule {
            Rule::Repeated { above, per, keep } => json!({
                "above": above,
                "per": per.to_string(),
                "keep": keep.name(),
            }),
            Rule::Listed(listed) => json!({
                "listed_units": listed.len(),
                "listed_xxh3_128": format!("{:032x}", listed.digest()),
            }),
        };
        let remains = (self.action == Action::Cut).then(|| {
            json!({
                "words": self.remains.words,
                "sentences": self.remains.sentences,
                "tokenizer": (self.remains.words > 0).then(|| self.remains.tokenizer.name()),
            })
        });
        let dump = self.action.directory().map(|_| {
            json!({
                "skipped": match self.dump.skipped {
                    SkippedRecords::Keep => "keep",
                    SkippedRecords::Drop => "drop",
                },
                "compression_level": self.dump.compression_level,
            })
        });
        json!({
            "command": "lines",
            "unit": self.kind.to_string(),
            "normalize": self.normal.to_string(),
            "rule": rule,
            "action": self.action.to_string(),
            "remains": remains,
            "list": self.listed,
            "dump": dump,
            "page": self.page,
            "reading": self.reading,
        })
    }

    /// Within which documents units are counted.
    pub fn per(&self) -> Per {
        match &self.rule {
            Rule::Repeated { per, .. } => *per,
            Rule::Listed(_) => Per::All,
        }
    }

    /// Whether a list says which units are removed.
    pub fn is_by_list(&self) -> bool {
        matches!(self.rule, Rule::Listed(_))
    }

    /// The names of the reports.
    pub fn reports(&self) -> Vec<&'static str> {
        let mut names = vec![
            SPANS,
            BOILERPLATE,
            SKIPPED,
            "timings.json",
            "run.json",
            "summary.json",
        ];
        names.extend(self.page.then_some(PAGE));
        names
    }

    /// Checks the settings before anything is read.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] naming the setting and what is expected of it.
    pub fn check(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::new(ErrorKind::Parameter, message));
        self.reading.check()?;
        if let Rule::Repeated { above: 0, .. } = self.rule {
            return refuse("above 0: expected at least 1 (every unit occurs once)".to_owned());
        }
        if self.reading.max_document_bytes > MOST_DOCUMENT_BYTES {
            return refuse(format!(
                "max_document {}: expected at most 2G",
                self.reading.max_document_bytes
            ));
        }
        if self.remains.has_rule() && self.action != Action::Cut {
            return refuse(format!(
                "what has to remain of a document is counted only if units are cut, and the \
                 action is {}",
                self.action
            ));
        }
        Ok(())
    }
}

impl KeptUnit {
    /// The name that flags and reports use.
    pub fn name(self) -> &'static str {
        match self {
            KeptUnit::First => "first",
            KeptUnit::None => "none",
        }
    }
}
