//! Positioned reads appended to a `Vec` without zero-filling it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Appends up to `want` bytes of `file` from `offset` on, by one system call. Returns the number of
/// bytes, 0 at the end of the file.
///
/// The spare capacity is not zeroed first, which would write all of it twice.
///
/// # Errors
/// Errors of the system, including [`io::ErrorKind::Interrupted`]; `out` is unchanged then.
pub fn append_at(file: &File, offset: u64, want: usize, out: &mut Vec<u8>) -> io::Result<usize> {
    let offset = libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
    out.reserve(want);
    let spare = &mut out.spare_capacity_mut()[..want];
    // SAFETY: the system writes at most `want` bytes from the start of `spare`, which has at least
    // `want`.
    let read = unsafe { libc::pread(file.as_raw_fd(), spare.as_mut_ptr().cast(), want, offset) };
    let read = usize::try_from(read).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the system has initialised that many bytes after the end, and they are within the
    // capacity.
    unsafe { out.set_len(out.len() + read) };
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn bytes_are_appended_up_to_the_end() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let mut out = b"x".to_vec();
        for (offset, want, read) in [(2, 3, 3), (8, 5, 2), (10, 5, 0), (99, 5, 0), (0, 0, 0)] {
            assert_eq!(append_at(&file, offset, want, &mut out).unwrap(), read);
        }
        assert_eq!(out, b"x23489");
    }

    #[test]
    fn what_fails_appends_nothing() {
        let directory = File::open("/").unwrap();
        let mut out = b"x".to_vec();
        append_at(&directory, 0, 9, &mut out).unwrap_err();
        append_at(&directory, u64::MAX, 9, &mut out).unwrap_err();
        assert_eq!(out, b"x");
    }
}
