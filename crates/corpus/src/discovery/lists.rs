//! Lists of inputs: files with a name on each line, also compressed or on a server.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use simtool_objects::location::without_secrets;
use simtool_objects::{Client, Location};

use crate::decompress::{GZIP_MAGIC, ZSTD_MAGIC};
use crate::source::STANDARD_INPUT;
use crate::{Error, ErrorKind, Result};
use simtool_files::{InputFile, SequentialReader, read_error, remote};

/// The maximum number of bytes of a list, decompressed.
const MAX_BYTES: u64 = 1 << 30;

/// A name in a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The number of its line, from 1.
    pub line: u32,
    pub path: PathBuf,
}

/// The names in the list `list`; `-` is standard input. Empty lines are no names. If `taken` is given,
/// only the names with these numbers, from 0.
///
/// A name in a list on a server that is not remote itself is a key of that server: of the same
/// host, bucket or data set. So the lists of Common Crawl name files of the server that they are
/// from, whatever its address.
///
/// # Errors
/// [`ErrorKind::Read`] if the list cannot be read; [`ErrorKind::Content`] if it is too long.
pub(super) fn names(
    client: &Client,
    list: &Path,
    taken: Option<&Range<u64>>,
) -> Result<Vec<Named>> {
    let server = match remote::is_remote(list) {
        true => Some(remote::location(list)?),
        false => None,
    };
    let text = read(client, list)?;
    let lines = text.split(|&byte| byte == b'\n').zip(1u32..);
    let lines = lines.map(|(line, number)| (line.strip_suffix(b"\r").unwrap_or(line), number));
    let names = lines.filter(|(name, _)| !name.is_empty()).zip(0u64..);
    let is_taken = |number: &u64| taken.is_none_or(|taken| taken.contains(number));
    let taken = names.filter(|(_, number)| is_taken(number));
    Ok(taken
        .map(|((name, line), _)| Named {
            line,
            path: resolved(name, server.as_ref()),
        })
        .collect())
}

/// The path that a name in a list on `server` means.
fn resolved(name: &[u8], server: Option<&Location>) -> PathBuf {
    let path = Path::new(OsStr::from_bytes(name));
    match (server, path.to_str()) {
        (Some(server), Some(key)) if !remote::is_remote(path) => {
            server.with_key(key.trim_start_matches('/')).path()
        }
        _ => path.to_owned(),
    }
}

fn read(client: &Client, list: &Path) -> Result<Vec<u8>> {
    if list.as_os_str() == STANDARD_INPUT {
        return decompressed(list, io::stdin().lock());
    }
    let file = match remote::is_remote(list) {
        true => remote::open(client, list)?,
        false => InputFile::open(list)?,
    };
    let reader = SequentialReader::new(file.reader());
    decompressed(&without_secrets(list), reader)
}

/// All bytes of `reader`, decompressed.
fn decompressed(list: &Path, mut reader: impl Read) -> Result<Vec<u8>> {
    let unreadable = |cause| read_error(list, cause);
    let mut magic = Vec::new();
    let mut begin = (&mut reader).take(ZSTD_MAGIC.len() as u64);
    begin.read_to_end(&mut magic).map_err(unreadable)?;
    let whole = magic.as_slice().chain(reader);
    let mut text = Vec::new();
    let mut read = |reader: &mut dyn Read| reader.take(MAX_BYTES + 1).read_to_end(&mut text);
    let read = if magic.starts_with(&GZIP_MAGIC[..2]) {
        read(&mut MultiGzDecoder::new(whole))
    } else if magic == ZSTD_MAGIC {
        zstd::Decoder::new(whole).and_then(|mut decoder| read(&mut decoder))
    } else {
        read(&mut { whole })
    };
    match read.map_err(unreadable)? as u64 {
        bytes if bytes > MAX_BYTES => {
            let message = format!("is a list of more than {MAX_BYTES} bytes: divide it");
            Err(Error::new(ErrorKind::Content, message).in_file(list))
        }
        _ => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::{gzip, zstd};
    use std::fs;

    #[test]
    fn lists_may_be_compressed_and_taken_in_part() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = b"a\r\n\nb\nc\nd";
        for content in [text.to_vec(), gzip(text), zstd(text), gzip(text).repeat(1)] {
            fs::write(file.path(), content).unwrap();
            let all = names(&Client::new(), file.path(), None).unwrap();
            let paths: Vec<_> = all
                .iter()
                .map(|named| named.path.to_str().unwrap())
                .collect();
            assert_eq!(paths, ["a", "b", "c", "d"]);
            assert_eq!(all[1].line, 3);
            let some = names(&Client::new(), file.path(), Some(&(1..3))).unwrap();
            assert_eq!(some, all[1..3]);
            assert!(
                names(&Client::new(), file.path(), Some(&(7..9)))
                    .unwrap()
                    .is_empty()
            );
        }
        fs::write(file.path(), b"\x1f\x8b damaged").unwrap();
        assert_eq!(
            names(&Client::new(), file.path(), None).unwrap_err().kind(),
            ErrorKind::Read
        );
    }

    /// Promise (Inputs on servers): A list on a server names no local files
    #[test]
    fn names_in_remote_lists_are_keys_of_their_server() {
        let of = |list: &str, name: &str| {
            let server = Location::parse(Path::new(list)).unwrap();
            let path = resolved(name.as_bytes(), Some(&server));
            path.to_str().unwrap().to_owned()
        };
        let list = "https://data.example/crawl-data/x/wet.paths.gz?a=b";
        assert_eq!(
            of(list, "crawl-data/y.gz"),
            "https://data.example/crawl-data/y.gz"
        );
        assert_eq!(of(list, "/etc/passwd"), "https://data.example/etc/passwd");
        assert_eq!(of(list, "s3://b/y"), "s3://b/y");
        assert_eq!(of("s3://b/x/list", "x/y"), "s3://b/x/y");
        assert_eq!(of("hf://datasets/o/n/list", "x/y"), "hf://datasets/o/n/x/y");
        assert_eq!(resolved(b"x/y", None), Path::new("x/y"));
    }
}
