//! Files of JSON Lines that a command writes beside its work.

use std::path::{Path, PathBuf};

use simtool::{Error, ErrorKind, Result};

use crate::cli::output::{Output, Target};

/// Where lines go, if somebody wants them.
pub struct LineFile(Option<(Target, PathBuf)>);

/// Lines that are being written; nothing is seen of them before they are published.
pub struct LineWriter<'a>(Option<Output<'a>>);

impl LineFile {
    /// The file that a user calls `path`; `-` is standard output.
    pub fn new(path: Option<&Path>) -> LineFile {
        LineFile(path.map(|path| {
            let target = Target::new(path.to_owned());
            let temporary = target.temporary();
            (target, temporary)
        }))
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

/// Fails if what is said of documents and what was skipped would go to one place.
///
/// # Errors
/// [`ErrorKind::Parameter`] naming it.
pub fn apart(output: Option<&Path>, skipped: Option<&Path>) -> Result<()> {
    match output.filter(|output| Some(*output) == skipped) {
        None => Ok(()),
        Some(both) => {
            let message = "--output and --skipped are the same place (name two)";
            Err(Error::new(ErrorKind::Parameter, message).in_file(both))
        }
    }
}
