//! Records of WARC files, versions 0.17 to 1.1; WET files are WARC files of conversion records.
//!
//! ```text
//! WARC/1.0 CRLF  (name ":" value CRLF)*  CRLF  block of Content-Length bytes  CRLF CRLF
//! ```
//!
//! Tolerant of common deviations: lines may end in LF, values may be folded, and the number of blank
//! lines after a block may vary. Strict about lengths, because a wrong one costs records: a
//! Content-Length is accepted only if a record may end there.
//!
//! Source: ISO 28500, <https://iipc.github.io/warc-specifications/>.

use super::lines::{blank_run, next_header_line, next_line, without_brackets};
use crate::web::Reason;

/// The maximum length of a record header; a longer one is damage.
pub const HEAD_BYTES: usize = 64 << 10;

/// The maximum number of bytes without a record header that one [`Next::Damaged`] covers.
pub const GARBAGE_BYTES: usize = 1 << 20;

/// The maximum number of line-end bytes that belong to the preceding record.
pub(super) const SEPARATOR_BYTES: usize = 64;

/// The type of a record, as far as documents are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The response of a server, with HTTP headers.
    Response,
    /// The text of a page, converted from another record: the records of WET files.
    Conversion,
    /// A resource without HTTP headers.
    Resource,
    /// Anything else: warcinfo, request, metadata, revisit, continuation.
    Other,
}

/// A record, borrowed from the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The unchanged record, with the line ends before and after it. In an undamaged archive, these
    /// bytes of all records, concatenated, are the archive.
    pub raw: &'a [u8],
    /// Its type.
    pub kind: Kind,
    /// `WARC-Record-ID` without angle brackets; empty if there is none.
    pub id: &'a [u8],
    /// `WARC-Target-URI` without angle brackets; empty if there is none.
    pub url: &'a [u8],
    /// `WARC-Date`; empty if there is none.
    pub date: &'a [u8],
    /// `Content-Type` of the record, not of the HTTP message in it; empty if there is none.
    pub content_type: &'a [u8],
    /// The block.
    pub body: &'a [u8],
}

/// The first item of some bytes of an archive.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// A record; the next one begins `raw.len()` bytes later.
    Record(Record<'a>),
    /// More bytes are needed. The number comes from the file, so it may be wrong.
    Incomplete {
        /// The minimum number of bytes, from the same start; more than there are.
        needed: u64,
    },
    /// Bytes that are not a record, or a damaged record.
    Damaged {
        /// The number of bytes to skip; at least one, at most all.
        resume_at: usize,
        /// [`Reason::Truncated`] if the input ends within the record, else [`Reason::BadRecord`].
        reason: Reason,
        /// A description of the damage.
        detail: String,
    },
    /// No more records.
    End,
}

/// The next record of `bytes`, the number of missing bytes, or the damage and where to continue.
///
/// If `end_of_input`, no bytes follow, and the result is never [`Next::Incomplete`]. Otherwise the
/// result depends only on the archive, not on the number of bytes available, so archives read in
/// parts give the same records. O(length of the record or of the skipped bytes) time; no memory
/// except for messages.
pub fn next_record(bytes: &[u8], end_of_input: bool) -> Next<'_> {
    let start = blank_run(bytes, HEAD_BYTES);
    let rest = &bytes[start..];
    if start == HEAD_BYTES {
        return damaged(start, "more than 64 KiB of blank lines".to_owned());
    }
    if rest.len() < VERSION_BYTES && !end_of_input {
        return incomplete(start + VERSION_BYTES);
    }
    if rest.is_empty() {
        return Next::End;
    }
    if !is_version(rest) {
        return garbage(bytes, start, end_of_input);
    }
    let head = match Head::parse(rest) {
        Ok(head) => head,
        Err(Flaw::Incomplete) if !end_of_input => return incomplete(bytes.len() + 1),
        Err(Flaw::Incomplete) => {
            let resume_at = start + after_damaged_head(rest, rest.len());
            return truncated(
                resume_at,
                "the file ends within the header of a record".to_owned(),
            );
        }
        Err(Flaw::Damaged { resume_at, detail }) => return damaged(start + resume_at, detail),
    };
    let body_start = start + head.bytes;
    let available = bytes.len() - body_start;
    let body_bytes = match usize::try_from(head.content_length) {
        Ok(claimed) if claimed <= available => claimed,
        _ if end_of_input => {
            let resume_at = find_version(bytes, body_start).unwrap_or(bytes.len());
            let detail = format!(
                "Content-Length is {}, but the file ends after {available} bytes",
                head.content_length
            );
            return truncated(resume_at, detail);
        }
        _ => {
            return Next::Incomplete {
                needed: (body_start as u64).saturating_add(head.content_length),
            };
        }
    };
    let body_end = body_start + body_bytes;
    let separator = blank_run(&bytes[body_end..], SEPARATOR_BYTES);
    let end = body_end + separator;
    // More bytes show whether line ends continue, or whether a record follows directly.
    let lookahead = if separator == 0 { VERSION_BYTES } else { 1 };
    if separator < SEPARATOR_BYTES && bytes.len() - end < lookahead && !end_of_input {
        return incomplete(end + lookahead);
    }
    if separator == 0 && end < bytes.len() && !is_version(&bytes[end..]) {
        let detail = format!(
            "a record cannot end at the Content-Length, {} bytes after the header",
            head.content_length
        );
        let resume_at = match after_damaged_head(rest, head.bytes) {
            within if within < head.bytes => start + within,
            _ => find_version(
                &bytes[..bytes.len().min(body_end + VERSION_BYTES)],
                body_start,
            )
            .unwrap_or(body_end),
        };
        return damaged(resume_at, detail);
    }
    Next::Record(Record {
        raw: &bytes[..end],
        kind: head.kind,
        id: head.id,
        url: head.url,
        date: head.date,
        content_type: head.content_type,
        body: &bytes[body_start..body_end],
    })
}

/// The header of a record; sufficient for skipping a record without reading its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// Its length, with the blank line.
    pub bytes: usize,
    /// The claimed length of the block.
    pub content_length: u64,
    /// As in [`Record`].
    pub kind: Kind,
    /// As in [`Record`].
    pub id: &'a [u8],
    /// As in [`Record`].
    pub url: &'a [u8],
    /// As in [`Record`].
    pub date: &'a [u8],
    /// As in [`Record`].
    pub content_type: &'a [u8],
}

enum Flaw {
    Incomplete,
    Damaged {
        /// As in [`Next::Damaged`].
        resume_at: usize,
        detail: String,
    },
}

impl<'a> Head<'a> {
    /// The header at the start of `bytes`, after any line ends; `None` if it is missing, invalid or
    /// incomplete.
    pub fn at(bytes: &'a [u8]) -> Option<Head<'a>> {
        let start = blank_run(bytes, HEAD_BYTES);
        let rest = &bytes[start..];
        let mut head = Head::parse(rest).ok().filter(|_| is_version(rest))?;
        head.bytes += start;
        Some(head)
    }

    fn parse(bytes: &'a [u8]) -> Result<Head<'a>, Flaw> {
        let within = &bytes[..bytes.len().min(HEAD_BYTES)];
        let mut at = next_line(within, 0)
            .ok_or_else(|| Self::unfinished(bytes, None))?
            .1;
        let mut head = Head {
            bytes: 0,
            content_length: 0,
            kind: Kind::Other,
            id: &[],
            url: &[],
            date: &[],
            content_type: &[],
        };
        let mut length: &[u8] = &[];
        // The last record that begins at the start of a line.
        let mut another = None;
        let mut is_repeated = false;
        loop {
            if is_version(&bytes[at..]) {
                another = Some(at);
            }
            let line =
                next_header_line(within, at).ok_or_else(|| Self::unfinished(bytes, another))?;
            at = line.end;
            if line.is_empty {
                head.bytes = at;
                break;
            }
            let value = line.value;
            let is = |known: &[u8]| line.name.eq_ignore_ascii_case(known);
            // Most names differ in length.
            let (field, value) = match line.name.len() {
                9 if is(b"WARC-Type") => {
                    head.kind = Kind::named(value);
                    continue;
                }
                9 if is(b"WARC-Date") => (&mut head.date, value),
                12 if is(b"Content-Type") => (&mut head.content_type, value),
                14 if is(b"WARC-Record-ID") => (&mut head.id, without_brackets(value)),
                14 if is(b"Content-Length") => (&mut length, value),
                15 if is(b"WARC-Target-URI") => (&mut head.url, without_brackets(value)),
                _ => continue,
            };
            is_repeated |= !field.is_empty();
            if field.is_empty() {
                *field = value;
            }
        }
        // A version may end a line, as that of a URL. If fields are repeated, another header follows.
        let another = another.or_else(|| {
            let within_line = is_repeated.then(|| after_damaged_head(bytes, head.bytes));
            within_line.filter(|&place| place < head.bytes)
        });
        if let Some(resume_at) = another {
            return Err(Flaw::Damaged {
                resume_at,
                detail: "the header of a record ends where another record begins".to_owned(),
            });
        }
        head.content_length = number(length).ok_or_else(|| Flaw::Damaged {
            resume_at: after_damaged_head(bytes, head.bytes),
            detail: match length {
                [] => "a record without Content-Length".to_owned(),
                _ => format!(
                    "Content-Length is not a number: {:?}",
                    String::from_utf8_lossy(&length[..length.len().min(40)])
                ),
            },
        })?;
        Ok(head)
    }

    /// The flaw of a header whose end is not in `bytes`; `another` record begins in it.
    fn unfinished(bytes: &[u8], another: Option<usize>) -> Flaw {
        // After the longest header, the bytes must show whether another one begins there.
        if bytes.len() < HEAD_BYTES + VERSION_LINE_BYTES {
            return Flaw::Incomplete;
        }
        Flaw::Damaged {
            resume_at: another.unwrap_or_else(|| after_damaged_head(bytes, HEAD_BYTES)),
            detail: "the header of a record is longer than 64 KiB".to_owned(),
        }
    }
}

impl Kind {
    fn named(name: &[u8]) -> Kind {
        let known: [(&[u8], Kind); 3] = [
            (b"response", Kind::Response),
            (b"conversion", Kind::Conversion),
            (b"resource", Kind::Resource),
        ];
        let found = known
            .iter()
            .find(|(known, _)| name.eq_ignore_ascii_case(known));
        found.map_or(Kind::Other, |(_, kind)| *kind)
    }
}

/// Parses a decimal number; `None` if it is invalid or too large.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    let value = |sum: u64, digit: &u8| match digit {
        b'0'..=b'9' => sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    };
    digits
        .iter()
        .try_fold(0, value)
        .filter(|_| !digits.is_empty())
}

/// The length of a version: `WARC/`, a digit, a dot, a digit.
const VERSION_BYTES: usize = 8;
/// The maximum length of a line with a version only: `WARC/0.17` and CRLF.
const VERSION_LINE_BYTES: usize = 11;

fn is_version(bytes: &[u8]) -> bool {
    match bytes.get(..VERSION_BYTES) {
        Some([b'W', b'A', b'R', b'C', b'/', major, b'.', minor]) => {
            major.is_ascii_digit() && minor.is_ascii_digit()
        }
        _ => false,
    }
}

/// Whether the bytes begin with a line that has a version only.
fn is_version_line(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.get(VERSION_BYTES..).filter(|_| is_version(bytes)) else {
        return false;
    };
    let rest = match rest {
        [digit, rest @ ..] if digit.is_ascii_digit() => rest,
        _ => rest,
    };
    rest.starts_with(b"\n") || rest.starts_with(b"\r\n")
}

/// Where reading continues after the damaged header of `head_bytes` bytes at the start of `bytes`: at
/// the last record that begins within it, else after it.
///
/// A header has no version at the start of a line, so no earlier record within it has a whole header.
/// Without one, a line may be cut off by the version line of the next record. If that fails too, no
/// version is left within the header, so its bytes are examined three times at most.
fn after_damaged_head(bytes: &[u8], head_bytes: usize) -> usize {
    let (mut line, mut within_line) = (None, None);
    let within = &bytes[..bytes.len().min(head_bytes + VERSION_LINE_BYTES)];
    for place in memchr::memmem::find_iter(within, b"WARC/") {
        if place == 0 || place >= head_bytes {
            continue;
        }
        if bytes[place - 1] == b'\n' && is_version(&within[place..]) {
            line = Some(place);
        } else if is_version_line(&within[place..]) {
            within_line = Some(place);
        }
    }
    line.or(within_line).unwrap_or(head_bytes)
}

/// The start of the first record at or after `from`.
pub fn find_version(bytes: &[u8], from: usize) -> Option<usize> {
    let places = memchr::memmem::find_iter(bytes.get(from..)?, b"WARC/");
    places
        .map(|place| from + place)
        .find(|&place| is_version(&bytes[place..]))
}

/// Bytes that are not a record, up to the next record but at most [`GARBAGE_BYTES`], so that the
/// caller need not hold more.
fn garbage(bytes: &[u8], start: usize, end_of_input: bool) -> Next<'_> {
    let most = GARBAGE_BYTES + VERSION_BYTES;
    if bytes.len() < most && !end_of_input {
        // Bytes that arrive in small parts are searched once.
        return incomplete(most);
    }
    let within = &bytes[..bytes.len().min(most)];
    let resume_at = match find_version(within, start + 1) {
        Some(place) => place,
        None if bytes.len() >= most => GARBAGE_BYTES,
        None => bytes.len(),
    };
    damaged(
        resume_at,
        format!("{resume_at} bytes that are not a record"),
    )
}

pub(crate) fn damaged<'a>(resume_at: usize, detail: String) -> Next<'a> {
    let reason = Reason::BadRecord;
    Next::Damaged {
        resume_at,
        reason,
        detail,
    }
}

pub(crate) fn truncated<'a>(resume_at: usize, detail: String) -> Next<'a> {
    let reason = Reason::Truncated;
    Next::Damaged {
        resume_at,
        reason,
        detail,
    }
}

pub(super) fn incomplete<'a>(needed: usize) -> Next<'a> {
    Next::Incomplete {
        needed: needed as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: &[u8] = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n\
        WARC-Target-URI: <http://a/>\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n\
        Content-Type: application/http\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n";

    fn record(bytes: &[u8]) -> Record<'_> {
        match next_record(bytes, true) {
            Next::Record(record) => record,
            other => panic!("{other:?}"),
        }
    }

    fn damage(bytes: &[u8]) -> (usize, Reason, String) {
        match next_record(bytes, true) {
            Next::Damaged {
                resume_at,
                reason,
                detail,
            } => (resume_at, reason, detail),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_fields() {
        let record = record(ONE);
        assert_eq!(record.raw, ONE);
        assert_eq!(record.kind, Kind::Response);
        assert_eq!(record.id, b"urn:uuid:1");
        assert_eq!(record.url, b"http://a/");
        assert_eq!(record.date, b"2020-01-02T03:04:05Z");
        assert_eq!(record.content_type, b"application/http");
        assert_eq!(record.body, b"hello");
    }

    #[test]
    fn records_with_deviations_are_read() {
        // LF, mixed case, folded values, an unknown version, no blank lines after the block.
        let bytes = b"WARC/0.17\nwarc-type:\n conversion \nX: y\nCONTENT-LENGTH :  3\n\nabc";
        let found = record(bytes);
        assert_eq!((found.kind, found.body), (Kind::Conversion, &b"abc"[..]));
        let two = [&bytes[..], ONE].concat();
        assert_eq!(record(&two).raw, bytes);
        let blank = [b"\r\n\n".as_slice(), ONE, b"\r\n\r\n", ONE].concat();
        assert_eq!(record(&blank).raw, &blank[..3 + ONE.len() + 4]);
    }

    #[test]
    fn the_end_of_input_is_recognised() {
        assert_eq!(next_record(b"", true), Next::End);
        assert_eq!(next_record(b"\r\n", true), Next::End);
        let needed = 8;
        assert_eq!(next_record(b"", false), Next::Incomplete { needed });
        let needed = ONE.len() as u64 + 1;
        assert_eq!(next_record(ONE, false), Next::Incomplete { needed });
    }

    #[test]
    fn a_huge_length_is_reported_as_truncation() {
        let bytes = b"WARC/1.0\r\nContent-Length: 18446744073709551615\r\n\r\nabc";
        let needed = u64::MAX;
        assert_eq!(next_record(bytes, false), Next::Incomplete { needed });
        let (resume_at, reason, _) = damage(bytes);
        assert_eq!((resume_at, reason), (bytes.len(), Reason::Truncated));
        assert_eq!(
            Head::at(bytes).map(|head| head.content_length),
            Some(u64::MAX)
        );
    }

    #[test]
    fn a_wrong_length_costs_one_record() {
        // Lengths that end in or directly after the line ends are accepted: 7 to 9.
        for wrong in ["4", "12", "100", "-5", "5x", "", "99999999999999999999"] {
            let text = String::from_utf8(ONE.to_vec()).unwrap();
            let bad = text.replace("Length: 5", &format!("Length: {wrong}"));
            let bytes = [bad.as_bytes(), ONE, ONE].concat();
            let mut at = 0;
            while let Next::Damaged { resume_at, .. } = next_record(&bytes[at..], true) {
                at += resume_at;
            }
            assert_eq!(at, bad.len(), "{wrong}");
        }
    }

    #[test]
    fn invalid_bytes_are_skipped() {
        let bytes = [b"some WARC/x garbage\n".as_slice(), ONE].concat();
        assert_eq!(damage(&bytes).0, 20);
        assert_eq!(damage(b"garbage").0, 7);
        let long = [vec![b'x'; GARBAGE_BYTES + 100], ONE.to_vec()].concat();
        assert_eq!(damage(&long).0, GARBAGE_BYTES);
        assert_eq!(damage(&long[GARBAGE_BYTES..]).0, 100);
        assert_eq!(damage(&vec![b'\n'; 2 * HEAD_BYTES]).0, HEAD_BYTES);
    }

    #[test]
    fn a_header_without_end_is_skipped() {
        let mut bytes = b"WARC/1.0\r\n".to_vec();
        bytes.extend(b"X: y\r\n".repeat(HEAD_BYTES));
        let start = bytes.len();
        bytes.extend(ONE);
        let (resume_at, reason, _) = damage(&bytes);
        assert_eq!((resume_at, reason), (HEAD_BYTES, Reason::BadRecord));
        assert_eq!(resume_at + damage(&bytes[resume_at..]).0, start);
        assert_eq!(damage(b"WARC/1.0\r\nX: y").1, Reason::Truncated);
    }

    /// The results for all of `bytes`: the records, and the number of damaged places.
    fn all(bytes: &[u8]) -> (Vec<Record<'_>>, usize) {
        let (mut at, mut records, mut damages) = (0, Vec::new(), 0);
        loop {
            match next_record(&bytes[at..], true) {
                Next::Record(record) => {
                    at += record.raw.len();
                    records.push(record);
                }
                Next::Damaged { resume_at, .. } => {
                    at += resume_at;
                    damages += 1;
                }
                Next::Incomplete { .. } | Next::End => return (records, damages),
            }
        }
    }

    /// Promise (Failing inputs): After damaged or cut headers of a WARC file, the next whole record
    /// is read, and its id and address are its own. Headers cost time in proportion to their bytes,
    /// whatever they repeat. `scripts/scaling`, run by hand, measures the growth for some 330
    /// hostile inputs of all parsers
    #[test]
    fn a_record_after_cut_headers_is_read_whole() {
        let line_ends = ["\r\n", "\n"];
        for (end, cut) in line_ends
            .iter()
            .flat_map(|end| (1..190).map(move |cut| (end, cut)))
        {
            let one = String::from_utf8(ONE.to_vec())
                .unwrap()
                .replace("\r\n", end);
            let cut = one.len().min(cut);
            // One or several records, each cut off within its header.
            for cuts in [1, 3] {
                let bytes = one[..cut].repeat(cuts) + &one.replace("urn:uuid:1", "2") + &one;
                let (records, damages) = all(bytes.as_bytes());
                let ids: Vec<_> = records.iter().map(|record| record.id).collect();
                let is_whole = one[..cut].contains(&format!("{end}{end}hello"));
                if !is_whole {
                    assert_eq!(ids, [&b"2"[..], b"urn:uuid:1"], "{bytes}");
                    assert!(damages <= cuts, "{bytes}");
                }
            }
        }
    }

    /// Each byte of damaged headers is examined a bounded number of times. The number of steps shows
    /// that, since each costs at most the longest header.
    /// Promise (Failing inputs): After damaged or cut headers of a WARC …
    #[test]
    fn damaged_headers_cost_few_steps() {
        let texts: [&[u8]; 8] = [
            b"WARC/1.0\r\n",
            b"x WARC/1.0\r\n",
            b"WARC/1.0 y\n",
            b"x WARC/1.0 y\n",
            b"WARC/1.0\r\nX: y\r\n",
            b"xWARC/1.0\nContent-Length: 5\n",
            b"xWARC/1.0\nContent-Length: x\n",
            b"WARC/1.0\nContent-Length: 999999999\n",
        ];
        for text in texts {
            let bytes = text.repeat((1 << 20) / text.len());
            for tail in [&b""[..], b"\n\n", b"\n\n."] {
                let bytes = [&bytes[..], tail].concat();
                let (records, steps) = all(&bytes);
                let shown = String::from_utf8_lossy(text);
                assert!(
                    records.len() < 2 && steps <= 4 * bytes.len() / HEAD_BYTES,
                    "{shown} {steps}"
                );
            }
        }
    }

    /// Randomly damaged archives.
    fn archives() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            4 => Just(ONE.to_vec()),
            1 => Just(b"WARC/1.0\r\n".to_vec()),
            1 => Just(b"Content-Length: 3\r\n\r\n".to_vec()),
            1 => Just(b"\r\n".to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..20),
            1 => (0..ONE.len()).prop_map(|end| ONE[..end].to_vec()),
        ];
        prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn all_bytes_are_consumed(bytes in archives()) {
            let mut at = 0;
            loop {
                match next_record(&bytes[at..], true) {
                    Next::Record(record) => at += record.raw.len(),
                    Next::Damaged { resume_at, .. } => {
                        prop_assert!(resume_at > 0);
                        at += resume_at;
                    }
                    Next::Incomplete { .. } => prop_assert!(false, "nothing can follow"),
                    Next::End => break,
                }
                prop_assert!(at <= bytes.len());
            }
            prop_assert!(bytes[at..].iter().all(|byte| b"\r\n".contains(byte)));
        }

        #[test]
        fn parts_give_the_same_as_the_whole(bytes in archives()) {
            let whole = next_record(&bytes, true);
            for end in 0..bytes.len() {
                match next_record(&bytes[..end], false) {
                    Next::Incomplete { needed } => prop_assert!(needed > end as u64),
                    found => prop_assert_eq!(&found, &whole),
                }
            }
        }
    }
}
