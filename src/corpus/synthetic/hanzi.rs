//! Chinese characters from their rank.

/// How many characters are common: as many as level 1 of GB2312 holds.
pub(super) const COMMON: u64 = 3755;
/// How many characters there are: U+4E00 to U+9FA5, the unified ideographs of Unicode 1.
pub(super) const CHARACTERS: u64 = 20_902;

/// Appends the character of a rank below [`CHARACTERS`], in UTF-8.
///
/// Neighbours in rank lie 7919 code points apart; 7919 is a prime that does not divide 20 902, so
/// distinct ranks give distinct characters.
pub(super) fn write_character(rank: u64, out: &mut Vec<u8>) {
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
