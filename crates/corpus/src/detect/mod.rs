//! Detection of the format and compression of a file by its first bytes.

mod first_object;
mod mail;
mod unread;

use super::decompress::{
    Blocks, DecodedBuffer, FillOutcome, GZIP_MAGIC, Stream, ZSTD_MAGIC, is_zstd,
};
use super::reading::Reading;
use super::source::{Compression, Format, STANDARD_INPUT, Source, SourceCopy};
use super::web::html;
use super::web::wide::Wide;
use crate::text_formats::form_feed;
use crate::{Error, ErrorKind, Result};
use memchr::{memmem, memrchr};
use serde::de::IgnoredAny;
use simtool_files::{InputFile, InputPath, read_error, remote};
use simtool_objects::Client;
use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use unread::{binary_format, has_control, has_extension, why_no_line, why_unread};

/// The number of decompressed bytes examined.
const PREFIX_BYTES: usize = 64 << 10;

/// The maximum length of the id of a page, for recognising pages between form feeds.
const MAX_ID_BYTES: usize = 256;

/// The first bytes of a Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// How the description of a compressed file begins.
const COMPRESSED: &str = "compressed with ";

/// Unsupported compressions, by their first bytes.
const UNSUPPORTED: [(&[u8], &str); 3] = [
    (b"\xfd7zXZ\x00", "xz"),
    (b"BZh", "bzip2"),
    (b"\x04\x22\x4d\x18", "lz4"),
];

impl Source {
    /// The source of a file, or of an object, which a client of its own opens, with the format and
    /// compression that its first bytes show. If [`Reading::format`] is set, it is the format.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if the file cannot be read; [`ErrorKind::Content`] if its compression is
    /// unsupported, if it is not text, if it is a table that cannot be read (compressed, or without
    /// the feature `parquet`), or if it is not a table although [`Reading::format`] is that of one.
    pub fn of_file(path: &Path, reading: &Reading) -> Result<Source> {
        let object = match remote::is_remote(path) {
            true => Some(Client::new().open(&remote::location(path)?)?.wait()?),
            false => None,
        };
        let object = object.as_ref();
        let opened = Opened::of(InputPath { path, object })?;
        opened.detect(path.to_owned(), None, reading)?.source()
    }

    /// The same source, read from a `copy` of its stream.
    ///
    /// # Errors
    /// Errors of [`Source::of_file`] for the copy; [`ErrorKind::Content`] if its first bytes
    /// contradict [`Reading::format`].
    pub fn spooled(self, copy: PathBuf, reading: &Reading) -> Result<Source> {
        let opened = Opened::of(copy.as_path().into())?;
        let detected = opened.detect(self.path, Some(copy), reading)?;
        detected.checked()?.source()
    }

    /// Refuses a stream by its first bytes, stored in the file `first`, if no continuation of them
    /// could be read.
    ///
    /// # Errors
    /// Errors of [`Source::spooled`].
    pub fn check_first(&self, first: File, reading: &Reading) -> Result<()> {
        let opened = Opened::new(first.into(), &self.path)?;
        let detected = opened.detect(self.path.clone(), None, reading)?;
        detected.checked()?.source().map(drop)
    }

    /// A stream, whose format and compression are unknown until it is spooled.
    pub(super) fn stream(path: PathBuf, reading: &Reading) -> Source {
        Source {
            path,
            bytes: None,
            format: reading.format.unwrap_or(Format::WholeFile),
            compression: Compression::None,
            copy: None,
            object: None,
        }
    }
}

/// The result of examining a file.
pub(super) struct Detected {
    source: Source,
    /// The reason why it is not read, if any.
    pub(super) unread: Option<String>,
    /// The reason why it cannot have the given format, if any.
    mismatch: Option<String>,
}

impl Detected {
    /// The source, if the file is read.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if it is not.
    pub(super) fn source(self) -> Result<Source> {
        match self.unread {
            None => Ok(self.source),
            Some(why) => Err(unread_error(&self.source.path, &why)),
        }
    }

    /// The same result, if the file may have the given format.
    ///
    /// # Errors
    /// [`ErrorKind::Content`] if its first bytes contradict the given format.
    pub(super) fn checked(self) -> Result<Detected> {
        let Some(mismatch) = self.mismatch else {
            return Ok(self);
        };
        let message = format!("{mismatch} (without --format it is detected)");
        Err(Error::new(ErrorKind::Content, message).in_file(&self.source.path))
    }
}

/// The error of a file that is not read.
pub(super) fn unread_error(path: &Path, why: &str) -> Error {
    let instead = match path.as_os_str() == STANDARD_INPUT {
        true => "have it",
        false => "leave it out with --exclude, or have each file",
    };
    let message = match why.starts_with(COMPRESSED) {
        true => format!("is {why}: decompress it first"),
        false => format!("is {why}: {instead} read as one text by --format whole-file"),
    };
    Error::new(ErrorKind::Content, message).in_file(path)
}

/// A description of a file that begins with `prefix`, if it is not plain text but compressed, a Parquet
/// file, or in a binary format.
pub fn not_plain_text(prefix: &[u8]) -> Option<String> {
    let supported = [(&GZIP_MAGIC[..2], "gzip"), (&ZSTD_MAGIC, "zstd")];
    let supported = || named(&supported, prefix);
    if let Some(name) = unsupported_compression(prefix).or_else(supported) {
        return Some(format!("{COMPRESSED}{name}"));
    }
    if prefix.starts_with(PARQUET_MAGIC) && has_control(prefix) {
        return Some("a Parquet file".to_owned());
    }
    binary_format(prefix).map(str::to_owned)
}

fn unsupported_compression(prefix: &[u8]) -> Option<&'static str> {
    named(&UNSUPPORTED, prefix)
}

/// The name of the first of `signatures` with which `prefix` begins.
fn named<'n>(signatures: &[(&[u8], &'n str)], prefix: &[u8]) -> Option<&'n str> {
    let mut signatures = signatures.iter();
    let (_, name) = signatures.find(|(magic, _)| prefix.starts_with(magic))?;
    Some(name)
}

/// An open file, of which nothing was read.
pub(super) struct Opened {
    file: InputFile,
    bytes: u64,
    metadata: Option<Metadata>,
}

impl Opened {
    /// Opens the file or object `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Read`] if it cannot be opened.
    pub(super) fn of(path: InputPath<'_>) -> Result<Opened> {
        Opened::new(InputFile::open(path)?, &path)
    }

    fn new(file: InputFile, path: &Path) -> Result<Opened> {
        let unreadable = |cause| read_error(path, cause);
        let metadata = file.metadata().map_err(unreadable)?;
        let bytes = match &metadata {
            Some(metadata) => metadata.len(),
            None => file.bytes().map_err(unreadable)?,
        };
        Ok(Opened {
            file,
            bytes,
            metadata,
        })
    }

    /// The metadata of a file; `None` for an object.
    pub(super) fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()
    }

    /// Examines the first bytes. It is the file `path`, or a `copy` of the stream `path`.
    ///
    /// # Errors
    /// Errors of [`Source::of_file`], except for a file that is not text.
    pub(super) fn detect(
        self,
        path: PathBuf,
        copy: Option<PathBuf>,
        reading: &Reading,
    ) -> Result<Detected> {
        let file = copy.as_deref().unwrap_or(&path);
        let refused = |message: String| Error::new(ErrorKind::Content, message).in_file(&path);
        let Opened {
            file: opened,
            bytes,
            ..
        } = self;
        let object = opened.object().cloned();
        let mut prefix = first_bytes(&opened, bytes).map_err(|cause| read_error(file, cause))?;
        if let Some(name) = unsupported_compression(&prefix) {
            let why = format!("{COMPRESSED}{name}, which is not supported");
            if reading.format.is_some() {
                return Err(unread_error(&path, &why));
            }
            let source = Source {
                bytes: Some(bytes),
                format: Format::WholeFile,
                compression: Compression::None,
                path,
                copy: copy.map(SourceCopy::File),
                object,
            };
            return Ok(Detected {
                source,
                unread: Some(why),
                mismatch: None,
            });
        }
        let compression = compression(&prefix);
        if compression != Compression::None {
            prefix = decompress(opened, file, bytes, compression)?;
        }
        let found = format(&path, &prefix, &reading.text_field);
        let (format, unread, mismatch) = match reading.format {
            Some(given) => {
                let is_possible = prefix.is_empty() || may_be(given, found, &prefix);
                let mismatch = || {
                    let flag = |format: Format| format.name().replace('_', "-");
                    let unread = why_unread(&path, &prefix, &reading.text_field);
                    let what = unread.unwrap_or_else(|| format!("of the format {}", flag(found)));
                    format!("is {what}, and not of the format {}", flag(given))
                };
                (given, None, (!is_possible).then(mismatch))
            }
            // Files of these formats are recognised by their first bytes, whatever follows them.
            None if matches!(found, Format::Parquet | Format::Arc | Format::Jsonl) => {
                (found, None, None)
            }
            None => {
                let why = why_unread(&path, &prefix, &reading.text_field);
                // The commands that convert files do not decompress them.
                let with_advice = |why: String| match compression {
                    Compression::None => why,
                    _ if !why.contains(" FILE") => why,
                    _ => why + "; decompress it first",
                };
                (found, why.map(with_advice), None)
            }
        };
        if format == Format::Parquet && compression != Compression::None {
            let message = "is a compressed Parquet file: decompress it first";
            return Err(refused(message.into()));
        }
        #[cfg(not(feature = "parquet"))]
        if format == Format::Parquet {
            return Err(without_parquet(&path));
        }
        // The detected format is correct; a given one may be wrong.
        if format == Format::Parquet && !prefix.starts_with(PARQUET_MAGIC) && !prefix.is_empty() {
            let message = "is not a Parquet file, although that is the given format (leave out \
                       --format, or name only Parquet files)";
            return Err(refused(message.into()));
        }
        let source = Source {
            bytes: Some(bytes),
            format,
            compression,
            path,
            copy: copy.map(SourceCopy::File),
            object,
        };
        Ok(Detected {
            source,
            unread,
            mismatch,
        })
    }
}

/// The first bytes of a file of `bytes` bytes, compressed or not.
fn first_bytes(file: &InputFile, bytes: u64) -> io::Result<Vec<u8>> {
    let wanted = usize::try_from(bytes).map_or(PREFIX_BYTES, |bytes| bytes.min(PREFIX_BYTES));
    let mut prefix = Vec::new();
    let mut reader = file.reader();
    while prefix.len() < wanted {
        match reader.append_at(prefix.len() as u64, wanted - prefix.len(), &mut prefix) {
            Ok(0) => break,
            Ok(_) => {}
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(prefix)
}

/// Whether a file that begins with `prefix` may have the format `given`; `found` is the format
/// detected. Any file may be one text, [`Format::WholeFile`].
fn may_be(given: Format, found: Format, prefix: &[u8]) -> bool {
    let is_binary = || found == Format::Parquet || binary_format(prefix).is_some();
    match given {
        Format::Warc => memmem::find(prefix, b"WARC/").is_some(),
        Format::Jsonl => begins_line(prefix, b'{') && !is_binary(),
        Format::Arc => !matches!(found, Format::Warc | Format::Jsonl) && !is_binary(),
        Format::FormFeed | Format::Html => !is_binary(),
        Format::Parquet | Format::WholeFile => true,
    }
}

/// Whether a line of `prefix` begins with `byte`, after any white space.
fn begins_line(prefix: &[u8], byte: u8) -> bool {
    let bare = prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix);
    let mut lines = bare.split(|&byte| byte == b'\n');
    lines.any(|line| line.trim_ascii_start().first() == Some(&byte))
}

/// The error of a Parquet file in a build that cannot read it.
#[cfg(not(feature = "parquet"))]
pub(super) fn without_parquet(path: &Path) -> Error {
    let message = "is a Parquet file, which this build does not support: build it with the feature \
                   `parquet`";
    Error::new(ErrorKind::Content, message).in_file(path)
}

/// The first bytes that can be decompressed; damaged ones are skipped.
fn decompress(
    opened: InputFile,
    file: &Path,
    bytes: u64,
    compression: Compression,
) -> Result<Vec<u8>> {
    let mut output = DecodedBuffer::default();
    let blocks = Blocks::of(opened, file, bytes, PREFIX_BYTES)?;
    let mut stream = Stream::of(blocks, compression, (0, 0))?;
    while output.bytes.len() < PREFIX_BYTES {
        if let FillOutcome::End = stream.fill(PREFIX_BYTES - output.bytes.len(), &mut output)? {
            break;
        }
    }
    output.bytes.truncate(PREFIX_BYTES);
    Ok(output.bytes)
}

/// The compression of a file that begins with `prefix`. One flipped bit is tolerated, so that it
/// damages only the first member. No text begins with such bytes.
fn compression(prefix: &[u8]) -> Compression {
    if prefix.starts_with(&[0x1f, 0x8b]) || is_one_bit_off(prefix, &GZIP_MAGIC) {
        Compression::Gzip
    } else if is_zstd(prefix) || is_one_bit_off(prefix, &ZSTD_MAGIC) {
        Compression::Zstd
    } else {
        Compression::None
    }
}

/// Whether `bytes` begin with `magic` except for exactly one bit.
fn is_one_bit_off(bytes: &[u8], magic: &[u8]) -> bool {
    let differences = bytes.iter().zip(magic).map(|(a, b)| (a ^ b).count_ones());
    bytes.len() >= magic.len() && differences.sum::<u32>() == 1
}

/// The format of the file `path`, which begins with `prefix`.
fn format(path: &Path, prefix: &[u8], text_field: &str) -> Format {
    let bare = prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix);
    let bare = bare.trim_ascii_start();
    if is_parquet(path, prefix) {
        Format::Parquet
    } else if is_warc(bare) {
        Format::Warc
    } else if bare.starts_with(b"filedesc://") {
        Format::Arc
    } else if html::is_page(prefix) {
        Format::Html
    } else if begins_object(bare) && are_json_lines(path, bare, text_field) {
        Format::Jsonl
    } else if has_extension(path, &["html", "htm", "xhtml", "shtml"]) {
        Format::Html
    } else if Wide::of(prefix).is_some() {
        // Bytes of its characters may equal form feeds.
        Format::WholeFile
    } else if are_pages(prefix) {
        Format::FormFeed
    } else {
        Format::WholeFile
    }
}

/// Whether the file is a Parquet file. A text may begin with the same letters, but has no control
/// characters.
fn is_parquet(path: &Path, prefix: &[u8]) -> bool {
    prefix.starts_with(PARQUET_MAGIC)
        && (has_control(prefix) || has_extension(path, &["parquet", "pq"]))
}

/// Whether `bytes` begin with a WARC record: a line with only the version, or the type of the record
/// in a damaged one. A text may begin with the same letters.
fn is_warc(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"WARC/") else {
        return false;
    };
    let line = rest.split(|&byte| byte == b'\n').next().unwrap_or(rest);
    let is_version = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    line.trim_ascii_end().iter().all(is_version) || memmem::find(rest, b"WARC-Type:").is_some()
}

/// Whether a file that begins with an object is JSON Lines: by its name, or by its lines, but not if
/// it [may be](why_no_line) a JSON file with other content.
fn are_json_lines(path: &Path, prefix: &[u8], text_field: &str) -> bool {
    has_extension(path, &["jsonl", "ndjson"])
        || (has_extension(path, &["json"]) || has_object_line(prefix))
            && why_no_line(prefix, text_field, "").is_none()
}

/// Whether a line may be a JSON object: it begins and ends with braces, or it is the last line of
/// `prefix` and valid JSON as far as it goes.
fn has_object_line(prefix: &[u8]) -> bool {
    let mut lines = prefix.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let last = lines.next_back().unwrap_or_default();
    let is_cut = || {
        let parsed = serde_json::from_slice::<IgnoredAny>(last);
        parsed.is_err_and(|error| error.is_eof())
    };
    let is_object = |line: &[u8]| line.starts_with(b"{") && line.ends_with(b"}");
    lines.any(is_object) || is_object(last) || (last.starts_with(b"{") && is_cut())
}

/// Whether `prefix` has pages between form feeds: at least two, each with an id of its own, a first
/// line without blanks that begins with a letter or digit. Form feeds also occur in plain texts, whose pages begin with any line.
fn are_pages(prefix: &[u8]) -> bool {
    // The last page may be cut within its id.
    let Some(end) = memrchr(b'\x0c', prefix) else {
        return false;
    };
    let last = prefix[end + 1..].trim_ascii_start();
    let end = match last.contains(&b'\n') || prefix.len() < PREFIX_BYTES {
        true => prefix.len(),
        false => end,
    };
    let mut ids = HashSet::new();
    let is_id = |id: &[u8]| {
        id.first()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
            && id.len() <= MAX_ID_BYTES
            && !id.iter().any(u8::is_ascii_whitespace)
    };
    let all_new =
        form_feed::pages(&prefix[..end]).all(|page| is_id(page.id) && ids.insert(page.id));
    all_new && ids.len() > 1
}

/// Whether `bytes` begin with a JSON object that continues on the line of its brace, unlike an
/// indented one.
fn begins_object(bytes: &[u8]) -> bool {
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
    match bytes.split_first() {
        Some((b'{', rest)) => matches!(rest.iter().find(|byte| !blank(byte)), Some(b'"' | b'}')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::{gzip, zstd};
    use std::fs;

    fn of(content: &[u8]) -> Result<Source> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), content).unwrap();
        Source::of_file(file.path(), &Reading::default())
    }

    #[test]
    #[cfg(feature = "parquet")]
    fn other_files_are_not_read_as_tables() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let reading = Reading {
            format: Some(Format::Parquet),
            ..Reading::default()
        };
        fs::write(file.path(), "{\"text\": \"a\"}\n").unwrap();
        let error = Source::of_file(file.path(), &reading).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Content);
        assert!(
            error.to_string().contains("is not a Parquet file"),
            "{error}"
        );
        fs::write(file.path(), "PAR1 and more").unwrap();
        assert_eq!(
            Source::of_file(file.path(), &reading).unwrap().format,
            Format::Parquet
        );
    }

    #[test]
    fn formats_are_recognised_by_content_in_any_compression() {
        let cases: [(&[u8], Format); 24] = [
            (b"", Format::WholeFile),
            (b"a page\ntext", Format::WholeFile),
            (b"page-1\ntext\x0cpage-2", Format::FormFeed),
            (b"\x0c\n1\r\ntext\x0c\x0c \n2\ntext\x0c\n", Format::FormFeed),
            // Texts of several pages: a title, one page, a repeated header, and a line.
            (b"The title\ntext\x0cpage-2\ntext", Format::WholeFile),
            (b"title\ntext\x0c", Format::WholeFile),
            (b"header\ntext\x0cheader\nmore", Format::WholeFile),
            (b"a\ntext\x0c\n-----\nmore", Format::WholeFile),
            // Texts whose first word is that of a format.
            (b"PAR1 is a signature", Format::WholeFile),
            (b"WARC/1.0 is a version\n", Format::WholeFile),
            (b"WARC/1&0\r\nWARC-Type: response\r\n", Format::Warc),
            (b"{\"a\" is in braces,\nand this is not", Format::WholeFile),
            (b"{\"text\": bad}\n{", Format::Jsonl),
            (b"{\"text\": bad\n{\"text\": \"a\"", Format::Jsonl),
            (b"{\"text\": \"a\x0cb\"}\n", Format::Jsonl),
            (b"\xef\xbb\xbf\r\n { \"text\"", Format::Jsonl),
            (b"<!DOCTYPE html>\x0c", Format::Html),
            (b"\xff\xfe\x0c\x4e\x0c\x5e", Format::WholeFile),
            (b"\xff\xfe\0\0\x0c\x4e\0\0\x0c\x5e\0\0", Format::WholeFile),
            (b"{x", Format::WholeFile),
            (b"WARC/1.0\r\n", Format::Warc),
            (b"\r\nWARC/1.1\r\n", Format::Warc),
            (b"filedesc://a.arc 0.0.0.0", Format::Arc),
            (b"filed", Format::WholeFile),
        ];
        for (content, format) in cases {
            let plain = of(content).unwrap();
            assert_eq!(
                (plain.format, plain.compression),
                (format, Compression::None)
            );
            assert_eq!(plain.bytes, Some(content.len() as u64));
            let zipped = of(&gzip(content)).unwrap();
            assert_eq!(
                (zipped.format, zipped.compression),
                (format, Compression::Gzip)
            );
            let packed = of(&zstd(content)).unwrap();
            assert_eq!(
                (packed.format, packed.compression),
                (format, Compression::Zstd)
            );
        }
    }

    #[test]
    fn html_is_recognised_by_file_names() {
        for (name, format) in [
            ("a.html", Format::Html),
            ("a.HTM.gz", Format::Html),
            ("a.html.txt", Format::WholeFile),
            ("html", Format::WholeFile),
        ] {
            assert_eq!(
                super::format(Path::new(name), b"<p>text", "text"),
                format,
                "{name}"
            );
            assert_eq!(
                super::format(Path::new(name), b"{\"text\": 1}", "text"),
                Format::Jsonl
            );
        }
    }

    /// Promise (Deduplication): Binary files and unsupported formats are …
    #[test]
    fn a_format_that_the_first_bytes_contradict_is_refused() {
        let refused = |format: Format, content: &[u8]| {
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(file.path(), content).unwrap();
            let reading = Reading {
                format: Some(format),
                ..Reading::default()
            };
            let detected = Opened::of(file.path().into()).unwrap();
            let detected = detected
                .detect(file.path().to_owned(), None, &reading)
                .unwrap();
            detected.checked().err().map(|error| error.to_string())
        };
        let line = b"{\"text\": \"a\"}\n";
        for (format, content) in [
            (Format::Warc, &line[..]),
            (Format::Arc, line),
            (Format::Jsonl, b"WARC/1.0\r\nContent-Length: 0\r\n"),
            (Format::Jsonl, b"some text\nof two lines"),
        ] {
            let message = refused(format, content).unwrap();
            assert!(message.contains(format.name()), "{message}");
        }
        for (format, content) in [
            #[cfg(feature = "parquet")]
            (Format::Parquet, &b""[..]),
            (Format::Warc, &b"\r\n..WARC/1.0\r\n"[..]),
            (Format::Jsonl, b"junk\n {\"text\": 1}\n"),
            (Format::WholeFile, line),
            (Format::FormFeed, line),
            (Format::Html, line),
        ] {
            assert_eq!(refused(format, content), None);
        }
    }

    #[test]
    fn a_flipped_bit_does_not_hide_a_compression() {
        for (content, compression, magic) in [
            (gzip(b"a"), Compression::Gzip, GZIP_MAGIC.len()),
            (zstd(b"a"), Compression::Zstd, ZSTD_MAGIC.len()),
        ] {
            for bit in 0..8 * magic {
                let mut content = content.clone();
                content[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(of(&content).unwrap().compression, compression, "{bit}");
            }
        }
        assert_eq!(of(b"\x1f\x8a").unwrap().compression, Compression::None);
    }

    #[test]
    fn unsupported_formats_are_named() {
        for (content, name) in [(&b"\xfd7zXZ\x00..."[..], "xz"), (b"BZh91AY", "bzip2")] {
            let error = of(content).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Content);
            assert!(error.to_string().contains(name), "{error}");
        }
        let error = of(&gzip(b"PAR1\x15\0..PAR1")).unwrap_err();
        assert!(error.to_string().contains("Parquet"), "{error}");
        let missing = Source::of_file(Path::new("/no/such/file"), &Reading::default());
        assert_eq!(missing.unwrap_err().kind(), ErrorKind::Read);
    }

    #[test]
    fn the_format_can_be_set() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), gzip(b"{\"a\": 1}\n")).unwrap();
        let reading = Reading {
            format: Some(Format::WholeFile),
            ..Reading::default()
        };
        let stream = Source::stream("-".into(), &reading);
        assert!(stream.is_stream());
        let source = stream.spooled(file.path().to_owned(), &reading).unwrap();
        assert_eq!(source.path, Path::new("-"));
        assert_eq!(&*source.file(), file.path());
        assert_eq!(source.format, Format::WholeFile);
        assert_eq!(source.compression, Compression::Gzip);
    }
}
