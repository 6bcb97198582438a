//! Standard input and pipes: they can be read once, so they are copied to files first.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;

use super::Progress;
use crate::corpus::{Reading, Source};
use crate::io::Stream;
use crate::{Error, ErrorKind, Result};

const BLOCK_BYTES: usize = 1 << 20;
/// More than is looked at to find out what a stream is, also where it is compressed.
const FIRST_BYTES: usize = 256 << 10;

/// A stream of which the first bytes are read and are no reason to refuse it.
pub struct BegunStream {
    stream: Stream,
    first: Vec<u8>,
}

impl BegunStream {
    /// Reads the first bytes of the stream `source`; while they are awaited, calls `check` a few
    /// times a second. A file without a name in `directory` holds them meanwhile.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] for a stream that is not read; those of `check`, of reading and of
    /// writing.
    pub fn begin(
        source: &Source,
        reading: &Reading,
        directory: &Path,
        check: impl Fn() -> Result<()>,
    ) -> Result<BegunStream> {
        let mut stream = Stream::open(&source.path)?;
        let mut first = vec![0; FIRST_BYTES];
        let mut filled = 0;
        while filled < first.len() {
            match stream.read(&mut first[filled..], &check)? {
                0 => break,
                read => filled += read,
            }
        }
        first.truncate(filled);
        let copied = tempfile::tempfile_in(directory).and_then(|mut file| {
            file.write_all(&first)?;
            file.rewind()?;
            Ok(file)
        });
        let copied = copied.map_err(|cause| unwritable(directory, cause))?;
        source.check_first(copied, reading)?;
        Ok(BegunStream { stream, first })
    }

    /// Copies all of it to the new file `path`.
    fn copy(mut self, path: &Path, progress: &Progress) -> Result<()> {
        let unwritable = |cause| unwritable(path, cause);
        let mut file = File::create(path).map_err(unwritable)?;
        file.write_all(&self.first).map_err(unwritable)?;
        let mut block = vec![0; BLOCK_BYTES];
        loop {
            match self.stream.read(&mut block, || progress.check())? {
                0 => return Ok(()),
                read => file.write_all(&block[..read]).map_err(unwritable)?,
            }
        }
    }
}

/// Copies each stream among `sources` into `directory`, and puts its copy in its place. The first of
/// them may be `begun` already.
///
/// # Errors
/// Those of reading and writing; [`ErrorKind::Content`] for a stream that is not read, before more
/// than its first bytes are copied; [`ErrorKind::Interrupted`].
pub fn spool(
    sources: &mut [Source],
    mut begun: Option<BegunStream>,
    reading: &Reading,
    directory: &Path,
    progress: &Progress,
) -> Result<()> {
    let streams = sources.iter_mut().filter(|source| source.is_stream());
    for (number, source) in streams.enumerate() {
        let path = directory.join(format!("stream-{number}"));
        let begun = match begun.take() {
            Some(begun) => begun,
            None => BegunStream::begin(source, reading, directory, || progress.check())?,
        };
        begun.copy(&path, progress)?;
        *source = source.clone().spooled(path, reading)?;
    }
    Ok(())
}

fn unwritable(path: &Path, cause: std::io::Error) -> Error {
    Error::new(ErrorKind::Write, "cannot hold the copy of a stream")
        .in_file(path)
        .caused_by(cause)
}
