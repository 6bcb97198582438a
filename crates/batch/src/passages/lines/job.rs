//! The settings that determine the output.

use super::listed::ListedUnits;
use super::per::Per;
use crate::passages::settings::kept_occurrence::KeptOccurrence;
use crate::passages::settings::passage_settings::PassageSettings;
use simtool_core::text::units::{Normal, UnitKind};

/// A search for repeated units.
#[derive(Clone, Debug)]
pub struct LinesJob {
    /// What a unit is.
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
    /// The units that occur more often than `above`, counted within the groups of `per`.
    Repeated {
        /// The largest number of occurrences of a unit that stays: at least 1.
        above: u64,
        /// Within which documents occurrences are counted.
        per: Per,
        /// Which occurrence stays.
        keep: KeptOccurrence,
    },
    /// The listed ones, wherever they occur.
    Listed(ListedUnits),
}

impl LinesJob {
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
