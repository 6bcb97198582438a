//! Byte-for-byte copies of input files.

use std::io::ErrorKind as IoErrorKind;

use crate::{Error, Result};
use simtool_corpus::Source;
use simtool_engine::Progress;
use simtool_files::{AtomicFile, InputFile};

use crate::table::stamp::{InputStamp, changed};

/// Bytes that are copied at a time.
const STEP_BYTES: usize = 1 << 20;

/// Copies the file of `source` to `output`, and returns that, not published yet. `stamp` is the
/// file's stamp when the run began.
///
/// # Errors
/// [`ErrorKind::Changed`] if the file has another stamp, or another length, after copying;
/// [`ErrorKind::Interrupted`]; those of reading and writing.
pub fn copy(
    source: &Source,
    stamp: Option<&InputStamp>,
    mut output: AtomicFile,
    progress: &Progress,
) -> Result<AtomicFile> {
    let failed = |cause| Error::unreadable(&source.path, cause);
    let file = InputFile::open_regular(source.file())?;
    let mut reader = file.reader();
    let mut buffer = Vec::new();
    let mut offset = 0;
    loop {
        progress.check()?;
        buffer.clear();
        let read = match reader.append_at(offset, STEP_BYTES, &mut buffer) {
            Ok(0) => break,
            Ok(read) => read as u64,
            Err(cause) if cause.kind() == IoErrorKind::Interrupted => continue,
            Err(cause) => return Err(failed(cause)),
        };
        output
            .write_block(&buffer)
            .map_err(|cause| output.error(cause))?;
        offset += read;
        progress.advance(read);
    }
    let found = InputStamp::of_open(source, &file)?;
    if stamp != Some(&found) || found.bytes != offset {
        return Err(changed(source));
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_corpus::{Compression, Format};

    /// Promise (Failing inputs): A FIFO that takes the place of an input during a run is an error, …
    #[test]
    fn a_fifo_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let source = Source {
            path,
            bytes: Some(9),
            format: Format::Jsonl,
            compression: Compression::None,
            copy: None,
            object: None,
        };
        let output = AtomicFile::create(&directory.path().join("out")).unwrap();
        let error = copy(&source, None, output, &Progress::new()).err().unwrap();
        assert_eq!(error.kind(), crate::ErrorKind::Changed);
    }
}
