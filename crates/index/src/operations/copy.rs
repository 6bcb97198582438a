//! Copies: a consistent copy of an index in use, and the readable part of a damaged index.

use std::path::Path;
use std::sync::Arc;

use super::build::{Build, Built};
use super::open::prepare;
use crate::Result;
use crate::answer::Entry;
use crate::form::Form;
use crate::handle::Index;
use crate::options::Options;
use crate::record;
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
            (0..snapshot.recent.len()).filter_map(|number| snapshot.recent.record(number));
        let removed = snapshot
            .removed
            .iter()
            .flat_map(|(number, documents)| documents.iter().map(|document| (*number, *document)));
        let text = self.manifest.encode()?;
        database.commit(&Change {
            manifest: Some(text.as_bytes()),
            segments: Some((&listed, next)),
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
/// if the database is intact; tables are built again.
///
/// Removals are known from the database alone. Without it, removed documents may come back, and the
/// problems say so.
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
    let mut build = Build::create(to, method.clone(), spec, options)?;
    let (mut pushed, mut lost) = (0u64, 0u64);
    for (number, path) in segments {
        let segment = Segment::open(&path, form, &method).or_else(|error| {
            problems.push(error.to_string());
            Segment::open_damaged(&path, form, &method)
        });
        match segment {
            Err(_) => {
                let of = |listed: &&ListedSegment| listed.number == number;
                let listed = stored
                    .as_ref()
                    .and_then(|stored| stored.segments.iter().find(of));
                lost += listed.map_or(0, |listed| u64::from(listed.documents));
            }
            Ok(segment) => {
                let mut first_problem = None;
                for document in 0..segment.documents() {
                    match segment.document(document) {
                        _ if removed(number, document) => {}
                        Ok(entry) => {
                            build.push(&entry)?;
                            pushed += 1;
                        }
                        Err(error) => {
                            lost += 1;
                            first_problem.get_or_insert(error);
                        }
                    }
                }
                problems.extend(first_problem.map(|error| error.to_string()));
            }
        }
    }
    let recent = stored.as_ref().map_or(&[][..], |stored| &stored.recent);
    for (number, bytes) in (0..).zip(recent) {
        let entry: Option<Entry<'_>> = record::decode(bytes);
        match entry.filter(|_| !removed(RECENT, number)) {
            Some(entry) => {
                build.push(&entry)?;
                pushed += 1;
            }
            None if !removed(RECENT, number) => lost += 1,
            None => {}
        }
    }
    let Built { index, replaced } = build.finish()?;
    Ok(Rescued {
        index,
        saved: pushed - replaced,
        lost,
        problems,
    })
}
