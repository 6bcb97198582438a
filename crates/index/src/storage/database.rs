//! The database (redb) of everything that changes: the list of segments, the documents that are not
//! sealed yet, and the removals. Every change is one transaction.

use std::path::{Path, PathBuf};

use redb::backends::InMemoryBackend;
use redb::{
    Builder, ReadableDatabase as _, ReadableTable as _, StorageBackend, StorageError,
    TableDefinition, TableError,
};

use crate::io::{Faults, PagedFile};
use crate::{Error, ErrorKind, Result};

/// The name of the database's file.
pub const NAME: &str = "index.redb";
/// The number that stands for recent documents in place of a segment number.
pub const RECENT: u64 = u64::MAX;

/// `manifest`: the text of the manifest; `segments`: see [`ListedSegment`], oldest documents first;
/// `next`: the number of the next segment, 8 bytes, little-endian; `dumps`: the labels of the dumps
/// as a JSON list.
const ABOUT: TableDefinition<&str, &[u8]> = TableDefinition::new("about");
/// Records of documents that are not sealed, numbered from 0.
const DOCUMENTS: TableDefinition<u32, &[u8]> = TableDefinition::new("recent");
/// Segment and number of each document that was removed.
const REMOVED: TableDefinition<(u64, u32), ()> = TableDefinition::new("removed");

const CACHE_BYTES: usize = 16 << 20;

/// A segment in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedSegment {
    /// Names the file; never reused.
    pub number: u64,
    /// The identity of the file, from its header.
    pub identity: u64,
    /// The number of its documents.
    pub documents: u32,
}

/// The whole content of the database.
#[derive(Debug, Default)]
pub struct StoredState {
    /// The text of the manifest.
    pub manifest: Vec<u8>,
    /// The segments, oldest documents first.
    pub segments: Vec<ListedSegment>,
    /// The number of the next segment.
    pub next: u64,
    /// The labels of the dumps.
    pub dumps: Vec<String>,
    /// Records of documents that are not sealed, in order.
    pub recent: Vec<Vec<u8>>,
    /// Segment and number of each document that was removed.
    pub removed: Vec<(u64, u32)>,
}

/// The changes of one transaction.
#[derive(Debug, Default)]
pub struct Change<'a> {
    /// The manifest of a new index.
    pub manifest: Option<&'a [u8]>,
    /// The labels of all dumps, if there is a new one.
    pub dumps: Option<&'a [String]>,
    /// The number of the first added document, and the records.
    pub recent: (u32, Vec<&'a [u8]>),
    /// Removed documents.
    pub removed: Vec<(u64, u32)>,
    /// The new list of segments and the number of the next one.
    pub segments: Option<(&'a [ListedSegment], u64)>,
    /// Replaced segments (or [`RECENT`]), whose removals are deleted.
    pub replaced: Vec<u64>,
}

/// The open database.
pub struct Database {
    path: PathBuf,
    inner: redb::Database,
}

impl Database {
    /// Creates an empty database for `index`.
    pub fn create(index: &Path, faults: &Faults) -> Result<Database> {
        let path = index.join(NAME);
        let file = PagedFile::open(&path, faults)?;
        Self::over(path, File(file))
    }

    /// Opens the database of `index` and checks its whole content.
    pub fn open(index: &Path, faults: &Faults) -> Result<Database> {
        let path = index.join(NAME);
        let file = PagedFile::open(&path, faults)?;
        // An empty file would become an empty database.
        if file.bytes().is_ok_and(|bytes| bytes == 0) {
            return Err(damaged(&path, "it is empty"));
        }
        Self::over(path, File(file))
    }

    /// Like [`open`](Self::open) for a copy of the database in memory: nothing is written.
    pub fn open_copy(index: &Path) -> Result<Database> {
        let path = index.join(NAME);
        let bytes = PagedFile::read_all(&path)?;
        let memory = InMemoryBackend::new();
        memory
            .set_len(bytes.len() as u64)
            .and_then(|()| memory.write(0, &bytes))
            .map_err(|cause| storage_error(&path, StorageError::Io(cause)))?;
        if bytes.is_empty() {
            return Err(damaged(&path, "it is empty"));
        }
        Self::over(path, memory)
    }

    fn over(path: PathBuf, storage: impl StorageBackend) -> Result<Database> {
        let mut builder = Builder::new();
        builder.set_cache_size(CACHE_BYTES);
        builder.set_check_integrity_on_open(true);
        let inner = builder
            .create_with_backend(storage)
            .map_err(|refused| match refused {
                redb::DatabaseError::Storage(cause) => storage_error(&path, cause),
                other => damaged(&path, &other.to_string()),
            })?;
        Ok(Database { path, inner })
    }

    /// Reads its whole content.
    pub fn load(&self) -> Result<StoredState> {
        self.read()
            .map_err(|cause| self.error(cause))?
            .ok_or_else(|| damaged(&self.path, "what it holds is not what simtool puts there"))
    }

    fn read(&self) -> std::result::Result<Option<StoredState>, redb::Error> {
        let transaction = self.inner.begin_read()?;
        let about = match transaction.open_table(ABOUT) {
            // Nothing was committed yet.
            Err(TableError::TableDoesNotExist(_)) => return Ok(Some(StoredState::default())),
            about => about?,
        };
        let bytes = |name: &str| -> std::result::Result<Vec<u8>, redb::Error> {
            Ok(about
                .get(name)?
                .map(|value| value.value().to_vec())
                .unwrap_or_default())
        };
        let mut stored = StoredState {
            manifest: bytes("manifest")?,
            ..StoredState::default()
        };
        let (listed, next) = (bytes("segments")?, bytes("next")?);
        let (Ok(next), true) = (next.try_into(), listed.len() % ListedSegment::BYTES == 0) else {
            return Ok(None);
        };
        stored.next = u64::from_le_bytes(next);
        let dumps = bytes("dumps")?;
        if !dumps.is_empty() {
            let Ok(dumps) = serde_json::from_slice(&dumps) else {
                return Ok(None);
            };
            stored.dumps = dumps;
        }
        stored.segments = listed
            .chunks_exact(ListedSegment::BYTES)
            .map(ListedSegment::decode)
            .collect();
        for entry in transaction.open_table(DOCUMENTS)?.iter()? {
            let (number, record) = entry?;
            if number.value() as usize != stored.recent.len() {
                return Ok(None);
            }
            stored.recent.push(record.value().to_vec());
        }
        for entry in transaction.open_table(REMOVED)?.iter()? {
            stored.removed.push(entry?.0.value());
        }
        Ok(Some(stored))
    }

    /// Makes `change` durable: on success it survives a power loss; after an error, all or nothing
    /// of it is stored.
    ///
    /// # Errors
    /// [`ErrorKind::Write`], or [`ErrorKind::Content`] if the database is damaged. After either, it
    /// has to be opened again before the next change.
    pub fn commit(&self, change: &Change<'_>) -> Result<()> {
        self.write(change).map_err(|cause| self.error(cause))
    }

    fn write(&self, change: &Change<'_>) -> std::result::Result<(), redb::Error> {
        let mut transaction = self.inner.begin_write()?;
        transaction.set_two_phase_commit(true);
        {
            let mut about = transaction.open_table(ABOUT)?;
            let mut documents = transaction.open_table(DOCUMENTS)?;
            let mut removed = transaction.open_table(REMOVED)?;
            if let Some(manifest) = change.manifest {
                about.insert("manifest", manifest)?;
            }
            if let Some((segments, next)) = &change.segments {
                let listed: Vec<u8> = segments.iter().flat_map(|listed| listed.encode()).collect();
                about.insert("segments", &listed[..])?;
                about.insert("next", &next.to_le_bytes()[..])?;
            }
            if let Some(dumps) = change.dumps {
                // Texts are always JSON.
                let dumps = serde_json::to_vec(dumps).unwrap_or_default();
                about.insert("dumps", &dumps[..])?;
            }
            for replaced in &change.replaced {
                if *replaced == RECENT {
                    documents.retain(|_, _| false)?;
                }
                let all = (*replaced, 0)..=(*replaced, u32::MAX);
                removed.retain_in(all, |_, ()| false)?;
            }
            let (first, records) = &change.recent;
            for (number, record) in (*first..).zip(records) {
                documents.insert(number, *record)?;
            }
            for place in &change.removed {
                removed.insert(*place, ())?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    fn error(&self, cause: redb::Error) -> Error {
        match cause {
            redb::Error::Io(cause) => storage_error(&self.path, StorageError::Io(cause)),
            redb::Error::PreviousIo => storage_error(&self.path, StorageError::PreviousIo),
            other => damaged(&self.path, &other.to_string()),
        }
    }
}

impl ListedSegment {
    const BYTES: usize = 20;

    fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.identity.to_le_bytes());
        bytes[16..].copy_from_slice(&self.documents.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> ListedSegment {
        let eight = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        ListedSegment {
            number: eight(0),
            identity: eight(8),
            documents: u32::from_le_bytes(std::array::from_fn(|i| bytes[16 + i])),
        }
    }
}

/// The file of the database as a storage backend of redb.
#[derive(Debug)]
struct File(PagedFile);

impl StorageBackend for File {
    fn len(&self) -> std::io::Result<u64> {
        self.0.bytes()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.0.resize(len)
    }

    fn sync_data(&self) -> std::io::Result<()> {
        self.0.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        self.0.write(offset, data)
    }
}

fn storage_error(path: &Path, cause: StorageError) -> Error {
    match cause {
        StorageError::Io(cause) => {
            let message = match cause.kind() {
                std::io::ErrorKind::StorageFull => {
                    "cannot be written (the disk is full: free space)"
                }
                _ => "cannot be read or written",
            };
            Error::new(ErrorKind::Write, message)
                .in_file(path)
                .caused_by(cause)
        }
        StorageError::PreviousIo => {
            let message =
                "is unusable since an earlier read or write failed (open the index again)";
            Error::new(ErrorKind::Write, message).in_file(path)
        }
        other => damaged(path, &other.to_string()),
    }
}

fn damaged(path: &Path, what: &str) -> Error {
    let message =
        format!("is damaged: {what} (sealed documents can be saved into a new index by `rescue`)");
    Error::new(ErrorKind::Content, message).in_file(path)
}
