//! Building an index that cannot be opened before it is complete.

use std::path::Path;
use std::sync::Arc;

use super::open::{prepare, seed};
use crate::Result;
use crate::form::Form;
use crate::handle::Index;
use crate::options::Options;
use crate::sketch::Compare;
use crate::storage::database::{Change, Database};
use crate::storage::manifest::Manifest;

/// An index that is being built. [`finish`](Build::finish) makes it valid by one transaction;
/// before that it cannot be opened, and the next process that makes an index there removes it.
pub struct Build {
    index: Index,
}

impl Build {
    /// Starts an index as [`Index::create`] does.
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
        // Created first, so that a segment without a database is never an unfinished index.
        let database = Database::create(directory, &options.faults)?;
        lock.lock_database(directory)?;
        database.commit(&Change {
            segments: Some((&[], 0)),
            ..Change::default()
        })?;
        let (database, lock) = (Some(database), (lock, true));
        let index = Index::with(directory, method, manifest, options, database, lock)?;
        Ok(Build { index })
    }

    /// The index so far, to which documents are added.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Makes the index valid.
    ///
    /// # Errors
    /// [`ErrorKind::Write`](crate::ErrorKind::Write) if the disk is full.
    pub fn finish(self) -> Result<Index> {
        let Build { index } = self;
        let mut writer = index.ready()?;
        let text = index.manifest.encode()?;
        index.commit(
            &mut writer,
            &Change {
                manifest: Some(text.as_bytes()),
                ..Change::default()
            },
        )?;
        writer.is_building = false;
        drop(writer);
        index
            .manifest
            .write(&index.directory, &index.options.faults)?;
        Ok(index)
    }
}
