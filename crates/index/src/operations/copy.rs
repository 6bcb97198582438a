//! Copies: a consistent copy of an index in use, and the readable part of a damaged index.

use std::path::Path;
use std::sync::Arc;

use super::build::Build;
use super::open::prepare;
use super::replay::Groups;
use crate::Result;
use crate::answer::Entry;
use crate::form::Form;
use crate::handle::Index;
use crate::options::Options;
use crate::record::Record;
use crate::segment::Segment;
use crate::sketch::Compare;
use crate::snapshot::Part;
use crate::storage::database::{Change, Database, ListedSegment, RECENT};
use crate::storage::lock::IndexLock;
use crate::storage::manifest::Manifest;
use crate::storage::paths::{numbered_segments, segment_path};

impl Index {
    /// Copies the current state of the index into the directory `to`; queries and changes go on.
    ///
    /// `to` is subject to the conditions of [`Index::create`]. One transaction at the end makes it
    /// an index.
    ///
    /// # Errors
    /// Errors of [`Index::create`]; [`ErrorKind::Content`](crate::ErrorKind::Content) if a segment
    /// is damaged.
    pub fn copy(&self, to: &Path) -> Result<()> {
        let snapshot = self.snapshot();
        let faults = &self.options.faults;
        let mut lock = prepare(to, &self.options)?;
        let database = Database::create(to, faults)?;
        lock.lock_database(to)?;
        for part in &snapshot.parts {
            part.segment.copy(&segment_path(to, part.number), faults)?;
        }
        let listed: Vec<ListedSegment> = snapshot.parts.iter().map(Part::listed).collect();
        let next = snapshot
            .parts
            .iter()
            .map(|part| part.number + 1)
            .max()
            .unwrap_or(1);
        let records =
            (0..snapshot.recent.len()).filter_map(|number| snapshot.recent.bytes_of(number));
        let removed = snapshot
            .removed
            .iter()
            .flat_map(|(number, documents)| documents.iter().map(|document| (*number, *document)));
        let text = self.manifest.encode()?;
        database.commit(&Change {
            manifest: Some(text.as_bytes()),
            segments: Some((&listed, next)),
            dumps: Some(&snapshot.dumps),
            recent: (0, records.collect()),
            removed: removed.collect(),
            ..Change::default()
        })?;
        drop(database);
        self.manifest.write(to, faults)
    }
}

/// The result of a rescue.
pub struct Rescued {
    /// The new index, open.
    pub index: Index,
    /// The number of its documents.
    pub saved: u64,
    /// Documents that could not be read, including all listed documents of unreadable segments.
    pub lost: u64,
    /// The problems found.
    pub problems: Vec<String>,
}

/// Builds a new index in `to` from the readable part of the index `directory`, which is not
/// changed. It gets sealed documents whose records agree with their checksums, and recent documents
/// if the database is intact. Tables are built again, and all documents are decided again: a copy of a
/// lost document may become a kept one.
///
/// Removals and the labels of dumps are known from the database alone. Without it, removed documents
/// may come back, and the problems say so; all belong to the dump without a label.
///
/// # Errors
/// [`ErrorKind::Content`](crate::ErrorKind::Content) if the manifest is damaged,
/// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) if `spec` differs,
/// [`ErrorKind::Read`](crate::ErrorKind::Read) if there is no index or it is in use; those of
/// [`Build`].
pub fn rescue(
    directory: &Path,
    to: &Path,
    method: Arc<dyn Compare>,
    spec: &str,
    options: &Options,
) -> Result<Rescued> {
    let form = Form::of(&*method)?;
    let manifest = Manifest::read(directory)?;
    manifest.expect(directory, spec, form)?;
    let _lock = IndexLock::reading(directory)?;
    let mut problems = Vec::new();
    let stored = match Database::open_copy(directory).and_then(|copy| copy.load()) {
        Ok(stored) => Some(stored),
        Err(error) => {
            problems.push(format!("{error}; removed documents may come back"));
            None
        }
    };
    let segments = match &stored {
        Some(stored) => {
            let listed = stored.segments.iter();
            listed
                .map(|listed| (listed.number, segment_path(directory, listed.number)))
                .collect()
        }
        None => numbered_segments(directory)?,
    };
    let removed = |number: u64, document: u32| {
        let list = stored.as_ref().map(|stored| &stored.removed);
        // The database lists removals in this order.
        list.is_some_and(|list| list.binary_search(&(number, document)).is_ok())
    };
    let build = Build::create(to, method.clone(), spec, options)?;
    let (mut damaged, mut lost, mut first) = (Vec::new(), 0u64, 0u64);
    for (number, path) in segments {
        let segment = Segment::open(&path, form, &method).or_else(|error| {
            problems.push(error.to_string());
            Segment::open_damaged(&path, form, &method)
        });
        let of = |listed: &&ListedSegment| listed.number == number;
        let listed = stored.as_ref();
        let listed = listed.and_then(|stored| stored.segments.iter().find(of));
        let documents = match &segment {
            Ok(segment) => segment.documents(),
            Err(_) => listed.map_or(0, |listed| listed.documents),
        };
        damaged.push(DamagedPart {
            number,
            first,
            documents,
            segment: segment.ok(),
        });
        first += u64::from(documents);
    }
    let recent = stored.as_ref().map_or(&[][..], |stored| &stored.recent);
    let get = |ordinal: u64| -> Result<Option<Record<'_>>> {
        if ordinal >= first {
            let number = (ordinal - first) as u32;
            let bytes = recent
                .get(number as usize)
                .filter(|_| !removed(RECENT, number));
            return Ok(bytes.and_then(|bytes| Record::decode(bytes)));
        }
        let part = &damaged[damaged.partition_point(|part| part.first <= ordinal) - 1];
        let number = (ordinal - part.first) as u32;
        match &part.segment {
            Some(segment) if !removed(part.number, number) => segment.record(number).map(Some),
            _ => Ok(None),
        }
    };
    let mut groups = Groups::default();
    let dumps = stored.as_ref().map_or(&[][..], |stored| &stored.dumps);
    let mut add = |dump: u32, entries: &[Entry<'_>]| {
        let label = dumps.get(dump as usize).map_or("", |label| label);
        build.index().add(entries, label, 1).map(drop)
    };
    for part in &damaged {
        let mut first_problem = None;
        for number in 0..part.documents {
            if removed(part.number, number) {
                continue;
            }
            match get(part.first + u64::from(number)) {
                Ok(Some(record)) => groups.push(&record, &get, &mut add)?,
                Ok(None) => lost += 1,
                Err(error) => {
                    lost += 1;
                    first_problem.get_or_insert(error);
                }
            }
        }
        problems.extend(first_problem.map(|error| error.to_string()));
    }
    for number in (0..recent.len() as u32).filter(|number| !removed(RECENT, *number)) {
        match get(first + u64::from(number))? {
            Some(record) => groups.push(&record, &get, &mut add)?,
            None => lost += 1,
        }
    }
    groups.finish(&mut add)?;
    let index = build.finish()?;
    Ok(Rescued {
        saved: index.info().documents,
        index,
        lost,
        problems,
    })
}

/// A segment that may be damaged, or unreadable.
struct DamagedPart {
    number: u64,
    /// The ordinal of its first document.
    first: u64,
    documents: u32,
    segment: Option<Segment>,
}
