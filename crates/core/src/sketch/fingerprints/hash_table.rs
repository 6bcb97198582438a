//! Parsing of the file of feature hashes (the "hash table"): line i has the hash bits of the
//! feature of rank i.

use crate::kernel::accumulate::MAX_COLUMNS;
use crate::{Error, ErrorKind, Result};

/// Parses the first `columns` digits of each of the first `rows` lines of `table`. Digit j is bit
/// j.
///
/// Each line is a row of digits `0` and `1` without separators. Lines end with LF or CRLF; the last
/// may end with the file. A UTF-8 byte-order mark is skipped. Further digits of a line, and further
/// lines, are ignored.
///
/// # Errors
/// [`ErrorKind::Content`] if there are too few lines, or if a line is too short or has a character
/// other than `0` and `1` in its first `columns` (the message has the line number).
///
/// # Panics
/// If `columns` exceeds [`MAX_COLUMNS`].
pub fn read_rows(table: &[u8], rows: usize, columns: usize) -> Result<Vec<u128>> {
    assert!(columns <= MAX_COLUMNS, "{columns} columns");
    let table = table.strip_prefix(b"\xef\xbb\xbf").unwrap_or(table);
    let mut lines = Lines { rest: table };
    let mut found = Vec::with_capacity(rows);
    while found.len() < rows {
        let line = lines.next().ok_or_else(|| {
            let message = format!("expected {rows} rows, found {}", found.len());
            Error::new(ErrorKind::Content, message)
        })?;
        found.push(row(line, columns).map_err(|what| {
            let message = format!("line {}: {what}", found.len() + 1);
            Error::new(ErrorKind::Content, message)
        })?);
    }
    Ok(found)
}

struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', self.rest).unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or(&[]);
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

fn row(line: &[u8], columns: usize) -> std::result::Result<u128, String> {
    let digits = &line[..line.len().min(columns)];
    let wrong = digits
        .iter()
        .position(|digit| !matches!(digit, b'0' | b'1'));
    if let Some(column) = wrong {
        let found = digits[column].escape_ascii();
        return Err(format!(
            "column {}: expected 0 or 1, found '{found}'",
            column + 1
        ));
    }
    if digits.len() < columns {
        return Err(format!("expected {columns} digits, found {}", line.len()));
    }
    let mut row = 0;
    for (digits, column) in digits.chunks(8).zip((0..).step_by(8)) {
        let mut bytes = [0; 8];
        bytes[..digits.len()].copy_from_slice(digits);
        row |= u128::from(bits_of(u64::from_le_bytes(bytes))) << column;
    }
    Ok(row)
}

/// The lowest bits of eight bytes, that of the lowest byte first.
fn bits_of(bytes: u64) -> u8 {
    // Bit 8i of the bytes is moved to 56 + i by the factor's bit 56 - 7i; no other sum of two
    // positions is the same.
    ((bytes & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_rows_and_columns() {
        for table in [
            &b"0110\n1000\nrubbish"[..],
            b"\xef\xbb\xbf0110\r\n1000\r\n",
            b"0110\n1000",
        ] {
            assert_eq!(read_rows(table, 2, 3).unwrap(), [0b110, 0b001]);
        }
        assert_eq!(read_rows(b"", 0, 3).unwrap(), []);
    }

    #[test]
    fn bits_are_those_of_the_digits() {
        for bits in 0..=u8::MAX {
            let digits = (0..8).map(|bit| b'0' + (bits >> bit & 1));
            let digits: Vec<u8> = digits.chain(*b"01").collect();
            assert_eq!(row(&digits, 10), Ok(u128::from(bits) | 0b10 << 8));
            assert_eq!(row(&digits, 5), Ok(u128::from(bits & 0b1_1111)));
        }
    }

    #[test]
    fn all_128_columns() {
        let table = [b'1'; 128];
        assert_eq!(read_rows(&table, 1, 128).unwrap(), [u128::MAX]);
    }

    #[test]
    fn error_messages() {
        let message = |table: &[u8]| read_rows(table, 2, 3).unwrap_err().to_string();
        assert_eq!(message(b"011\n"), "expected 2 rows, found 1");
        assert_eq!(message(b""), "expected 2 rows, found 0");
        assert_eq!(message(b"011\n01\n"), "line 2: expected 3 digits, found 2");
        assert_eq!(message(b"011\n\n"), "line 2: expected 3 digits, found 0");
        assert_eq!(
            message(b"0x1\n"),
            "line 1: column 2: expected 0 or 1, found 'x'"
        );
        assert_eq!(
            message(b"01\x1b\n"),
            "line 1: column 3: expected 0 or 1, found '\\x1b'"
        );
    }
}
