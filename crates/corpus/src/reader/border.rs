//! Positions in a source where reading can begin, found without reading what precedes them.

use std::io;

use memchr::{memchr, memmem};

use crate::chunk::Position;
use crate::decompress::{GZIP_MAGIC, ZSTD_MAGIC};
use crate::document::NO_MEMBER;
use crate::source::{Compression, Format, Source};
use crate::{Error, Result};
use simtool_files::{InputFile, read_error};

/// The number of bytes searched at a time.
const WINDOW_BYTES: usize = 64 << 10;
/// The number of bytes searched for one border.
const MAX_BYTES: u64 = 4 << 20;
/// The number of bytes at the end of a window that the next window repeats.
const OVERLAP_BYTES: usize = 16;

/// The first border between documents or between compressed members that is found from `offset` of
/// a source on: a start for a sample. `None` if there is none within about 4 MiB.
///
/// A border is recognised by its bytes. If the same bytes occur within a document or within
/// compressed data, the chunk read from there begins with damage. Tables have rows instead of
/// borders. Uncompressed files of one document and uncompressed ARC files are not searched.
///
/// # Errors
/// [`ErrorKind::Read`](crate::ErrorKind::Read) if the file cannot be read.
pub fn border_behind(source: &Source, offset: u64) -> Result<Option<Position>> {
    let find: fn(&[u8]) -> Option<usize> = match (source.compression, source.format) {
        (Compression::Gzip, _) => gzip_member,
        (Compression::Zstd, _) => |bytes| memmem::find(bytes, &ZSTD_MAGIC),
        (Compression::None, Format::Jsonl) => |bytes| memchr(b'\n', bytes).map(|at| at + 1),
        (Compression::None, Format::FormFeed) => |bytes| memchr(b'\x0c', bytes).map(|at| at + 1),
        (Compression::None, Format::Warc) => {
            |bytes| memmem::find(bytes, b"\r\n\r\nWARC/").map(|at| at + 4)
        }
        _ => return Ok(None),
    };
    let found = search(source, offset, find).map_err(|cause| read_error(&source.file(), cause))?;
    Ok(found.map(|border| match source.compression {
        Compression::None => Position {
            chunk: 1,
            member: NO_MEMBER,
            offset: border,
        },
        Compression::Gzip | Compression::Zstd => Position {
            chunk: 1,
            member: border,
            offset: 0,
        },
    }))
}

fn search(
    source: &Source,
    offset: u64,
    find: fn(&[u8]) -> Option<usize>,
) -> io::Result<Option<u64>> {
    let file = InputFile::open_regular(source.file()).map_err(Error::into_cause)?;
    let mut window = vec![0; WINDOW_BYTES];
    let mut begin = offset;
    while begin < offset.saturating_add(MAX_BYTES) {
        let length = fill(&file, &mut window, begin)?;
        if let Some(at) = find(&window[..length]) {
            return Ok(Some(begin + at as u64));
        }
        if length < window.len() {
            break;
        }
        begin += (length - OVERLAP_BYTES) as u64;
    }
    Ok(None)
}

/// Fills `buffer` from `offset` on, or less of it at the end of the file. Returns the number of bytes
/// read.
fn fill(file: &InputFile, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read_at(&mut buffer[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(length)
}

/// The index at which a gzip member seems to begin: magic, flags, extra flags and system are
/// values that compressors write. Random bytes have such values once in about 200 GB.
fn gzip_member(bytes: &[u8]) -> Option<usize> {
    const HEADER_BYTES: usize = 10;
    memmem::find_iter(bytes, &GZIP_MAGIC).find(|&at| {
        let header = bytes.get(at..at + HEADER_BYTES).unwrap_or_default();
        matches!(header, [_, _, _, flags, _, _, _, _, extra, system]
            if flags & 0xe0 == 0 && matches!(extra, 0 | 2 | 4) && (*system <= 13 || *system == 255))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::{gzip, zstd};
    use crate::{Body, ChunkReader, Reading};
    use std::io::Write;

    fn lines(range: std::ops::Range<usize>) -> String {
        range
            .map(|number| {
                format!(
                    "{{\"id\":{number},\"text\":\"{}\"}}\n",
                    "x".repeat(number % 97)
                )
            })
            .collect()
    }

    fn source(bytes: &[u8]) -> (tempfile::NamedTempFile, Source) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let reading = Reading {
            format: Some(Format::Jsonl),
            ..Reading::default()
        };
        let source = Source::of_file(file.path(), &reading).unwrap();
        (file, source)
    }

    /// The text from `position` on.
    fn text_from(source: &Source, position: Position) -> Vec<u8> {
        let reading = Reading::default();
        let mut reader = ChunkReader::open(source, 0, &reading, position).unwrap();
        let mut all = Vec::new();
        while let Some(chunk) = reader.next(Vec::new()).unwrap() {
            assert!(chunk.skipped.is_empty());
            let Body::Bytes { bytes, .. } = chunk.body else {
                panic!("no bytes");
            };
            all.extend(bytes);
        }
        all
    }

    #[test]
    fn reading_from_a_border_gives_the_rest_of_the_documents() {
        let text = lines(0..3000);
        let (_file, plain) = source(text.as_bytes());
        for offset in [0, 1, 5000, 100_000] {
            let border = border_behind(&plain, offset).unwrap().unwrap();
            assert!(border.offset >= offset && border.member == NO_MEMBER);
            let rest = &text.as_bytes()[border.offset as usize..];
            assert_eq!(rest[0], b'{');
            assert_eq!(text_from(&plain, border), rest);
        }
        assert_eq!(border_behind(&plain, text.len() as u64).unwrap(), None);
    }

    #[test]
    fn members_are_borders_of_compressed_files() {
        let parts = [lines(0..3000), lines(3000..6000), lines(6000..9000)];
        for pack in [gzip, zstd] {
            let members = parts.each_ref().map(|part| pack(part.as_bytes()));
            let (_file, source) = source(&members.concat());
            let second = members[0].len() as u64;
            for (offset, expected) in [(0, 0), (1, second), (second, second)] {
                let border = border_behind(&source, offset).unwrap().unwrap();
                assert_eq!((border.member, border.offset), (expected, 0));
            }
            let border = border_behind(&source, 1).unwrap().unwrap();
            assert_eq!(text_from(&source, border), parts[1..].concat().as_bytes());
            // The last member contains no border.
            assert_eq!(border_behind(&source, second * 2 + 100).unwrap(), None);
        }
    }
}
