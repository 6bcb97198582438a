//! Fault injection, for tests of failing disks.

use std::io;
use std::path::Path;
use std::sync::Arc;

/// A change of the file system that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A file or directory is created.
    Create,
    /// Bytes are written.
    Write,
    /// A file grows or shrinks.
    Resize,
    /// Written data are made durable.
    Sync,
    /// A file gets its final name.
    Rename,
    /// A file is removed.
    Remove,
}

type Hook = dyn Fn(Operation, &Path) -> io::Result<()> + Send + Sync;

/// A hook called before every change of a file; by default, no operation fails.
///
/// Clones share their hook.
#[derive(Clone, Default)]
pub struct Faults(Option<Arc<Hook>>);

impl Faults {
    /// Faults of `hook`, which is called before each operation; if it returns an error, the operation
    /// fails.
    pub fn decided_by(
        hook: impl Fn(Operation, &Path) -> io::Result<()> + Send + Sync + 'static,
    ) -> Faults {
        Faults(Some(Arc::new(hook)))
    }

    /// Calls the hook; to be called before each operation on `file`.
    ///
    /// # Errors
    /// The error that the hook returns.
    pub fn before(&self, operation: Operation, file: &Path) -> io::Result<()> {
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
