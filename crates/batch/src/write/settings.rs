//! How inputs are written again.

/// How the files of `kept/` and `annotated/` are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DumpSettings {
    /// What happens to records that could not be read.
    pub skipped: SkippedRecords,
    /// The level of gzip or zstd for files that are compressed as a whole. Without it, unchanged
    /// members are copied instead of compressed again.
    pub compression_level: Option<u32>,
    /// Whether an input has a file also where none of its documents is left.
    pub empty_files: bool,
}

/// What happens to records that could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum SkippedRecords {
    /// They are kept unchanged.
    #[default]
    Keep,
    /// They are left out.
    Drop,
}

impl DumpSettings {
    /// Whether records that could not be read are left out.
    pub fn drops_skipped(self) -> bool {
        self.skipped == SkippedRecords::Drop
    }
}
