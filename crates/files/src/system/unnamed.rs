//! Files without a name, which get one when they are complete (`O_TMPFILE`).

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Creates a file without a name in `directory`, with the permissions `mode` less the mask of the
/// process. `None` if that is not possible there, or if the file could not get a name later.
#[cfg(target_os = "linux")]
pub fn create(directory: &Path, mode: u32) -> Option<File> {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    let mut options = File::options();
    options.read(true).write(true).mode(mode);
    let file = options.custom_flags(libc::O_TMPFILE).open(directory).ok()?;
    // Without /proc there is no path that leads to the file.
    let named = std::fs::metadata(descriptor_path(&file)).ok()?;
    let own = file.metadata().ok()?;
    ((named.dev(), named.ino()) == (own.dev(), own.ino())).then_some(file)
}

/// Gives the unnamed `file` the name `target`, in `directory`, atomically.
///
/// An existing file is replaced: for that, the unnamed file gets a temporary name first.
///
/// # Errors
/// Errors of linking and of renaming; `target` is then unchanged.
#[cfg(target_os = "linux")]
pub fn publish(file: &File, target: &Path, directory: &Path) -> io::Result<()> {
    match link(file, target) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
        linked => return linked,
    }
    let prefix = temporary_prefix(target.file_name().unwrap_or_default());
    let named = tempfile::Builder::new()
        .prefix(&prefix)
        .make_in(directory, |path| link(file, path))?;
    let replaced = named.into_temp_path().persist(target);
    replaced.map_err(|refused| refused.error)
}

#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use std::ffi::CString;
    let from = CString::new(descriptor_path(file))?;
    let to = CString::new(path.as_os_str().as_bytes())?;
    let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both paths end with a zero byte and outlive the call, which keeps neither.
    match unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(target_os = "linux")]
fn descriptor_path(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Not possible on this system.
#[cfg(not(target_os = "linux"))]
pub fn create(_: &Path, _: u32) -> Option<File> {
    None
}

/// There are no unnamed files on this system.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn publish(_: &File, _: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// `.NAME.`, with NAME truncated so that the name of the temporary file is never too long.
pub fn temporary_prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(OsStr::from_bytes(&name.as_bytes()[..name.len().min(200)]));
    prefix.push(".");
    prefix
}
