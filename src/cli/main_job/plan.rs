//! The plan of the main job: the flags become a validated job with its resources and files, before
//! any input is read.

use std::path::PathBuf;

use simtool::engine::Resources;
use simtool::io::InputFiles;
use simtool::jobs::main_job::MainJob;
use simtool::{Error, ErrorKind, Result};

use super::flags::MainJobArgs;
use super::inputs::InputPaths;
use crate::cli::output::Target;
use crate::cli::process::machine;
use crate::cli::process::resource_flags::check_temporary;

/// The default of `--distance`, unless the fingerprints have fewer bits.
const DEFAULT_DISTANCE: usize = 3;

/// The job with its resources and files.
#[derive(Debug)]
pub struct MainJobPlan {
    pub job: MainJob,
    pub resources: Resources,
    pub sources: InputPaths,
    pub target: Target,
}

impl MainJobPlan {
    /// The plan of the flags.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] or [`ErrorKind::Memory`], naming the flag, its value and the bound;
    /// those of [`Target::new`] and [`check_temporary`].
    pub fn new(args: &MainJobArgs) -> Result<MainJobPlan> {
        let place = |name: &str| args.dir.clone().unwrap_or_default().join(name);
        let one = |path: &Option<PathBuf>, name| path.clone().unwrap_or_else(|| place(name));
        let many = |paths: &[PathBuf], name| match paths {
            [] => vec![place(name)],
            _ => paths.to_vec(),
        };
        let sources = InputPaths {
            articles: many(&args.articles, "article.txt"),
            samples: many(&args.samples, "sample.txt"),
            stop_words: one(&args.stopwords, "stopwords.txt"),
            hash_table: one(&args.hashes, "hashvalue.txt"),
        };
        sources.check()?;
        let mut files = match args.scaling {
            None => sources.files(),
            // --scaling discards the result, so the target may be an input.
            Some(_) => InputFiles::default(),
        };
        let target = Target::new(one(&args.output, "result.txt"), "--output", &mut files)?;
        check_temporary(args.temp_dir.as_deref())?;
        let temporary = args.temp_dir.clone();
        let threads = args.threads.unwrap_or_else(machine::all_cores);
        Ok(MainJobPlan {
            job: job(args)?,
            resources: Resources {
                threads,
                memory_bytes: memory(args.memory, threads)?,
                temporary: temporary.unwrap_or_else(|| target.temporary()),
                level: machine::level()?,
            },
            sources,
            target,
        })
    }
}

fn job(args: &MainJobArgs) -> Result<MainJob> {
    let bits = args.bits;
    let distance = match args.distance {
        Some(distance) if distance > bits => {
            let message = format!("--distance {distance}: expected at most M, which is {bits}");
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        Some(distance) => distance,
        // Fingerprints of M bits differ in at most M bits.
        None => DEFAULT_DISTANCE.min(bits),
    };
    MainJob::new(args.features, bits, distance as u32)
}

/// The requested bound, or half of the available memory, but at least the minimum for `threads`.
///
/// # Errors
/// [`ErrorKind::Memory`] if the requested bound is below the minimum.
fn memory(asked: Option<u64>, threads: usize) -> Result<u64> {
    let least = Resources::least_memory_bytes(threads);
    match asked {
        Some(bytes) if bytes < least => {
            let message = format!(
                "--memory {}: {threads} threads need at least {}M (give more, or fewer --threads)",
                machine::size(bytes),
                least.div_ceil(1 << 20)
            );
            Err(Error::new(ErrorKind::Memory, message))
        }
        Some(bytes) => Ok(bytes),
        None => Ok(machine::half_of_memory().max(least)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_asked_for_has_to_suffice() {
        let error = memory(Some(10 << 20), 4).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Memory);
        let text = error.to_string();
        assert!(
            text.starts_with("--memory 10M: 4 threads need at least "),
            "{text}"
        );
        assert_eq!(memory(Some(1 << 40), 4).unwrap(), 1 << 40);
    }

    #[test]
    fn memory_not_asked_for_always_suffices() {
        assert!(memory(None, 1).unwrap() > 0);
        let least = Resources::least_memory_bytes(1 << 20);
        assert!(memory(None, 1 << 20).unwrap() >= least);
    }
}
