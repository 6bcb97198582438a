//! Creating and opening an index.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};

use ahash::{AHashMap, AHashSet};

use crate::form::Form;
use crate::handle::{Index, IndexWriter};
use crate::io::directory;
use crate::options::{Layout, Options};
use crate::recent::Recent;
use crate::record::Record;
use crate::segment::Segment;
use crate::sketch::Compare;
use crate::snapshot::{Part, Snapshot};
use crate::storage::database::{
    Change, Database, ListedSegment, NAME as DATABASE, RECENT, StoredState,
};
use crate::storage::lock::{IndexLock, LOCK};
use crate::storage::manifest::{self, Manifest};
use crate::storage::paths::{BESIDE, SEGMENTS, enclosing, numbered_segments, segment_path};
use crate::{Error, ErrorKind, Result};

/// What was fixed when an index was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The method with all its parameters.
    pub spec: String,
    /// The tables of its segments.
    pub layout: Layout,
}

/// Reads the parameters of the index `directory` without opening it; another process may have it
/// open.
///
/// # Errors
/// [`ErrorKind::Read`] if it is no index, [`ErrorKind::Content`] if it is of a newer version or
/// its manifest is damaged.
pub fn parameters(directory: &Path) -> Result<Parameters> {
    let Manifest { spec, layout, .. } = Manifest::read(directory)?;
    Ok(Parameters { spec, layout })
}

impl Index {
    /// Creates an empty index for `method` in `directory`, which must not exist, be empty, or hold
    /// an unfinished index; its parent has to exist. `spec` describes the method with all its
    /// parameters, which never change.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if there is something else in `directory`, or if the method's
    /// fingerprints are too wide; [`ErrorKind::Read`] if another process has it open;
    /// [`ErrorKind::Write`] if it cannot be written.
    pub fn create(
        directory: &Path,
        method: Arc<dyn Compare>,
        spec: &str,
        options: &Options,
    ) -> Result<Index> {
        let form = Form::of(&*method)?;
        let mut lock = prepare(directory, options)?;
        let manifest = Manifest::new(spec, form, options.layout, seed());
        let text = manifest.encode()?;
        let database = Database::create(directory, &options.faults)?;
        lock.lock_database(directory)?;
        let first: (&[ListedSegment], u64) = (&[], 0);
        database.commit(&Change {
            manifest: Some(text.as_bytes()),
            segments: Some(first),
            ..Change::default()
        })?;
        manifest.write(directory, &options.faults)?;
        Self::with(
            directory,
            method,
            manifest,
            options,
            Some(database),
            (lock, false),
        )
    }

    /// Opens the index `directory`, which has to have the same `spec`.
    ///
    /// Reads the whole database and the headers of the segments. Removes files that an interrupted
    /// process left (recognised by their names), and writes a lost manifest again.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if there is no index, or another process has it open;
    /// [`ErrorKind::Parameter`] showing both specs if they differ; [`ErrorKind::Content`] if it is
    /// damaged or of a newer version; [`ErrorKind::Write`] if it cannot be written, unless
    /// [`Options::read_only`].
    pub fn open(
        directory: &Path,
        method: Arc<dyn Compare>,
        spec: &str,
        options: &Options,
    ) -> Result<Index> {
        let manifest = Manifest::read(directory)?;
        manifest.expect(directory, spec, Form::of(&*method)?)?;
        let lock = match options.read_only {
            true => IndexLock::reading(directory)?,
            false => IndexLock::changing(directory)?,
        };
        let database = match options.read_only {
            true => Database::open_copy(directory)?,
            false => Database::open(directory, &options.faults)?,
        };
        let index = Self::with(
            directory,
            method,
            manifest,
            options,
            Some(database),
            (lock, false),
        )?;
        if !options.read_only {
            directory::remove_temporary(directory, &options.faults)?;
            index.manifest.restore(directory, &options.faults)?;
        }
        Ok(index)
    }

    pub(crate) fn with(
        directory: &Path,
        method: Arc<dyn Compare>,
        manifest: Manifest,
        options: &Options,
        database: Option<Database>,
        (lock, is_building): (IndexLock, bool),
    ) -> Result<Index> {
        let form = Form::of(&*method)?;
        let empty = Snapshot {
            parts: Vec::new(),
            recent: Recent::new(form, manifest.seed),
            removed: AHashMap::new(),
            dumps: Arc::default(),
            seed: manifest.seed,
        };
        let writer = IndexWriter {
            is_building,
            database,
            next: 0,
            taken: Vec::new(),
            failed: Vec::new(),
            seal_from: 0,
            lock,
        };
        let index = Index {
            directory: directory.to_owned(),
            method,
            form,
            manifest,
            options: options.clone(),
            current: RwLock::new(Arc::new(empty)),
            writer: Mutex::new(writer),
            trouble: Mutex::default(),
        };
        index.reload(&mut index.lock())?;
        Ok(index)
    }

    /// Publishes the state that the database holds; opens the database again after a failure.
    pub(super) fn reload(&self, writer: &mut IndexWriter) -> Result<()> {
        let database = match writer.database.take() {
            Some(database) => database,
            None => {
                writer.lock.check(&self.directory)?;
                Database::open(&self.directory, &self.options.faults)?
            }
        };
        let stored = database.load()?;
        let expected = match writer.is_building {
            true => String::new(),
            false => self.manifest.encode()?,
        };
        if stored.manifest != expected.as_bytes() {
            let message = "the manifest and the database belong to different indexes";
            return Err(Error::new(ErrorKind::Content, message).in_file(&self.directory));
        }
        let snapshot = self.snapshot_of(&stored)?;
        if !self.options.read_only {
            self.remove_leftovers(&stored, &writer.taken)?;
        }
        // Segments that are being written have their numbers already.
        writer.next = writer.next.max(stored.next);
        writer.seal_from = 0;
        writer.database = Some(database);
        // The old snapshot is dropped after the lock is released.
        let _old = self.update(|current| std::mem::replace(current, snapshot));
        Ok(())
    }

    fn snapshot_of(&self, stored: &StoredState) -> Result<Snapshot> {
        let mut first = 0;
        let parts = stored.segments.iter().map(|listed| {
            let part = self.part_of(listed, first);
            first += u64::from(listed.documents);
            part
        });
        let parts = all(parts.collect())?;
        let mut recent = Recent::new(self.form, self.manifest.seed);
        for bytes in &stored.recent {
            let is_sound = |record: &Record<'_>| self.check_sketch(record.entry.sketch).is_ok();
            let record = Record::decode(bytes).filter(is_sound).ok_or_else(|| {
                let message = "is damaged: a recent document is shorter than it claims";
                Error::new(ErrorKind::Content, message).in_file(&self.directory)
            })?;
            recent.push(&record, &*self.method);
        }
        let mut removed: AHashMap<u64, Arc<AHashSet<u32>>> = AHashMap::new();
        for (number, document) in &stored.removed {
            let documents = match parts.iter().find(|part| part.number == *number) {
                Some(part) => part.segment.documents(),
                None if *number == RECENT => recent.len(),
                None => 0,
            };
            if *document >= documents {
                let message = "is damaged: a document is removed that there never was";
                return Err(Error::new(ErrorKind::Content, message).in_file(&self.directory));
            }
            Arc::make_mut(removed.entry(*number).or_default()).insert(*document);
        }
        Ok(Snapshot {
            parts,
            recent,
            removed,
            dumps: Arc::new(stored.dumps.clone()),
            seed: self.manifest.seed,
        })
    }

    fn part_of(&self, listed: &ListedSegment, first: u64) -> Result<Part> {
        let path = self.segment_path(listed.number);
        let segment = Segment::open(&path, self.form, &self.method)?;
        if segment.identity() != listed.identity || segment.documents() != listed.documents {
            let message = "is not the segment that the database lists (restore it from a copy)";
            return Err(Error::new(ErrorKind::Content, message).in_file(&path));
        }
        Ok(Part {
            number: listed.number,
            first,
            segment: Arc::new(segment),
        })
    }

    /// Where segment number `number` is.
    pub(crate) fn segment_path(&self, number: u64) -> PathBuf {
        segment_path(&self.directory, number)
    }

    /// Removes unlisted segments, which an interrupted process left. Segments that are `taken` are
    /// in use.
    fn remove_leftovers(&self, stored: &StoredState, taken: &[u64]) -> Result<()> {
        let listed = stored.segments.iter().map(|listed| listed.number);
        let listed: AHashSet<u64> = listed.chain(taken.iter().copied()).collect();
        for (number, path) in numbered_segments(&self.directory)? {
            if !listed.contains(&number) {
                directory::remove(&path, &self.options.faults)?;
            }
        }
        Ok(())
    }
}

/// All parts, or the first error with the number of other errors.
fn all(parts: Vec<Result<Part>>) -> Result<Vec<Part>> {
    let wrong = parts.iter().filter(|part| part.is_err()).count();
    let parts: Result<Vec<Part>> = parts.into_iter().collect();
    parts.map_err(|error| match wrong {
        0 | 1 => error,
        _ => {
            let message = format!("{error}; {} more segments do not open", wrong - 1);
            Error::new(error.kind(), message)
        }
    })
}

/// Fails unless an index can be created in `index`: it does not exist, is empty, or holds only
/// [sidecar files](BESIDE) and an unfinished index without documents. It is not inside an index.
///
/// # Errors
/// [`ErrorKind::Parameter`] if there is anything else, or if it is inside another index.
pub fn check_creatable(index: &Path) -> Result<()> {
    let refused = |why: &str| Err(Error::new(ErrorKind::Parameter, why).in_file(index));
    if directory::exists(&index.join(manifest::NAME))? {
        return refused("is an index already (choose another place, or add to it)");
    }
    if let Some(around) = enclosing(index) {
        let around = around.display();
        return refused(&format!(
            "is inside the index {around} (choose a place outside it)"
        ));
    }
    if !directory::exists(index)? {
        return Ok(());
    }
    if !index.is_dir() {
        return refused("is no directory (choose another place)");
    }
    let ours = [LOCK, SEGMENTS, DATABASE].map(|name| index.join(name));
    let known = |path: &PathBuf| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        // A partly written manifest; earlier versions used the prefix `.tmp`.
        let is_temporary = name.starts_with(directory::TEMPORARY) || name.starts_with(".tmp");
        ours.contains(path) || is_temporary || name.starts_with(BESIDE)
    };
    if manifest::lost(index)?.is_some() {
        return refused(
            "holds documents, but its index.json is missing (open it: that is restored)",
        );
    }
    if let Some(other) = directory::list(index)?.iter().find(|path| !known(path)) {
        let other = other.display();
        return refused(&format!(
            "is not empty: {other} is there (choose another place)"
        ));
    }
    Ok(())
}

/// Creates an empty directory for an index, and locks it.
pub(super) fn prepare(index: &Path, options: &Options) -> Result<IndexLock> {
    check_creatable(index)?;
    directory::create(index, &options.faults)?;
    let lock = IndexLock::creating(index)?;
    // Another process may have created an index meanwhile.
    check_creatable(index)?;
    directory::remove_temporary(index, &options.faults)?;
    directory::remove(&index.join(DATABASE), &options.faults)?;
    let segments = index.join(SEGMENTS);
    directory::create(&segments, &options.faults)?;
    for (_, leftover) in numbered_segments(index)? {
        directory::remove(&leftover, &options.faults)?;
    }
    directory::sync(index, &options.faults)?;
    let parent = index.parent().unwrap_or(Path::new("/"));
    let here = parent.as_os_str().is_empty();
    directory::sync(if here { Path::new(".") } else { parent }, &options.faults)?;
    Ok(lock)
}

/// A random seed, so that ids with equal hashes cannot be prepared.
pub(crate) fn seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Whether there is an index at `path`, though it may be damaged: its manifest or its database.
pub fn is_index(path: &Path) -> bool {
    path.join(manifest::NAME).is_file() || path.join(DATABASE).is_file()
}
