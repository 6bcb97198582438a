//! Paths in JSON, exact to the byte.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

/// A path as a string if it is UTF-8, as `{"hex": "…"}` otherwise.
pub fn encode(path: &Path) -> Value {
    match path.to_str() {
        Some(text) => text.into(),
        None => {
            let mut hex = String::new();
            for byte in path.as_os_str().as_bytes() {
                // Writing to memory cannot fail.
                let _ = write!(hex, "{byte:02x}");
            }
            json!({ "hex": hex })
        }
    }
}

/// Parses such a value.
pub fn decode(value: &Value) -> Option<PathBuf> {
    if let Some(text) = value.as_str() {
        return Some(text.into());
    }
    let hex = value.get("hex")?.as_str()?.as_bytes();
    let (pairs, rest) = hex.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    Some(OsString::from_vec(bytes?).into())
}

/// Whether a relative path stays below its directory.
pub fn is_below(path: &Path) -> bool {
    let mut parts = path.components();
    path.file_name().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_any_bytes_are_preserved() {
        for bytes in [
            &b"plain/a.jsonl"[..],
            "\u{e9}".as_bytes(),
            b"\xe9\xff/x",
            b"",
        ] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            assert_eq!(decode(&encode(&path)), Some(path));
        }
        assert_eq!(decode(&json!({"hex": "e9f"})), None);
        assert_eq!(decode(&json!({"hex": "zz"})), None);
        assert_eq!(decode(&json!(7)), None);
    }

    #[test]
    fn paths_that_lead_upwards_are_not_below() {
        assert!(is_below(Path::new("kept/a")));
        for path in ["", "/a", "../a", "a/../../b", "."] {
            assert!(!is_below(Path::new(path)), "{path}");
        }
    }
}
