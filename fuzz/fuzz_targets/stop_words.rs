//! A list of stop words, its folded form and its parts hold the same tokens.
#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use simtool::text::stop_words;

fuzz_target!(|list: &[u8]| {
    let found = stop_words(list);
    let text = list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list);
    let is_space = |byte: &u8| b" \t\n\x0b\x0c\r".contains(byte);
    let tokens: Vec<&[u8]> = text
        .split(is_space)
        .filter(|token| !token.is_empty())
        .collect();
    let folded: HashSet<Vec<u8>> = tokens
        .iter()
        .map(|token| token.to_ascii_lowercase())
        .collect();
    assert!(found.len() == folded.len() && found.iter().all(|word| folded.contains(word)));
    let lines = [b" ".to_vec(), tokens.join(&b"\r\n"[..])].concat();
    assert_eq!(stop_words(&lines.to_ascii_uppercase()), found);
});
