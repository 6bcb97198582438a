//! Streams: standard input, pipes and devices, awaited in steps so that a wait can be ended.

use crate::Result;
use crate::read_error;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The name of standard input.
const STANDARD_INPUT: &str = "-";
/// The duration of a step of a wait.
const STEP_MILLISECONDS: i32 = 50;

/// A stream that is open for reading.
pub struct Stream {
    name: PathBuf,
    file: File,
}

impl Stream {
    /// Opens the stream `name`; `-` is standard input. Does not wait for a writer of a FIFO.
    ///
    /// # Errors
    /// [`ErrorKind::Read`](crate::ErrorKind::Read) if it cannot be opened.
    pub fn open(name: &Path) -> Result<Stream> {
        let opened = match name == Path::new(STANDARD_INPUT) {
            true => io::stdin().as_fd().try_clone_to_owned().map(File::from),
            false => File::options()
                .read(true)
                .custom_flags(libc::O_NONBLOCK)
                .open(name),
        };
        let file = opened.map_err(|cause| read_error(name, cause))?;
        let name = name.to_owned();
        Ok(Stream { name, file })
    }

    /// Reads available bytes into `buffer` and returns their number, 0 at the end of the stream.
    /// Calls `check` first. Waits if there are no bytes, and calls `check` twenty times a second.
    ///
    /// # Errors
    /// Errors of `check`; [`ErrorKind::Read`](crate::ErrorKind::Read) if the stream cannot be read.
    pub fn read(&mut self, buffer: &mut [u8], check: impl Fn() -> Result<()>) -> Result<usize> {
        loop {
            check()?;
            let read = match self.is_ready() {
                Ok(false) => continue,
                Ok(true) => self.file.read(buffer),
                Err(cause) => Err(cause),
            };
            match read {
                Ok(read) => return Ok(read),
                Err(cause)
                    if matches!(
                        cause.kind(),
                        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                    ) => {}
                Err(cause) => return Err(read_error(&self.name, cause)),
            }
        }
    }

    /// Whether bytes or the end can be read; waits for them during one step at most.
    fn is_ready(&self) -> io::Result<bool> {
        let mut awaited = libc::pollfd {
            fd: self.file.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: `awaited` is one valid structure, which outlives the call.
        match unsafe { libc::poll(&raw mut awaited, 1, STEP_MILLISECONDS) } {
            0 => Ok(false),
            1.. => Ok(true),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, ErrorKind};
    use std::cell::Cell;
    use std::io::Write;
    use std::process::Command;

    /// Promise (Deduplication): A wait for a FIFO or for …
    #[test]
    fn a_wait_for_a_writer_and_for_its_bytes_can_be_ended() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fifo");
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        let mut stream = Stream::open(&path).unwrap();
        let mut buffer = [0; 8];
        let stopped_at = |steps: u32, stream: &mut Stream, buffer: &mut [u8]| {
            let left = Cell::new(steps);
            stream.read(buffer, || match left.get().checked_sub(1) {
                None => Err(Error::new(ErrorKind::Interrupted, "enough")),
                Some(less) => {
                    left.set(less);
                    Ok(())
                }
            })
        };
        let stopped = stopped_at(2, &mut stream, &mut buffer).unwrap_err();
        assert_eq!(stopped.kind(), ErrorKind::Interrupted);
        let mut writer = File::options().write(true).open(&path).unwrap();
        let stopped = stopped_at(2, &mut stream, &mut buffer).unwrap_err();
        assert_eq!(stopped.kind(), ErrorKind::Interrupted);
        writer.write_all(b"words").unwrap();
        assert_eq!(stopped_at(9, &mut stream, &mut buffer).unwrap(), 5);
        assert_eq!(&buffer[..5], b"words");
        drop(writer);
        assert_eq!(stopped_at(9, &mut stream, &mut buffer).unwrap(), 0);
    }

    #[test]
    fn a_stream_that_is_missing_is_an_error() {
        let error = Stream::open(Path::new("/no/such/stream")).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Read);
    }
}
