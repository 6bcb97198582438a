//! Chinese characters by rank.

/// The number of common characters: that of level 1 of GB2312.
pub(crate) const COMMON: u64 = 3755;
/// The number of characters: U+4E00 to U+9FA5, the unified ideographs of Unicode 1.
pub(crate) const CHARACTERS: u64 = 20_902;

/// Appends the character of a rank below [`CHARACTERS`], in UTF-8.
///
/// Characters of adjacent ranks are 7919 code points apart. 7919 is a prime that does not divide
/// 20 902, so distinct ranks give distinct characters.
pub(crate) fn write_character(rank: u64, out: &mut Vec<u8>) {
    let code = 0x4e00 + (rank * 7919 + 1) % CHARACTERS;
    // Three bytes for every code point from U+0800 to U+FFFF.
    out.extend_from_slice(&[
        0xe0 | (code >> 12) as u8,
        0x80 | (code >> 6 & 0x3f) as u8,
        0x80 | (code & 0x3f) as u8,
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn are_distinct_ideographs() {
        let mut bytes = Vec::new();
        (0..CHARACTERS).for_each(|rank| write_character(rank, &mut bytes));
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.chars()
                .all(|character| ('\u{4e00}'..='\u{9fa5}').contains(&character))
        );
        assert_eq!(
            text.chars().collect::<HashSet<_>>().len() as u64,
            CHARACTERS
        );
    }
}
