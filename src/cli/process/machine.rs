//! The processors, memory and instruction set of this machine.

use std::thread::available_parallelism;

use simtool::io::usage;
use simtool::kernel::Level;
use simtool::{Error, ErrorKind, Result};

/// The environment variable that forces an instruction set.
const LEVEL_VARIABLE: &str = "SIMTOOL_SIMD";
/// The default memory bound if the system does not report its memory.
const USUAL_MEMORY_BYTES: u64 = 2 << 30;
const MEBIBYTE: u64 = 1 << 20;

/// The processors that this process may use.
pub fn all_cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Half of the memory that is available to this process.
pub fn half_of_memory() -> u64 {
    usage::available_memory().map_or(USUAL_MEMORY_BYTES, |bytes| bytes / 2)
}

/// A size as in a flag, in whole mebibytes if possible.
pub fn size(bytes: u64) -> String {
    match bytes % MEBIBYTE {
        0 if bytes > 0 => format!("{}M", bytes / MEBIBYTE),
        _ => bytes.to_string(),
    }
}

/// The fastest instruction set, or the one in the environment.
pub fn level() -> Result<Level> {
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
