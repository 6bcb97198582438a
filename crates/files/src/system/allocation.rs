//! Allocated blocks of files: a full disk is an error before the first byte is written.

use std::fs::File;
use std::io;

/// Extends a file to `bytes`, with allocated blocks where the file system can do this. Whether it did so;
/// if not, the length is unchanged.
///
/// # Errors
/// Errors of the system, such as a full disk.
#[cfg(target_os = "linux")]
pub fn allocate(file: &File, bytes: u64) -> io::Result<bool> {
    use std::os::fd::AsRawFd;
    let length = libc::off64_t::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
    loop {
        // SAFETY: the descriptor is open as long as `file` is borrowed; the call touches no memory of this
        // process.
        match unsafe { libc::posix_fallocate64(file.as_raw_fd(), 0, length) } {
            0 => return Ok(true),
            libc::EINTR => {}
            libc::EOPNOTSUPP | libc::EINVAL => return Ok(false),
            code => return Err(io::Error::from_raw_os_error(code)),
        }
    }
}

/// The system cannot do this.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn allocate(_: &File, _: u64) -> io::Result<bool> {
    Ok(false)
}

/// Extends an empty file to `bytes` zeros whose blocks are allocated, by writing them if there is no other
/// way.
///
/// # Errors
/// Errors of the system, such as a full disk.
pub fn allocate_zeros(mut file: &File, bytes: u64) -> io::Result<()> {
    use std::io::Read;
    match allocate(file, bytes)? {
        true => Ok(()),
        false => io::copy(&mut io::repeat(0).take(bytes), &mut file).map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_grow_to_zeros() {
        for bytes in [0, 1, 5000] {
            let file = tempfile::tempfile().unwrap();
            allocate_zeros(&file, bytes).unwrap();
            assert_eq!(file.metadata().unwrap().len(), bytes);
        }
    }
}
