//! Lines of the heads of records and messages.

/// The line that begins at `at`, without its LF or CRLF, and where the next one begins; `None` if
/// the bytes end within it.
pub(super) fn next_line(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = bytes.get(at..)?;
    let end = memchr::memchr(b'\n', rest)?;
    let line = &rest[..end];
    Some((line.strip_suffix(b"\r").unwrap_or(line), at + end + 1))
}

/// How many of the first `most` bytes are line ends, up to the first that is none.
pub(super) fn blank_run(bytes: &[u8], most: usize) -> usize {
    let line_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
    bytes.iter().take(most).take_while(line_end).count()
}

/// Without white space at both ends.
pub(super) fn trim(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}
