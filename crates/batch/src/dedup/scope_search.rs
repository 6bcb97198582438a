//! The decisions of a run within its scope, and the counts of compared scopes.
//!
//! If URLs are compared, older documents with the same URL are dropped first, in each scope. The
//! shingles of all documents that have a neighbour in any scope are read once:
//!
//! ```text
//! each scope: URLs ─► groups ─► leaders ─► mark ─┐
//!                                                ├─► shingle sets (second reading)
//! each scope: URLs ─► groups ─► leaders ─────────┴──► star or components ─► decisions or counts
//! ```

use crate::Result;
use simtool_engine::spill_space::SpillSpace;
use simtool_engine::{Progress, Stage};
use simtool_files::Sorted;

use super::clusters::{ClusterInputs, Clusters};
use super::compared::ScopeCounts;
use super::decided::Decisions;
use super::decision::Decision;
use super::groups::{self, GroupReader, Groups};
use super::job::Job;
use super::keep_ranks::KeepKeys;
use super::memory;
use super::near::{LeaderDecisions, NearSearch};
use super::refused::Refused;
use super::resolve::{self, EarlierDecisions};
use super::same_url::OlderCaptures;
use super::shingle_sets::CollectedSets;
use super::url_rule::UrlRule;
use crate::scope::{self, Scope};
use crate::table::bits::Bits;
use crate::table::gathered::{Counts, Gathered};
use crate::table::row::Flags;

/// Rows that are read at a time.
const BLOCK: usize = 8192;

/// Decides within scopes.
pub struct ScopeSearch<'a> {
    /// The job.
    pub job: &'a Job,
    /// All documents.
    pub gathered: &'a Gathered,
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

/// The shingle sets of documents that have a neighbour in some scope.
pub struct SharedSets {
    wanted: Bits,
    sets: CollectedSets,
}

impl ScopeSearch<'_> {
    /// The sets that the run's own scope and `others` need; `None` if no near documents are
    /// searched.
    ///
    /// # Errors
    /// Errors of reading and of temporary files; interruption.
    pub fn shared_sets(&self, others: &[Scope]) -> Result<Option<SharedSets>> {
        let Some(search) = &self.search else {
            return Ok(None);
        };
        let mut wanted = Bits::none_of(self.gathered.rows.len());
        for scope in self.compared(others).chain([&self.job.within]) {
            let (groups, _) = self.groups(scope)?;
            search.mark_documents(groups.leaders, scope, &mut wanted)?;
        }
        let sets = search.collect(&wanted)?;
        Ok(Some(SharedSets { wanted, sets }))
    }

    /// The counts of `others`, except that of the run's own scope.
    ///
    /// # Errors
    /// Errors of reading and of temporary files; interruption.
    pub fn counts(
        &self,
        others: &[Scope],
        sets: Option<&SharedSets>,
        counts: &Counts,
    ) -> Result<Vec<ScopeCounts>> {
        let count = |scope| {
            let found = self.decide(scope, sets, None)?;
            let inputs = ClusterInputs {
                gathered: self.gathered,
                keys: self.keys,
                loss_of: &[],
                keep_copies: self.job.keep_copies,
                space: self.space,
                progress: self.progress,
            };
            let clusters = Clusters::of(found.decisions, inputs)?;
            let (refused, unknown) = (found.refused.count, self.without_group(scope)?);
            Ok(ScopeCounts::new(scope, counts, &clusters, refused, unknown))
        };
        self.compared(others).map(count).collect()
    }

    /// The decisions within a scope, after those for known documents.
    ///
    /// # Errors
    /// Errors of reading and of temporary files; interruption.
    pub fn decide(
        &self,
        scope: &Scope,
        sets: Option<&SharedSets>,
        known: Option<Sorted<Decision>>,
    ) -> Result<Decisions> {
        let (Groups { followers, leaders }, captures) = self.groups(scope)?;
        let found = match (&self.search, sets) {
            (Some(search), Some(SharedSets { wanted, sets })) => {
                search.decide_wanted(leaders, scope, wanted, sets)?
            }
            (Some(search), None) => search.decide(leaders, scope)?,
            (None, _) => LeaderDecisions {
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
            compared: Vec::new(),
        })
    }

    /// The scopes besides the run's own.
    fn compared<'s>(&self, others: &'s [Scope]) -> impl Iterator<Item = &'s Scope> {
        others.iter().filter(|scope| **scope != self.job.within)
    }

    /// Whether duplicates within the input are kept.
    fn only_against(&self) -> bool {
        self.references > 0 && self.job.against_only
    }

    /// The groups of a scope; if URLs are compared, those of the documents that stay, and the others.
    fn groups(&self, scope: &Scope) -> Result<(Groups, Option<OlderCaptures>)> {
        self.progress.begin(Stage::Group, 0);
        let (job, gathered) = (self.job, self.gathered);
        let captures = match job.url {
            UrlRule::Ignored => None,
            UrlRule::First | UrlRule::Only => {
                let only_against = self.only_against();
                Some(OlderCaptures::find(
                    job,
                    gathered,
                    scope,
                    only_against,
                    &self.space,
                )?)
            }
        };
        let groups = groups::group(
            job,
            gathered,
            self.keys,
            scope,
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

    /// The documents of the input that were read and whose group is unknown.
    fn without_group(&self, scope: &Scope) -> Result<u64> {
        let mut groups = GroupReader::new(self.job, self.gathered, scope);
        let mut count = 0;
        self.gathered.rows.for_each_block(BLOCK, |first, rows| {
            groups.read(first, rows)?;
            let excluded = [Flags::SKIPPED, Flags::REFERENCE];
            let unknown = rows.iter().zip(&groups.found).filter(|(row, group)| {
                **group == scope::UNKNOWN && !excluded.iter().any(|flag| row.flags.has(*flag))
            });
            count += unknown.count() as u64;
            Ok(())
        })?;
        Ok(count)
    }
}
