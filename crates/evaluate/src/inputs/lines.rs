//! Lines and columns of input files.

use super::ids::{content, shown};
use crate::{Error, Result};

/// A line that is not blank, and its number, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) number: usize,
    pub(super) bytes: &'a [u8],
}

/// The lines that are not blank, without line ends and byte order mark.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = bytes.split(|&byte| byte == b'\n').enumerate();
    lines
        .map(|(index, line)| Line {
            number: index + 1,
            bytes: line.strip_suffix(b"\r").unwrap_or(line),
        })
        .filter(|line| !line.bytes.trim_ascii().is_empty())
}

/// Whether a file is JSON Lines: its first line that is not blank begins with `{` and has no tab,
/// which would separate columns. (Within JSON strings, tabs are escaped.)
pub(super) fn is_json(bytes: &[u8]) -> bool {
    lines(bytes).next().is_some_and(|line| {
        line.bytes.trim_ascii_start().starts_with(b"{") && !line.bytes.contains(&b'\t')
    })
}

impl<'a> Line<'a> {
    /// The columns, separated by tabs.
    pub(super) fn columns(self) -> impl Iterator<Item = &'a [u8]> {
        self.bytes.split(|&byte| byte == b'\t')
    }

    /// Prefixes an error with the number of the line.
    pub(super) fn with_number<T>(self, result: Result<T>) -> Result<T> {
        result.map_err(|error| content(format!("line {}: {error}", self.number)))
    }

    /// The error for a line of another format.
    pub(super) fn expected(self, what: &str) -> Error {
        let found = shown(self.bytes);
        content(format!(
            "line {}: found {found}, expected {what}",
            self.number
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_byte_order_marks_and_blank_lines_are_not_content() {
        let found: Vec<(usize, &[u8])> = lines(b"\xef\xbb\xbfa\r\n\n \t\r\nb\n")
            .map(|line| (line.number, line.bytes))
            .collect();
        assert_eq!(found, [(1, &b"a"[..]), (4, b"b")]);
        assert_eq!(lines(b"").count(), 0);
    }

    #[test]
    fn json_is_distinguished_from_similar_ids() {
        assert!(is_json(b"\n {\"id\":1}\n"));
        assert!(!is_json(b"{x\t{y\n"));
        assert!(!is_json(b""));
    }
}
