//! Writing large files to the disk while they grow, so that the sync at their end is short.
//!
//! Without it, the system may hold gigabytes of a file in memory, and its sync cannot be interrupted.

use std::fs::File;
use std::io;
use std::ops::Range;

/// Bytes that are passed on at a time; at most three times as many are not on the disk yet.
const WINDOW_BYTES: u64 = 32 << 20;

/// The part of a file that is being written to the disk. This is no sync: only `fsync` makes it durable.
#[derive(Debug, Default)]
pub struct Writeback {
    /// Where the last window begins, and where it ends.
    last: [u64; 2],
}

impl Writeback {
    /// Notes that the file has grown to `bytes`. Begins to write its last window if that is complete,
    /// and waits for the one before.
    ///
    /// # Errors
    /// Errors of the disk, which `fsync` would not report again.
    pub fn grown(&mut self, file: &File, bytes: u64) -> io::Result<()> {
        let [begin, end] = self.last;
        if bytes < end + WINDOW_BYTES {
            return Ok(());
        }
        if begin < end {
            wait(file, begin..end)?;
        }
        write(file, end..bytes)?;
        self.last = [end, bytes];
        Ok(())
    }
}

/// Begins to write a range to the disk.
#[cfg(target_os = "linux")]
fn write(file: &File, bytes: Range<u64>) -> io::Result<()> {
    range(file, bytes, libc::SYNC_FILE_RANGE_WRITE)
}

/// Waits until a range is written.
#[cfg(target_os = "linux")]
fn wait(file: &File, bytes: Range<u64>) -> io::Result<()> {
    range(file, bytes, libc::SYNC_FILE_RANGE_WAIT_BEFORE)
}

/// The system decides when.
#[cfg(not(target_os = "linux"))]
fn write(_: &File, _: Range<u64>) -> io::Result<()> {
    Ok(())
}

/// The system decides when.
#[cfg(not(target_os = "linux"))]
fn wait(_: &File, _: Range<u64>) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn range(file: &File, bytes: Range<u64>, flags: libc::c_uint) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let offset = |bytes| libc::off64_t::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput);
    let (from, length) = (offset(bytes.start)?, offset(bytes.end - bytes.start)?);
    // SAFETY: the descriptor is open during the call, which reads and writes no memory.
    let done = unsafe { libc::sync_file_range(file.as_raw_fd(), from, length, flags) };
    match io::Error::last_os_error() {
        _ if done == 0 => Ok(()),
        cause => match cause.raw_os_error() {
            // The file or the system cannot do it, or a sandbox does not allow it.
            Some(libc::EINVAL | libc::ENOSYS | libc::ESPIPE | libc::EPERM) => Ok(()),
            _ => Err(cause),
        },
    }
}
