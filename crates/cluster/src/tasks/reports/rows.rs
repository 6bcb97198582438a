//! The rows of the reports, as Parquet files: `duplicates`, `clusters` and `refused`.

use std::collections::HashMap;

use ahash::RandomState;
use simtool_batch::KnownDocuments;
use simtool_batch::dedup::URL;
use simtool_core::Result;

use super::captured::dropped_newest;
use super::outcomes::{CLUSTERS, Cluster, DROPS, FIRSTS};
use crate::context::Context;
use crate::name::Name;
use crate::records::{Drop, EXACT, HomeRow, NEAR, NORMALIZED, SAME_URL, Verified, row_of};
use crate::tables::{ClusterRow, PairRow, Tables};
use crate::tasks::pairs::known;
use crate::tasks::pairs::verified::{EARLIER_NAMES, VERIFIED, earlier_name};
use crate::tasks::reading::captures::dropped_captures;
use crate::tasks::reading::home::{NAMES, ORIGINS, ROWS};
use crate::work::{Facts, Inbox, Outbox, Stream, TaskFile, damaged};

/// The places of dropped documents, by the tasks that read them: [`Gone`].
const GONE: Stream = Stream(0);

/// The place of a dropped document: the file, the member, the offset.
pub type Gone = [u64; 3];

/// The places of the dropped documents that a task reads.
///
/// # Errors
/// Errors of reading.
pub fn gone(reports: &Inbox<'_>, task: usize) -> Result<Vec<Gone>> {
    reports.all(GONE, task)
}

/// The names of a home, by row.
struct HomeNames {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The names of the documents of an index, by their ranks.
    known: HashMap<i64, Vec<u8>, RandomState>,
}

impl HomeNames {
    fn of(context: &Context<'_>, home: usize) -> Result<HomeNames> {
        let mut names = HomeNames {
            bytes: Vec::new(),
            ends: vec![0],
            known: known::names(context, home)?,
        };
        let file = context.inbox(context.homes()).file(home)?;
        file.messages(NAMES, 0, |name| {
            names.bytes.extend_from_slice(name);
            names.ends.push(names.bytes.len());
            Ok(())
        })?;
        Ok(names)
    }

    fn get(&self, rank: i64) -> Name<'_> {
        if rank < 0 {
            return self
                .known
                .get(&rank)
                .map_or_else(Name::default, |name| Name::read(name));
        }
        let row = row_of(rank);
        let range = self.ends.get(row).zip(self.ends.get(row + 1));
        range.map_or_else(Name::default, |(start, end)| {
            Name::read(&self.bytes[*start..*end])
        })
    }
}

/// Writes the rows of a home.
///
/// # Errors
/// Errors of reading and writing.
pub fn run(context: &Context<'_>, task: usize) -> Result<Facts> {
    let mut out = Outbox::create(context.work, "reports", task, &[context.tasks()])?;
    let names = HomeNames::of(context, task)?;
    let mut tables = Tables::new(context.plan.keys);
    let mut clusters: HashMap<i64, (Cluster, Vec<u8>), RandomState> = HashMap::default();
    let named = context.inbox("named");
    named.headed(CLUSTERS, task, |cluster: Cluster, name| {
        clusters.insert(cluster.kept, (cluster, name.to_vec()));
        Ok(())
    })?;
    let mut gone: Vec<usize> = Vec::new();
    let mut dropped = |row: PairRow<'_>, drop: (i64, u64), tables: &mut Tables| {
        let (rank, method) = drop;
        gone.push(row_of(rank));
        out.facts.add("dropped", 1);
        let name = match method {
            EXACT => "same_text",
            NORMALIZED => "same_words",
            SAME_URL => "same_url",
            _ => "near",
        };
        out.facts.add(name, 1);
        out.facts
            .add("dropped_against", u64::from(row.kept_against == Some(true)));
        tables.duplicates.push(&row);
    };
    let near = context.job.method.name();
    let method_name = |method: u64| match method {
        EXACT => "exact",
        NORMALIZED => "normalized",
        SAME_URL => URL,
        _ => &near,
    };
    let newest = dropped_newest(context, task)?;
    let captures = dropped_captures(context, task)?;
    let newest_of = captures.iter().filter_map(|capture| {
        let (_, name) = newest.get(&capture.leader)?;
        Some((capture.rank, Name::read(name)))
    });
    let newest_of: HashMap<i64, Name<'_>, RandomState> = newest_of.collect();
    let references = context.references();
    let estimates = context.known.is_some_and(KnownDocuments::estimates);
    named.file(task)?.records(FIRSTS, 0, |cluster: Cluster| {
        let name = names.get(cluster.kept);
        tables.clusters.push(&ClusterRow {
            cluster: name,
            size: cluster.size,
            document: name,
            kept: !context.job.drop_all,
        });
        if context.job.drop_all {
            let row = PairRow {
                document: name,
                kept: None,
                cluster_size: Some(cluster.size),
                method: method_name(cluster.method),
                pair: None,
                similarity: None,
                kept_against: None,
                newest: None,
            };
            dropped(row, (cluster.kept, cluster.method), &mut tables);
        }
        Ok(())
    })?;
    context
        .inbox("counted")
        .file(task)?
        .records(DROPS, 0, |drop: Drop| {
            let Drop { pair, method } = drop;
            let (cluster, kept) = clusters
                .get(&pair.earlier)
                .ok_or_else(|| damaged(&context.work.path("named")))?;
            let (name, kept) = (names.get(pair.member), Name::read(kept));
            let is_kept = pair.member <= cluster.last_copy && method != SAME_URL;
            tables.clusters.push(&ClusterRow {
                cluster: kept,
                size: cluster.size,
                document: name,
                kept: is_kept,
            });
            if is_kept {
                return Ok(());
            }
            let row = PairRow {
                document: name,
                kept: Some(kept),
                cluster_size: Some(cluster.size),
                method: method_name(method),
                similarity: match method {
                    NEAR => Some(pair.shared as f64 / pair.shingles as f64)
                        .filter(|similarity| !similarity.is_nan()),
                    SAME_URL => None,
                    _ => Some(1.0),
                },
                pair: Some(Verified {
                    // Equal documents are not compared, and signatures of an index estimate.
                    shingles: match method {
                        NEAR if pair.earlier >= 0 || !estimates => pair.shingles,
                        _ => 0,
                    },
                    ..pair
                }),
                kept_against: Some(pair.earlier < references),
                newest: newest_of.get(&pair.member).copied(),
            };
            dropped(row, (pair.member, method), &mut tables);
            Ok(())
        })?;
    tell_gone(context, task, gone, &mut out)?;
    if context.job.refused && has_refused(context)? {
        refused(context, task, &names, &mut tables)?;
    }
    tables.write(context.work, task)?;
    out.finish()
}

/// Tells the tasks that read the dropped documents of a home which ones they are.
fn tell_gone(
    context: &Context<'_>,
    task: usize,
    mut gone: Vec<usize>,
    out: &mut Outbox,
) -> Result<()> {
    gone.sort_unstable();
    let home = context.inbox(context.homes()).file(task)?;
    let mut origins: Vec<u32> = Vec::new();
    if !context.is_in_order() {
        home.records(ORIGINS, 0, |origin| {
            origins.push(origin);
            Ok(())
        })?;
    }
    let (mut next, mut at) = (gone.iter().peekable(), 0);
    home.records(ROWS, 0, |row: HomeRow| {
        if next.next_if_eq(&&at).is_some() {
            let origin = origins.get(at).map_or(task, |origin| *origin as usize);
            let place: Gone = [u64::from(row.source), row.place[0], row.place[1]];
            out.record(GONE, origin, &place)?;
        }
        at += 1;
        Ok(())
    })
}

/// The refused pairs of a home.
fn refused(
    context: &Context<'_>,
    task: usize,
    names: &HomeNames,
    tables: &mut Tables,
) -> Result<()> {
    let file = context.inbox("compared-1").file(task)?;
    let mut pairs: Vec<Verified> = Vec::new();
    file.records(VERIFIED, 0, |pair| {
        pairs.push(pair);
        Ok(())
    })?;
    let method = context.job.method.name();
    let references = context.references();
    let mut pairs = pairs.iter();
    file.messages(EARLIER_NAMES, 0, |message| {
        let found = pairs.next().zip(earlier_name(message));
        let (pair, (_, earlier)) = found.ok_or_else(|| damaged(file.path()))?;
        tables.refused.push(&PairRow {
            document: names.get(pair.member),
            kept: Some(earlier),
            cluster_size: None,
            method: &method,
            similarity: Some(pair.shared as f64 / pair.shingles as f64),
            pair: Some(*pair),
            kept_against: Some(pair.earlier < references),
            newest: None,
        });
        Ok(())
    })
}

/// Whether refused pairs were compared.
fn has_refused(context: &Context<'_>) -> Result<bool> {
    Ok(TaskFile::find(context.work, "compared-1", 0)?.is_some())
}
