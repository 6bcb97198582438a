//! The site of a URL.

use xxhash_rust::xxh3::xxh3_64;

/// The site of a URL, as the 64-bit xxh3 hash of its host in lower case.
///
/// User, port and a final dot are ignored; a leading `www.` is not. A URL without a host has none.
///
/// ```
/// use simtool_core::dedup::keep::site;
/// assert_eq!(site(b"https://Example.org:8080/a"), site(b"http://example.org"));
/// assert_ne!(site(b"https://www.example.org/"), site(b"https://example.org/"));
/// assert_eq!(site(b"mailto:a@example.org"), None);
/// ```
pub fn site(url: &[u8]) -> Option<u64> {
    let host = host(url);
    (!host.is_empty()).then(|| xxh3_64(&host.to_ascii_lowercase()))
}

/// The host of a URL as it is written there; empty if there is none.
pub fn host(url: &[u8]) -> &[u8] {
    let Some(slashes) = url.windows(2).position(|pair| pair == b"//") else {
        return &[];
    };
    // Two slashes elsewhere belong to the path.
    if !(slashes == 0 || url[..slashes].ends_with(b":")) {
        return &[];
    }
    let rest = &url[slashes + 2..];
    let is_end = |byte: &u8| matches!(byte, b'/' | b'?' | b'#' | b'\\');
    let authority = rest.split(is_end).next().unwrap_or_default();
    let named = authority.rsplit(|byte| *byte == b'@').next();
    let named = named.unwrap_or_default();
    let host = match named.iter().position(|byte| *byte == b']') {
        // An IPv6 address, which contains colons.
        Some(bracket) if named.starts_with(b"[") => &named[..=bracket],
        _ => named.split(|byte| *byte == b':').next().unwrap_or_default(),
    };
    host.strip_suffix(b".").unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_urls() {
        for (url, expected) in [
            ("http://example.org", "example.org"),
            ("http://example.org./x//y", "example.org"),
            ("https://user:word@example.org:443/?q=a@b", "example.org"),
            ("//example.org#x", "example.org"),
            ("http://[::1]:80/", "[::1]"),
            ("http://例え.jp/", "例え.jp"),
            ("mailto:a@b", ""),
            ("path//file", ""),
            ("http://", ""),
            ("", ""),
        ] {
            assert_eq!(host(url.as_bytes()), expected.as_bytes(), "{url}");
        }
    }
}
