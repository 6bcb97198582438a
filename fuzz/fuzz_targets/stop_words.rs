//! A list of stop words and its parts hold the same tokens.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::text::stop_words;

fuzz_target!(|list: &[u8]| {
    let found: Vec<&[u8]> = stop_words(list).collect();
    let text = list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list);
    let is_space = |byte: &u8| b" \t\n\x0b\x0c\r".contains(byte);
    let tokens: Vec<&[u8]> = text
        .split(is_space)
        .filter(|token| !token.is_empty())
        .collect();
    assert_eq!(found, tokens);
    let lines = [b" ".to_vec(), tokens.join(&b"\r\n"[..])].concat();
    assert!(stop_words(&lines).eq(found));
});
