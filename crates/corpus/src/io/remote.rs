//! Refusal of remote file names.

use crate::{Error, ErrorKind, Result};
use std::path::Path;

/// Refuses a remote input such as `https://host/x` or `s3://bucket/x`.
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
    let advice = |scheme: &str| format!("download it first, with {}", download(scheme));
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
    Err(Error::new(ErrorKind::Parameter, message).in_file(path))
}

/// The scheme before `://` at the start of a path, if any; a single letter is not a scheme.
fn scheme(path: &Path) -> Option<&str> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let end = bytes.windows(3).position(|three| three == b"://")?;
    let scheme = std::str::from_utf8(&bytes[..end]).ok()?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_scheme = end > 1 && scheme.bytes().all(is_name);
    (is_scheme && scheme.starts_with(|first: char| first.is_ascii_alphabetic())).then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        }
    }
}
