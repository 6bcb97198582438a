//! Clusters: their sizes, the members that are kept besides the first, and what was dropped by
//! source.

use std::cmp::Reverse;

use ahash::AHashMap;
use bytemuck::{Pod, Zeroable};

use crate::{Error, ErrorKind, Result};
use simtool_files::Spool;
use simtool_report::pairs::ClusterCounts;

use super::origins::{ClusterOrigins, Origins};
use crate::dedup::decision::{Decision, narrow};
use crate::dedup::groups::keep_ranks::KeepKeys;
use crate::dedup::job_context::JobContext;
use crate::dedup::memory;
use crate::table::bits::Bits;
use crate::table::by_number::{ByNumber, Numbered};
use crate::table::document_table::DocumentTable;
use crate::table::row::Row;

/// The largest clusters that are described.
const LARGEST: usize = 10;
/// The clusters of each source that are described, if it loses too much.
pub const WORST: usize = 3;
/// Rows that are read at a time.
const ROWS: usize = 1024;

/// A member of a cluster besides its kept document. Sorts by cluster, then in keep order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct MemberRecord {
    kept: u32,
    keep_key: [u8; 16],
    document: u32,
    evidence: u32,
    source: u32,
    verified: [u32; 2],
    text_bytes: u64,
}

/// The counts of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ClusterRecord {
    /// The kept document.
    pub kept: u32,
    /// All documents, the kept one included.
    pub size: u32,
    /// As in [`ClusterOrigins`].
    pub sources: u32,
    /// As in [`ClusterOrigins`].
    pub sites: u32,
}

impl ClusterRecord {
    /// The counts as the reports have them.
    pub fn counts(self) -> ClusterCounts {
        ClusterCounts {
            size: self.size,
            sources: self.sources,
            sites: self.sites,
        }
    }
}

impl Numbered for ClusterRecord {
    fn number(&self) -> u32 {
        self.kept
    }
}

/// A cluster of very many documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LargeCluster {
    /// The kept document.
    pub kept: u32,
    /// All documents, the kept one included.
    pub size: u64,
    /// Members with the same text as the kept document.
    pub same_text: u64,
    /// Members with another text, but the same words in the same order.
    pub same_words: u64,
    /// Members that a newer document with the same URL replaces.
    pub same_url: u64,
    /// Other members.
    pub near: u64,
    /// The least similarity of these to the kept document: shared and all shingles.
    pub least: Option<[u32; 2]>,
    /// The last member in keep order.
    pub last: u32,
}

/// What a group of sources lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Dropped documents.
    pub dropped: u64,
    /// The clusters that most of them are in: dropped documents and the kept one.
    pub worst: Vec<(u64, u32)>,
    /// Dropped documents that are in no cluster.
    pub alone: u64,
}

/// The clusters of a run.
pub struct Clusters {
    /// The counts of each cluster, by its kept document.
    pub records: ByNumber<ClusterRecord>,
    /// Documents that are kept besides the first of their cluster.
    pub copies: Bits,
    /// Dropped documents of each source.
    pub dropped_of: Vec<u64>,
    /// What each group of sources lost.
    pub losses: Vec<Loss>,
    /// The largest clusters, by size, then by kept document.
    pub largest: Vec<LargeCluster>,
}

impl Clusters {
    /// The clusters of `decisions`, which ascend by document. Sorts them by cluster.
    ///
    /// # Errors
    /// Errors of reading and of temporary files; interruption.
    pub fn of(
        decisions: impl Iterator<Item = Result<Decision>>,
        context: JobContext<'_>,
        loss_of: &[u32],
    ) -> Result<Clusters> {
        let mut sorter = context.space.sorter::<MemberRecord>(memory::CLUSTERS);
        let mut origins = Origins::new(&context);
        let mut rows = KeyedRows::of(context);
        let groups = loss_of.iter().max().map_or(0, |most| most + 1);
        let mut dropped_of = vec![0; loss_of.len()];
        let mut losses = vec![Loss::default(); groups as usize];
        for (number, decision) in decisions.enumerate() {
            let decision = decision?;
            if number % ROWS == 0 {
                context.progress().check()?;
            }
            let (row, keep_key) = rows.get(decision.document)?;
            if decision.evidence == Decision::ALONE {
                let source = row.place.source as usize;
                if let Some(dropped) = dropped_of.get_mut(source) {
                    *dropped += 1;
                    let loss = &mut losses[loss_of[source] as usize];
                    (loss.dropped, loss.alone) = (loss.dropped + 1, loss.alone + 1);
                }
                continue;
            }
            origins.add(decision.kept, &row)?;
            sorter.push(MemberRecord {
                kept: decision.kept,
                keep_key,
                document: decision.document,
                evidence: decision.evidence,
                source: row.place.source,
                verified: decision.verified,
                text_bytes: row.text_bytes,
            })?;
        }
        let documents = match context.job.keep_copies {
            0 | 1 => 0,
            _ => context.table().rows.len(),
        };
        let mut counts = Counting {
            keep_copies: context.job.keep_copies,
            min_sources: context.job.min_sources,
            loss_of,
            records: context.space.spool()?,
            copies: Bits::none_of(documents),
            dropped_of,
            losses,
            largest: Vec::new(),
            current: LargeCluster::default(),
            origins: None,
            members: 0,
            losses_here: AHashMap::new(),
        };
        let mut origins = origins.finish()?;
        let mut current = None;
        for (number, member) in sorter.finish()?.enumerate() {
            let member = member?;
            if number % ROWS == 0 {
                context.progress().check()?;
            }
            if current != Some(member.kept) {
                counts.begin(origins.next().transpose()?, member.kept)?;
                current = Some(member.kept);
            }
            counts.add(&member);
        }
        counts.finish()
    }

    /// The counts of the cluster of a document that others name as their kept one.
    ///
    /// # Errors
    /// Errors of temporary files; [`ErrorKind::Content`] for another document.
    pub fn counts(&self, kept: u32) -> Result<ClusterCounts> {
        let record = self.records.get(kept)?;
        Ok(record
            .ok_or_else(|| damaged("a dropped document is in no cluster"))?
            .counts())
    }
}

/// The clusters so far, and the current one.
struct Counting<'a> {
    keep_copies: u32,
    min_sources: u32,
    loss_of: &'a [u32],
    records: Spool,
    copies: Bits,
    dropped_of: Vec<u64>,
    losses: Vec<Loss>,
    largest: Vec<LargeCluster>,
    current: LargeCluster,
    /// The sources and sites of the current cluster.
    origins: Option<ClusterOrigins>,
    /// Members of the current cluster that a copy may be kept of, so far.
    members: u32,
    /// Dropped documents of the current cluster, by group of sources.
    losses_here: AHashMap<u32, u64>,
}

impl Counting<'_> {
    /// Ends the current cluster, and begins that of `kept`.
    fn begin(&mut self, origins: Option<ClusterOrigins>, kept: u32) -> Result<()> {
        self.end_cluster()?;
        self.current = LargeCluster {
            kept,
            size: 1,
            ..LargeCluster::default()
        };
        self.origins = origins;
        self.members = 0;
        Ok(())
    }

    fn add(&mut self, member: &MemberRecord) {
        let cluster = &mut self.current;
        if member.document != member.kept {
            cluster.size += 1;
            cluster.last = member.document;
            match member.evidence {
                Decision::SAME_TEXT => cluster.same_text += 1,
                Decision::SAME_WORDS => cluster.same_words += 1,
                Decision::SAME_URL => cluster.same_url += 1,
                _ => {
                    cluster.near += 1;
                    if member.verified[1] > 0 {
                        let least = cluster.least.get_or_insert(member.verified);
                        if is_less(member.verified, *least) {
                            *least = member.verified;
                        }
                    }
                }
            }
        }
        // An older capture of a page is not a further copy of it.
        if member.evidence != Decision::SAME_URL {
            self.members += 1;
            let sources = self.origins.map_or(0, |origins| origins.sources);
            if self.members < self.keep_copies && sources >= self.min_sources {
                self.copies.insert(member.document);
                return;
            }
        }
        if let Some(dropped) = self.dropped_of.get_mut(member.source as usize) {
            *dropped += 1;
            let group = self.loss_of[member.source as usize];
            *self.losses_here.entry(group).or_default() += 1;
        }
    }

    fn end_cluster(&mut self) -> Result<()> {
        let cluster = self.current;
        if cluster.size == 0 {
            return Ok(());
        }
        let origins = self.origins.filter(|origins| origins.kept == cluster.kept);
        let origins = origins.ok_or_else(|| damaged("a document is in no input"))?;
        self.records.append(bytemuck::bytes_of(&ClusterRecord {
            kept: cluster.kept,
            size: narrow(cluster.size),
            sources: origins.sources,
            sites: origins.sites,
        }))?;
        self.largest.push(cluster);
        self.largest
            .sort_unstable_by_key(|cluster| (Reverse(cluster.size), cluster.kept));
        self.largest.truncate(LARGEST);
        for (group, dropped) in self.losses_here.drain() {
            let loss = &mut self.losses[group as usize];
            loss.dropped += dropped;
            loss.worst.push((dropped, cluster.kept));
            loss.worst
                .sort_unstable_by_key(|&(dropped, kept)| (Reverse(dropped), kept));
            loss.worst.truncate(WORST);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Clusters> {
        self.end_cluster()?;
        Ok(Clusters {
            records: ByNumber::of_spool(self.records.finish()?)?,
            copies: self.copies,
            dropped_of: self.dropped_of,
            losses: self.losses,
            largest: self.largest,
        })
    }
}

/// The error for work files that contradict each other.
pub fn damaged(what: &str) -> Error {
    let message = format!("the work files are damaged: {what} (start again with --restart)");
    Error::new(ErrorKind::Content, message)
}

/// Whether the fraction `a` is less than `b`; the denominators are not zero.
fn is_less(a: [u32; 2], b: [u32; 2]) -> bool {
    let [a, b] = [a, b].map(|pair| pair.map(u64::from));
    a[0] * b[1] < b[0] * a[1]
}

/// The rows and keep keys of documents with ascending numbers.
struct KeyedRows<'a> {
    table: &'a DocumentTable,
    keys: &'a KeepKeys,
    first: u32,
    rows: Vec<Row>,
    keep_keys: Vec<[u8; 16]>,
}

impl<'a> KeyedRows<'a> {
    fn of(context: JobContext<'a>) -> KeyedRows<'a> {
        KeyedRows {
            table: context.table(),
            keys: context.keys,
            first: 0,
            rows: Vec::new(),
            keep_keys: Vec::new(),
        }
    }

    fn get(&mut self, number: u32) -> Result<(Row, [u8; 16])> {
        let place = number.checked_sub(self.first).map(|place| place as usize);
        let found = place.filter(|place| *place < self.rows.len());
        let place = match found {
            Some(place) => place,
            None => {
                self.first = number;
                let rows = &self.table.rows;
                rows.read(number.into(), ROWS, &mut self.rows)?;
                if self.rows.is_empty() {
                    // There is no such row; reading it gives the error.
                    self.rows.push(rows.get(number.into())?);
                }
                self.keys
                    .read(number.into(), &self.rows, &mut self.keep_keys)?;
                0
            }
        };
        Ok((self.rows[place], self.keep_keys[place]))
    }
}
