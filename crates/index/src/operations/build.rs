//! Building an index from many documents at once: one segment, sorted on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::add::check_entry;
use super::open::{prepare, seed};
use crate::Result;
use crate::answer::Entry;
use crate::form::Form;
use crate::handle::Index;
use crate::options::Options;
use crate::segment::{Segment, SegmentSettings, SegmentWriter};
use crate::sketch::Compare;
use crate::storage::database::{Change, Database, ListedSegment};
use crate::storage::lock::IndexLock;
use crate::storage::manifest::Manifest;
use crate::storage::paths::segment_path;

/// The number of the only segment.
const FIRST: u64 = 1;

/// An index that is being built. [`finish`](Build::finish) makes it valid by one transaction;
/// before that it cannot be opened.
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

/// The result of a build.
pub struct Built {
    /// The index, open.
    pub index: Index,
    /// Documents replaced by a later one with the same id.
    pub replaced: u64,
}

impl Build {
    /// Starts an index as [`Index::create`] does.
    ///
    /// Memory: that of the options, up to 80 MiB more, and some bytes for each repeated id.
    ///
    /// # Errors
    /// Errors of [`Index::create`].
    pub fn create(
        directory: &Path,
        method: Arc<dyn Compare>,
        spec: &str,
        options: &Options,
    ) -> Result<Build> {
        let form = Form::of(&*method)?;
        let mut lock = prepare(directory, options)?;
        let manifest = Manifest::new(spec, form, options.layout, seed());
        let settings = SegmentSettings {
            method: method.clone(),
            form,
            layout: options.layout,
            seed: manifest.seed,
            memory_bytes: options.memory_bytes,
            faults: options.faults.clone(),
        };
        // Created first, so that a segment without a database is never an unfinished index.
        let database = Database::create(directory, &options.faults)?;
        lock.lock_database(directory)?;
        Ok(Build {
            database,
            segment: SegmentWriter::create(&segment_path(directory, FIRST), settings)?,
            directory: directory.to_owned(),
            method,
            manifest,
            form,
            options: options.clone(),
            lock,
        })
    }

    /// Adds a document. Of documents with the same id, the last one is kept.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) as [`Index::add`];
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the disk is full.
    pub fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        check_entry(self.form, &*self.method, entry)?;
        self.segment.push(entry)?;
        Ok(())
    }

    /// Sorts the documents, and makes the index durable.
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
        let listed = ListedSegment {
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

/// The numbers of `numbers`, which ascend, whose id a later document has too.
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
