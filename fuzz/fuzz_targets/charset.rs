//! The text is what the named character set makes of the bytes, and at most three times as long.
#![no_main]

use encoding_rs::Encoding;
use libfuzzer_sys::fuzz_target;
use simtool::corpus::web::charset::decode;

// Of the bytes, the first line is the header.
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

    let encoding = Encoding::for_label(found.charset.as_bytes()).expect("a name of the list");
    let mark = Encoding::for_bom(bytes);
    assert!(mark.is_none_or(|(mark, _)| mark == encoding));
    let behind = &bytes[mark.map_or(0, |(_, length)| length)..];
    let (text, broken) = encoding.decode_without_bom_handling(behind);
    assert_eq!((found.text, found.broken), (&*text, broken));

    let is_labelled = bytes.contains(&b'<') && is_html || !header.is_empty();
    if !is_labelled && mark.is_none() && !bytes.contains(&0) && str::from_utf8(bytes).is_ok() {
        assert_eq!(found.text.as_bytes(), bytes);
    }
});
