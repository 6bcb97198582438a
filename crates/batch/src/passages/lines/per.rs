//! Groups of documents within which units are counted.

use std::fmt;

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::scope::path_of;
use crate::{Error, ErrorKind, Result};
use simtool_corpus::Source;

/// Within which documents units are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// All documents.
    #[default]
    All,
    /// The documents of one input file. Files that are one document each count together with the others of
    /// their directory.
    Source,
    /// The documents of one site, the host of the URL. Documents without one count together.
    Site,
    /// This number of consecutive documents in input order, skipped ones included.
    Documents(u32),
}

impl Per {
    /// Reads `global`, `source`, `site` or `N-documents`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for anything else.
    pub fn parse(text: &str) -> Result<Per> {
        let number = text.strip_suffix("-documents").map(str::parse::<u32>);
        match (text, number) {
            ("global", _) => Ok(Per::All),
            ("source", _) => Ok(Per::Source),
            ("site", _) => Ok(Per::Site),
            (_, Some(Ok(number @ 1..))) => Ok(Per::Documents(number)),
            _ => {
                let message = format!(
                    "scope {text:?}: expected global, source (an input file), site (the host of the \
                     URL) or N-documents, such as 30000000-documents"
                );
                Err(Error::new(ErrorKind::Parameter, message))
            }
        }
    }

    /// The group of the documents of a source and a site; `None` if that alone does not decide.
    pub fn group(self, source: &Source, site: u64) -> Option<u64> {
        match self {
            Per::All | Per::Documents(_) => None,
            Per::Source => Some(xxh3_64(path_of(source).as_os_str().as_encoded_bytes())),
            Per::Site => Some(site),
        }
    }

    /// The key of a unit of the document `number`.
    pub fn key_at(self, key: [u64; 2], number: u32) -> [u64; 2] {
        match self {
            Per::Documents(count) => in_group(key, (number / count.max(1)).into()),
            Per::All | Per::Source | Per::Site => key,
        }
    }
}

/// The key of a unit whose hash is `key` in a group: xxh3-128 of both.
pub fn in_group([low, high]: [u64; 2], group: u64) -> [u64; 2] {
    let mut bytes = [0; 24];
    let parts = bytes.as_chunks_mut::<8>().0.iter_mut();
    parts
        .zip([low, high, group])
        .for_each(|(part, number)| *part = number.to_le_bytes());
    halves(xxh3_128(&bytes))
}

/// The lower and the upper half of a hash.
pub fn halves(hash: u128) -> [u64; 2] {
    [hash as u64, (hash >> 64) as u64]
}

/// In the format of [`Per::parse`].
impl fmt::Display for Per {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Per::All => out.write_str("global"),
            Per::Source => out.write_str("source"),
            Per::Site => out.write_str("site"),
            Per::Documents(number) => write!(out, "{number}-documents"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for name in [
            "global",
            "source",
            "site",
            "1-documents",
            "30000000-documents",
        ] {
            assert_eq!(Per::parse(name).unwrap().to_string(), name);
        }
        for name in [
            "",
            "documents",
            "-documents",
            "0-documents",
            "x-documents",
            "5",
        ] {
            assert!(Per::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn equal_units_of_different_groups_have_different_keys() {
        let key = [1, 2];
        assert_ne!(in_group(key, 0), in_group(key, 1));
        let per = Per::Documents(10);
        assert_eq!(per.key_at(key, 0), per.key_at(key, 9));
        assert_ne!(per.key_at(key, 9), per.key_at(key, 10));
        assert_eq!(Per::All.key_at(key, 7), key);
    }
}
