//! HTTP messages as stored by crawlers: headers, body, chunks.
//!
//! Source: RFC 9110, RFC 9112; parsed tolerantly, as browsers do.

use super::lines::next_line;

/// An HTTP message: headers and body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The code of the status line; 0 if it cannot be read.
    pub status: u16,
    /// The lines after the status line.
    headers: &'a [u8],
    /// The bytes after the blank line, not decoded.
    pub body: &'a [u8],
}

impl<'a> Message<'a> {
    /// Splits a response into headers and body; `None` without a status line.
    ///
    /// Lines end in CRLF or LF. Without a blank line after the headers there is no body. O(headers)
    /// time.
    pub fn split(bytes: &'a [u8]) -> Option<Message<'a>> {
        if !bytes.starts_with(b"HTTP/") && !bytes.starts_with(b"ICY ") {
            return None;
        }
        let (line, start) = next_line(bytes, 0).unwrap_or((bytes, bytes.len()));
        let mut words = line
            .split(|byte| byte.is_ascii_whitespace())
            .filter(|word| !word.is_empty());
        let status = words
            .nth(1)
            .and_then(|word| std::str::from_utf8(word).ok()?.parse().ok());
        let (headers, body) = split_headers(&bytes[start..]);
        Some(Message {
            status: status.unwrap_or(0),
            headers,
            body,
        })
    }

    /// All values of the header `name`, in order, without surrounding white space.
    pub fn values(&self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let headers = self.headers;
        let mut at = 0;
        std::iter::from_fn(move || {
            loop {
                let start = at;
                let (line, mut behind) = last_line(headers, start)?;
                while matches!(headers.get(behind), Some(b' ' | b'\t')) {
                    behind = last_line(headers, behind)?.1;
                }
                at = behind;
                let Some(colon) = memchr::memchr(b':', line) else {
                    continue;
                };
                if line[..colon]
                    .trim_ascii()
                    .eq_ignore_ascii_case(name.as_bytes())
                {
                    return Some(headers[start + colon + 1..behind].trim_ascii());
                }
            }
        })
    }

    /// Whether the headers name the chunked transfer encoding.
    pub fn is_chunked(&self) -> bool {
        let mut codings = self
            .values("transfer-encoding")
            .flat_map(|value| value.split(|&byte| byte == b','));
        codings.any(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"chunked"))
    }
}

/// The bytes before the first blank line and those after it.
fn split_headers(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    while let Some((line, behind)) = next_line(bytes, at) {
        if line.is_empty() {
            return (&bytes[..at], &bytes[behind..]);
        }
        at = behind;
    }
    (bytes, &[])
}

/// Like [`next_line`], but the last line needs no line end.
fn last_line(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = &bytes[at..];
    next_line(bytes, at).or_else(|| (!rest.is_empty()).then_some((rest, bytes.len())))
}

/// Appends the joined chunks of `body` to `out`. Returns `false` if `body` does not begin with a
/// chunk, so that it is not chunked; `out` is unchanged then.
///
/// A body that is cut off or invalid after the first chunk ends there. At most `body.len()` bytes
/// are added to `out`. O(body) time.
pub fn join_chunks(body: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let mut at = 0;
    loop {
        let Some((size, behind)) = chunk_size(body, at) else {
            // A first size without a chunk after it is a word of the body.
            return out.len() > start;
        };
        if size == 0 {
            return true;
        }
        let rest = &body[behind..];
        let chunk = usize::try_from(size).map_or(rest, |size| &rest[..size.min(rest.len())]);
        if at == 0 && chunk.len() < rest.len() && !ends_chunk(&rest[chunk.len()..]) {
            return false;
        }
        out.extend_from_slice(chunk);
        at = behind + chunk.len();
        at += super::lines::blank_run(&body[at..], 2);
    }
}

/// The bytes after the size of the first chunk, if there is one.
pub(crate) fn first_chunk(body: &[u8]) -> Option<&[u8]> {
    chunk_size(body, 0).map(|(_, start)| &body[start..])
}

/// The size before a chunk, and the start of the chunk.
fn chunk_size(body: &[u8], at: usize) -> Option<(u64, usize)> {
    /// Twice the number of digits of the largest size, to allow padding.
    const MAX_DIGITS: usize = 32;
    let rest = body.get(at..)?;
    let digits = rest
        .iter()
        .take(MAX_DIGITS)
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    let size = std::str::from_utf8(&rest[..digits]).ok()?;
    let size = u64::from_str_radix(size, 16).ok()?;
    let (line, behind) = next_line(body, at)?;
    // After the digits: blanks, or an extension.
    let tail = line[digits..].trim_ascii_start();
    (tail.is_empty() || tail.starts_with(b";")).then_some((size, behind))
}

fn ends_chunk(rest: &[u8]) -> bool {
    rest.starts_with(b"\r\n") || rest.starts_with(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn joined(body: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        join_chunks(body, &mut out).then_some(out)
    }

    #[test]
    fn headers_and_status_are_parsed() {
        let message =
            Message::split(b"HTTP/1.1 200 OK\r\nA: b\r\na:  c \r\n d\r\nnoise\r\n\r\nbody\r\n\r\n")
                .unwrap();
        assert_eq!((message.status, message.body), (200, &b"body\r\n\r\n"[..]));
        let values: Vec<_> = message.values("a").collect();
        assert_eq!(values, [&b"b"[..], b"c \r\n d"]);
        let message = Message::split(b"HTTP/1.0 404\nServer: x\n\n").unwrap();
        assert_eq!((message.status, message.body), (404, &b""[..]));
        assert_eq!(
            Message::split(b"HTTP/1.0 404\nServer: x")
                .unwrap()
                .values("server")
                .next(),
            Some(&b"x"[..])
        );
        assert_eq!(Message::split(b"HTTP/1.0").unwrap().status, 0);
        assert_eq!(Message::split(b"<html>"), None);
    }

    #[test]
    fn chunks_are_joined() {
        assert_eq!(
            joined(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n").unwrap(),
            b"abcde"
        );
        assert_eq!(joined(b"0003 \nabc\n0\n").unwrap(), b"abc");
        assert_eq!(joined(b"0\r\n\r\n").unwrap(), b"");
        // Cut off within a chunk and between two.
        assert_eq!(joined(b"3\r\nabc\r\n9\r\nde").unwrap(), b"abcde");
        assert_eq!(joined(b"3\r\nabc\r\n").unwrap(), b"abc");
        assert_eq!(joined(b"ffffffffffffffff\r\nde").unwrap(), b"de");
        // Not chunked.
        for body in [
            &b""[..],
            b"<html>",
            b"3 words\r\n",
            b"2\r\nabc\r\n",
            b"\x1f\x8b",
        ] {
            assert_eq!(joined(body), None);
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in prop::collection::vec(prop::sample::select(&b"HTTP/1. 209abf;:x\r\n\r\n\n"[..]), 0..200)) {
            let mut out = Vec::new();
            join_chunks(&bytes, &mut out);
            prop_assert!(out.len() <= bytes.len());
            let bytes = [b"HTTP/", &bytes[..]].concat();
            let message = Message::split(&bytes).unwrap();
            prop_assert!(message.values("x").count() <= bytes.len());
        }

        #[test]
        fn chunks_make_the_body(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 1..6)) {
            let mut sent = Vec::new();
            for chunk in &chunks {
                sent.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
                sent.extend(chunk);
                sent.extend(b"\r\n");
            }
            sent.extend(b"0\r\n\r\n");
            prop_assert_eq!(joined(&sent), Some(chunks.concat()));
        }
    }
}
