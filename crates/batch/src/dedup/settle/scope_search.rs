//! The decisions of a run within its scope. If URLs are compared, older documents with the same URL
//! are dropped first.

use crate::Result;
use simtool_engine::spill_space::SpillSpace;
use simtool_engine::{Progress, Stage};
use simtool_files::Sorted;

use super::decided::Decisions;
use super::resolve::{self, EarlierDecisions};
use crate::dedup::decision::Decision;
use crate::dedup::groups::keep_ranks::KeepKeys;
use crate::dedup::groups::same_url::OlderCaptures;
use crate::dedup::groups::same_words::{self, Groups};
use crate::dedup::memory;
use crate::dedup::near::refused::Refused;
use crate::dedup::near::search::{LeaderDecisions, NearSearch};
use crate::dedup::settings::job::Job;
use crate::dedup::settings::url_rule::UrlRule;
use crate::table::bits::Bits;
use crate::table::document_table::DocumentTable;

/// The inputs and resources of the decisions.
pub struct ScopeSearch<'a> {
    /// The job.
    pub job: &'a Job,
    /// All documents.
    pub gathered: &'a DocumentTable,
    /// Their keep keys.
    pub keys: &'a KeepKeys,
    /// Documents that are dropped already.
    pub gone: Option<&'a Bits>,
    /// The number of documents of the reference, which come first.
    pub references: u32,
    /// The search of near documents, if the method has any.
    pub search: Option<NearSearch<'a>>,
    /// Memory and temporary space.
    pub space: SpillSpace<'a>,
    /// Notified of progress.
    pub progress: &'a Progress,
}

impl ScopeSearch<'_> {
    /// The decisions, after those for known documents.
    ///
    /// # Errors
    /// Errors of reading and of temporary files; interruption.
    pub fn decide(&self, known: Option<Sorted<Decision>>) -> Result<Decisions> {
        let (Groups { followers, leaders }, captures) = self.groups()?;
        let found = match &self.search {
            Some(search) => search.decide(leaders)?,
            None => LeaderDecisions {
                decisions: self.space.sorter(memory::LEADER_DECISIONS).finish()?,
                refused: Refused::none(&self.space)?,
            },
        };
        let against = self.only_against().then_some(self.references);
        let before = EarlierDecisions {
            known,
            leaders: found.decisions,
        };
        let drop_all = self.job.drop_all;
        let mut decisions = resolve::resolve(before, followers, against, drop_all, &self.space)?;
        if let Some(captures) = captures {
            let captures = captures.followers();
            decisions = resolve::with_captures(decisions, captures, &self.space)?;
        }
        Ok(Decisions {
            decisions,
            refused: found.refused,
            known: None,
        })
    }

    /// Whether duplicates within the input are kept.
    fn only_against(&self) -> bool {
        self.references > 0 && self.job.against_only
    }

    /// The groups; if URLs are compared, those of the documents that stay, and the others.
    fn groups(&self) -> Result<(Groups, Option<OlderCaptures>)> {
        self.progress.begin(Stage::Group, 0);
        let (job, gathered) = (self.job, self.gathered);
        let captures = match job.url {
            UrlRule::Ignored => None,
            UrlRule::First | UrlRule::Only => {
                let only_against = self.only_against();
                Some(OlderCaptures::find(
                    job,
                    gathered,
                    only_against,
                    &self.space,
                )?)
            }
        };
        let groups = same_words::group(
            job,
            gathered,
            self.keys,
            // Known documents have no URLs, so only one of both drops any.
            captures
                .as_ref()
                .map(|captures| &captures.gone)
                .or(self.gone),
            &self.space,
        )?;
        self.progress.end(0);
        Ok((groups, captures))
    }
}
