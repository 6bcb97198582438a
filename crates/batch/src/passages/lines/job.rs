//! The settings that determine the output.

use std::fmt;

use super::listed::ListedUnits;
use super::per::Per;
use crate::passages::settings::kept_occurrence::KeptOccurrence;
use crate::passages::settings::passage_settings::PassageSettings;
use simtool_core::text::units::{Normal, UnitKind, UnitReader};

/// A search for repeated units.
#[derive(Clone, Debug)]
pub struct LinesJob {
    /// What a unit is. Words of runs of lines are those of `common.remains.tokenizer`.
    pub kind: UnitKind,
    /// Which differences between units do not count.
    pub normal: Normal,
    /// Which units are removed.
    pub rule: Rule,
    /// The most units in `boilerplate.jsonl`.
    pub listed: usize,
    /// The settings that every search has.
    pub common: PassageSettings,
}

/// Which units are removed.
#[derive(Clone, Debug)]
pub enum Rule {
    /// The units that reach `threshold`, counted within the groups of `per`.
    Repeated {
        /// How often removed units occur.
        threshold: Threshold,
        /// Within which documents occurrences are counted.
        per: Per,
        /// Which occurrence stays.
        keep: KeptOccurrence,
    },
    /// The listed ones, wherever they occur.
    Listed(ListedUnits),
}

/// How often removed units occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// More often than this: at least 1.
    Above(u64),
    /// In at least this many documents: at least 2.
    InDocuments(u64),
}

impl Threshold {
    /// The threshold that makes sense for units of this kind unless the user gives one: for runs of
    /// lines five documents, for others two occurrences.
    pub fn usual(kind: UnitKind) -> Threshold {
        match kind {
            UnitKind::Run(_) => Threshold::InDocuments(5),
            UnitKind::Line | UnitKind::Paragraph | UnitKind::Sentences(_) => Threshold::Above(1),
        }
    }

    /// Whether a unit with these numbers of occurrences and of documents is removed.
    pub fn is_reached_by(self, count: u64, documents: u64) -> bool {
        match self {
            Threshold::Above(most) => count > most,
            Threshold::InDocuments(least) => documents >= least,
        }
    }
}

/// As a part of a sentence: "what occurs …".
impl fmt::Display for Threshold {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threshold::Above(most) => write!(out, "more often than {most} times"),
            Threshold::InDocuments(least) => write!(out, "in at least {least} documents"),
        }
    }
}

impl LinesJob {
    /// A reader of the units.
    pub fn units(&self) -> UnitReader {
        UnitReader::new(self.kind, self.normal, self.common.remains.tokenizer)
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

    /// The most memory that a list of units may use.
    pub fn list_bytes(memory_bytes: u64) -> u64 {
        memory_bytes / 8
    }
}
