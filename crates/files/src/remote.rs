//! Refusal of remote file names, except for inputs that can be read.

use crate::{Error, ErrorKind, Result};
use simtool_objects::Location;
use simtool_objects::location::{scheme, without_secrets};
use std::path::{Path, PathBuf};

/// The usual number of bytes that a reader of documents wants at a time.
const READ_BYTES: u64 = 512 << 10;

/// A run that reads objects, in a process with several of them. After the last one, the process forgets
/// which versions of objects it read, and what the environment says of servers. Runs at the same time
/// read the same versions.
pub struct Run {
    #[cfg(feature = "cloud")]
    _objects: simtool_objects::Run,
}

impl Run {
    /// Begins a run.
    pub fn begin() -> Run {
        Run {
            #[cfg(feature = "cloud")]
            _objects: simtool_objects::Run::begin(),
        }
    }
}

/// Whether the name is that of an object of a server, such as `https://host/x` or `s3://bucket/x`.
pub fn is_remote(path: &Path) -> bool {
    scheme(path).is_some()
}

/// The bucket or host of a remote name, and the key, without the query of a web server: where a
/// file made from the object is written, below a directory for all.
pub fn below_scheme(path: &Path) -> Option<PathBuf> {
    let is_web = matches!(scheme(path)?, "http" | "https");
    let (_, rest) = path.to_str()?.split_once("://")?;
    Some(match is_web {
        true => rest.split('?').next().unwrap_or(rest).into(),
        false => rest.into(),
    })
}

/// The name of a remote input that is shown and stored: without parameters that give access.
///
/// # Errors
/// Errors of [`check_input`]; [`ErrorKind::Parameter`] for an invalid name.
pub fn shown(path: &Path) -> Result<PathBuf> {
    check_input(path)?;
    Ok(Location::parse(path)?.remember())
}

/// The servers that get no requests now, as they asked for fewer: how long each waits, and why.
pub fn waits() -> Vec<String> {
    #[cfg(feature = "cloud")]
    return simtool_objects::waits()
        .iter()
        .map(|wait| {
            let seconds = wait.left.as_secs() + 1;
            format!("waiting {seconds} s for {}: {}", wait.host, wait.reason)
        })
        .collect();
    #[cfg(not(feature = "cloud"))]
    Vec::new()
}

/// Calls `notify`, from any thread, with a message about each server that has made no progress for 10
/// seconds.
pub fn set_notify(notify: fn(&str)) {
    #[cfg(feature = "cloud")]
    simtool_objects::set_notify(notify);
    #[cfg(not(feature = "cloud"))]
    let _ = notify;
}

/// Sets the memory that the objects of a listing may take; a longer listing is an error.
pub fn set_listing_bytes(bytes: u64) {
    #[cfg(feature = "cloud")]
    simtool_objects::set_listing_bytes(bytes);
    #[cfg(not(feature = "cloud"))]
    let _ = bytes;
}

/// The number of requests for an object of `bytes` bytes that is read once from its start to its end,
/// about.
pub fn requests(bytes: u64) -> u64 {
    #[cfg(feature = "cloud")]
    return simtool_objects::requests(bytes, READ_BYTES);
    #[cfg(not(feature = "cloud"))]
    bytes.div_ceil(READ_BYTES)
}

/// The readings from start to end that request an object of `bytes` bytes, of `readings` in all: small
/// objects are kept since their detection, if all of them, `small_bytes`, fit into the memory.
pub fn requested_readings(bytes: u64, small_bytes: u64, readings: u64) -> u64 {
    #[cfg(feature = "cloud")]
    if is_small(bytes) && small_bytes <= simtool_objects::max_kept_bytes() {
        return 0;
    }
    let _ = (bytes, small_bytes);
    readings
}

/// Whether an object of `bytes` bytes is small: its detection reads all of it.
pub fn is_small(bytes: u64) -> bool {
    #[cfg(feature = "cloud")]
    return bytes <= simtool_objects::PREFIX_BYTES;
    #[cfg(not(feature = "cloud"))]
    {
        let _ = bytes;
        false
    }
}

/// Keeps what is read from servers in `directory`, in at most the given number of bytes, for later
/// readings and later runs; `None` keeps nothing. It applies to objects that are opened afterwards.
/// `say` is called, from any thread, with what users should know.
///
/// # Errors
/// [`ErrorKind::Parameter`] if the directory has other files, or if this build reads nothing from
/// servers; [`ErrorKind::Write`] if it cannot be made or read.
pub fn set_cache(directory: Option<(&Path, u64)>, say: fn(&str)) -> Result<()> {
    #[cfg(feature = "cloud")]
    return simtool_objects::set_cache(directory, say);
    #[cfg(not(feature = "cloud"))]
    {
        let _ = say;
        let Some((path, _)) = directory else {
            return Ok(());
        };
        let message = "cannot be used as a cache: this build reads nothing from servers (build \
                       simtool with the feature `cloud`)";
        Err(Error::new(ErrorKind::Parameter, message).in_file(path))
    }
}

/// The maximum number of bytes that are kept of what is read from servers; `None` without a cache.
pub fn cache_bytes() -> Option<u64> {
    #[cfg(feature = "cloud")]
    return simtool_objects::cache_bytes();
    #[cfg(not(feature = "cloud"))]
    None
}

/// Ends all requests to servers and the waits for them, with
/// [`ErrorKind::Interrupted`].
pub fn stop() {
    #[cfg(feature = "cloud")]
    simtool_objects::stop();
}

/// Allows requests after [`stop`] again.
pub fn resume() {
    #[cfg(feature = "cloud")]
    simtool_objects::resume();
}

/// The part of `spare_bytes` of memory in which bytes of servers are read ahead, and small objects
/// are kept; 0 if no server was asked yet.
pub fn reserve(spare_bytes: u64) -> u64 {
    #[cfg(feature = "cloud")]
    if simtool_objects::has_objects() {
        let bytes = (spare_bytes / 4).min(simtool_objects::PREFETCH_BYTES);
        simtool_objects::set_prefetch_bytes(bytes);
        return bytes;
    }
    let _ = spare_bytes;
    0
}

/// Refuses a remote input that this build cannot read.
///
/// # Errors
/// [`ErrorKind::Parameter`] if the path begins with a scheme and `://`, unless the build has the
/// feature `cloud`, and the scheme is one of those that [`Location`]
/// knows.
pub fn check_input(path: &Path) -> Result<()> {
    let is_known = |scheme: &str| simtool_objects::Scheme::of(scheme).is_some();
    match scheme(path) {
        Some(scheme) if cfg!(feature = "cloud") && is_known(scheme) => Ok(()),
        _ => refuse_input(path),
    }
}

/// Refuses a remote name of a file that is always local.
///
/// # Errors
/// [`ErrorKind::Parameter`] if the path begins with a scheme and `://`.
pub fn refuse_input(path: &Path) -> Result<()> {
    let download = |scheme: &str| match scheme {
        "http" | "https" | "ftp" => "curl -O",
        "s3" => "aws s3 cp",
        "gs" => "gcloud storage cp",
        "hf" => "hf download",
        _ => "the program of the service",
    };
    let advice = |scheme: &str| {
        let download = format!("download it first, with {}", download(scheme));
        match cfg!(feature = "cloud") {
            true => download,
            false => format!("{download}, or build simtool with the feature `cloud`"),
        }
    };
    refuse(path, "inputs", advice)
}

/// Refuses a remote output.
///
/// # Errors
/// As [`refuse_input`].
pub fn refuse_output(path: &Path) -> Result<()> {
    refuse(path, "outputs", |_| {
        "write to a local directory and upload that".to_owned()
    })
}

/// Refuses a remote index.
///
/// # Errors
/// As [`refuse_input`].
pub fn refuse_index(path: &Path) -> Result<()> {
    refuse(path, "indices", |_| {
        "keep the index in a local directory, and copy the directory".to_owned()
    })
}

fn refuse(path: &Path, what: &str, advice: impl Fn(&str) -> String) -> Result<()> {
    let Some(scheme) = scheme(path) else {
        return Ok(());
    };
    let message = format!(
        "remote {what} ({scheme}://) are not supported: {}",
        advice(scheme)
    );
    Err(Error::new(ErrorKind::Parameter, message).in_file(without_secrets(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (Deduplication): Binary files and unsupported formats are …
    #[test]
    fn schemes_are_distinguished_from_paths() {
        for (path, word) in [
            ("https://host/x.gz", "curl"),
            ("s3://bucket/x", "aws"),
            ("hf://datasets/x", "hf download"),
            ("gs://b/x", "gcloud"),
            ("abfss://x", "service"),
        ] {
            let error = refuse_input(Path::new(path)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            assert!(error.to_string().contains(word), "{error}");
            let error = refuse_output(Path::new(path)).unwrap_err();
            assert!(error.to_string().contains("upload"), "{error}");
            let error = refuse_index(Path::new(path)).unwrap_err();
            assert!(error.to_string().contains("local directory"), "{error}");
        }
        for path in [
            "", "-", "a", "a/b://c", "c://x", "./s3://b", "://x", "1a://x", "s3:/b",
        ] {
            assert!(refuse_input(Path::new(path)).is_ok(), "{path}");
            assert!(!is_remote(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn outputs_have_names_below_a_directory() {
        let below = |path: &str| below_scheme(Path::new(path));
        for (path, expected) in [
            ("s3://b/x/y?.jsonl", "b/x/y?.jsonl"),
            ("https://h:80/x?y=1", "h:80/x"),
            ("hf://datasets/o/n/x", "datasets/o/n/x"),
        ] {
            assert_eq!(below(path).as_deref(), Some(Path::new(expected)));
        }
        assert_eq!(below("a/b"), None);
    }

    #[test]
    fn inputs_are_accepted_if_the_build_reads_them() {
        for path in ["s3://b/x", "https://h/x", "hf://datasets/o/n"] {
            assert_eq!(
                check_input(Path::new(path)).is_ok(),
                cfg!(feature = "cloud")
            );
        }
        for path in ["ftp://h/x", "abfss://x"] {
            assert!(check_input(Path::new(path)).is_err(), "{path}");
        }
        assert!(check_input(Path::new("a/b")).is_ok());
    }
}
