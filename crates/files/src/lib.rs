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

mod blocks;
pub mod directory;
mod errors;
pub mod faults;
pub mod input;
pub mod lock;
pub mod output;
pub mod paged_file;
mod regular;
mod system;
mod temporary;

pub use blocks::{BLOCK_BYTES, BlockFile, BlockWriter, Source};
pub use faults::{Faults, Operation};
pub use input::Input;
pub use input::append::append_at;
pub use input::input_file::{InputFile, InputPath, InputReader, SequentialReader};
pub use input::input_files::InputFiles;
pub use input::stream::Stream;
pub use input::{append, input_files, remote};
pub use lock::FileLock;
pub use lock::directory_lock;
pub use lock::directory_lock::{DirectoryLock, LockAttempt};
pub use output::{AtomicFile, CompleteFile, Recorder};
pub use paged_file::PagedFile;
pub use regular::{read_regular, regular_contents};
pub use system::space::FileSystem;
pub use system::{guard, page_cache, space, usage};
pub use temporary::record_cursor::RecordCursor;
pub use temporary::record_file::RecordFile;
pub use temporary::spill::{Sorted, SortedPart, SortedParts, Sorter};
pub use temporary::spool::{SharedSpool, Spool, Spooled};
pub use temporary::table::Table;
pub use temporary::{record_cursor, record_file, spill, spool, table};

pub use errors::{read_error, write_error};

use simtool_core::{Error, ErrorKind, Result};
