//! Normalised URLs: documents with the same one are captures of one page.
//!
//! The normalisations are those of RFC 3986, section 6.2, that hold for every server:
//!
//! * scheme and host in lower case (6.2.2.1);
//! * percent-encoding in upper case (6.2.2.1), none of unreserved characters (6.2.2.2), and one of
//!   every byte that a URL cannot have (2.1; for other scripts RFC 3987, section 3.1);
//! * no dot segments in the path (6.2.2.3);
//! * no default port and no empty one, and `/` for an empty path (6.2.3);
//! * no fragment: it names a part of the page.
//!
//! Everything else makes different URLs: `http` and `https`, `www.`, a final slash, the order of a
//! query and its tracking parameters, an international name of a host and its form in ASCII.

/// Default ports.
const PORTS: [(&[u8], &[u8]); 5] = [
    (b"http", b"80"),
    (b"https", b"443"),
    (b"ftp", b"21"),
    (b"ws", b"80"),
    (b"wss", b"443"),
];

/// Replaces `out` by the normal form of an absolute URL with a host, which is of at most three times
/// its length; returns whether `url` is one. Takes any bytes. White space around the URL is ignored.
/// O(length).
///
/// ```
/// use simtool_core::dedup::normalize_url;
/// let mut normal = Vec::new();
/// assert!(normalize_url(b"HTTP://Example.org:80/%7ea/../b c?Q#top", &mut normal));
/// assert_eq!(normal, b"http://example.org/b%20c?Q");
/// assert!(!normalize_url(b"/b", &mut normal));
/// ```
pub fn normalize_url(url: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    let is_normal = normalize(url.trim_ascii(), out).is_some();
    if !is_normal {
        out.clear();
    }
    is_normal
}

fn normalize(url: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let url = url.split(|byte| *byte == b'#').next()?;
    let colon = url.iter().position(|byte| *byte == b':')?;
    let (scheme, rest) = (&url[..colon], &url[colon + 1..]);
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    if !scheme.first()?.is_ascii_alphabetic() || !scheme.iter().all(is_scheme) {
        return None;
    }
    let rest = rest.strip_prefix(b"//")?;
    let (rest, query) = split_before(rest, b'?');
    let (authority, path) = split_before(rest, b'/');
    out.extend(scheme.iter().map(u8::to_ascii_lowercase));
    let scheme_ends = out.len();
    out.extend_from_slice(b"://");
    let at = authority.iter().rposition(|byte| *byte == b'@');
    let (user, server) = authority.split_at(at.map_or(0, |at| at + 1));
    push(user, false, out);
    let host_ends = match server.first() {
        Some(b'[') => server.iter().position(|byte| *byte == b']')? + 1,
        _ => split_before(server, b':').0.len(),
    };
    let (host, port) = server.split_at(host_ends);
    if host.is_empty() {
        return None;
    }
    push(host, true, out);
    if let Some((colon, digits)) = port.split_first() {
        if *colon != b':' || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let is_default = PORTS.contains(&(&out[..scheme_ends], digits));
        if !digits.is_empty() && !is_default {
            out.extend_from_slice(port);
        }
    }
    push_path(path, out);
    push(query, false, out);
    Some(())
}

/// The bytes before the first `byte`, and the rest.
fn split_before(bytes: &[u8], byte: u8) -> (&[u8], &[u8]) {
    let found = bytes.iter().position(|other| *other == byte);
    bytes.split_at(found.unwrap_or(bytes.len()))
}

/// Appends a path without its dot segments: RFC 3986, section 5.2.4.
fn push_path(path: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let mut segments = path.split(|byte| *byte == b'/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let begin = out.len();
        out.push(b'/');
        push(segment, false, out);
        let is_dots = match &out[begin..] {
            b"/." => true,
            b"/.." => {
                let before = out[start..begin].iter().rposition(|byte| *byte == b'/');
                out.truncate(start + before.unwrap_or(0));
                true
            }
            _ => false,
        };
        if is_dots {
            out.truncate(begin);
            if segments.peek().is_none() {
                out.push(b'/');
            }
        }
    }
    if out.len() == start {
        out.push(b'/');
    }
}

/// Appends a part of a URL with normal percent-encoding.
fn push(part: &[u8], in_lower_case: bool, out: &mut Vec<u8>) {
    let fold = |byte: u8| match in_lower_case {
        true => byte.to_ascii_lowercase(),
        false => byte,
    };
    let mut rest = part;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        let encoded = match (byte, behind) {
            (b'%', [high, low, behind @ ..]) => {
                let value = digit(*high).zip(digit(*low));
                rest = if value.is_some() { behind } else { rest };
                value.map(|(high, low)| 16 * high + low)
            }
            _ => None,
        };
        match encoded {
            Some(value) if is_unreserved(value) => out.push(fold(value)),
            None if is_unreserved(byte) || is_reserved(byte) => out.push(fold(byte)),
            value => {
                let value = value.unwrap_or(byte);
                let hex = |digit: u8| b"0123456789ABCDEF"[usize::from(digit)];
                out.extend_from_slice(&[b'%', hex(value / 16), hex(value % 16)]);
            }
        }
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn normal(url: impl AsRef<[u8]>) -> Option<Vec<u8>> {
        let mut out = b"old".to_vec();
        let is_url = normalize_url(url.as_ref(), &mut out);
        assert!(is_url || out.is_empty());
        is_url.then_some(out)
    }

    /// Promise (Deduplication): URLs are normalised as RFC 3986 says, for any bytes and in linear
    /// time; a normal form is its own, and ordinary ones are those of the `url` crate
    #[test]
    fn equivalent_urls_are_equal() {
        for (url, expected) in [
            ("http://example.org", "http://example.org/"),
            ("HTTP://EXAMPLE.org:80?Q=A#x?y", "http://example.org/?Q=A"),
            (" https://a.example:443/A \n", "https://a.example/A"),
            ("http://a.example:443/", "http://a.example:443/"),
            ("http://a.example:/x", "http://a.example/x"),
            ("http://a.example:0080/", "http://a.example:0080/"),
            ("http://U:P@A.example/", "http://U:P@a.example/"),
            ("http://a@b@c.example/", "http://a@b@c.example/"),
            ("http://[2001:DB8::1]:80/x", "http://[2001:db8::1]/x"),
            ("http://[::1]:8080", "http://[::1]:8080/"),
            ("http://a.example/a/./b/../c", "http://a.example/a/c"),
            ("http://a.example/../..", "http://a.example/"),
            ("http://a.example/a/b/..", "http://a.example/a/"),
            ("http://a.example/a/b/.", "http://a.example/a/b/"),
            ("http://a.example/a//../b//", "http://a.example/a/b//"),
            ("http://a.example/%2e%2E/a", "http://a.example/a"),
            ("http://a.example/...?/../", "http://a.example/...?/../"),
            (
                "http://a.example/%7Ea%2f%c3%a9",
                "http://a.example/~a%2F%C3%A9",
            ),
            ("http://a.example/~a%2Fé", "http://a.example/~a%2F%C3%A9"),
            ("http://%41.Example/", "http://a.example/"),
            ("http://例え.JP/", "http://%E4%BE%8B%E3%81%88.jp/"),
            (
                "http://a.example/a b\\c|\"",
                "http://a.example/a%20b%5Cc%7C%22",
            ),
            ("http://a.example/%", "http://a.example/%25"),
            ("http://a.example/%zz%%41", "http://a.example/%25zz%25A"),
            ("http://a.example?", "http://a.example/?"),
            ("ftp://a.example:21/x", "ftp://a.example/x"),
            ("a+b://c", "a+b://c/"),
        ] {
            assert_eq!(normal(url).as_deref(), Some(expected.as_bytes()), "{url}");
        }
        let bytes = normal(b"http://a.example/\xff\x00?\x80").unwrap();
        assert_eq!(bytes, b"http://a.example/%FF%00?%80");
    }

    /// Promise (Deduplication): URLs are normalised as RFC 3986 …
    #[test]
    fn different_urls_differ() {
        let urls = [
            "http://a.example/",
            "https://a.example/",
            "http://www.a.example/",
            "http://a.example./",
            "http://a.example/?",
            "http://a.example/x",
            "http://a.example/x/",
            "http://a.example/X",
            "http://a.example/x?a&b",
            "http://a.example/x?b&a",
            "http://a.example/x?utm_source=y",
            "http://a.example/x%2F",
            "http://a.example/x+y",
            "http://a.example/x%20y",
            "http://u@a.example/",
            "http://a.example:8080/",
        ];
        let normal: std::collections::BTreeSet<_> = urls.iter().map(normal).collect();
        assert_eq!(normal.len(), urls.len());
    }

    #[test]
    fn what_has_no_host_is_no_url() {
        for text in [
            "",
            "n/a",
            "/path",
            "//a.example/",
            "a.example/x",
            "http:a.example",
            "http:///x",
            "http://",
            "http://:80/",
            "http://u@/",
            "file:///etc",
            "mailto:a@b.example",
            "urn:uuid:1",
            "1http://a.example",
            "http://a.example:port/",
            "http://[::1/",
            "http://[::1]x/",
            "<http://a.example/>",
            "ht tp://a.example/",
        ] {
            assert_eq!(normal(text), None, "{text}");
        }
    }

    /// Promise (Deduplication): URLs are normalised as RFC 3986 …
    #[test]
    fn long_urls_take_linear_time() {
        for part in ["/..", "/a/..", "//", "%", "%41", "a@", "[", ":"] {
            for before in ["http://a.example", "http://", "http://a.example/"] {
                normal(before.to_owned() + &part.repeat(1 << 20));
            }
        }
    }

    /// Characters of which several forms are equivalent.
    const PARTS: [&str; 26] = [
        "a", "Z", "0", "-", ".", "..", "~", "/", "%", "%41", "%7e", "%2e", "%2F", "%c3%A9", "é",
        "例", " ", "@", ":", "[", "]", "?", "=", "+", "\\", "%4",
    ];

    proptest! {
        /// Promise (Deduplication): URLs are normalised as RFC 3986 …
        #[test]
        fn a_normal_form_is_its_own(
            parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..30),
            bytes in prop::collection::vec(any::<u8>(), 0..9),
            prefix in prop::sample::select(vec!["", "http://", "http://a.example/", "s://u@[::1]:80/"]),
        ) {
            let url = [prefix.as_bytes(), parts.concat().as_bytes(), &bytes].concat();
            if let Some(once) = normal(&url) {
                prop_assert!(once.is_ascii());
                prop_assert_eq!(normal(&once), Some(once));
            }
        }

        /// Equal to what browsers do, where they do the same.
        /// Promise (Deduplication): URLs are normalised as RFC 3986 …
        #[test]
        fn ordinary_urls_are_those_of_the_url_crate(
            scheme in "[hH]ttps?",
            host in "[a-zA-Z]{1,9}(\\.[a-zA-Z]{2,5}){1,2}",
            port in prop::option::of(prop_oneof![Just(80u16), Just(443), 1u16..]),
            path in "(/([a-zA-Z0-9_~!$&'()*+,;=:@é例 -]|%2F|%C3%A9|\\.){0,6}){0,6}",
            query in prop::option::of("([a-zA-Z0-9_~!$&()*+,;=:@/?é例 -]|%2F){0,12}"),
            fragment in prop::option::of("[a-z/?]{0,5}"),
        ) {
            let mut url = format!("{scheme}://{host}");
            url += &port.map_or(String::new(), |port| format!(":{port}"));
            url += &path;
            url += &query.map_or(String::new(), |query| format!("?{query}"));
            url += &fragment.map_or(String::new(), |fragment| format!("#{fragment}"));
            let mut expected = url::Url::parse(&url).unwrap();
            expected.set_fragment(None);
            let found = normal(&url).unwrap();
            prop_assert_eq!(String::from_utf8(found).unwrap(), expected.as_str());
        }
    }
}
