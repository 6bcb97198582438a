//! Remote file names: those of inputs that can be read are opened, others are refused.

use super::input_file::{InputFile, InputPath};
use crate::{Error, ErrorKind, Result};
use simtool_objects::Location;
use simtool_objects::location::{scheme, without_secrets};
use std::path::{Path, PathBuf};

pub use simtool_objects::Client;

/// The usual number of bytes that a reader of documents wants at a time.
pub const READ_BYTES: u64 = 512 << 10;

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

/// The location of a remote input.
///
/// # Errors
/// Errors of [`check_input`]; [`ErrorKind::Parameter`] for an invalid name.
pub fn location(path: &Path) -> Result<Location> {
    check_input(path)?;
    Location::parse(path)
}

/// Opens the object with the name `path`.
///
/// # Errors
/// Errors of [`location`]; [`ErrorKind::Read`] if it cannot be opened.
pub fn open(client: &Client, path: &Path) -> Result<InputFile> {
    let object = client.open(&location(path)?)?.wait()?;
    InputFile::open(InputPath {
        path: &object.name(),
        object: Some(&object),
    })
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
