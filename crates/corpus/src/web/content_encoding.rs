//! Compressed bodies: gzip, deflate, br, zstd.
//!
//! Source: RFC 9110 §8.4, RFC 8878, RFC 9659 (the window of zstd). As in browsers, `deflate`
//! means zlib or raw deflate. Archives often store an uncompressed body although the headers name an
//! encoding; such a body is left unchanged.

use std::io::{self, BufRead, Read};

use super::Reason;

/// The maximum number of nested encodings; a body with more is refused.
const MAX_LAYERS: usize = 4;

/// The binary logarithm of the maximum window of zstd frames in web pages: 8 MiB (RFC 9659).
const ZSTD_WINDOW_LOG: u32 = 23;

/// A compression of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Encoding {
    fn named(name: &[u8]) -> Option<Encoding> {
        let known: [(&[u8], Encoding); 5] = [
            (b"gzip", Encoding::Gzip),
            (b"x-gzip", Encoding::Gzip),
            (b"deflate", Encoding::Deflate),
            (b"br", Encoding::Brotli),
            (b"zstd", Encoding::Zstd),
        ];
        let found = known
            .iter()
            .find(|(known, _)| name.eq_ignore_ascii_case(known));
        found.map(|(_, encoding)| *encoding)
    }
}

/// Decodes `body`. `values` are those of its Content-Encoding headers, which name its encodings.
///
/// The result is in `body`; `scratch` is a reusable buffer. Unknown names, such as `identity`, are
/// ignored.
///
/// # Memory
///
/// Twice `most_bytes` in each buffer, and a window: at most 16 MiB for Brotli (RFC 7932), 8 MiB for
/// zstd.
///
/// # Errors
///
/// [`Reason::TooLarge`] if a result has more than `most_bytes`. [`Reason::BadEncoding`] if the
/// bytes cannot be decompressed and are not text, or if more than four encodings are named.
pub fn decode<'v>(
    values: impl Iterator<Item = &'v [u8]>,
    body: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
    most_bytes: usize,
) -> Result<(), (Reason, String)> {
    let names = values.flat_map(|value| value.split(|&byte| byte == b','));
    let mut layers = [None; MAX_LAYERS];
    let mut free = layers.iter_mut();
    for encoding in names.filter_map(|name| Encoding::named(name.trim_ascii())) {
        let layer = free.next().ok_or_else(|| {
            (
                Reason::BadEncoding,
                format!("more than {MAX_LAYERS} content encodings"),
            )
        })?;
        *layer = Some(encoding);
    }
    // The last one in the list was applied last.
    for encoding in layers.into_iter().flatten().rev() {
        scratch.clear();
        if decode_one(encoding, body, scratch, most_bytes)? {
            std::mem::swap(body, scratch);
        }
    }
    Ok(())
}

/// Decodes into `out`. Returns `false` if `body` is not encoded.
fn decode_one(
    encoding: Encoding,
    body: &[u8],
    out: &mut Vec<u8>,
    most_bytes: usize,
) -> Result<bool, (Reason, String)> {
    let magic: &[u8] = match encoding {
        Encoding::Gzip => b"\x1f\x8b",
        Encoding::Zstd => b"\x28\xb5\x2f\xfd",
        Encoding::Deflate | Encoding::Brotli => b"",
    };
    if body.is_empty() || !body.starts_with(magic) {
        return Ok(false);
    }
    let result = match encoding {
        Encoding::Gzip => read_members(body, out, most_bytes),
        Encoding::Deflate => read_deflate(body, out, most_bytes),
        Encoding::Brotli => read_brotli(body, out, most_bytes),
        Encoding::Zstd => read_zstd(body, out, most_bytes),
    };
    match result {
        Ok(()) => Ok(true),
        Err(Failure::TooLarge) => Err((
            Reason::TooLarge,
            format!("decompresses to more than {most_bytes} bytes"),
        )),
        Err(Failure::Damaged(_)) if is_text(body) => Ok(false),
        Err(Failure::Damaged(error)) => Err((
            Reason::BadEncoding,
            format!("{encoding:?} content encoding: {error}"),
        )),
    }
}

/// Brotli with the windows of RFC 7932. The library also supports larger ones, up to 1 GiB, which are
/// announced by a value of the first seven bits that RFC 7932 does not permit.
fn read_brotli(body: &[u8], out: &mut Vec<u8>, most_bytes: usize) -> Result<(), Failure> {
    const LARGE_WINDOW: u8 = 0x11;
    if body
        .first()
        .is_some_and(|first| first & 0x7f == LARGE_WINDOW)
    {
        let message = "the window is larger than RFC 7932 permits";
        return Err(Failure::Damaged(io::Error::other(message)));
    }
    let decoder = brotli_decompressor::Decompressor::new(body, 4096);
    read_within(decoder, out, most_bytes)
}

enum Failure {
    TooLarge,
    Damaged(io::Error),
}

/// Reads to the end, unless `out` would exceed `most_bytes`.
fn read_within(reader: impl Read, out: &mut Vec<u8>, most_bytes: usize) -> Result<(), Failure> {
    let capacity = most_bytes.saturating_sub(out.len()) as u64;
    reader
        .take(capacity.saturating_add(1))
        .read_to_end(out)
        .map_err(Failure::Damaged)?;
    if out.len() > most_bytes {
        Err(Failure::TooLarge)
    } else {
        Ok(())
    }
}

/// Reads consecutive gzip members; bytes after them are ignored.
fn read_members(mut body: &[u8], out: &mut Vec<u8>, most_bytes: usize) -> Result<(), Failure> {
    while body.starts_with(b"\x1f\x8b") {
        let mut decoder = flate2::bufread::GzDecoder::new(body);
        read_within(&mut decoder, out, most_bytes)?;
        body = decoder.into_inner();
    }
    Ok(())
}

fn read_deflate(body: &[u8], out: &mut Vec<u8>, most_bytes: usize) -> Result<(), Failure> {
    let zlib = read_within(flate2::bufread::ZlibDecoder::new(body), out, most_bytes);
    let Err(Failure::Damaged(_)) = zlib else {
        return zlib;
    };
    out.clear();
    read_within(flate2::bufread::DeflateDecoder::new(body), out, most_bytes)
}

fn read_zstd(body: impl BufRead, out: &mut Vec<u8>, most_bytes: usize) -> Result<(), Failure> {
    let mut decoder = zstd::Decoder::with_buffer(body).map_err(Failure::Damaged)?;
    decoder
        .window_log_max(ZSTD_WINDOW_LOG)
        .map_err(Failure::Damaged)?;
    read_within(decoder, out, most_bytes)
}

/// Whether the bytes begin like text: without control characters except white space.
fn is_text(bytes: &[u8]) -> bool {
    let control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    !bytes.iter().take(512).any(control)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::gzip;
    use proptest::prelude::*;
    use std::io::Write;

    /// "hello", compressed with Python's brotli.
    const BROTLI: &[u8] = b"\x0b\x02\x80hello\x03";

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn decoded(names: &str, body: &[u8], most_bytes: usize) -> Result<Vec<u8>, Reason> {
        let mut body = body.to_vec();
        let values = std::iter::once(names.as_bytes());
        let result = decode(values, &mut body, &mut Vec::new(), most_bytes);
        result.map(|()| body).map_err(|(reason, _)| reason)
    }

    #[test]
    fn every_encoding() {
        let text = b"hello".as_slice();
        let deflate = {
            let zlib = zlib(text);
            zlib[2..zlib.len() - 4].to_vec()
        };
        let cases = [
            ("gzip", gzip(text)),
            ("X-GZip", gzip(text)),
            ("deflate", zlib(text)),
            ("deflate", deflate),
            ("br", BROTLI.to_vec()),
            ("zstd", zstd::encode_all(text, 3).unwrap()),
            ("identity, gzip", gzip(text)),
            (
                "gzip",
                [gzip(b"hel"), gzip(b"lo"), b"trailing".to_vec()].concat(),
            ),
        ];
        for (names, body) in cases {
            assert_eq!(decoded(names, &body, 5).as_deref(), Ok(text), "{names}");
            assert_eq!(decoded(names, &body, 4), Err(Reason::TooLarge), "{names}");
        }
        let twice = gzip(&zlib(text));
        assert_eq!(decoded("deflate, gzip", &twice, 100).as_deref(), Ok(text));
    }

    #[test]
    fn unencoded_bodies_are_unchanged() {
        for names in ["gzip", "deflate", "br", "zstd", "none"] {
            assert_eq!(
                decoded(names, b"<p>hello", 100).as_deref(),
                Ok(&b"<p>hello"[..]),
                "{names}"
            );
            assert_eq!(decoded(names, b"", 100).as_deref(), Ok(&b""[..]), "{names}");
        }
    }

    #[test]
    fn broken_bodies_are_refused() {
        let whole = gzip(&b"hello ".repeat(100));
        assert_eq!(
            decoded("gzip", &whole[..whole.len() - 9], 1000),
            Err(Reason::BadEncoding)
        );
        assert_eq!(
            decoded("br", b"\x00\x01\x02\xff\xff\xff", 1000),
            Err(Reason::BadEncoding)
        );
        assert_eq!(
            decoded("gzip,gzip,gzip,gzip,gzip", b"x", 10),
            Err(Reason::BadEncoding)
        );
    }

    /// Promise (Deduplication): Every parser accepts any bytes; memory …
    #[test]
    fn large_windows_of_brotli_are_refused() {
        // The first four bits of BROTLI are the window; here, fourteen. "hello" begins at a byte.
        let header = u64::from_le_bytes([BROTLI[0], BROTLI[1], BROTLI[2], 0, 0, 0, 0, 0]);
        let header = (header >> 4) << 14 | 30 << 8 | 0x11;
        let large = [&header.to_le_bytes()[..5], &BROTLI[3..]].concat();
        let mut text = String::new();
        let mut decoder = brotli_decompressor::Decompressor::new(&large[..], 4096);
        decoder.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
        assert_eq!(decoded("br", &large, 100), Err(Reason::BadEncoding));
    }

    #[test]
    fn bombs_are_stopped() {
        let bomb = gzip(&gzip(&vec![0; 20 << 20]));
        assert!(bomb.len() < 10_000);
        assert_eq!(decoded("gzip, gzip", &bomb, 1 << 20), Err(Reason::TooLarge));
    }

    proptest! {
        #[test]
        fn nothing_panics(
            body in prop::collection::vec(any::<u8>(), 0..300),
            name in prop::sample::select(vec!["gzip", "deflate", "br", "zstd", "br, br"]),
            at in 0usize..60,
            byte in any::<u8>(),
        ) {
            let mut spoiled = match name {
                "gzip" => gzip(&body),
                "deflate" => zlib(&body),
                "zstd" => zstd::encode_all(&body[..], 1).unwrap(),
                _ => BROTLI.to_vec(),
            };
            if let Some(place) = spoiled.get_mut(at) {
                *place = byte;
            }
            for body in [body, spoiled] {
                if let Ok(out) = decoded(name, &body, 400) {
                    prop_assert!(out.len() <= 400);
                }
            }
        }
    }
}
