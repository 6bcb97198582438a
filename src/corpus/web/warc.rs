//! Records of WARC files, versions 0.17 to 1.1; WET files are WARC files of conversion records.
//!
//! ```text
//! WARC/1.0 CRLF  (name ":" value CRLF)*  CRLF  block of Content-Length bytes  CRLF CRLF
//! ```
//!
//! Tolerant where files in the wild are sloppy: lines may end in LF alone, values may be folded,
//! the blank lines behind a block may be missing or more. Strict where trust costs records: a
//! Content-Length is a claim, believed only if the block ends where a record may end.
//!
//! Source: ISO 28500, <https://iipc.github.io/warc-specifications/>.

use super::Reason;
use super::lines::{blank_run, next_line, trim};

/// The longest head of a record; a longer one is damage.
pub const HEAD_BYTES: usize = 64 << 10;

/// The most bytes of garbage that one [`Next::Damaged`] passes over.
pub const GARBAGE_BYTES: usize = 1 << 20;

/// The longest run of line ends that belongs to the record before it.
const SEPARATOR_BYTES: usize = 64;

/// What a record holds, as far as documents are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// What a server answered, HTTP head and all.
    Response,
    /// The text of a page, made from another record: the records of WET files.
    Conversion,
    /// A resource without an HTTP head.
    Resource,
    /// Anything else: warcinfo, request, metadata, revisit, continuation.
    Other,
}

/// A record, as it stands in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Verbatim, with the line ends before and behind it: the `raw` of all records of an
    /// undamaged archive, one after another, are the archive.
    pub raw: &'a [u8],
    /// What it holds.
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

/// What stands at the start of some bytes of an archive.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// A record; the next one begins `raw.len()` bytes further.
    Record(Record<'a>),
    /// The bytes end too early to tell; at least `needed` of them will be needed, a number that
    /// comes from the file: it is a claim.
    Incomplete {
        /// Counted from the start of the same bytes; more than there are.
        needed: u64,
    },
    /// No record, or a broken one.
    Damaged {
        /// How many bytes to pass over; at least one, at most all.
        resume_at: usize,
        /// [`Reason::Truncated`] if the input ends within the record, else [`Reason::BadRecord`].
        reason: Reason,
        /// What is wrong.
        detail: String,
    },
    /// No more records.
    End,
}

/// Next record of `bytes`, or how much is missing, or what is wrong and where to go on.
///
/// With `end_of_input`, no bytes follow and the answer is never [`Next::Incomplete`]. Apart from
/// that the answer depends on the archive alone, not on how much of it is there already, so
/// archives read in pieces give the same records. O(length of the record or of what is passed
/// over) time; no memory but for messages.
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
            let resume_at = find_version(bytes, start + 1).unwrap_or(bytes.len());
            return truncated(
                resume_at,
                "the file ends within the head of a record".to_owned(),
            );
        }
        Err(Flaw::Damaged { head_bytes, detail }) => {
            return damaged_record(bytes, start, start + head_bytes, detail);
        }
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
    // Whether the line ends go on, or a record follows at once, shows in what comes next.
    let shows = if separator == 0 { VERSION_BYTES } else { 1 };
    if separator < SEPARATOR_BYTES && bytes.len() - end < shows && !end_of_input {
        return incomplete(end + shows);
    }
    if separator == 0 && end < bytes.len() && !is_version(&bytes[end..]) {
        let detail = format!(
            "no record may end where Content-Length says, {} bytes behind the head",
            head.content_length
        );
        return damaged_record(bytes, start, body_end, detail);
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

/// The head of a record: what is needed to skip a record without having all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// How long it is, blank line included.
    pub bytes: usize,
    /// How long the block is said to be.
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
    Damaged { head_bytes: usize, detail: String },
}

impl<'a> Head<'a> {
    /// The head at the start of `bytes`, line ends before it passed over; `None` if there is none
    /// or if it is broken or incomplete.
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
            .ok_or_else(|| Self::unfinished(bytes))?
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
        loop {
            let (line, mut behind) =
                next_line(within, at).ok_or_else(|| Self::unfinished(bytes))?;
            if line.is_empty() {
                head.bytes = behind;
                break;
            }
            // A line that begins with a blank belongs to the one before.
            while matches!(within.get(behind), Some(b' ' | b'\t')) {
                behind = next_line(within, behind)
                    .ok_or_else(|| Self::unfinished(bytes))?
                    .1;
            }
            let colon = memchr::memchr(b':', line).unwrap_or(line.len());
            let value = trim(&within[(at + colon + 1).min(behind)..behind]);
            match Field::named(trim(&line[..colon])) {
                Some(Field::Type) => head.kind = Kind::named(value),
                Some(Field::Id) if head.id.is_empty() => head.id = without_brackets(value),
                Some(Field::Url) if head.url.is_empty() => head.url = without_brackets(value),
                Some(Field::Date) if head.date.is_empty() => head.date = value,
                Some(Field::ContentType) if head.content_type.is_empty() => {
                    head.content_type = value;
                }
                Some(Field::ContentLength) if length.is_empty() => length = value,
                _ => {}
            }
            at = behind;
        }
        head.content_length = number(length).ok_or_else(|| Flaw::Damaged {
            head_bytes: head.bytes,
            detail: match length {
                [] => "a record without Content-Length".to_owned(),
                _ => format!(
                    "Content-Length is no number: {:?}",
                    String::from_utf8_lossy(&length[..length.len().min(40)])
                ),
            },
        })?;
        Ok(head)
    }

    fn unfinished(bytes: &[u8]) -> Flaw {
        // Behind the longest head, the bytes must show whether another one begins there.
        if bytes.len() < HEAD_BYTES + VERSION_BYTES {
            return Flaw::Incomplete;
        }
        Flaw::Damaged {
            head_bytes: HEAD_BYTES,
            detail: "the head of a record is longer than 64 KiB".to_owned(),
        }
    }
}

enum Field {
    Type,
    Id,
    Url,
    Date,
    ContentType,
    ContentLength,
}

impl Field {
    fn named(name: &[u8]) -> Option<Field> {
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        // Most names differ in length already.
        match name.len() {
            9 if is(b"WARC-Type") => Some(Field::Type),
            9 if is(b"WARC-Date") => Some(Field::Date),
            12 if is(b"Content-Type") => Some(Field::ContentType),
            14 if is(b"WARC-Record-ID") => Some(Field::Id),
            14 if is(b"Content-Length") => Some(Field::ContentLength),
            15 if is(b"WARC-Target-URI") => Some(Field::Url),
            _ => None,
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

fn without_brackets(value: &[u8]) -> &[u8] {
    let inside = value
        .strip_prefix(b"<")
        .and_then(|value| value.strip_suffix(b">"));
    inside.unwrap_or(value)
}

/// A decimal number; `None` if it is none or does not fit.
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    let value = |sum: u64, digit: &u8| match digit {
        b'0'..=b'9' => sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    };
    digits
        .iter()
        .try_fold(0, value)
        .filter(|_| !digits.is_empty())
}

/// How many bytes tell whether a record begins: `WARC/`, a digit, a dot, a digit.
const VERSION_BYTES: usize = 8;

fn is_version(bytes: &[u8]) -> bool {
    match bytes.get(..VERSION_BYTES) {
        Some([b'W', b'A', b'R', b'C', b'/', major, b'.', minor]) => {
            major.is_ascii_digit() && minor.is_ascii_digit()
        }
        _ => false,
    }
}

/// Where a record begins, at `from` or behind it.
pub fn find_version(bytes: &[u8], from: usize) -> Option<usize> {
    let places = memchr::memmem::find_iter(bytes.get(from..)?, b"WARC/");
    places
        .map(|place| from + place)
        .find(|&place| is_version(&bytes[place..]))
}

/// Bytes that are no record: passed over up to the next one, but never more than a step at once,
/// so that nobody has to hold more than that.
fn garbage(bytes: &[u8], start: usize, end_of_input: bool) -> Next<'_> {
    let most = GARBAGE_BYTES + VERSION_BYTES;
    let within = &bytes[..bytes.len().min(most)];
    let resume_at = match find_version(within, start + 1) {
        Some(place) => place,
        None if bytes.len() >= most => GARBAGE_BYTES,
        None if end_of_input => bytes.len(),
        None => return incomplete(most),
    };
    damaged(resume_at, format!("{resume_at} bytes that are no record"))
}

/// A record that cannot be used: a record within the part that is known to be there, or what
/// comes behind it, is next.
fn damaged_record(bytes: &[u8], start: usize, known: usize, detail: String) -> Next<'_> {
    let within = &bytes[..(known + VERSION_BYTES).min(bytes.len())];
    damaged(find_version(within, start + 1).unwrap_or(known), detail)
}

fn damaged<'a>(resume_at: usize, detail: String) -> Next<'a> {
    let reason = Reason::BadRecord;
    Next::Damaged {
        resume_at,
        reason,
        detail,
    }
}

fn truncated<'a>(resume_at: usize, detail: String) -> Next<'a> {
    let reason = Reason::Truncated;
    Next::Damaged {
        resume_at,
        reason,
        detail,
    }
}

fn incomplete<'a>(needed: usize) -> Next<'a> {
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
    fn sloppy_records_are_read() {
        // LF alone, odd case, folded values, a version that nobody knows, no blank lines behind.
        let bytes = b"WARC/0.17\nwarc-type:\n conversion \nX: y\nCONTENT-LENGTH :  3\n\nabc";
        let found = record(bytes);
        assert_eq!((found.kind, found.body), (Kind::Conversion, &b"abc"[..]));
        let two = [&bytes[..], ONE].concat();
        assert_eq!(record(&two).raw, bytes);
        let blank = [b"\r\n\n".as_slice(), ONE, b"\r\n\r\n", ONE].concat();
        assert_eq!(record(&blank).raw, &blank[..3 + ONE.len() + 4]);
    }

    #[test]
    fn ends() {
        assert_eq!(next_record(b"", true), Next::End);
        assert_eq!(next_record(b"\r\n", true), Next::End);
        let needed = 8;
        assert_eq!(next_record(b"", false), Next::Incomplete { needed });
        let needed = ONE.len() as u64 + 1;
        assert_eq!(next_record(ONE, false), Next::Incomplete { needed });
    }

    #[test]
    fn a_huge_claim_is_no_number_of_bytes_to_wait_for() {
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
        // What ends in the line ends behind the block, or right behind them, is believed: 7 to 9.
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
    fn garbage_is_passed_over() {
        let bytes = [b"some WARC/x garbage\n".as_slice(), ONE].concat();
        assert_eq!(damage(&bytes).0, 20);
        assert_eq!(damage(b"garbage").0, 7);
        let long = [vec![b'x'; GARBAGE_BYTES + 100], ONE.to_vec()].concat();
        assert_eq!(damage(&long).0, GARBAGE_BYTES);
        assert_eq!(damage(&long[GARBAGE_BYTES..]).0, 100);
        assert_eq!(damage(&vec![b'\n'; 2 * HEAD_BYTES]).0, HEAD_BYTES);
    }

    #[test]
    fn a_head_without_end_is_passed_over() {
        let mut bytes = b"WARC/1.0\r\n".to_vec();
        bytes.extend(b"X: y\r\n".repeat(HEAD_BYTES));
        let start = bytes.len();
        bytes.extend(ONE);
        let (resume_at, reason, _) = damage(&bytes);
        assert_eq!((resume_at, reason), (HEAD_BYTES, Reason::BadRecord));
        assert_eq!(resume_at + damage(&bytes[resume_at..]).0, start);
        assert_eq!(damage(b"WARC/1.0\r\nX: y").1, Reason::Truncated);
    }

    /// Archives as a vandal would make them.
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
        fn whatever_the_bytes_all_are_passed_over(bytes in archives()) {
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
        fn pieces_give_the_same_as_the_whole(bytes in archives()) {
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
