//! Lines of the headers of records and messages.

/// The line that begins at `at`, without its LF or CRLF, and the start of the next one; `None` if
/// the bytes end within it.
pub(super) fn next_line(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = bytes.get(at..)?;
    let end = memchr::memchr(b'\n', rest)?;
    let line = &rest[..end];
    Some((line.strip_suffix(b"\r").unwrap_or(line), at + end + 1))
}

/// The number of line-end bytes at the start of `bytes`, at most `most`.
pub(super) fn blank_run(bytes: &[u8], most: usize) -> usize {
    let line_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
    bytes.iter().take(most).take_while(line_end).count()
}

/// A line of a header, with the lines that continue it.
pub(super) struct HeaderLine<'a> {
    pub(super) name: &'a [u8],
    /// Without surrounding white space.
    pub(super) value: &'a [u8],
    /// The start of the next line.
    pub(super) end: usize,
    /// Whether the line is empty, which ends the header.
    pub(super) is_empty: bool,
}

/// The header line that begins at `at`; `None` if the bytes end within it.
pub(super) fn next_header_line(bytes: &[u8], at: usize) -> Option<HeaderLine<'_>> {
    let (line, mut end) = next_line(bytes, at)?;
    let is_empty = line.is_empty();
    // A line that begins with a blank continues the previous one.
    while !is_empty && matches!(bytes.get(end), Some(b' ' | b'\t')) {
        end = next_line(bytes, end)?.1;
    }
    let colon = memchr::memchr(b':', line).unwrap_or(line.len());
    Some(HeaderLine {
        name: line[..colon].trim_ascii(),
        value: bytes[(at + colon + 1).min(end)..end].trim_ascii(),
        end,
        is_empty,
    })
}

/// A value without the angle brackets around it.
pub(super) fn without_brackets(value: &[u8]) -> &[u8] {
    let inside = value
        .strip_prefix(b"<")
        .and_then(|value| value.strip_suffix(b">"));
    inside.unwrap_or(value)
}
