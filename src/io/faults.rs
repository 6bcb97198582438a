//! Failures on demand, for tests of what a program does when its disk fails.

use std::io;
use std::path::Path;
use std::sync::Arc;

/// A change of the file system that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A file or directory comes into being.
    Create,
    /// Bytes are written.
    Write,
    /// A file grows or shrinks.
    Resize,
    /// What was written is made durable.
    Sync,
    /// A file gets its final name.
    Rename,
    /// A file is removed.
    Remove,
}

type Hook = dyn Fn(Operation, &Path) -> io::Result<()> + Send + Sync;

/// Asked before every change of a file; by default, nothing fails.
///
/// Clones share their hook.
#[derive(Clone, Default)]
pub struct Faults(Option<Arc<Hook>>);

impl Faults {
    /// Lets `hook` decide which operations fail; it is called before each.
    pub fn decided_by(
        hook: impl Fn(Operation, &Path) -> io::Result<()> + Send + Sync + 'static,
    ) -> Faults {
        Faults(Some(Arc::new(hook)))
    }

    /// # Errors
    /// What the hook says.
    pub(crate) fn before(&self, operation: Operation, file: &Path) -> io::Result<()> {
        match &self.0 {
            None => Ok(()),
            Some(hook) => hook(operation, file),
        }
    }
}

impl std::fmt::Debug for Faults {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(if self.0.is_some() {
            "Faults(..)"
        } else {
            "Faults(none)"
        })
    }
}
