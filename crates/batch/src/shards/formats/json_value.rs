//! Values as JSON.

use serde::Serialize;

/// The lowest bit of each byte, and the highest.
const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Appends a value as JSON.
pub fn append<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(out, value);
}

/// Appends a long text as a JSON string: as [`append`], in half the time.
pub fn append_text(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + text.len() / 32 + 2);
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, escaped) = rest.split_at(plain_bytes(rest));
        out.extend_from_slice(plain);
        let Some((&byte, behind)) = escaped.split_first() else {
            break;
        };
        rest = behind;
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            _ => {
                let from = out.len();
                append(out, &char::from(byte));
                // Without its quotes.
                out.remove(from);
                out.pop();
            }
        }
    }
    out.push(b'"');
}

/// The number of bytes before the first one that a JSON string has to escape.
fn plain_bytes(text: &[u8]) -> usize {
    let (words, rest) = text.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest high bit of each is that of the first byte below a space, and of the first zero.
        let below = |word: u64, least: u64| word.wrapping_sub(LOW * least) & !word & HIGH;
        let quotes = below(word ^ (LOW * u64::from(b'"')), 1);
        let slashes = below(word ^ (LOW * u64::from(b'\\')), 1);
        let found = below(word, 0x20) | quotes | slashes;
        if found != 0 {
            return 8 * number + found.trailing_zeros() as usize / 8;
        }
    }
    let is_escaped = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
    let last = rest.iter().position(is_escaped).unwrap_or(rest.len());
    8 * words.len() + last
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_are_written_like_other_values(
            parts in prop::collection::vec("[ -~é中]{0,20}|[\\x00-\\x7f]{0,3}|[\"\\\\\n]{0,2}", 0..12),
        ) {
            let text = parts.concat();
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            append_text(&mut found, &text);
            append(&mut expected, &text);
            prop_assert_eq!(String::from_utf8(found), String::from_utf8(expected));
        }
    }
}
