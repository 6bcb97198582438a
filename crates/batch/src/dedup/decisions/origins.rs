//! How many sources and sites the documents of each cluster come from.

use bytemuck::{Pod, Zeroable};

use crate::Result;
use crate::dedup::job_context::JobContext;
use crate::dedup::memory;
use crate::scope::numbered_sources;
use crate::table::document_table::{DocumentCursor, DocumentTable};
use crate::table::row::{Flags, Row};
use simtool_core::dedup::keep;
use simtool_files::{Sorted, Sorter};

/// How many sources and sites the documents of a cluster come from, the kept one included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterOrigins {
    /// The kept document.
    pub kept: u32,
    /// Different sources: input files, or directories of files that are one document each. A
    /// document of an index has none.
    pub sources: u32,
    /// Different hosts of URLs. A document without one counts for none.
    pub sites: u32,
}

/// The source or the site of a member. Sorts by cluster, so that equal ones are consecutive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
struct OriginRecord {
    kept: u32,
    /// One of [`KINDS`].
    kind: u32,
    /// The number of the source, or the hash of the site.
    origin: u64,
}

/// Sources and sites, in the order of [`OriginReader::of_row`].
const KINDS: [u32; 2] = [0, 1];

/// Reads where documents come from.
struct OriginReader<'a> {
    table: &'a DocumentTable,
    cursor: DocumentCursor<'a>,
    /// The number of each input file's source.
    sources: Vec<u32>,
}

impl OriginReader<'_> {
    /// The source and the site of a document.
    fn of_row(&mut self, row: &Row) -> Result<[Option<u64>; 2]> {
        let source = self.sources.get(row.place.source as usize).copied();
        let site = match row.flags.has(Flags::NO_URL) {
            true => None,
            false => keep::site(&self.cursor.label(row)?.url),
        };
        Ok([source.map(u64::from), site])
    }

    /// The same of a document by its number; one of an index has neither.
    fn of(&mut self, document: u32) -> Result<[Option<u64>; 2]> {
        if u64::from(document) >= self.table.rows.len() {
            return Ok([None, None]);
        }
        let row = self.cursor.row(document)?;
        self.of_row(&row)
    }
}

/// Collects the origins of the members of clusters.
pub struct Origins<'a> {
    reader: OriginReader<'a>,
    records: Sorter<OriginRecord>,
}

impl<'a> Origins<'a> {
    /// No members so far.
    pub fn new(context: &JobContext<'a>) -> Origins<'a> {
        Origins {
            reader: OriginReader {
                table: context.table(),
                cursor: context.table().cursor(),
                sources: numbered_sources(context.run().sources),
            },
            records: context.space.sorter(memory::ORIGINS),
        }
    }

    /// Adds a member of the cluster of `kept`. The kept document itself need not be added. Fast if
    /// members mostly come in input order.
    ///
    /// # Errors
    /// Errors of work files and of temporary files.
    pub fn add(&mut self, kept: u32, member: &Row) -> Result<()> {
        for (kind, origin) in KINDS.into_iter().zip(self.reader.of_row(member)?) {
            if let Some(origin) = origin {
                self.records.push(OriginRecord { kept, kind, origin })?;
            }
        }
        Ok(())
    }

    /// The counts of each cluster, by its kept document.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn finish(self) -> Result<CountedOrigins<'a>> {
        Ok(CountedOrigins {
            reader: self.reader,
            records: self.records.finish()?.peekable(),
        })
    }
}

/// The counts of clusters, in ascending order of their kept documents.
pub struct CountedOrigins<'a> {
    reader: OriginReader<'a>,
    records: std::iter::Peekable<Sorted<OriginRecord>>,
}

impl CountedOrigins<'_> {
    /// The counts of the cluster whose members follow.
    fn count(&mut self, first: OriginRecord) -> Result<ClusterOrigins> {
        let kept = first.kept;
        let mut own = self.reader.of(kept)?;
        let mut counts = [0u32; 2];
        let mut add = |kind: u32| counts[kind as usize] = counts[kind as usize].saturating_add(1);
        let mut last = None;
        let mut next = Some(first);
        while let Some(record) = next {
            if last != Some(record) {
                add(record.kind);
                own[record.kind as usize].take_if(|own| *own == record.origin);
                last = Some(record);
            }
            let is_member = |next: &Result<OriginRecord>| {
                next.as_ref().map_or(true, |record| record.kept == kept)
            };
            next = self.records.next_if(is_member).transpose()?;
        }
        // The kept document's own, if no member has it.
        for (kind, _) in KINDS.into_iter().zip(own).filter(|(_, own)| own.is_some()) {
            add(kind);
        }
        let [sources, sites] = counts;
        Ok(ClusterOrigins {
            kept,
            sources,
            sites,
        })
    }
}

impl Iterator for CountedOrigins<'_> {
    type Item = Result<ClusterOrigins>;

    fn next(&mut self) -> Option<Result<ClusterOrigins>> {
        let first = self.records.next()?;
        Some(first.and_then(|first| self.count(first)))
    }
}
