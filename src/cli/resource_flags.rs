//! The flags of resources, of every command that processes whole collections.

use std::path::{Path, PathBuf};

use clap::Args;
use simtool::engine::Resources;
use simtool::io::remote;
use simtool::jobs::dedup::least_memory_bytes;
use simtool::{Error, ErrorKind, Result};

use super::size::parse_size;
use super::{machine, number};

/// The resources of a command, which do not affect the output.
#[derive(Args, Clone, Debug)]
pub struct ResourceArgs {
    /// Threads to work with [default: one for each processor]
    #[arg(
        long, value_name = "COUNT", value_parser = number::within(1, 1024),
        help_heading = "Resources"
    )]
    pub threads: Option<usize>,

    /// Bound on resident memory, such as 500M or 8G [default: half of what is available, at most
    /// 4G]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Resources")]
    pub memory: Option<u64>,

    /// Directory of temporary files [default: the output's, or the system's]
    #[arg(long, value_name = "DIR", help_heading = "Resources")]
    pub temp_dir: Option<PathBuf>,
}

/// The default memory bound, if the machine has enough.
const USUAL_MEMORY_BYTES: u64 = 4 << 30;

impl ResourceArgs {
    /// The resources for documents of at most `max_document_bytes` bytes. Temporary files are
    /// created in `temporary` by default.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] for too small a bound; [`ErrorKind::Parameter`] for an unknown
    /// instruction set; those of [`check_temporary`].
    pub fn resources(&self, max_document_bytes: u64, temporary: PathBuf) -> Result<Resources> {
        check_temporary(self.temp_dir.as_deref())?;
        let threads = self.threads.unwrap_or_else(machine::all_cores);
        let least = least_memory_bytes(threads, max_document_bytes);
        let memory_bytes = match self.memory {
            Some(bytes) if bytes < least => {
                let message = format!(
                    "--memory {}: with --threads {threads} and --max-document {} at least {}M are \
                     needed ({}M with one thread)",
                    machine::size(bytes),
                    machine::size(max_document_bytes),
                    least.div_ceil(1 << 20),
                    least_memory_bytes(1, max_document_bytes).div_ceil(1 << 20),
                );
                return Err(Error::new(ErrorKind::Memory, message));
            }
            Some(bytes) => bytes,
            None => machine::half_of_memory().min(USUAL_MEMORY_BYTES).max(least),
        };
        let ahead = remote::reserve(memory_bytes - least);
        Ok(Resources {
            threads,
            memory_bytes: memory_bytes - ahead,
            temporary: self.temp_dir.clone().unwrap_or(temporary),
            level: machine::level()?,
        })
    }
}

/// Checks, before anything is read, that the directory of `--temp-dir` can hold temporary files.
///
/// # Errors
/// [`ErrorKind::Write`] if it cannot.
pub fn check_temporary(directory: Option<&Path>) -> Result<()> {
    let Some(directory) = directory else {
        return Ok(());
    };
    let failed = |cause| {
        let message = "cannot hold temporary files: give --temp-dir a directory that exists and \
                       may be written";
        Error::new(ErrorKind::Write, message)
            .in_file(directory)
            .caused_by(cause)
    };
    tempfile::tempfile_in(directory).map(drop).map_err(failed)
}
