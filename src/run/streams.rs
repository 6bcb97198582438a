//! Standard input and pipes: they can be read once, so they are copied to files first.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use super::Progress;
use crate::corpus::{Reading, Source};
use crate::{Error, ErrorKind, Result};

const BLOCK_BYTES: usize = 1 << 20;

/// Copies each stream among `sources` into `directory`, and puts its copy in its place.
///
/// # Errors
/// Those of reading and writing; [`ErrorKind::Content`] for a stream that is not read;
/// [`ErrorKind::Interrupted`].
pub fn spool(
    sources: &mut [Source],
    reading: &Reading,
    directory: &Path,
    progress: &Progress,
) -> Result<()> {
    let streams = sources.iter_mut().filter(|source| source.is_stream());
    for (number, source) in streams.enumerate() {
        let path = directory.join(format!("stream-{number}"));
        let unreadable = |cause| {
            Error::new(ErrorKind::Read, "cannot be read")
                .in_file(&source.path)
                .caused_by(cause)
        };
        if source.path == Path::new("-") {
            copy(io::stdin().lock(), &path, progress, unreadable)?;
        } else {
            let stream = File::open(&source.path).map_err(unreadable)?;
            copy(stream, &path, progress, unreadable)?;
        }
        *source = source.clone().spooled(path, reading)?;
    }
    Ok(())
}

fn copy(
    mut stream: impl Read,
    path: &Path,
    progress: &Progress,
    unreadable: impl Fn(io::Error) -> Error,
) -> Result<()> {
    let unwritable = |cause| {
        Error::new(ErrorKind::Write, "cannot hold the copy of a stream")
            .in_file(path)
            .caused_by(cause)
    };
    let mut file = File::create(path).map_err(unwritable)?;
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        progress.check()?;
        match stream.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(read) => file.write_all(&block[..read]).map_err(unwritable)?,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(unreadable(cause)),
        }
    }
}
