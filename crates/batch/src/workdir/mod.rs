//! The work directory: finished parts of a run, from which the same command resumes.
//!
//! ```text
//! OUT/.simtool/outputs         output files of this run; written first
//! OUT/.simtool/job.json        settings and inputs; no other job may resume from here
//! OUT/.simtool/frequencies-N   corpus statistics of the method
//! OUT/.simtool/segments        what the first reading found
//! OUT/.simtool/segment-index   where each segment is
//! OUT/.simtool/gathered        the digest of this index: the first reading is complete
//! OUT/.simtool/seen-twice      of `lines` and `spans`: the table of what was seen twice so far
//! OUT/.simtool/decisions…      dropped documents, and the kept ones
//! OUT/.simtool/ranges…         of `lines`, `spans` and `decontaminate`: removed ranges, their
//!                              origins, dropped documents, frequent passages, reference items
//! OUT/.simtool/decided         lengths and digests of these
//! OUT/.simtool/reported        the reports are complete; their totals
//! OUT/.simtool/…-shard-N       the counts of a complete shard of written documents
//! OUT/.simtool/stream-N        a copy of standard input or of a pipe
//! OUT/run.json                 settings, inputs and outputs of a finished run
//! ```
//!
//! If outputs belong in a directory of an object store, `OUT` is a local directory for those under
//! way: each becomes an object as soon as it is complete, and its file is removed. `.simtool/lock` is
//! an object there until the run is finished, and `OUT/.simtool-lock` its key.
//!
//! A run locks `OUT` itself until it ends. All other stored data is in unnamed files, which
//! disappear with the process. Files with other names than these are never removed.

mod differences;
mod directory;
mod files;
mod finished;
mod locks;
mod outputs;
mod stored_job;

pub use directory::{Opened, Work};
pub use files::checksummed::{encode as checksummed_text, fields};
pub use files::errors::damaged;
pub use files::file::{FinishedFile, describe};
pub use files::growing_file::GrowingFile;
pub use files::names::{DECIDED, entries};
pub use files::path_text::{decode as path_from, encode as path_value};
pub use finished::{SUMMARY, TIMINGS, parsed_summary};
pub use outputs::group::OutputGroup;
pub use outputs::journal::digest_value;
pub use outputs::output_files::Outputs;
pub use outputs::output_state::StartOptions;
