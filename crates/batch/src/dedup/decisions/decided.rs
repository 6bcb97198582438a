//! Decisions in files of the work directory: which documents are dropped for which kept ones, and
//! which pairs were refused. With them, an interrupted run resumes at the reports.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::{Error, ErrorKind, Result};
use simtool_engine::Progress;
use simtool_files::{RecordFile, Sorted, Spooled};

use super::known::{FoundIds, KnownIds};
use crate::dedup::decision::Decision;
use crate::dedup::lower::sample::LowerSample;
use crate::dedup::near::refused::Refused;
use crate::table::by_number::ByNumber;
use crate::workdir::{DECIDED, FinishedFile, Work, describe};

const DECISIONS: &str = "decisions";
const REFUSED: &str = "refused";
const KNOWN_IDS: &str = "known-ids";
const KNOWN_ENDS: &str = "known-ends";
const LOWER: &str = "lower";
const FILES: [&str; 5] = [DECISIONS, REFUSED, LOWER, KNOWN_IDS, KNOWN_ENDS];

/// Records that are copied or read at a time.
const RECORDS: usize = 8192;
/// Bytes of ids that are copied at a time.
const BYTES: usize = 1 << 20;

/// Decisions that are not stored yet.
pub struct Decisions {
    /// Dropped documents.
    pub decisions: Sorted<Decision>,
    /// Pairs that verification did not confirm.
    pub refused: Refused,
    /// Known documents for which others are dropped.
    pub known: Option<FoundIds>,
    /// Pairs that lower thresholds would accept.
    pub lower: LowerSample,
}

/// Stored decisions.
pub struct StoredDecisions {
    decisions: RecordFile<Decision>,
    decisions_path: PathBuf,
    refused: RecordFile<Decision>,
    /// How many pairs verification did not confirm, listed or not.
    pub refused_count: u64,
    /// Known documents for which others are dropped.
    pub known: Option<KnownIds>,
    /// Pairs that lower thresholds would accept.
    pub lower: LowerSample,
}

impl StoredDecisions {
    /// The decisions of an interrupted run, if it completed them.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] for a damaged file; [`ErrorKind::Read`] and [`ErrorKind::Write`] for
    /// one that cannot be read; [`ErrorKind::Interrupted`].
    pub fn load(work: &Work, progress: &Progress) -> Result<Option<StoredDecisions>> {
        let Some(marker) = work.published(DECIDED)? else {
            return Ok(None);
        };
        let described = marker.get("files").unwrap_or(&Value::Null);
        work.verify(&FILES, described, progress)?;
        StoredDecisions::open(work, &marker).map(Some)
    }

    /// Stores decisions.
    ///
    /// # Errors
    /// Errors of reading and writing; [`ErrorKind::Interrupted`].
    pub fn store(work: &Work, found: Decisions, progress: &Progress) -> Result<StoredDecisions> {
        let first = found.known.as_ref().map(|known| known.first);
        let mut files = vec![
            store_records(work, DECISIONS, found.decisions, progress)?,
            store_records(work, REFUSED, found.refused.listed, progress)?,
            store_records(work, LOWER, found.lower.pairs.into_iter().map(Ok), progress)?,
        ];
        let (ids, ends) = match &found.known {
            Some(known) => (Some(&known.ids), Some(&known.ends)),
            None => (None, None),
        };
        files.push(store_bytes(work, KNOWN_IDS, ids, progress)?);
        files.push(store_bytes(work, KNOWN_ENDS, ends, progress)?);
        let mut marker = Map::new();
        marker.insert("files".into(), describe(&files).into());
        marker.insert("refused".into(), found.refused.count.into());
        marker.insert("first_known".into(), json!(first));
        marker.insert("lower_sampled".into(), found.lower.sampled.into());
        marker.insert("lower_leaders".into(), found.lower.leaders.into());
        work.publish(DECIDED, marker.clone())?;
        StoredDecisions::open(work, &marker)
    }

    fn open(work: &Work, marker: &Map<String, Value>) -> Result<StoredDecisions> {
        let number = |name: &str| marker.get(name).and_then(Value::as_u64);
        let first = number("first_known").map(u32::try_from).transpose();
        let first = first.map_err(|_| {
            let message = "holds a document number that is too large: start again with --restart";
            Error::new(ErrorKind::Content, message).in_file(work.path(DECIDED))
        })?;
        let known = match first {
            Some(first) => Some(KnownIds {
                first,
                ids: RecordFile::open(&work.path(KNOWN_IDS))?,
                ends: RecordFile::open(&work.path(KNOWN_ENDS))?,
            }),
            None => None,
        };
        let lower: RecordFile<Decision> = RecordFile::open(&work.path(LOWER))?;
        let mut pairs = Vec::new();
        lower.read(0, lower.len() as usize, &mut pairs)?;
        Ok(StoredDecisions {
            decisions: RecordFile::open(&work.path(DECISIONS))?,
            decisions_path: work.path(DECISIONS),
            refused: RecordFile::open(&work.path(REFUSED))?,
            refused_count: number("refused").unwrap_or_default(),
            known,
            lower: LowerSample {
                pairs,
                sampled: number("lower_sampled").unwrap_or_default(),
                leaders: number("lower_leaders").unwrap_or_default(),
            },
        })
    }

    /// The same decisions, for look-up by document.
    ///
    /// # Errors
    /// [`ErrorKind::Read`].
    pub fn by_document(&self) -> Result<ByNumber<Decision>> {
        ByNumber::of_file(RecordFile::open(&self.decisions_path)?)
    }

    /// One decision for each dropped document and each kept document that it is dropped for, by
    /// number. Copies that are kept have one, too.
    pub fn decisions(&self) -> impl Iterator<Item = Result<Decision>> {
        DecisionRecords::of(&self.decisions)
    }

    /// Pairs that verification did not confirm and that are listed.
    pub fn refused(&self) -> impl Iterator<Item = Result<Decision>> {
        DecisionRecords::of(&self.refused)
    }
}

fn store_records(
    work: &Work,
    name: &str,
    mut records: impl Iterator<Item = Result<Decision>>,
    progress: &Progress,
) -> Result<FinishedFile> {
    let mut file = work.create_file(name)?;
    loop {
        progress.check()?;
        let batch: Vec<Decision> = records.by_ref().take(RECORDS).collect::<Result<_>>()?;
        if batch.is_empty() {
            return file.publish();
        }
        file.append(bytemuck::cast_slice(&batch))?;
    }
}

fn store_bytes(
    work: &Work,
    name: &str,
    bytes: Option<&Spooled>,
    progress: &Progress,
) -> Result<FinishedFile> {
    let mut file = work.create_file(name)?;
    let (mut at, mut block) = (0, Vec::new());
    if let Some(bytes) = bytes {
        while at < bytes.bytes() {
            progress.check()?;
            let left = usize::try_from(bytes.bytes() - at).unwrap_or(BYTES);
            bytes.read_at(at, left.min(BYTES), &mut block)?;
            file.append(&block)?;
            at += block.len() as u64;
        }
    }
    file.publish()
}

/// An iterator over the records of a file, which reads blocks of them. A kept document that is
/// dropped too (`drop_all`) has a record for each one that is dropped for it; these are consecutive,
/// and only the first is returned.
struct DecisionRecords<'a> {
    file: &'a RecordFile<Decision>,
    next: u64,
    block: std::vec::IntoIter<Decision>,
    last: Option<(u32, u32)>,
}

impl<'a> DecisionRecords<'a> {
    fn of(file: &'a RecordFile<Decision>) -> DecisionRecords<'a> {
        DecisionRecords {
            file,
            next: 0,
            block: Vec::new().into_iter(),
            last: None,
        }
    }

    fn read(&mut self) -> Option<Result<Decision>> {
        if self.block.as_slice().is_empty() && self.next < self.file.len() {
            let mut block = Vec::new();
            if let Err(error) = self.file.read(self.next, RECORDS, &mut block) {
                self.next = self.file.len();
                return Some(Err(error));
            }
            self.next += block.len() as u64;
            self.block = block.into_iter();
        }
        self.block.next().map(Ok)
    }
}

impl Iterator for DecisionRecords<'_> {
    type Item = Result<Decision>;

    fn next(&mut self) -> Option<Result<Decision>> {
        loop {
            let next = self.read()?;
            let pair = next.as_ref().ok().map(|next| (next.document, next.kept));
            if pair.is_none() || pair != self.last {
                self.last = pair;
                return Some(next);
            }
        }
    }
}
