//! What a run takes: time and space.

use std::path::{Path, PathBuf};
use std::time::Duration;

use simtool_engine::{Stage, StagePlan};
use simtool_files::FileSystem;

/// The amounts of an estimate that every command has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunCost {
    /// Documents of all inputs.
    pub documents: u64,
    /// Bytes of their text.
    pub text_bytes: u64,
    /// Temporary space in the output directory, which an interrupted run leaves there.
    pub work_bytes: u64,
    /// Temporary space in the directory of temporary files.
    pub spooled_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// The stages in order, with their durations.
    pub stages: Vec<StagePlan>,
}

/// A file system with less free space than a run needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// A directory in it.
    pub directory: PathBuf,
    /// Bytes that the run needs there.
    pub needed_bytes: u64,
    /// Bytes that are free.
    pub free_bytes: u64,
}

impl RunCost {
    /// The duration of the run.
    pub fn time(&self) -> Duration {
        self.stages.iter().map(|stage| stage.time).sum()
    }

    /// Adds a stage before all others, which took `time`.
    pub fn begin_with(&mut self, stage: Stage, time: Duration) {
        self.stages.insert(0, StagePlan { stage, time });
    }

    /// All temporary space.
    pub fn temporary_bytes(&self) -> u64 {
        self.work_bytes.saturating_add(self.spooled_bytes)
    }

    /// The file systems with too little space for a run with its output in `out` and its temporary
    /// files in `temporary`.
    pub fn shortages(&self, out: &Path, temporary: &Path) -> Vec<Shortage> {
        let found = [out, temporary].map(FileSystem::of);
        self.shortages_in([(out, found[0]), (temporary, found[1])])
    }

    fn shortages_in(&self, [out, temporary]: [(&Path, Option<FileSystem>); 2]) -> Vec<Shortage> {
        let in_output = self.work_bytes.saturating_add(self.output_bytes);
        let device = |system: Option<FileSystem>| system.map(|found| found.device);
        let needs = match device(out.1) == device(temporary.1) {
            true => vec![(out, in_output.saturating_add(self.spooled_bytes))],
            false => vec![(out, in_output), (temporary, self.spooled_bytes)],
        };
        let shortage = |((directory, found), needed_bytes): ((&Path, Option<FileSystem>), u64)| {
            let free_bytes = found?.free_bytes;
            (free_bytes < needed_bytes).then(|| Shortage {
                directory: directory.to_owned(),
                needed_bytes,
                free_bytes,
            })
        };
        needs.into_iter().filter_map(shortage).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (Deduplication): The plan of a run samples …
    #[test]
    fn needs_on_the_same_file_system_are_added() {
        let cost = RunCost {
            work_bytes: 100,
            spooled_bytes: 50,
            output_bytes: 30,
            ..RunCost::default()
        };
        let [out, temporary] = ["o", "t"].map(Path::new);
        let shortages = |first: (u64, u64), second: (u64, u64)| {
            let system = |(device, free_bytes)| Some(FileSystem { device, free_bytes });
            let found = cost.shortages_in([(out, system(first)), (temporary, system(second))]);
            let short = |found: &Shortage| {
                (
                    found.directory.clone(),
                    found.needed_bytes,
                    found.free_bytes,
                )
            };
            found.iter().map(short).collect::<Vec<_>>()
        };
        assert_eq!(shortages((1, 180), (1, 180)), []);
        assert_eq!(shortages((1, 179), (1, 179)), [(out.to_owned(), 180, 179)]);
        assert_eq!(shortages((1, 130), (2, 50)), []);
        assert_eq!(
            shortages((1, 129), (2, 49)),
            [(out.to_owned(), 130, 129), (temporary.to_owned(), 50, 49)]
        );
    }
}
