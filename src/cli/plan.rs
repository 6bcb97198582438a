//! From flags to a validated job, its resources and its files, before anything is read.

use std::path::PathBuf;
use std::thread::available_parallelism;

use simtool::io::usage;
use simtool::kernel::Level;
use simtool::run::Resources;
use simtool::run::matching::Job;
use simtool::{Error, ErrorKind, Result};

use super::inputs::Sources;
use super::matching::MatchArgs;
use super::output::Target;

/// The environment variable that forces an instruction set.
const LEVEL_VARIABLE: &str = "SIMTOOL_SIMD";
/// The distance within which pages count as near.
const USUAL_DISTANCE: usize = 3;
/// The memory bound where the system does not tell what it has.
const USUAL_MEMORY_BYTES: u64 = 2 << 30;
const MEBIBYTE: u64 = 1 << 20;

/// What the plain form does, and with what.
#[derive(Debug)]
pub struct Plan {
    pub job: Job,
    pub resources: Resources,
    pub sources: Sources,
    pub target: Target,
}

impl Plan {
    /// The plan that the flags ask for.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] or [`ErrorKind::Memory`], naming the flag, its value and the
    /// bound.
    pub fn new(args: &MatchArgs) -> Result<Plan> {
        let place = |name: &str| args.dir.clone().unwrap_or_default().join(name);
        let one = |path: &Option<PathBuf>, name| path.clone().unwrap_or_else(|| place(name));
        let many = |paths: &[PathBuf], name| match paths {
            [] => vec![place(name)],
            _ => paths.to_vec(),
        };
        let sources = Sources {
            articles: many(&args.articles, "article.txt"),
            samples: many(&args.samples, "sample.txt"),
            stop_words: one(&args.stopwords, "stopwords.txt"),
            hash_table: one(&args.hashes, "hashvalue.txt"),
        };
        sources.check()?;
        let target = Target::new(one(&args.output, "result.txt"));
        let temporary = args.temp_dir.clone();
        let threads = args.threads.unwrap_or_else(all_cores);
        Ok(Plan {
            job: job(args)?,
            resources: Resources {
                threads,
                memory_bytes: memory(args.memory, threads)?,
                temporary: temporary.unwrap_or_else(|| target.temporary()),
                level: level()?,
            },
            sources,
            target,
        })
    }
}

fn job(args: &MatchArgs) -> Result<Job> {
    let bits = args.bits;
    let distance = match args.distance {
        Some(distance) if distance > bits => {
            let message = format!("--distance {distance}: expected at most M, which is {bits}");
            return Err(Error::new(ErrorKind::Parameter, message));
        }
        Some(distance) => distance,
        // No two fingerprints of fewer bits are farther apart.
        None => USUAL_DISTANCE.min(bits),
    };
    Job::new(args.features, bits, distance as u32)
}

/// The processors that this process may use.
fn all_cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The bound that was asked for, or half of what the system has left.
fn memory(asked: Option<u64>, threads: usize) -> Result<u64> {
    let least = Resources::least_memory_bytes(threads);
    match asked {
        Some(bytes) if bytes < least => {
            let message = format!(
                "--memory {}: {threads} threads need at least {}M (give more, or fewer --threads)",
                size(bytes),
                least.div_ceil(MEBIBYTE)
            );
            Err(Error::new(ErrorKind::Memory, message))
        }
        Some(bytes) => Ok(bytes),
        None => {
            let half = usage::available_memory().map_or(USUAL_MEMORY_BYTES, |bytes| bytes / 2);
            Ok(half.max(least))
        }
    }
}

/// A size as a flag has it, in whole mebibytes where it is so many.
fn size(bytes: u64) -> String {
    match bytes % MEBIBYTE {
        0 if bytes > 0 => format!("{}M", bytes / MEBIBYTE),
        _ => bytes.to_string(),
    }
}

/// The fastest instruction set, or the one that the environment asks for.
fn level() -> Result<Level> {
    let Some(name) = std::env::var_os(LEVEL_VARIABLE) else {
        return Ok(Level::best());
    };
    let name = name.to_string_lossy();
    let refuse = |why: String| {
        let message = format!("{LEVEL_VARIABLE}={name}: {why}");
        Error::new(ErrorKind::Parameter, message)
    };
    let level: Level = name
        .parse()
        .map_err(|_| refuse(format!("expected {}", names(Level::ALL))))?;
    if !level.is_available() {
        let available = names(Level::available());
        return Err(refuse(format!("this processor only has {available}")));
    }
    Ok(level)
}

fn names(levels: impl IntoIterator<Item = Level>) -> String {
    let names: Vec<String> = levels.into_iter().map(|level| level.to_string()).collect();
    names.join(", ")
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

    #[test]
    fn sizes_are_shown_as_they_are_written() {
        for (bytes, shown) in [
            (0, "0"),
            (5, "5"),
            (3 << 20, "3M"),
            ((1 << 20) + 1, "1048577"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
