//! Making an index of many documents at once: one segment, sorted outside memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::database::{Change, Database, Listed};
use super::form::Form;
use super::lock::IndexLock;
use super::manifest::Manifest;
use super::open::{prepare, seed, segment_path};
use super::segment::{Making, Segment, SegmentWriter};
use super::{Entry, Index, Options, check_entry};
use crate::Result;
use crate::sketch::Compare;

/// The number of the only segment.
const FIRST: u64 = 1;

/// An index that is being built; it becomes one with [`finish`](Build::finish), by one
/// transaction, and before that is nothing that can be opened.
pub struct Build {
    directory: PathBuf,
    method: Arc<dyn Compare>,
    manifest: Manifest,
    form: Form,
    options: Options,
    lock: IndexLock,
    database: Database,
    segment: SegmentWriter,
}

/// What was built.
pub struct Built {
    /// The index, open.
    pub index: Index,
    /// Documents pushed whose id came again later: only the last of an id is there.
    pub replaced: u64,
}

impl Build {
    /// Starts an index as [`Index::create`] does.
    ///
    /// Memory: that of the options, and some bytes for each document whose id comes again.
    ///
    /// # Errors
    /// Those of [`Index::create`].
    pub fn create(
        directory: &Path,
        method: Arc<dyn Compare>,
        spec: &str,
        options: &Options,
    ) -> Result<Build> {
        let form = Form::of(&*method)?;
        let mut lock = prepare(directory, options)?;
        let manifest = Manifest::new(spec, form, options.layout, seed());
        let making = Making {
            method: method.clone(),
            form,
            layout: options.layout,
            seed: manifest.seed,
            memory_bytes: options.memory_bytes,
            faults: options.faults.clone(),
        };
        // Before there is a segment, so that one without a database is never an unfinished index.
        let database = Database::create(directory, &options.faults)?;
        lock.lock_database(directory)?;
        Ok(Build {
            database,
            segment: SegmentWriter::create(&segment_path(directory, FIRST), making)?,
            directory: directory.to_owned(),
            method,
            manifest,
            form,
            options: options.clone(),
            lock,
        })
    }

    /// Adds a document; the last one of an id counts.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) as [`Index::add`];
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the disk is full.
    pub fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        check_entry(self.form, &*self.method, entry)?;
        self.segment.push(entry)?;
        Ok(())
    }

    /// Sorts, and makes the index durable.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the disk is full,
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is none for sorting.
    pub fn finish(self) -> Result<Built> {
        let mut twice = Vec::new();
        let segment = self.segment.finish(|numbers| {
            twice.push(numbers.to_vec());
            Ok(())
        })?;
        let mut removed = Vec::new();
        for numbers in &twice {
            removed.extend(
                earlier(&segment, numbers)?
                    .into_iter()
                    .map(|number| (FIRST, number)),
            );
        }
        let replaced = removed.len() as u64;
        let listed = Listed {
            number: FIRST,
            identity: segment.identity(),
            documents: segment.documents(),
        };
        drop(segment);
        let text = self.manifest.encode()?;
        self.database.commit(&Change {
            manifest: Some(text.as_bytes()),
            segments: Some((&[listed], FIRST + 1)),
            removed,
            ..Change::default()
        })?;
        self.manifest.write(&self.directory, &self.options.faults)?;
        let Build {
            directory,
            method,
            manifest,
            options,
            lock,
            database,
            ..
        } = self;
        let index = Index::with(&directory, method, manifest, &options, Some(database), lock)?;
        Ok(Built { index, replaced })
    }
}

/// Those of `numbers`, ascending, whose id comes again later among them.
fn earlier(segment: &Segment, numbers: &[u32]) -> Result<Vec<u32>> {
    let mut later: Vec<&[u8]> = Vec::new();
    let mut earlier = Vec::new();
    for number in numbers.iter().rev() {
        let id = segment.document(*number)?.id;
        if later.contains(&id) {
            earlier.push(*number);
        } else {
            later.push(id);
        }
    }
    Ok(earlier)
}
