//! A file that a task writes.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use simtool_core::Result;
use simtool_files::{AtomicFile, write_error};
use simtool_objects::{Condition, RemoteDirectory};

/// A file that gets its name when it is complete.
pub struct WorkFile(Kind);

enum Kind {
    Local(Box<AtomicFile>),
    /// A file without a name, and the object that it becomes.
    Remote {
        file: File,
        name: PathBuf,
        path: PathBuf,
        directory: Arc<dyn RemoteDirectory>,
    },
}

impl WorkFile {
    /// Starts the file `name` of `directory`, or of the directory of `path` on a disk.
    ///
    /// # Errors
    /// Errors of writing.
    pub(super) fn create(
        path: PathBuf,
        name: &str,
        directory: Option<&Arc<dyn RemoteDirectory>>,
    ) -> Result<WorkFile> {
        if let Some(directory) = directory {
            let file = tempfile::tempfile();
            return Ok(WorkFile(Kind::Remote {
                file: file.map_err(|cause| {
                    write_error(Path::new("a temporary file"), "cannot be made", cause)
                })?,
                name: name.into(),
                path,
                directory: Arc::clone(directory),
            }));
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .map_err(|cause| write_error(parent, "cannot be created", cause))?;
        }
        let file = AtomicFile::create(&path)?;
        Ok(WorkFile(Kind::Local(Box::new(file))))
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.0 {
            Kind::Local(file) => file.write_all(bytes).map_err(|cause| file.error(cause)),
            Kind::Remote { file, path, .. } => file
                .write_all(bytes)
                .map_err(|cause| write_error(path, "cannot be written", cause)),
        }
    }

    /// Appends the bytes of a file, and gives it its name.
    ///
    /// # Errors
    /// Errors of reading and writing.
    pub fn publish_copy(mut self, source: &Path) -> Result<()> {
        let bytes =
            std::fs::read(source).map_err(|cause| simtool_files::read_error(source, cause))?;
        self.write_all(&bytes)?;
        self.publish()
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn publish(self) -> Result<()> {
        match self.0 {
            Kind::Local(file) => file.publish(),
            Kind::Remote {
                file,
                name,
                directory,
                ..
            } => {
                let put = directory.put_file(&name, &file, Condition::Any, &mut |_| Ok(()))?;
                drop(put);
                Ok(())
            }
        }
    }
}
