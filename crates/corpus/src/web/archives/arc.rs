//! Records of ARC files, versions 1 and 2, the format before WARC.
//!
//! ```text
//! URL SP IP SP date SP type SP [status SP checksum SP location SP offset SP file SP] length LF
//! block of length bytes  LF
//! ```
//!
//! Source: <https://archive.org/web/researcher/ArcFileFormat.php>.

use super::lines::{blank_run, next_line};
use super::warc::{
    GARBAGE_BYTES, Kind, Next, Record, SEPARATOR_BYTES, damaged, incomplete, number, truncated,
};

/// The maximum length of the first line of a record; a longer one is damage.
pub const HEAD_BYTES: usize = 16 << 10;

/// The next record of `bytes`, with the guarantees of
/// [`warc::next_record`](super::warc::next_record).
///
/// Records have no id. HTTP responses are [`Kind::Response`], all others [`Kind::Other`].
pub fn next_record(bytes: &[u8], end_of_input: bool) -> Next<'_> {
    let start = blank_run(bytes, HEAD_BYTES);
    let rest = &bytes[start..];
    if rest.is_empty() && end_of_input {
        return Next::End;
    }
    let within = &rest[..rest.len().min(HEAD_BYTES)];
    let Some((line, head_bytes)) = next_line(within, 0) else {
        if within.len() < HEAD_BYTES && !end_of_input && start < HEAD_BYTES {
            return incomplete(bytes.len() + 1);
        }
        return garbage(bytes, start, end_of_input);
    };
    let Some(head) = ArcHead::parse(line) else {
        return garbage(bytes, start, end_of_input);
    };
    let body_start = start + head_bytes;
    let available = bytes.len() - body_start;
    let body_bytes = match usize::try_from(head.length) {
        Ok(claimed) if claimed <= available => claimed,
        _ if end_of_input => {
            let resume_at = find_head(bytes, body_start).unwrap_or(bytes.len());
            let detail = format!(
                "a record of {} bytes, but the file ends after {available}",
                head.length
            );
            return truncated(resume_at, detail);
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
        return incomplete(end + 1);
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

struct ArcHead<'a> {
    kind: Kind,
    url: &'a [u8],
    date: &'a [u8],
    content_type: &'a [u8],
    length: u64,
}

impl<'a> ArcHead<'a> {
    fn parse(line: &'a [u8]) -> Option<ArcHead<'a>> {
        // Some URLs contain blanks, so the fields are counted from the end.
        let fields = |count: usize| {
            let mut found = [&line[..0]; 10];
            let mut parts = line.rsplitn(count, |&byte| byte == b' ');
            for field in found[..count].iter_mut().rev() {
                *field = parts.next()?;
            }
            let [url, _, date, content_type, ..] = found;
            let length = number(found[count - 1].trim_ascii())?;
            let is_head = is_url(url) && (8..=14).contains(&date.len()) && number(date).is_some();
            let kind = match url {
                [b'h' | b'H', b't' | b'T', b't' | b'T', b'p' | b'P', ..] => Kind::Response,
                _ => Kind::Other,
            };
            is_head.then_some(ArcHead {
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

/// The start of the first record header at or after `from`.
fn find_head(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some((line, behind)) = next_line(bytes, at) {
        if line.len() < HEAD_BYTES && ArcHead::parse(line).is_some() {
            return Some(at);
        }
        at = behind;
    }
    None
}

/// Bytes that are not a record, up to the next record, in bounded steps.
fn garbage(bytes: &[u8], start: usize, end_of_input: bool) -> Next<'_> {
    let most = GARBAGE_BYTES + HEAD_BYTES;
    let within = &bytes[..bytes.len().min(most)];
    if within.len() < most && !end_of_input {
        return incomplete(most);
    }
    let behind = next_line(within, start).map(|(_, behind)| behind);
    let found = behind.and_then(|behind| find_head(within, behind));
    let resume_at = match found {
        Some(place) => place,
        None if within.len() < most => within.len(),
        None => GARBAGE_BYTES,
    };
    damaged(
        resume_at,
        format!("{resume_at} bytes that are not a record"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Reason;
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
    fn damage_is_skipped() {
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
        fn parts_give_the_same_as_the_whole(
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
