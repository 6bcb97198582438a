//! Files: verified inputs, atomic outputs, temporary files and locks.
//!
//! Internal to simtool, without a promise of stability; `simtool` is the library for users.
//!
//! Bytes can be trusted in three cases: those of an [`Input`] whose [`verify`](Input::verify)
//! succeeded after their last use, those of a file that an [`AtomicFile`] published, and the
//! verified values of a [`BlockFile`]. All other cases, such as a truncated mapping or a
//! half-written file, are errors of one file. Only a failing device under a [`Table`] on disk ends
//! the process.
//!
//! Inputs are mapped only if the program has installed the [`guard`]; without it, they are read
//! into memory.

pub mod append;
mod blocks;
pub mod directory;
pub mod directory_lock;
mod errors;
pub mod faults;
pub mod guard;
pub mod input;
mod input_file;
pub mod input_files;
pub mod lock;
mod locked_file;
pub mod output;
pub mod paged_file;
pub mod record_cursor;
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
mod writeback;

pub use append::append_at;
pub use blocks::{BLOCK_BYTES, BlockFile, BlockWriter, Source};
pub use directory_lock::{DirectoryLock, LockAttempt};
pub use faults::{Faults, Operation};
pub use input::Input;
pub use input_file::{InputFile, InputPath, InputReader, SequentialReader};
pub use input_files::InputFiles;
pub use lock::FileLock;
pub use output::{AtomicFile, CompleteFile, Recorder};
pub use paged_file::PagedFile;
pub use record_cursor::RecordCursor;
pub use record_file::RecordFile;
pub use regular::{read_regular, regular_contents};
pub use space::FileSystem;
pub use spill::{Sorted, Sorter};
pub use spool::{Spool, Spooled};
pub use stream::Stream;
pub use table::Table;

pub use errors::{read_error, write_error};

use simtool_core::{Error, ErrorKind, Result};
