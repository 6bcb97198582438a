//! A bounded directory with blocks of objects, for later readings and later runs.
//!
//! Each block is a file: a line that says what it is, a line with its key, a checksum of 16 bytes, and
//! its bytes. It is written under a temporary name and renamed, so processes may share the directory
//! without locks. A block with another length, key or checksum counts as missing.
//!
//! The time of a file's last change is that of the block's last use. Blocks that were used since this
//! process opened the directory stay: otherwise a reading of more than the limit would replace each
//! block before it is read again.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::requests::hosts::lock;
use crate::{Error, ErrorKind, Result};

/// The file that marks a cache; programs for backups know its name and its first line.
const MARK: &str = "CACHEDIR.TAG";
const MARK_TEXT: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
    # A cache of simtool, format 1. Blocks of objects that are on servers; it may be removed.\n";
/// The first line of the file of a block.
const HEAD: &str = "simtool cache 1\n";
const CHECKSUM_BYTES: usize = 16;
/// The start of temporary names.
const TEMPORARY: &str = "temporary-";
/// The age from which a temporary file was left by a process that was killed.
const LEFT_OVER: Duration = Duration::from_secs(3600);
/// The part of the limit that is added, or freed beyond need, between two looks at the directory.
const SLACK: u64 = 16;

/// A directory with blocks of objects.
pub(crate) struct CacheDirectory {
    path: PathBuf,
    limit_bytes: u64,
    opened: SystemTime,
    say: fn(&str),
    state: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    /// The digests of the names of objects of which there may be blocks.
    names: HashSet<u64>,
    /// The bytes of all blocks, as far as this process knows.
    bytes: u64,
    /// The bytes of blocks that are being written.
    writing: u64,
    /// The bytes added since the last look at the directory.
    added: u64,
    /// Whether no more blocks are added.
    is_closed: bool,
    /// Whether a message was printed that objects without an identity are not kept.
    is_told: bool,
}

/// The file of a block.
struct CachedFile {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

impl CacheDirectory {
    /// The cache in the directory `path`, which holds at most `limit_bytes`. `say` is called, from any
    /// thread, with what users should know.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if the directory has other files; [`ErrorKind::Write`] if it cannot be
    /// made or read.
    pub(crate) fn open(path: &Path, limit_bytes: u64, say: fn(&str)) -> Result<CacheDirectory> {
        let failed = |cause: io::Error| {
            let error = Error::new(ErrorKind::Write, "cannot be used as a cache");
            error.in_file(path).caused_by(cause)
        };
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(path).map_err(failed)?;
        let cache = CacheDirectory {
            path: path.to_owned(),
            limit_bytes,
            opened: SystemTime::now(),
            say,
            state: Mutex::default(),
        };
        match fs::read(path.join(MARK)) {
            Ok(text) if text == MARK_TEXT.as_bytes() => {}
            Ok(_) => return Err(not_a_cache(path)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                if cache.has_other_files().map_err(failed)? {
                    return Err(not_a_cache(path));
                }
                let written = cache.write_file(Path::new(MARK), &[MARK_TEXT.as_bytes()]);
                written.map_err(failed)?;
            }
            Err(cause) => return Err(failed(cause)),
        }
        cache.look(&mut lock(&cache.state)).map_err(failed)?;
        Ok(cache)
    }

    pub(crate) fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Whether there may be blocks of the object with this name.
    pub(crate) fn has_blocks(&self, name: &str) -> bool {
        lock(&self.state).names.contains(&xxh3_64(name.as_bytes()))
    }

    /// The block with this key, which has `length` bytes; `None` if it is not there or damaged.
    pub(crate) fn read(&self, name: &str, key: &str, length: u64) -> Option<Bytes> {
        let path = self.path.join(file_name(name, key));
        let mut file = File::open(&path).ok()?;
        let head = head(key);
        let expected = (head.len() + CHECKSUM_BYTES) as u64 + length;
        let mut content = Vec::new();
        let is_whole = file.metadata().is_ok_and(|found| found.len() == expected)
            && (&mut file).take(expected).read_to_end(&mut content).is_ok();
        let content = Bytes::from(content);
        let block = content.strip_prefix(head.as_bytes()).and_then(|rest| {
            let (checksum, block) = rest.split_at_checked(CHECKSUM_BYTES)?;
            (checksum == xxh3_128(block).to_le_bytes()).then(|| content.slice_ref(block))
        });
        match block.filter(|_| is_whole) {
            Some(block) => {
                // Otherwise it counts as used earlier, and is removed earlier.
                let _ = file.set_modified(SystemTime::now());
                Some(block)
            }
            None => {
                let _ = fs::remove_file(&path);
                None
            }
        }
    }

    /// Adds a block, if there is space. A failure is reported once, and ends the additions.
    pub(crate) fn add(&self, name: &str, key: &str, block: &[u8]) {
        let head = head(key);
        let bytes = (head.len() + CHECKSUM_BYTES + block.len()) as u64;
        if !self.make_space(bytes) {
            return;
        }
        let checksum = xxh3_128(block).to_le_bytes();
        let file = PathBuf::from(file_name(name, key));
        let written = self.write_file(&file, &[head.as_bytes(), &checksum, block]);
        let mut state = lock(&self.state);
        state.writing -= bytes;
        match written {
            Ok(()) => {
                state.names.insert(xxh3_64(name.as_bytes()));
                state.bytes += bytes;
                state.added += bytes;
            }
            Err(cause) => {
                let message = format!("cannot be written, and is used as it is: {cause}");
                self.close(&mut state, &message);
            }
        }
    }

    /// Says, once, that an object is not kept.
    pub(crate) fn refuse(&self, name: &str) {
        let is_told = std::mem::replace(&mut lock(&self.state).is_told, true);
        if !is_told {
            (self.say)(&format!(
                "{name}: is not kept in the cache, as the server tells neither an entity tag nor a \
                 version (nor are others without one)"
            ));
        }
    }

    /// Frees space for a block of `bytes` bytes, if there is not enough. Returns whether it may be
    /// written.
    fn make_space(&self, bytes: u64) -> bool {
        let mut state = lock(&self.state);
        if state.is_closed {
            return false;
        }
        let is_enough =
            |state: &CacheState| state.bytes + state.writing + bytes <= self.limit_bytes;
        if is_enough(&state) && state.added <= self.limit_bytes / SLACK {
            state.writing += bytes;
            return true;
        }
        let Ok(mut entries) = self.look(&mut state) else {
            self.close(&mut state, "cannot be read, and gets no more blocks");
            return false;
        };
        if is_enough(&state) {
            state.writing += bytes;
            return true;
        }
        entries.sort_by_key(|entry| entry.used);
        let most = self.limit_bytes - self.limit_bytes / SLACK;
        let most = most.saturating_sub(bytes + state.writing);
        let mut old = entries.iter().filter(|entry| entry.used < self.opened);
        while state.bytes > most
            && let Some(entry) = old.next()
        {
            if fs::remove_file(&entry.path).is_ok() {
                state.bytes -= entry.bytes;
            }
        }
        if !is_enough(&state) {
            let message = "is full of what this run uses, and gets no more (see --cache-size)";
            self.close(&mut state, message);
            return false;
        }
        state.writing += bytes;
        true
    }

    fn close(&self, state: &mut CacheState, message: &str) {
        if !std::mem::replace(&mut state.is_closed, true) {
            (self.say)(&format!("{}: the cache {message}", self.path.display()));
        }
    }

    /// The files of blocks. Temporary files of processes that were killed are removed.
    fn look(&self, state: &mut CacheState) -> io::Result<Vec<CachedFile>> {
        let mut entries = Vec::new();
        for file in fs::read_dir(&self.path)? {
            let file = file?;
            // Another process may have removed it.
            let Ok(found) = file.metadata() else {
                continue;
            };
            let (name, used) = (file.file_name(), found.modified()?);
            let name = name.to_str().unwrap_or_default();
            if !found.is_file() {
                continue;
            }
            if let Some(object) = object_of(name) {
                state.names.insert(object);
                entries.push(CachedFile {
                    path: file.path(),
                    bytes: found.len(),
                    used,
                });
            } else if is_temporary(name) && used.elapsed().is_ok_and(|age| age > LEFT_OVER) {
                let _ = fs::remove_file(file.path());
            }
        }
        state.bytes = entries.iter().map(|entry| entry.bytes).sum();
        state.added = 0;
        Ok(entries)
    }

    fn has_other_files(&self) -> io::Result<bool> {
        for file in fs::read_dir(&self.path)? {
            let name = file?.file_name();
            let name = name.to_str().unwrap_or_default();
            // Another process may be making the mark.
            if name != MARK && object_of(name).is_none() && !is_temporary(name) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes a file of the directory in one step.
    fn write_file(&self, name: &Path, parts: &[&[u8]]) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let temporary = format!("{TEMPORARY}{}-{number}", std::process::id());
        let temporary = self.path.join(temporary);
        let write = || {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            let mut file = options.open(&temporary)?;
            parts.iter().try_for_each(|part| file.write_all(part))?;
            fs::rename(&temporary, self.path.join(name))
        };
        write().inspect_err(|_| {
            let _ = fs::remove_file(&temporary);
        })
    }
}

fn not_a_cache(path: &Path) -> Error {
    let message = "has other files than a cache of this version: name a new or empty directory";
    Error::new(ErrorKind::Parameter, message).in_file(path)
}

fn head(key: &str) -> String {
    format!("{HEAD}{key}\n")
}

/// The name of the file of a block: digests of the object's name and of the key.
fn file_name(name: &str, key: &str) -> String {
    let (name, key) = (xxh3_64(name.as_bytes()), xxh3_128(key.as_bytes()));
    format!("{name:016x}-{key:032x}")
}

/// The digest of the object's name in the name of a block's file.
fn object_of(name: &str) -> Option<u64> {
    let (object, key) = name.split_once('-')?;
    let is_digest = |text: &str, digits: usize| {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        text.len() == digits && text.bytes().all(is_digit)
    };
    let is_entry = is_digest(object, 16) && is_digest(key, 32);
    is_entry.then(|| u64::from_str_radix(object, 16).ok())?
}

/// Whether it is a temporary name: of a process and a number.
fn is_temporary(name: &str) -> bool {
    let numbers = name.strip_prefix(TEMPORARY);
    let numbers = numbers.and_then(|numbers| numbers.split_once('-'));
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent(_: &str) {}

    fn opened(path: &Path, limit: u64) -> CacheDirectory {
        CacheDirectory::open(path, limit, silent).unwrap()
    }

    fn files(path: &Path) -> Vec<String> {
        let names = fs::read_dir(path).unwrap().map(|file| file.unwrap());
        names
            .map(|file| file.file_name().into_string().unwrap())
            .filter(|name| name != MARK)
            .collect()
    }

    fn set_used(path: &Path, seconds_ago: u64) {
        let time = SystemTime::now() - Duration::from_secs(seconds_ago);
        File::open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn blocks_are_found_again_by_their_whole_key() {
        let place = tempfile::tempdir().unwrap();
        let cache = opened(&place.path().join("new/cache"), 1 << 20);
        assert!(!cache.has_blocks("a"));
        cache.add("a", "key", b"block");
        for cache in [&cache, &opened(&place.path().join("new/cache"), 1 << 20)] {
            assert!(cache.has_blocks("a") && !cache.has_blocks("b"));
            assert_eq!(cache.read("a", "key", 5).as_deref(), Some(&b"block"[..]));
            assert_eq!(cache.read("a", "key2", 5), None);
        }
    }

    #[test]
    fn damaged_blocks_are_missing() {
        let place = tempfile::tempdir().unwrap();
        let cache = opened(place.path(), 1 << 20);
        let path = place.path().join(file_name("a", "key"));
        cache.add("a", "key", b"block");
        let whole = fs::read(&path).unwrap();
        for damaged in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[damaged] ^= 1;
            fs::write(&path, &bytes).unwrap();
            assert_eq!(cache.read("a", "key", 5), None, "{damaged}");
            assert!(!path.exists());
            fs::write(&path, &whole[..damaged]).unwrap();
            assert_eq!(cache.read("a", "key", 5), None, "{damaged}");
        }
        cache.add("a", "key", b"block");
        assert_eq!(cache.read("a", "key", 5).as_deref(), Some(&b"block"[..]));
    }

    #[test]
    fn the_oldest_blocks_give_way_and_those_of_this_run_stay() {
        let place = tempfile::tempdir().unwrap();
        let add = |cache: &CacheDirectory, name: &str| cache.add(name, name, &[7; 1000]);
        let cache = opened(place.path(), 1 << 20);
        for name in ["a", "b", "c"] {
            add(&cache, name);
        }
        for (name, age) in [("a", 30), ("b", 10), ("c", 20)] {
            set_used(&place.path().join(file_name(name, name)), age);
        }
        let cache = opened(place.path(), 3300);
        // It is used now.
        assert!(cache.read("a", "a", 1000).is_some());
        add(&cache, "d");
        assert!(cache.read("c", "c", 1000).is_none());
        add(&cache, "e");
        let found = ["a", "b", "d", "e"].map(|name| cache.read(name, name, 1000).is_some());
        assert_eq!(found, [true, false, true, true]);
        add(&cache, "f");
        assert!(cache.read("f", "f", 1000).is_none());
        assert_eq!(files(place.path()).len(), 3);
    }

    /// Promise (Inputs on servers): A cache stays within its size, and only …
    #[test]
    fn other_files_are_refused_or_stay() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("mine"), "x").unwrap();
        let error = CacheDirectory::open(place.path(), 9999, silent)
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Parameter);
        fs::remove_file(place.path().join("mine")).unwrap();
        drop(opened(place.path(), 9999));
        let others = ["mine", "temporary-x", "0123-4567", "temporary-1-2.txt"];
        for name in others {
            fs::write(place.path().join(name), "x").unwrap();
            set_used(&place.path().join(name), 1 << 20);
        }
        fs::create_dir(place.path().join(file_name("a", "b"))).unwrap();
        let cache = opened(place.path(), 1500);
        for name in ["a", "b", "c"] {
            cache.add(name, name, &[7; 1000]);
        }
        assert!(others.iter().all(|name| place.path().join(name).exists()));
        fs::write(place.path().join(MARK), "Signature: of another program").unwrap();
        assert!(CacheDirectory::open(place.path(), 9999, silent).is_err());
    }

    #[test]
    fn temporary_files_of_killed_processes_are_removed() {
        let place = tempfile::tempdir().unwrap();
        drop(opened(place.path(), 9999));
        for (name, age) in [("temporary-1-2", 2 * 3600), ("temporary-1-3", 60)] {
            fs::write(place.path().join(name), "half").unwrap();
            set_used(&place.path().join(name), age);
        }
        let cache = opened(place.path(), 9999);
        assert_eq!(files(place.path()), ["temporary-1-3"]);
        assert_eq!(lock(&cache.state).bytes, 0);
    }
}
