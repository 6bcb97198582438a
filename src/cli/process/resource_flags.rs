//! The flags of resources, of every command that processes whole collections.

use std::path::{Path, PathBuf};

use clap::Args;
use simtool::engine::Resources;
use simtool::io::remote::Client;
use simtool::jobs::{BatchJob, least_memory_bytes};
use simtool::{Error, ErrorKind, Result};

use super::machine;
use crate::cli::values::number;
use crate::cli::values::size::parse_size;

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

/// Bytes of memory for the name and the descriptions of an input, measured with names of 30 bytes.
const INPUT_BYTES: u64 = 2500;
/// The inputs of which no memory is counted.
const FEW_INPUTS: usize = 4096;

/// The default memory bound, if the machine has enough.
const USUAL_MEMORY_BYTES: u64 = 4 << 30;

impl ResourceArgs {
    /// The number of threads, which without a flag depends on the machine.
    pub fn thread_count(&self) -> usize {
        self.threads.unwrap_or_else(machine::all_cores)
    }

    /// The memory bound, which without a flag depends on the machine.
    pub fn memory_bytes(&self) -> u64 {
        let usual = || machine::half_of_memory().min(USUAL_MEMORY_BYTES);
        self.memory.unwrap_or_else(usual)
    }

    /// The resources for documents of at most `max_document_bytes` bytes. Temporary files are created
    /// in `temporary` by default; `client` takes a part of the memory to read ahead.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] for too small a bound; [`ErrorKind::Parameter`] for an unknown
    /// instruction set; those of [`check_temporary`].
    pub fn resources(
        &self,
        max_document_bytes: u64,
        temporary: PathBuf,
        client: &Client,
    ) -> Result<Resources> {
        let least = |threads| least_memory_bytes(threads, max_document_bytes);
        self.with_least(least, (max_document_bytes, 0), temporary, client)
    }

    /// The resources for a job on `inputs` files, whose names and descriptions take a part of the
    /// memory.
    ///
    /// # Errors
    /// The same as [`ResourceArgs::resources`].
    pub fn of_job<J: BatchJob>(
        &self,
        job: &J,
        inputs: usize,
        temporary: PathBuf,
        client: &Client,
    ) -> Result<Resources> {
        let least = |threads| job.least_memory_bytes(threads);
        let max_document_bytes = job.batch().reading.max_document_bytes;
        self.with_least(least, (max_document_bytes, inputs), temporary, client)
    }

    /// The resources with at least the memory that `least` tells for a number of threads.
    fn with_least(
        &self,
        least: impl Fn(usize) -> u64,
        (max_document_bytes, inputs): (u64, usize),
        temporary: PathBuf,
        client: &Client,
    ) -> Result<Resources> {
        check_temporary(self.temp_dir.as_deref())?;
        let threads = self.thread_count();
        let described = input_bytes(inputs);
        let needed = least(threads) + described;
        if let Some(bytes) = self.memory.filter(|bytes| *bytes < needed) {
            let message = format!(
                "--memory {}: with --threads {threads} and --max-document {}{} at least {}M are \
                 needed ({}M with one thread; a smaller --max-document needs less)",
                machine::size(bytes),
                machine::size(max_document_bytes),
                and_inputs(inputs),
                needed.div_ceil(1 << 20),
                (least(1) + described).div_ceil(1 << 20),
            );
            return Err(Error::new(ErrorKind::Memory, message));
        }
        let memory_bytes = self.memory_bytes().max(needed);
        let ahead = client.reserve(memory_bytes - needed);
        Ok(Resources {
            threads,
            memory_bytes: memory_bytes - ahead - described,
            temporary: self.temp_dir.clone().unwrap_or(temporary),
            level: machine::level()?,
        })
    }
}

/// The memory in bytes, a multiple of 1 MiB, for the names and descriptions of `inputs` files. The
/// least memory of every run has room for [`FEW_INPUTS`] of them.
fn input_bytes(inputs: usize) -> u64 {
    let bytes = INPUT_BYTES * inputs.saturating_sub(FEW_INPUTS) as u64;
    bytes.next_multiple_of(1 << 20)
}

/// The number of inputs as a part of a sentence, if they need memory.
fn and_inputs(inputs: usize) -> String {
    match input_bytes(inputs) {
        0 => String::new(),
        _ => format!(" and {inputs} inputs"),
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
