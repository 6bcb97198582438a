//! The readings: the documents of all inputs, and the occurrences of units that may be removed.
//!
//! The first reading stores a row for each document and fills a table of the units that were seen
//! twice. It also collects all occurrences while they fit into memory. If they do not, a second
//! reading collects those of the units in the table. The list of removed units needs no table.

use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_128;

use super::job::{Job, Rule};
use super::listed::ListedUnits;
use super::occurrence::Occurrence;
use super::per::{Per, halves, in_group};
use crate::corpus::{Document, Source};
use crate::dedup::keep;
use crate::engine::documents::{ChunkDocuments, source_of};
use crate::engine::pipeline::Pipeline;
use crate::io::Sorter;
use crate::jobs::dedup::{ChunkEntry, Numbering, Work, changed, describe, too_many};
use crate::jobs::passages::documents::{self, Row, write_label, write_skipped_label};
use crate::jobs::passages::seen_twice::SeenTwice;
use crate::text::units::UnitReader;
use crate::{Error, ErrorKind, Result};

/// Keys whose words of the table are requested ahead.
const AHEAD: usize = 16;

/// A reading of all inputs.
pub struct Reader<'a> {
    /// The job.
    pub job: &'a Job,
    /// Reads the sources, those of the reference first.
    pub pipeline: Pipeline<'a>,
}

/// What the first reading found.
pub struct FirstReading {
    /// The chunks of all sources.
    pub chunks: Vec<ChunkEntry>,
    /// All occurrences, if they fit into the memory and no list says which ones are needed.
    pub kept: Option<Vec<Occurrence>>,
}

/// Which occurrences a reading collects.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    /// All of them, until `AtomicBool` is false; their units are added to the table.
    All(&'a SeenTwice, &'a AtomicBool),
    /// Those of listed units.
    Listed(&'a ListedUnits),
    /// Those of units in the table.
    Repeated(&'a SeenTwice),
}

/// The documents of a chunk.
struct ChunkUnits {
    entry: ChunkEntry,
    rows: Vec<Row>,
    labels: Vec<u8>,
    /// Documents are numbered within the chunk.
    occurrences: Vec<Occurrence>,
}

impl Reader<'_> {
    /// Stores the rows and labels of all documents and the chunks in `work`, and adds all units to
    /// `table`. Keeps at most `most` occurrences. If the job has a list, pushes the occurrences of
    /// listed units to `sorter` instead.
    ///
    /// # Errors
    /// Those of reading and writing; [`ErrorKind::Interrupted`].
    pub fn first(
        &self,
        table: &SeenTwice,
        most: usize,
        work: &Work,
        sorter: &mut Sorter<Occurrence>,
    ) -> Result<FirstReading> {
        let is_kept = AtomicBool::new(true);
        let wanted = match &self.job.rule {
            Rule::Listed(listed) => Wanted::Listed(listed),
            Rule::Repeated { .. } => Wanted::All(table, &is_kept),
        };
        let mut files = Vec::new();
        for name in documents::FILES {
            files.push(work.create_file(name)?);
        }
        let (mut chunks, mut kept) = (Vec::new(), Vec::new());
        let (mut documents, mut label_bytes) = (0u32, 0u64);
        let collect = |mut found: ChunkUnits| {
            for row in &mut found.rows {
                row.label += label_bytes;
            }
            label_bytes += found.labels.len() as u64;
            let [rows, labels, entries] = &mut files[..] else {
                return Ok(());
            };
            rows.append(bytemuck::cast_slice(&found.rows))?;
            labels.append(&found.labels)?;
            entries.append(bytemuck::bytes_of(&found.entry))?;
            number_from(documents, &mut found.occurrences);
            documents = documents
                .checked_add(found.entry.documents)
                .ok_or_else(too_many)?;
            chunks.push(found.entry);
            match wanted {
                Wanted::All(..) if is_kept.load(Ordering::Relaxed) => {
                    match kept.len() + found.occurrences.len() <= most {
                        true => kept.extend_from_slice(&found.occurrences),
                        false => {
                            is_kept.store(false, Ordering::Relaxed);
                            kept = Vec::new();
                        }
                    }
                    Ok(())
                }
                Wanted::All(..) => Ok(()),
                Wanted::Listed(_) | Wanted::Repeated(_) => {
                    push_all(sorter, &found.occurrences, self.job.per())
                }
            }
        };
        self.pipeline.run_documents_in_order(
            || ChunkReader::new(self.job, wanted),
            |reader, chunk| reader.units(chunk, true),
            collect,
        )?;
        let mut finished = Vec::new();
        for file in files {
            finished.push(file.publish()?);
        }
        let mut marker = serde_json::Map::new();
        marker.insert("files".into(), describe(&finished).into());
        work.publish("gathered", marker)?;
        let has_all = matches!(wanted, Wanted::All(..)) && is_kept.into_inner();
        Ok(FirstReading {
            chunks,
            kept: has_all.then_some(kept),
        })
    }

    /// Pushes the occurrences of the units in `table` to `sorter`.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if a source is not as it was; those of reading and writing;
    /// [`ErrorKind::Interrupted`].
    pub fn second(
        &self,
        table: &SeenTwice,
        numbering: &Numbering<'_>,
        sorter: &mut Sorter<Occurrence>,
    ) -> Result<()> {
        let work = |reader: &mut ChunkReader<'_>, documents: ChunkDocuments<'_>| {
            let first = numbering.first_of(documents.chunk);
            let (first, _) = first.ok_or_else(|| changed(documents.source))?;
            let mut found = reader.units(documents, false)?.occurrences;
            number_from(first, &mut found);
            Ok(found)
        };
        self.pipeline.run_documents_in_order(
            || ChunkReader::new(self.job, Wanted::Repeated(table)),
            work,
            |found| push_all(sorter, &found, self.job.per()),
        )
    }
}

/// Numbers the documents of a chunk whose first one is `first`.
fn number_from(first: u32, occurrences: &mut [Occurrence]) {
    for occurrence in occurrences {
        occurrence.document += first;
    }
}

/// Pushes occurrences that are counted within the groups of `per`.
///
/// # Errors
/// [`ErrorKind::Write`].
pub fn push_all(
    sorter: &mut Sorter<Occurrence>,
    occurrences: &[Occurrence],
    per: Per,
) -> Result<()> {
    occurrences.iter().try_for_each(|occurrence| {
        sorter.push(Occurrence {
            key: per.key_at(occurrence.key, occurrence.document),
            ..*occurrence
        })
    })
}

/// Finds the units of chunks; one for each thread.
struct ChunkReader<'a> {
    wanted: Wanted<'a>,
    per: Per,
    units: UnitReader,
}

impl<'a> ChunkReader<'a> {
    fn new(job: &Job, wanted: Wanted<'a>) -> ChunkReader<'a> {
        ChunkReader {
            wanted,
            per: job.per(),
            units: UnitReader::new(job.kind, job.normal),
        }
    }

    /// The wanted occurrences of a chunk and, if `with_rows`, its rows and labels.
    fn units(&mut self, documents: ChunkDocuments<'_>, with_rows: bool) -> Result<ChunkUnits> {
        let (chunk, source) = (documents.chunk, documents.source);
        let mut made = ChunkUnits {
            entry: ChunkEntry {
                digest: 0,
                documents: 0,
                source: chunk.source,
                bytes: chunk.bytes().len() as u64,
            },
            rows: Vec::new(),
            labels: Vec::new(),
            occurrences: Vec::new(),
        };
        let mut texts_digest = Vec::new();
        let mut number = 0;
        documents.for_each(|found| {
            let label = made.labels.len() as u64;
            let row = match found {
                Ok(document) => {
                    if with_rows {
                        write_label(source, &document, &mut made.labels);
                    }
                    if with_rows && chunk.bytes().is_empty() {
                        texts_digest.extend_from_slice(&xxh3_128(document.text).to_le_bytes());
                    }
                    let row = Row::of_document(&document, site_of(&document), label);
                    self.document(source, &document, row, number, &mut made.occurrences)
                }
                Err(skip) => {
                    if with_rows {
                        write_skipped_label(source, &skip, &mut made.labels);
                    }
                    Row::of_skipped(&skip, label)
                }
            };
            if with_rows {
                made.rows.push(row);
            }
            number += 1;
            Ok(())
        })?;
        made.entry.documents = number;
        if with_rows {
            made.entry.digest = match chunk.bytes() {
                [] => xxh3_128(&texts_digest),
                bytes => xxh3_128(bytes),
            };
        }
        match self.wanted {
            Wanted::All(table, is_kept) => {
                table.insert_all(&made.occurrences, |occurrence| occurrence.key);
                if !is_kept.load(Ordering::Relaxed) {
                    made.occurrences = Vec::new();
                }
            }
            Wanted::Repeated(table) => retain_repeated(&mut made.occurrences, table),
            Wanted::Listed(_) => {}
        }
        Ok(made)
    }

    /// Appends the units of a document; returns its row with their counts.
    fn document(
        &mut self,
        source: &Source,
        document: &Document<'_>,
        mut row: Row,
        number: u32,
        occurrences: &mut Vec<Occurrence>,
    ) -> Row {
        let (mut units, mut unit_bytes, mut covered) = (0u32, 0, 0);
        let group = self.per.group(source, row.site);
        self.units.for_each(document.text, |range, hash| {
            units = units.saturating_add(1);
            unit_bytes += range.end.saturating_sub(covered.max(range.start));
            covered = range.end;
            let mut key = halves(hash);
            if let Wanted::Listed(listed) = self.wanted
                && !listed.contains(key)
            {
                return;
            }
            if let Some(group) = group {
                key = in_group(key, group);
            }
            occurrences.push(Occurrence {
                key,
                document: number,
                // Documents are shorter than 4 GiB.
                start: range.start as u32,
                length: range.len() as u32,
                _reserved: 0,
                site: row.site,
            });
        });
        row.units = units;
        row.unit_bytes = unit_bytes as u64;
        row
    }
}

/// Removes the occurrences of units that are not in the table.
pub fn retain_repeated(occurrences: &mut Vec<Occurrence>, table: &SeenTwice) {
    let mut stay = 0;
    for place in 0..occurrences.len() {
        if let Some(next) = occurrences.get(place + AHEAD) {
            table.prefetch(next.key);
        }
        if table.is_repeated(occurrences[place].key) {
            occurrences[stay] = occurrences[place];
            stay += 1;
        }
    }
    occurrences.truncate(stay);
}

/// The site of a document; 0 if its URL has no host.
fn site_of(document: &Document<'_>) -> u64 {
    match keep::host(document.url) {
        [] => 0,
        _ => keep::site(document.url).max(1),
    }
}

/// The chunks that an earlier run stored.
///
/// # Errors
/// [`ErrorKind::Read`]; [`ErrorKind::Content`] for chunks of no source.
pub fn stored_chunks(work: &Work, sources: &[Source]) -> Result<Vec<ChunkEntry>> {
    let [_, _, name] = documents::FILES;
    let file = crate::io::RecordFile::<ChunkEntry>::open(&work.path(name))?;
    let count = usize::try_from(file.len()).map_err(|_| {
        let message = "more chunks than fit into memory";
        Error::new(ErrorKind::Content, message)
    })?;
    let mut chunks = Vec::new();
    file.read(0, count, &mut chunks)?;
    for chunk in &chunks {
        source_of(sources, chunk.source)?;
    }
    Ok(chunks)
}
