//! The inputs and the output directory of a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use simtool_objects::RemoteDirectory;

use simtool_corpus::{LeftOut, Source};

use super::known_documents::KnownDocuments;

/// What the input is compared with.
#[derive(Clone, Copy)]
pub enum Against<'a> {
    /// Itself.
    Itself,
    /// Itself and another collection, whose documents come first in keep order and are never
    /// dropped.
    Documents(&'a [Source]),
    /// Documents of which only ids and sketches are available. Documents near one of them are
    /// dropped without comparing texts. The others are compared with each other, unless the job is
    /// `against_only`.
    Known(&'a dyn KnownDocuments),
}

/// The inputs and the output directory of a run.
#[derive(Clone, Copy)]
pub struct Invocation<'a> {
    /// What the input is compared with.
    pub against: Against<'a>,
    /// The files, directories and lists that were given as the input. They identify a job without
    /// sources.
    pub arguments: &'a [PathBuf],
    /// The input.
    pub sources: &'a [Source],
    /// Files that were found but are not read, for the summary.
    pub left_out: &'a [LeftOut],
    /// Other files that the command reads, such as lists of names and stop words. A restart never
    /// removes them.
    pub also_read: &'a [PathBuf],
    /// The output directory.
    pub out: &'a Path,
    /// The directory of an object store where outputs belong: each is moved there when it is
    /// complete, and `out` is a local directory for those under way.
    pub remote: Option<&'a Arc<dyn RemoteDirectory>>,
    /// Whether to replace the recorded output of an earlier run, finished or not.
    pub restart: bool,
}

impl<'a> Against<'a> {
    /// The other collection, if its texts are available.
    pub fn documents(&self) -> &'a [Source] {
        match self {
            Against::Documents(sources) => sources,
            Against::Itself | Against::Known(_) => &[],
        }
    }
}
