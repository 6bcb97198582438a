//! Files that are found and not read.

use std::path::PathBuf;

/// A file that is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its path.
    pub path: PathBuf,
    /// The kind of reason.
    pub reason: LeftOutReason,
    /// A description for people.
    pub why: String,
}

/// The reason why a file is not read.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOutReason {
    /// Its format is not supported.
    Format,
    /// It is not a data file, and is in a directory with data files or above one.
    Companion,
    /// It is a hard or symbolic link to a file that is read under another name.
    SameFile,
    /// It is a directory without files.
    Empty,
    /// It is a dangling or circular symbolic link, a subdirectory that cannot be read, or a named
    /// pipe, socket or device in a directory.
    Unreadable,
    /// Its name begins with a dot. A directory with such a name counts as one file.
    Hidden,
}

impl LeftOutReason {
    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            LeftOutReason::Format => "format",
            LeftOutReason::Companion => "companion",
            LeftOutReason::SameFile => "same_file",
            LeftOutReason::Empty => "empty",
            LeftOutReason::Unreadable => "unreadable",
            LeftOutReason::Hidden => "hidden",
        }
    }
}
