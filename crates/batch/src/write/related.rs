//! Request and metadata records of WARC files, which are dropped with their response.
//!
//! A `request` or `metadata` record belongs to a response if it names the response's id in
//! `WARC-Concurrent-To` or `WARC-Refers-To`, or if the response names its id in
//! `WARC-Concurrent-To`. All other `request` and `metadata` records are kept.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_128;

use crate::Result;
use simtool_corpus::web::relations::Relations;
use simtool_corpus::web::warc::{self, Next};

use crate::table::bits::Bits;
use crate::table::document_table::DocumentTable;
use crate::table::row::TableRow;
use crate::workdir::Work;

const REQUEST: &str = "request";
const METADATA: &str = "metadata";

/// The numbers of records that are dropped with their responses: requests, and metadata.
pub type RelatedCounts = [u64; 2];

/// Sorted hashes of the ids that identify the related records to drop in a WARC file.
#[derive(Debug, Default)]
pub struct RelatedIds {
    /// Ids of the dropped documents.
    gone: Vec<u128>,
    /// Ids of the records that these documents name as concurrent.
    concurrent: Vec<u128>,
}

impl RelatedIds {
    /// The ids of the dropped documents among `documents`, which are those of one file. Stores at
    /// most two hashes of 16 bytes for each.
    pub fn read<R: TableRow>(
        table: &DocumentTable<R>,
        documents: Range<u32>,
        dropped: &Bits,
    ) -> Result<RelatedIds> {
        let mut ids = RelatedIds::default();
        table.for_each_row(documents, |number, row| {
            if dropped.contains(number) {
                let label = table.label(row)?;
                if !row.is_named_by_place() {
                    ids.gone.push(xxh3_128(&label.id));
                }
                if !label.concurrent_to.is_empty() {
                    ids.concurrent.push(xxh3_128(&label.concurrent_to));
                }
            }
            Ok(())
        })?;
        ids.gone.sort_unstable();
        ids.concurrent.sort_unstable();
        Ok(ids)
    }

    /// The related records to drop in `bytes`, which are whole records of a WARC file: their ranges
    /// in order, and their counts.
    pub fn find(&self, bytes: &[u8]) -> (Vec<Range<usize>>, RelatedCounts) {
        let (mut found, mut counts) = (Vec::new(), RelatedCounts::default());
        if self.gone.is_empty() && self.concurrent.is_empty() {
            return (found, counts);
        }
        let mut at = 0;
        loop {
            match warc::next_record(&bytes[at..], true) {
                Next::Record(record) => {
                    let range = at..at + record.raw.len();
                    at = range.end;
                    if let Some(kind) = self.kind_of_related(record.raw) {
                        counts[kind] += 1;
                        found.push(range);
                    }
                }
                Next::Damaged { resume_at, .. } => at += resume_at,
                Next::Incomplete { .. } | Next::End => return (found, counts),
            }
        }
    }

    fn kind_of_related(&self, record: &[u8]) -> Option<usize> {
        let relations = Relations::of(record);
        let kinds = [REQUEST, METADATA].map(str::as_bytes);
        let kind = kinds
            .iter()
            .position(|kind| relations.kind.eq_ignore_ascii_case(kind))?;
        let has =
            |ids: &[u128], id: &[u8]| !id.is_empty() && ids.binary_search(&xxh3_128(id)).is_ok();
        let goes = has(&self.gone, relations.concurrent_to)
            || has(&self.gone, relations.refers_to)
            || has(&self.concurrent, relations.id);
        goes.then_some(kind)
    }
}

/// Whether `bytes`, which are whole records of a WARC file, have one that is not a `warcinfo`, which
/// describes the others.
pub fn has_records(bytes: &[u8]) -> bool {
    let mut at = 0;
    loop {
        match warc::next_record(&bytes[at..], true) {
            Next::Record(record) => {
                if !Relations::of(record.raw)
                    .kind
                    .eq_ignore_ascii_case(b"warcinfo")
                {
                    return true;
                }
                at += record.raw.len();
            }
            Next::Damaged { resume_at, .. } => at += resume_at,
            Next::Incomplete { .. } | Next::End => return false,
        }
    }
}

/// Stores the counts of a complete file, for a run that resumes.
///
/// # Errors
/// [`ErrorKind::Write`](crate::ErrorKind::Write).
pub fn store(work: &Work, source: u32, [requests, metadata]: RelatedCounts) -> Result<()> {
    let mut counts = Map::new();
    counts.insert(REQUEST.into(), requests.into());
    counts.insert(METADATA.into(), metadata.into());
    work.publish(&name(source), counts)
}

/// The counts of a file; zeros if none were stored.
///
/// # Errors
/// [`ErrorKind::Content`](crate::ErrorKind::Content) if they are damaged, and
/// [`ErrorKind::Write`](crate::ErrorKind::Write) if they cannot be read.
pub fn stored(work: &Work, source: u32) -> Result<RelatedCounts> {
    let stored = work.published(&name(source))?.unwrap_or_default();
    let count = |kind: &str| stored.get(kind).and_then(Value::as_u64).unwrap_or_default();
    Ok([count(REQUEST), count(METADATA)])
}

fn name(source: u32) -> String {
    format!("related-{source}")
}

/// The [`RelatedIds`] of the sources whose files are being written.
#[derive(Debug, Default)]
pub struct OpenRelatedIds(Mutex<HashMap<u32, Arc<RelatedIds>>>);

impl OpenRelatedIds {
    /// The ids for a source; calls `read` if they are not held yet.
    ///
    /// # Errors
    /// Errors of `read`.
    pub fn of(
        &self,
        source: u32,
        read: impl FnOnce() -> Result<RelatedIds>,
    ) -> Result<Arc<RelatedIds>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ids) = all.get(&source) {
            return Ok(Arc::clone(ids));
        }
        let ids = Arc::new(read()?);
        all.insert(source, Arc::clone(&ids));
        Ok(ids)
    }

    /// Discards the ids of a source that has been written.
    pub fn forget(&self, source: u32) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&source);
    }
}
