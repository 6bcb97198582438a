//! Captures of one page: of documents with the same normalised URL, the newest stays.
//!
//! A document takes part if it could be read, has text, and has an absolute URL with a host. Those
//! of the reference come first, whatever their dates, and are never dropped. Of the others the newest
//! comes first. Documents without a date that can be read count as the oldest, and of equally new
//! ones, the last in the input counts as the newest.

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_128;

use crate::Result;
use simtool_core::dedup::keep::{Facts, LAST, Policy};
use simtool_core::dedup::normalize_url;
use simtool_files::Spooled;

use crate::dedup::decision::{Decision, Follower};
use crate::dedup::job_context::JobContext;
use crate::dedup::memory;
use crate::table::bits::Bits;
use crate::table::columns::{self, URL_NUMBERS};
use crate::table::row::Flags;
use crate::table::spooled_records::records;

/// Rows or records that are read at a time.
const BLOCK: usize = 8192;

/// Reads the URLs of documents; one for each thread.
#[derive(Default)]
pub struct UrlReader {
    normal: Vec<u8>,
}

impl UrlReader {
    /// The numbers of a document: those of a digest of its URL, and of a key that is smaller for a
    /// later date; and the flags of what it lacks.
    pub fn read(&mut self, url: &[u8], date: &[u8]) -> ([u64; URL_NUMBERS], Flags) {
        let mut flags = Flags::default();
        if !normalize_url(url, &mut self.normal) {
            flags.set(Flags::NO_PAGE, true);
            return ([0; URL_NUMBERS], flags);
        }
        let facts = Facts {
            date,
            ..Facts::default()
        };
        let newest = Policy::Newest.key(&facts);
        flags.set(Flags::UNDATED, newest == LAST);
        let [a, b] = columns::halves(xxh3_128(&self.normal).to_be_bytes());
        let [c, d] = columns::halves(newest);
        ([a, b, c, d], flags)
    }
}

/// A document with its URL. Sorts by URL and group, the one that stays first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct Capture {
    url: [u64; 2],
    group: u64,
    /// Zero for documents of the reference.
    class: u64,
    newest: [u64; 2],
    /// The document's number, subtracted from the largest one.
    from_last: u64,
}

impl Capture {
    fn document(&self) -> u32 {
        u32::MAX - self.from_last as u32
    }
}

/// The documents that are dropped for a newer one with the same URL.
pub struct OlderCaptures {
    /// Records of [`Follower`], sorted by the newest document.
    followers: Spooled,
    /// These documents.
    pub gone: Bits,
}

impl OlderCaptures {
    /// Finds them within the groups of the job's scope; if only documents of the reference drop others,
    /// those of which the reference has the page. Reads all rows; sorts the documents that have a URL.
    ///
    /// # Errors
    /// Errors of reading and of temporary files.
    pub fn find(context: &JobContext<'_>) -> Result<OlderCaptures> {
        let (table, space) = (context.table(), context.space);
        let only_against = context.only_against();
        let mut captures = space.sorter::<Capture>(memory::GROUPINGS);
        let (columns, mut numbers) = (context.job.columns(), Vec::new());
        table.rows.for_each_block(BLOCK, |first, rows| {
            columns.read_urls(table, first, rows.len(), &mut numbers)?;
            for (place, row) in rows.iter().enumerate() {
                let excluded = [Flags::SKIPPED, Flags::EMPTY, Flags::NO_PAGE];
                if excluded.iter().any(|flag| row.flags.has(*flag)) {
                    continue;
                }
                let [a, b, c, d] = numbers[place];
                captures.push(Capture {
                    url: [a, b],
                    group: row.group,
                    class: u64::from(!row.flags.has(Flags::REFERENCE)),
                    newest: [c, d],
                    from_last: u64::from(u32::MAX - (first as u32 + place as u32)),
                })?;
            }
            Ok(())
        })?;
        let mut followers = space.sorter::<Follower>(memory::FOLLOWERS);
        let mut gone = Bits::none_of(table.rows.len());
        let mut newest: Option<Capture> = None;
        for capture in captures.finish()? {
            let capture = capture?;
            let is_same =
                |newest: &Capture| (newest.url, newest.group) == (capture.url, capture.group);
            let Some(stays) = newest.filter(is_same) else {
                newest = Some(capture);
                continue;
            };
            if capture.class == 0 || only_against && stays.class > 0 {
                continue;
            }
            let [leader, document] = [stays, capture].map(|capture| capture.document());
            gone.insert(document);
            followers.push(Follower {
                leader,
                document,
                evidence: Decision::SAME_URL,
            })?;
        }
        let mut spool = space.spool()?;
        for follower in followers.finish()? {
            spool.append(bytemuck::bytes_of(&follower?))?;
        }
        Ok(OlderCaptures {
            followers: spool.finish()?,
            gone,
        })
    }

    /// The dropped documents with the newest ones, ascending by the newest.
    pub fn followers(&self) -> impl Iterator<Item = Result<Follower>> {
        records(&self.followers)
    }
}
