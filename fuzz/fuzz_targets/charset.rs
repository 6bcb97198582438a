//! The text is that of the bytes in the named character set, and at most three times as long.
//!
//! Promise (Deduplication): Every parser accepts any bytes; memory …
#![no_main]

use encoding_rs::Encoding;
use libfuzzer_sys::fuzz_target;
use simtool::corpus::web::charset::decode;

// The first line of the bytes is the header.
fuzz_target!(|input: (bool, &[u8])| {
    let (is_html, bytes) = input;
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(0);
    let (header, bytes) = bytes.split_at(end);
    let mut buffer = "of an earlier page".to_owned();
    let found = decode(bytes, header, is_html, &mut buffer);
    assert!(
        found.text.len() <= 3 * bytes.len(),
        "{} of {}",
        found.text.len(),
        bytes.len()
    );

    // The reference library does not support UTF-32.
    let Some(encoding) = Encoding::for_label(found.charset.as_bytes()) else {
        assert!(found.charset.starts_with("UTF-32"));
        return;
    };
    let mark = Encoding::for_bom(bytes);
    assert!(mark.is_none_or(|(mark, _)| mark == encoding));
    let behind = &bytes[mark.map_or(0, |(_, length)| length)..];
    let (text, broken) = encoding.decode_without_bom_handling(behind);
    assert_eq!((found.text, found.broken), (&*text, broken));

    let is_labelled = bytes.contains(&b'<') || !header.is_empty();
    // Encodings of two-byte units, and ISO-2022-JP.
    let has_control = bytes.iter().any(u8::is_ascii_control);
    if !is_labelled && mark.is_none() && !has_control && str::from_utf8(bytes).is_ok() {
        assert_eq!(found.text.as_bytes(), bytes);
    }
});
