//! JSON Lines files that a command writes.

use std::path::{Path, PathBuf};

use simtool::Result;
use simtool::io::InputFiles;

use crate::cli::output::{Output, Target};

/// The destination of lines, if they are requested.
pub struct LineFile(Option<(Target, PathBuf)>);

/// Unpublished lines of a file; nothing is visible before they are published.
pub struct LineWriter<'a>(Option<Output<'a>>);

impl LineFile {
    /// The file `path` of `flag`; `-` is standard output. `files` has every file that the command
    /// reads. Lines for standard output or a device are kept in `temp_dir` until they are
    /// published, or in the system's temporary directory.
    ///
    /// # Errors
    /// Errors of [`Target::new`].
    pub fn new(
        path: Option<&Path>,
        flag: &str,
        files: &mut InputFiles,
        temp_dir: Option<&Path>,
    ) -> Result<LineFile> {
        let Some(path) = path else {
            return Ok(LineFile(None));
        };
        let target = Target::new(path.to_owned(), flag, files)?;
        let temporary = temp_dir.map_or_else(|| target.temporary(), Path::to_owned);
        Ok(LineFile(Some((target, temporary))))
    }

    /// Starts writing.
    ///
    /// # Errors
    /// Errors of [`Output::create`].
    pub fn begin(&self) -> Result<LineWriter<'_>> {
        let output = self.0.as_ref();
        let output = output.map(|(target, temporary)| Output::create(target, temporary));
        output.transpose().map(LineWriter)
    }

    /// Whether it is standard output.
    pub fn is_screen(&self) -> bool {
        matches!(self.0, Some((Target::Screen, _)))
    }
}

impl LineWriter<'_> {
    /// Appends lines.
    ///
    /// # Errors
    /// Errors of [`Output::write`].
    pub fn write(&mut self, lines: &[u8]) -> Result<()> {
        match &mut self.0 {
            Some(output) => output.write(lines),
            None => Ok(()),
        }
    }

    /// Publishes the lines.
    ///
    /// # Errors
    /// Errors of [`Output::publish`].
    pub fn publish(self) -> Result<()> {
        self.0.map_or(Ok(()), |output| output.publish(0))
    }
}
