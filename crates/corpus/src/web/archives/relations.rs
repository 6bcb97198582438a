//! Relations between the records of a WARC file.

use super::lines::{blank_run, next_header_line, next_line, without_brackets};
use super::warc::HEAD_BYTES;

/// The fields in the header of a WARC record that refer to other records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relations<'a> {
    /// `WARC-Type`.
    pub kind: &'a [u8],
    /// `WARC-Record-ID` without angle brackets; empty if there is none.
    pub id: &'a [u8],
    /// The first `WARC-Concurrent-To` without angle brackets; empty if there is none.
    pub concurrent_to: &'a [u8],
    /// `WARC-Refers-To` without angle brackets; empty if there is none.
    pub refers_to: &'a [u8],
}

impl<'a> Relations<'a> {
    /// The fields of the header at the start of `record`. O(header) time.
    pub fn of(record: &'a [u8]) -> Relations<'a> {
        let within = &record[..record.len().min(2 * HEAD_BYTES)];
        let mut found = Relations::default();
        // The first line is the version.
        let mut at = next_line(within, blank_run(within, HEAD_BYTES)).map(|(_, behind)| behind);
        while let Some(line) = at.and_then(|at| next_header_line(within, at)) {
            if line.is_empty {
                break;
            }
            let name = line.name;
            let field = match name.len() {
                9 if name.eq_ignore_ascii_case(b"WARC-Type") => Some(&mut found.kind),
                14 if name.eq_ignore_ascii_case(b"WARC-Record-ID") => Some(&mut found.id),
                14 if name.eq_ignore_ascii_case(b"WARC-Refers-To") => Some(&mut found.refers_to),
                18 if name.eq_ignore_ascii_case(b"WARC-Concurrent-To") => {
                    Some(&mut found.concurrent_to)
                }
                _ => None,
            };
            if let Some(field) = field.filter(|field| field.is_empty()) {
                *field = without_brackets(line.value);
            }
            at = Some(line.end);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_any_notation() {
        let record = b"\r\nWARC/1.0\r\nWARC-Type: request\r\nwarc-record-id:\r\n <urn:uuid:1>\r\n\
            WARC-Concurrent-To: <urn:uuid:2>\r\nWARC-Concurrent-To: <urn:uuid:3>\r\n\
            WARC-Refers-To: urn:uuid:4\r\nContent-Length: 40\r\n\r\nWARC-Type: response\r\n";
        let expected = Relations {
            kind: b"request",
            id: b"urn:uuid:1",
            concurrent_to: b"urn:uuid:2",
            refers_to: b"urn:uuid:4",
        };
        assert_eq!(Relations::of(record), expected);
        for end in 0..record.len() {
            Relations::of(&record[..end]);
        }
        assert_eq!(
            Relations::of(b"WARC/1.0\r\n\r\nWARC-Type: x"),
            Relations::default()
        );
    }
}
