//! The indexes that this process has open, which may be opened again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use simtool::jobs::seen::Seen;
use simtool::{Error, ErrorKind, Result};

/// An open index. After a fork, those of the parent are of another process.
struct OpenIndex {
    process: u32,
    directory: PathBuf,
    is_read_only: bool,
    seen: Weak<Seen>,
}

static OPEN: Mutex<Vec<OpenIndex>> = Mutex::new(Vec::new());

/// Opens an index; if this process has the one in `directory` open for changes, that one.
///
/// # Errors
/// Errors of `open`; [`ErrorKind::Read`] if this process has it open, and one of both is read-only.
pub fn shared(
    directory: &Path,
    is_read_only: bool,
    open: impl FnOnce() -> Result<Seen>,
) -> Result<Arc<Seen>> {
    let mut all = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|known| known.seen.strong_count() > 0);
    let place = |directory: &Path| fs::canonicalize(directory).unwrap_or(directory.to_owned());
    let seen = match open() {
        Ok(seen) => Arc::new(seen),
        // It is locked, perhaps by this process.
        Err(error) if error.kind() == ErrorKind::Read => {
            let directory = place(directory);
            let is_it =
                |known: &&OpenIndex| known.directory == directory && known.process == process::id();
            let found = all.iter().rev().find(is_it);
            let found = found.and_then(|known| Some((known.is_read_only, known.seen.upgrade()?)));
            return match found {
                None => Err(error),
                Some((false, seen)) if !is_read_only => Ok(seen),
                Some((was_read_only, _)) => {
                    let how = if was_read_only {
                        "for reading only"
                    } else {
                        "for changes"
                    };
                    let message = format!(
                        "this process has the index open {how} (close that Index first, or open both \
                         in the same way)"
                    );
                    Err(Error::new(ErrorKind::Read, message).in_file(directory))
                }
            };
        }
        Err(error) => return Err(error),
    };
    all.push(OpenIndex {
        process: process::id(),
        directory: place(directory),
        is_read_only,
        seen: Arc::downgrade(&seen),
    });
    Ok(seen)
}
