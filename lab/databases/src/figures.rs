//! Measurements, and their formatting.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Instant;

use crate::Result;

/// The rows of one database.
pub type Rows = Vec<(&'static str, String)>;

/// The CPU seconds of all threads of this process, and the bytes that it has written to disk, without
/// those of its children.
pub fn usage() -> Result<[f64; 2]> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let io = fs::read_to_string("/proc/self/io")?;
    // The second field ends with a parenthesis; 14 and 15 count hundredths of a second.
    let mut ticks = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split(' ')
        .skip(12);
    let mut next = || ticks.next().unwrap_or_default().parse::<f64>();
    let written = io
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: "));
    Ok([
        (next()? + next()?) / 100.0,
        written.unwrap_or_default().parse()?,
    ])
}

/// The times of repeated operations, in seconds.
#[derive(Default)]
pub struct Times(Vec<f64>);

impl Times {
    /// Runs one operation and records its time.
    pub fn time<T>(&mut self, what: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = what();
        self.0.push(begin.elapsed().as_secs_f64());
        result
    }

    /// The number of operations.
    pub fn count(&self) -> f64 {
        self.0.len() as f64
    }

    /// The total time.
    pub fn sum(&self) -> f64 {
        self.0.iter().sum()
    }

    /// The operations per second.
    pub fn rate(&self) -> f64 {
        self.count() / self.sum()
    }

    /// The median and the 99th percentile, in units of `unit` seconds.
    pub fn spread(&self, unit: f64) -> String {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |percent: usize| rounded(sorted[sorted.len() * percent / 100] / unit);
        format!("{} / {}", at(50), at(99))
    }
}

/// The disk space below `directory`, without holes of sparse files.
pub fn disk_bytes(directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += about.blocks() * 512;
        if about.is_dir() {
            bytes += disk_bytes(&entry.path())?;
        }
    }
    Ok(bytes)
}

/// Formats with three significant digits.
pub fn rounded(figure: f64) -> String {
    match figure {
        _ if figure >= 1e6 => format!("{:.2} M", figure / 1e6),
        _ if figure >= 1e4 => format!("{:.1} k", figure / 1e3),
        _ if figure >= 100.0 => format!("{figure:.0}"),
        _ if figure >= 10.0 => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}
