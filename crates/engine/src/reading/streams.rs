//! Standard input and pipes, which are copied to files as they can be read only once.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;

use crate::Progress;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::{Reading, Source};
use simtool_files::Stream;

const BLOCK_BYTES: usize = 1 << 20;
/// More bytes than are needed to detect the format of a stream, even if it is compressed.
const FIRST_BYTES: usize = 256 << 10;

/// A stream whose first bytes have been read and checked.
pub struct OpenedStream {
    stream: Stream,
    first: Vec<u8>,
}

impl OpenedStream {
    /// Reads the first bytes of the stream `source`, and checks a copy of them in an unnamed file
    /// in `directory`. Calls `check` several times a second while waiting.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] for a stream in an unsupported format; those of `check`, of reading
    /// and of writing.
    pub fn begin(
        source: &Source,
        reading: &Reading,
        directory: &Path,
        check: impl Fn() -> Result<()>,
    ) -> Result<OpenedStream> {
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
        Ok(OpenedStream { stream, first })
    }

    /// Copies the whole stream to the new file `path`.
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

/// Copies each stream among `sources` to `directory`, and replaces it by its copy. The first one
/// may be `opened` already.
///
/// # Errors
/// Errors of reading and writing; [`ErrorKind::Content`] for a stream in an unsupported format,
/// before more than its first bytes are copied; [`ErrorKind::Interrupted`].
pub fn spool(
    sources: &mut [Source],
    mut opened: Option<OpenedStream>,
    reading: &Reading,
    directory: &Path,
    progress: &Progress,
) -> Result<()> {
    let streams = sources.iter_mut().filter(|source| source.is_stream());
    for (number, source) in streams.enumerate() {
        let path = directory.join(format!("stream-{number}"));
        let opened = match opened.take() {
            Some(opened) => opened,
            None => OpenedStream::begin(source, reading, directory, || progress.check())?,
        };
        opened.copy(&path, progress)?;
        *source = source.clone().spooled(path, reading)?;
    }
    Ok(())
}

fn unwritable(path: &Path, cause: std::io::Error) -> Error {
    Error::new(ErrorKind::Write, "cannot hold the copy of a stream")
        .in_file(path)
        .caused_by(cause)
}
