//! Decoded content is within its bound, and encoded content is decoded to the original.
//!
//! Promise (Deduplication): Every parser accepts any bytes; memory …
#![no_main]

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use libfuzzer_sys::fuzz_target;
use simtool::corpus::Reason;
use simtool::corpus::web::content_encoding::decode;

const NAMES: [&str; 8] = [
    "gzip",
    "deflate",
    "br",
    "zstd",
    "br, gzip",
    "x, zstd,gzip",
    "deflate,deflate",
    "gzip,gzip,gzip,gzip",
];

macro_rules! finish {
    ($encoder:ident, $text:ident) => {{
        let mut encoder = $encoder::new(Vec::new(), Compression::fast());
        encoder.write_all($text)?;
        encoder.finish()
    }};
}

/// Encodes a text as a whole.
type Encode = fn(&[u8]) -> io::Result<Vec<u8>>;

fuzz_target!(|input: (u8, u16, &[u8])| {
    let (choice, most, bytes) = (input.0, usize::from(input.1), input.2);
    let names = NAMES[usize::from(choice) % NAMES.len()];
    let (mut body, mut scratch) = (bytes.to_vec(), Vec::new());
    let values = || std::iter::once(names.as_bytes());
    let done = decode(values(), &mut body, &mut scratch, most);
    assert!(done.is_err() || body == bytes || body.len() <= most);
    for buffer in [&body, &scratch] {
        assert!(
            buffer.capacity() <= bytes.len().max(2 * most + 64),
            "{}",
            buffer.capacity()
        );
    }

    let encode: [(&str, Encode); 4] = [
        ("gzip", |text| finish!(GzEncoder, text)),
        ("deflate", |text| finish!(ZlibEncoder, text)),
        ("deflate", |text| finish!(DeflateEncoder, text)),
        ("zstd", |text| zstd::bulk::compress(text, 1)),
    ];
    let (name, encode) = encode[usize::from(choice) / NAMES.len() % encode.len()];
    let mut body = encode(bytes).expect("in memory");
    let done = decode(
        std::iter::once(name.as_bytes()),
        &mut body,
        &mut scratch,
        most,
    );
    match done {
        Ok(()) => assert!(body == bytes && bytes.len() <= most),
        Err((reason, _)) => assert!(reason == Reason::TooLarge && bytes.len() > most),
    }
});
