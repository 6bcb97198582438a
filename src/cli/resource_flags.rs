//! What a command may use: the flags of every command that works on whole collections.

use std::path::PathBuf;

use clap::Args;
use simtool::run::Resources;
use simtool::run::dedup::least_memory_bytes;
use simtool::{Error, ErrorKind, Result};

use super::size::parse_size;
use super::{machine, number};

/// What a command may use; none of it changes the output.
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

/// Nobody is surprised by a command that takes less.
const USUAL_MEMORY_BYTES: u64 = 4 << 30;

impl ResourceArgs {
    /// The resources, for documents of at most so many bytes; temporary files go to `temporary`
    /// unless told otherwise.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] for a bound that is too small, [`ErrorKind::Parameter`] for an
    /// instruction set that there is not.
    pub fn resources(&self, max_document_bytes: u64, temporary: PathBuf) -> Result<Resources> {
        let threads = self.threads.unwrap_or_else(machine::all_cores);
        let least = least_memory_bytes(threads, max_document_bytes);
        let memory_bytes = match self.memory {
            Some(bytes) if bytes < least => {
                let message = format!(
                    "--memory {}: {threads} threads and documents of {} need at least {}M (give \
                     more, or fewer --threads, or a smaller --max-document)",
                    machine::size(bytes),
                    machine::size(max_document_bytes),
                    least.div_ceil(1 << 20),
                );
                return Err(Error::new(ErrorKind::Memory, message));
            }
            Some(bytes) => bytes,
            None => machine::half_of_memory().min(USUAL_MEMORY_BYTES).max(least),
        };
        Ok(Resources {
            threads,
            memory_bytes,
            temporary: self.temp_dir.clone().unwrap_or(temporary),
            level: machine::level()?,
        })
    }
}
