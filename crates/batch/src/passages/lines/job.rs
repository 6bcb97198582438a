//! The settings that determine the output.

use super::listed::ListedUnits;
use super::per::Per;
use crate::passages::settings::action::Action;
use crate::passages::settings::remains::Remains;
use crate::shards::ShardSettings;
use crate::write::settings::DumpSettings;
use simtool_core::text::units::{Normal, UnitKind};
use simtool_corpus::Reading;

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
    /// How documents are written as one stream of records instead, cut into shards.
    pub shards: ShardSettings,
    /// Whether `page.html` is written.
    pub page: bool,
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

impl Job {
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

impl KeptUnit {
    /// The name that flags and reports use.
    pub fn name(self) -> &'static str {
        match self {
            KeptUnit::First => "first",
            KeptUnit::None => "none",
        }
    }
}
