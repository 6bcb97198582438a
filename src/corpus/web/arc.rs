//! Records of ARC files, versions 1 and 2, the format before WARC.
//!
//! ```text
//! URL SP IP SP date SP type SP [status SP checksum SP location SP offset SP file SP] length LF
//! block of length bytes  LF
//! ```
//!
//! Source: <https://archive.org/web/researcher/ArcFileFormat.php>.

use super::Reason;
use super::lines::{blank_run, next_line, trim};
use super::warc::{GARBAGE_BYTES, Kind, Next, Record, number};

/// The longest first line of a record; a longer one is damage.
pub const HEAD_BYTES: usize = 16 << 10;

/// Next record of `bytes`, or how much is missing, or what is wrong and where to go on.
///
/// As [`warc::next_record`](super::warc::next_record), with the same promises. Records have no id;
/// answers over HTTP are [`Kind::Response`], all else is [`Kind::Other`].
pub fn next_record(bytes: &[u8], end_of_input: bool) -> Next<'_> {
    let start = blank_run(bytes, HEAD_BYTES);
    let rest = &bytes[start..];
    if rest.is_empty() && end_of_input {
        return Next::End;
    }
    let within = &rest[..rest.len().min(HEAD_BYTES)];
    let Some((line, head_bytes)) = next_line(within, 0) else {
        if within.len() < HEAD_BYTES && !end_of_input && start < HEAD_BYTES {
            return Next::Incomplete {
                needed: bytes.len() as u64 + 1,
            };
        }
        return garbage(bytes, start, end_of_input);
    };
    let Some(head) = Head::parse(line) else {
        return garbage(bytes, start, end_of_input);
    };
    let body_start = start + head_bytes;
    let available = bytes.len() - body_start;
    let body_bytes = match usize::try_from(head.length) {
        Ok(claimed) if claimed <= available => claimed,
        _ if end_of_input => {
            let resume_at = find_head(bytes, body_start).unwrap_or(bytes.len());
            let reason = Reason::Truncated;
            let detail = format!(
                "a record of {} bytes, but the file ends after {available}",
                head.length
            );
            return Next::Damaged {
                resume_at,
                reason,
                detail,
            };
        }
        _ => {
            return Next::Incomplete {
                needed: (body_start as u64).saturating_add(head.length),
            };
        }
    };
    let body_end = body_start + body_bytes;
    let separator = blank_run(&bytes[body_end..], SEPARATOR_BYTES);
    let end = body_end + separator;
    if separator < SEPARATOR_BYTES && end == bytes.len() && !end_of_input {
        return Next::Incomplete {
            needed: end as u64 + 1,
        };
    }
    Next::Record(Record {
        raw: &bytes[..end],
        kind: head.kind,
        id: &[],
        url: head.url,
        date: head.date,
        content_type: head.content_type,
        body: &bytes[body_start..body_end],
    })
}

/// The longest run of line ends that belongs to the record before it.
const SEPARATOR_BYTES: usize = 64;

struct Head<'a> {
    kind: Kind,
    url: &'a [u8],
    date: &'a [u8],
    content_type: &'a [u8],
    length: u64,
}

impl<'a> Head<'a> {
    fn parse(line: &'a [u8]) -> Option<Head<'a>> {
        // Some URLs have blanks in them: count the fields from the end.
        let fields = |count: usize| {
            let mut found = [&line[..0]; 10];
            let mut parts = line.rsplitn(count, |&byte| byte == b' ');
            for field in found[..count].iter_mut().rev() {
                *field = parts.next()?;
            }
            let [url, _, date, content_type, ..] = found;
            let length = number(trim(found[count - 1]))?;
            let is_head = is_url(url) && (8..=14).contains(&date.len()) && number(date).is_some();
            let kind = match url {
                [b'h' | b'H', b't' | b'T', b't' | b'T', b'p' | b'P', ..] => Kind::Response,
                _ => Kind::Other,
            };
            is_head.then_some(Head {
                kind,
                url,
                date,
                content_type,
                length,
            })
        };
        fields(10).or_else(|| fields(5))
    }
}

fn is_url(url: &[u8]) -> bool {
    let scheme = url
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    scheme > 0 && url.get(scheme) == Some(&b':')
}

/// Where a line that heads a record begins, at `from` or behind it.
fn find_head(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some((line, behind)) = next_line(bytes, at) {
        if line.len() < HEAD_BYTES && Head::parse(line).is_some() {
            return Some(at);
        }
        at = behind;
    }
    None
}

/// Bytes that are no record: passed over up to the next one, in bounded steps.
fn garbage(bytes: &[u8], start: usize, end_of_input: bool) -> Next<'_> {
    let most = GARBAGE_BYTES + HEAD_BYTES;
    let within = &bytes[..bytes.len().min(most)];
    if within.len() < most && !end_of_input {
        return Next::Incomplete {
            needed: most as u64,
        };
    }
    let behind = next_line(within, start).map(|(_, behind)| behind);
    let found = behind.and_then(|behind| find_head(within, behind));
    let resume_at = match found {
        Some(place) => place,
        None if within.len() < most => within.len(),
        None => GARBAGE_BYTES,
    };
    let reason = Reason::BadRecord;
    let detail = format!("{resume_at} bytes that are no record");
    Next::Damaged {
        resume_at,
        reason,
        detail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIRST: &[u8] = b"filedesc://a.arc 0.0.0.0 20050101000000 text/plain 4\nabc\n\n";
    const PAGE: &[u8] =
        b"http://a/b c 10.0.0.1 20050102030405 text/html 18\nHTTP/1.0 200\n\n<p>x\n";
    const SECOND: &[u8] =
        b"http://a/ 10.0.0.1 20050102030405 text/html 200 - - 12345678 a.arc 2\nhi\n";

    #[test]
    fn both_versions() {
        let bytes = [FIRST, PAGE, SECOND].concat();
        let mut found = Vec::new();
        let mut at = 0;
        while let Next::Record(record) = next_record(&bytes[at..], true) {
            at += record.raw.len();
            found.push((record.kind, record.url, record.body));
        }
        let expected: [(Kind, &[u8], &[u8]); 3] = [
            (Kind::Other, b"filedesc://a.arc", b"abc\n"),
            (Kind::Response, b"http://a/b c", b"HTTP/1.0 200\n\n<p>x"),
            (Kind::Response, b"http://a/", b"hi"),
        ];
        assert_eq!(found, expected);
        assert_eq!(next_record(&bytes[at..], true), Next::End);
    }

    #[test]
    fn damage_is_passed_over() {
        let bytes = [b"no head\nno head either\n", PAGE].concat();
        let Next::Damaged {
            resume_at: 23,
            reason: Reason::BadRecord,
            ..
        } = next_record(&bytes, true)
        else {
            panic!("{:?}", next_record(&bytes, true));
        };
        let cut = &PAGE[..PAGE.len() - 5];
        let Next::Damaged {
            reason: Reason::Truncated,
            ..
        } = next_record(cut, true)
        else {
            panic!("{:?}", next_record(cut, true));
        };
    }

    proptest! {
        #[test]
        fn pieces_give_the_same_as_the_whole(
            pieces in prop::collection::vec(prop::sample::select(vec![FIRST, PAGE, SECOND, b"\n", b"x y\n", b"http://a/ 1.1.1.1 20050102030405 text/html 9999\n"]), 0..6),
        ) {
            let bytes = pieces.concat();
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
