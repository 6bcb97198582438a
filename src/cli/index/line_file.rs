//! Files of JSON Lines that a command writes beside its work.

use std::path::{Path, PathBuf};

use simtool::Result;
use simtool::io::InputFiles;

use crate::cli::output::{Output, Target};

/// Where lines go, if somebody wants them.
pub struct LineFile(Option<(Target, PathBuf)>);

/// Lines that are being written; nothing is seen of them before they are published.
pub struct LineWriter<'a>(Option<Output<'a>>);

impl LineFile {
    /// The file that `flag` calls `path`; `-` is standard output. `files` holds every file that
    /// the command reads. Lines for standard output or a device wait in `temp_dir`, or in the
    /// system's directory of temporary files.
    ///
    /// # Errors
    /// Those of [`Target::new`].
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

    /// Begins to write.
    ///
    /// # Errors
    /// Those of [`Output::create`].
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
    /// Those of [`Output::write`].
    pub fn write(&mut self, lines: &[u8]) -> Result<()> {
        match &mut self.0 {
            Some(output) => output.write(lines),
            None => Ok(()),
        }
    }

    /// Puts them in their place.
    ///
    /// # Errors
    /// Those of [`Output::publish`].
    pub fn publish(self) -> Result<()> {
        self.0.map_or(Ok(()), |output| output.publish(0))
    }
}
