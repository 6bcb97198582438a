//! Making and opening an index.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use ahash::{AHashMap, AHashSet};

use super::database::{Change, Database, Listed, RECENT, Stored};
use super::form::Form;
use super::lock::{IndexLock, LOCK};
use super::manifest::{self, Manifest};
use super::recent::Recent;
use super::segment::Segment;
use super::view::{Part, View};
use super::{Index, Layout, Options, Writer, record};
use crate::io::directory;
use crate::sketch::Compare;
use crate::{Error, ErrorKind, Result};

/// The directory of the segments.
const SEGMENTS: &str = "segments";
/// Files that begin so stand beside an index: its makers put them there before they make it.
pub const BESIDE: &str = "settings-";

/// What was frozen when an index was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frozen {
    /// The method, as its maker described it.
    pub spec: String,
    /// Which tables its fingerprints get.
    pub layout: Layout,
}

/// Reads what the index `directory` was made for, without opening it; also while another process
/// has it open.
///
/// # Errors
/// [`ErrorKind::Read`] if it is no index, [`ErrorKind::Content`] if it is of a newer version or
/// its manifest is damaged.
pub fn frozen(directory: &Path) -> Result<Frozen> {
    let Manifest { spec, layout, .. } = Manifest::read(directory)?;
    Ok(Frozen { spec, layout })
}

impl Index {
    /// Makes a new, empty index for `method` in `directory`, which must not exist, be empty, or
    /// hold an unfinished index; its parent has to exist. `spec` describes the method with all its
    /// parameters; it is frozen.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if there is something in `directory`, or if the method's
    /// fingerprints are too wide; [`ErrorKind::Write`] if it cannot be written.
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
        let first: (&[Listed], u64) = (&[], 0);
        database.commit(&Change {
            manifest: Some(text.as_bytes()),
            segments: Some(first),
            ..Change::default()
        })?;
        manifest.write(directory, &options.faults)?;
        Self::with(directory, method, manifest, options, Some(database), lock)
    }

    /// Opens the index `directory`, which has to be made for the same `spec`.
    ///
    /// Reads the database as a whole and the headers of the segments; removes files that an
    /// interrupted process left (those that only this program names so), and writes a lost manifest again.
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
        let index = Self::with(directory, method, manifest, options, Some(database), lock)?;
        if !options.read_only {
            directory::remove_temporary(directory, &options.faults)?;
            index.manifest.restore(directory, &options.faults)?;
        }
        Ok(index)
    }

    pub(super) fn with(
        directory: &Path,
        method: Arc<dyn Compare>,
        manifest: Manifest,
        options: &Options,
        database: Option<Database>,
        lock: IndexLock,
    ) -> Result<Index> {
        let form = Form::of(&*method)?;
        let empty = View {
            parts: Vec::new(),
            recent: Arc::new(Recent::new(form)),
            removed: Arc::default(),
        };
        let writer = Writer {
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
            view: RwLock::new(empty),
            writer: Mutex::new(writer),
            trouble: Mutex::default(),
        };
        index.reload(&mut index.lock())?;
        Ok(index)
    }

    /// Replaces the view by what the database says; opens that first if it failed before.
    pub(super) fn reload(&self, writer: &mut Writer) -> Result<()> {
        let database = match writer.database.take() {
            Some(database) => database,
            None => {
                writer.lock.check(&self.directory)?;
                Database::open(&self.directory, &self.options.faults)?
            }
        };
        let stored = database.load()?;
        if stored.manifest != self.manifest.encode()?.as_bytes() {
            let message = "the manifest and the database belong to different indexes";
            return Err(Error::new(ErrorKind::Content, message).in_file(&self.directory));
        }
        let view = self.view_of(&stored)?;
        if !self.options.read_only {
            self.remove_leftovers(&stored, &writer.taken)?;
        }
        // Segments that are being written have their numbers already.
        writer.next = writer.next.max(stored.next);
        writer.seal_from = 0;
        writer.database = Some(database);
        // What was shown before is dropped when questions are answered again.
        drop(self.show(view));
        Ok(())
    }

    fn show(&self, view: View) -> View {
        let mut shown = self.view.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut shown, view)
    }

    fn view_of(&self, stored: &Stored) -> Result<View> {
        let parts = stored.segments.iter().map(|listed| self.part_of(listed));
        let parts = all(parts.collect())?;
        let mut recent = Recent::new(self.form);
        for bytes in &stored.recent {
            let entry =
                record::decode(bytes).filter(|entry| self.check_sketch(entry.sketch).is_ok());
            let entry = entry.ok_or_else(|| {
                let message = "is damaged: a recent document is shorter than it claims";
                Error::new(ErrorKind::Content, message).in_file(&self.directory)
            })?;
            recent.push(&entry, &*self.method);
        }
        let mut removed: AHashMap<u64, AHashSet<u32>> = AHashMap::new();
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
            removed.entry(*number).or_default().insert(*document);
        }
        Ok(View {
            parts,
            recent: Arc::new(recent),
            removed: Arc::new(removed),
        })
    }

    fn part_of(&self, listed: &Listed) -> Result<Part> {
        let path = self.segment_path(listed.number);
        let segment = Segment::open(&path, self.form, &self.method)?;
        if segment.identity() != listed.identity || segment.documents() != listed.documents {
            let message = "is not the segment that the database lists (restore it from a copy)";
            return Err(Error::new(ErrorKind::Content, message).in_file(&path));
        }
        Ok(Part {
            number: listed.number,
            segment: Arc::new(segment),
        })
    }

    /// Where segment number `number` is.
    pub(super) fn segment_path(&self, number: u64) -> PathBuf {
        segment_path(&self.directory, number)
    }

    /// Removes segments that no list has: those of an interrupted process. Those that were `taken`
    /// are in use.
    fn remove_leftovers(&self, stored: &Stored, taken: &[u64]) -> Result<()> {
        let listed = stored.segments.iter().map(|listed| listed.number);
        let listed: AHashSet<u64> = listed.chain(taken.iter().copied()).collect();
        for path in directory::list(&self.directory.join(SEGMENTS))? {
            let number = path
                .file_stem()
                .and_then(|name| name.to_str()?.parse().ok());
            if !number.is_some_and(|number| listed.contains(&number)) {
                directory::remove(&path, &self.options.faults)?;
            }
        }
        Ok(())
    }
}

/// All of them, or what is wrong with the first, and how many others there are.
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

pub(super) fn segment_path(index: &Path, number: u64) -> PathBuf {
    index.join(SEGMENTS).join(format!("{number:08}"))
}

/// Whether there is nothing at `index`, or an empty directory.
///
/// # Errors
/// [`ErrorKind::Read`] if the directory cannot be read.
pub fn is_unused(index: &Path) -> Result<bool> {
    Ok(!directory::exists(index)? || index.is_dir() && directory::list(index)?.is_empty())
}

/// The index that `path` is inside of, if there is one: files in it would be taken for its own.
pub fn enclosing(path: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(path).ok()?;
    let real = match whole.canonicalize() {
        Ok(real) => real.parent()?.to_owned(),
        Err(_) => whole.parent()?.canonicalize().ok()?,
    };
    let is_index = |parent: &&Path| parent.join(super::database::NAME).is_file();
    real.ancestors().find(is_index).map(Path::to_owned)
}

/// Fails unless an index can be made in `index`: it does not exist, is empty, or holds an unfinished
/// index, which has no documents, or what belongs [beside](BESIDE) one. It is not inside an index.
///
/// # Errors
/// [`ErrorKind::Parameter`] if there is something else, or if another index is around it.
pub fn vacant(index: &Path) -> Result<()> {
    if directory::exists(&index.join(manifest::NAME))? {
        let message = "is an index already (choose another place, or add to it)";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
    }
    if let Some(around) = enclosing(index) {
        let message = format!(
            "is inside the index {} (choose a place outside it)",
            around.display()
        );
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
    }
    if !directory::exists(index)? {
        return Ok(());
    }
    if !index.is_dir() {
        let message = "is no directory (choose another place)";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
    }
    let ours = [LOCK, SEGMENTS, super::database::NAME].map(|name| index.join(name));
    let known = |path: &PathBuf| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        // A manifest that was being written when the process ended; earlier versions began the
        // name with `.tmp`.
        let is_temporary = name.starts_with(directory::TEMPORARY) || name.starts_with(".tmp");
        ours.contains(path) || is_temporary || name.starts_with(BESIDE)
    };
    if manifest::lost(index)?.is_some() {
        let message = "holds documents, but its index.json is missing (open it: that is restored)";
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
    }
    if let Some(other) = directory::list(index)?.iter().find(|path| !known(path)) {
        let message = format!(
            "is not empty: {} is there (choose another place)",
            other.display()
        );
        return Err(Error::new(ErrorKind::Parameter, message).in_file(index));
    }
    Ok(())
}

/// Makes an empty directory for an index, and locks it.
pub(super) fn prepare(index: &Path, options: &Options) -> Result<IndexLock> {
    vacant(index)?;
    directory::create(index, &options.faults)?;
    let lock = IndexLock::making(index)?;
    // Somebody else may have made one meanwhile.
    vacant(index)?;
    directory::remove_temporary(index, &options.faults)?;
    directory::remove(&index.join(super::database::NAME), &options.faults)?;
    let segments = index.join(SEGMENTS);
    directory::create(&segments, &options.faults)?;
    for leftover in directory::list(&segments)? {
        directory::remove(&leftover, &options.faults)?;
    }
    directory::sync(index, &options.faults)?;
    let parent = index.parent().unwrap_or(Path::new("/"));
    let here = parent.as_os_str().is_empty();
    directory::sync(if here { Path::new(".") } else { parent }, &options.faults)?;
    Ok(lock)
}

/// Nobody can know it beforehand, so that nobody can make ids with equal hashes.
pub(super) fn seed() -> u64 {
    RandomState::new().build_hasher().finish()
}
