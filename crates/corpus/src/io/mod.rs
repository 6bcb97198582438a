//! Files: verified inputs, atomic outputs, temporary files and locks.
//!
//! Bytes can be trusted in two cases: those of an [`Input`] whose [`verify`](Input::verify)
//! succeeded after their last use, and those of a file that an [`AtomicFile`] published. All other
//! cases, such as a truncated mapping or a half-written file, are errors of one file and never end
//! the process.
//!
//! Inputs are mapped only if the program has installed the [`guard`]; without it, they are read
//! into memory.

pub mod append;
mod blocks;
pub mod directory;
pub mod directory_lock;
pub mod faults;
pub mod guard;
pub mod input;
pub mod input_files;
pub mod lock;
pub mod output;
pub mod paged_file;
pub mod record_file;
mod regular;
pub mod remote;
pub mod space;
pub mod spill;
pub mod spool;
mod stream;
pub mod table;
mod unnamed;
pub mod usage;

pub use append::append_at;
pub use blocks::{BLOCK_BYTES, BlockFile, BlockWriter, Source};
pub use directory_lock::{DirectoryLock, LockAttempt};
pub use faults::{Faults, Operation};
pub use input::Input;
pub use input_files::InputFiles;
pub use lock::FileLock;
pub use output::{AtomicFile, Recorder};
pub use paged_file::PagedFile;
pub use record_file::RecordFile;
pub use space::FileSystem;
pub use spill::{Sorted, Sorter};
pub use spool::{Spool, Spooled};
pub use stream::Stream;
pub use table::Table;

use crate::{Error, ErrorKind};
use std::io;
use std::path::Path;

/// The error of an input that cannot be opened or read, with advice for common causes.
fn read_error(input: &Path, cause: io::Error) -> Error {
    let message = match cause.kind() {
        io::ErrorKind::NotFound => "cannot be read (check the spelling of its name)",
        io::ErrorKind::PermissionDenied => "cannot be read (ask its owner for read permission)",
        _ => "cannot be read",
    };
    Error::new(ErrorKind::Read, message)
        .in_file(input)
        .caused_by(cause)
}

/// The error of an output or temporary file; `task` says what failed ("cannot ...").
fn write_error(output: &Path, task: &str, cause: io::Error) -> Error {
    let advice = match cause.kind() {
        io::ErrorKind::StorageFull => " (the disk is full: free space or choose another place)",
        io::ErrorKind::QuotaExceeded => " (the disk quota is used up: choose another place)",
        io::ErrorKind::FileTooLarge => " (larger than the file system or `ulimit -f` allows)",
        io::ErrorKind::ReadOnlyFilesystem => " (the file system is read-only)",
        io::ErrorKind::PermissionDenied => " (no permission to write there)",
        io::ErrorKind::NotFound => " (its directory does not exist)",
        io::ErrorKind::IsADirectory => " (it is a directory: name a file in it)",
        _ => "",
    };
    Error::new(ErrorKind::Write, format!("{task}{advice}"))
        .in_file(output)
        .caused_by(cause)
}
