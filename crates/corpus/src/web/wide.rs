//! Detection of UTF-16 and UTF-32, with or without a byte-order mark.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// A character set with units of two or four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wide {
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// UTF-32, low byte first.
    Utf32Le,
    /// UTF-32, high byte first.
    Utf32Be,
}

/// The byte-order marks. That of UTF-32 begins with that of UTF-16, so it comes first.
const MARKS: [(&[u8], Wide); 4] = [
    (b"\xff\xfe\0\0", Wide::Utf32Le),
    (b"\0\0\xfe\xff", Wide::Utf32Be),
    (b"\xff\xfe", Wide::Utf16Le),
    (b"\xfe\xff", Wide::Utf16Be),
];

/// The number of bytes examined; a multiple of four.
const SAMPLE_BYTES: usize = 4096;

/// Bytes that are searched for control characters at a time; their count fits one byte.
const PIECE_BYTES: usize = 128;

/// The number of bytes examined for NUL bytes.
const NUL_SAMPLE_BYTES: usize = 1024;

/// The minimum number of units for a decision by their values.
const MIN_UNITS: usize = 32;

/// The minimum number of units of UTF-32 without a byte-order mark.
const MIN_UNITS_OF_FOUR: usize = 4;

/// At most one in this number of characters of a text is a control or private-use character.
const RARE_SHARE: usize = 20;

/// At least one in this number of bytes of UTF-16 is a control character in single-byte character
/// sets.
const CONTROL_SHARE: usize = 64;

/// The same if all bytes are ASCII, such as those of Cyrillic letters.
const ASCII_CONTROL_SHARE: usize = 8;

impl Wide {
    /// The character set of the byte-order mark of `bytes`, and the length of the mark.
    pub fn marked(bytes: &[u8]) -> Option<(Wide, usize)> {
        let mut marks = MARKS.iter();
        let (mark, wide) = marks.find(|(mark, _)| bytes.starts_with(mark))?;
        Some((*wide, mark.len()))
    }

    /// The character set of `bytes` without a byte-order mark, if their values exclude other sets.
    ///
    /// Examines the first 4 KiB. Text is recognised as
    /// * UTF-32 if every unit is a character, and nearly all are usual in texts;
    /// * UTF-16 if a quarter of the bytes of one parity are NUL, and none of the other parity;
    /// * UTF-16 if it is not nearly UTF-8, has bytes that are control characters in single-byte
    ///   character sets, is valid, and its high bytes vary clearly less than its low bytes do.
    pub fn unmarked(bytes: &[u8]) -> Option<Wide> {
        let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
        let control = controls(sample);
        if control == 0 {
            return None;
        }
        let by_units = || {
            let has_many = match sample.is_ascii() {
                true => control * ASCII_CONTROL_SHARE >= sample.len() && sample.contains(&0),
                false => control * CONTROL_SHARE >= sample.len() && !is_nearly_utf_8(sample),
            };
            (has_many && sample.len() / 2 >= MIN_UNITS).then(|| utf_16(sample))?
        };
        utf_32(sample)
            .or_else(|| utf_16_by_nul(sample))
            .or_else(by_units)
    }

    /// The character set of `bytes`, marked or not.
    pub fn of(bytes: &[u8]) -> Option<Wide> {
        let marked = Wide::marked(bytes).map(|(wide, _)| wide);
        // The only other mark is that of UTF-8.
        marked.or_else(|| Wide::unmarked(bytes).filter(|_| !bytes.starts_with(b"\xef\xbb\xbf")))
    }

    /// The name of the character set.
    pub fn name(self) -> &'static str {
        match self {
            Wide::Utf16Le => "UTF-16LE",
            Wide::Utf16Be => "UTF-16BE",
            Wide::Utf32Le => "UTF-32LE",
            Wide::Utf32Be => "UTF-32BE",
        }
    }

    /// The decoder of `encoding_rs`; `None` for UTF-32, which it lacks.
    pub(super) fn encoding(self) -> Option<&'static Encoding> {
        match self {
            Wide::Utf16Le => Some(UTF_16LE),
            Wide::Utf16Be => Some(UTF_16BE),
            Wide::Utf32Le | Wide::Utf32Be => None,
        }
    }

    /// Decodes UTF-32 to `text`, which is cleared first. Returns whether some units are invalid. Each
    /// byte becomes at most one byte of text, with three more in total.
    pub(super) fn decode_utf_32(self, bytes: &[u8], text: &mut String) -> bool {
        text.clear();
        let (units, rest) = bytes.as_chunks::<4>();
        let mut is_broken = !rest.is_empty();
        for &unit in units {
            let character = char::from_u32(self.unit_of_four(unit));
            is_broken |= character.is_none();
            text.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if !rest.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        is_broken
    }

    fn unit_of_four(self, bytes: [u8; 4]) -> u32 {
        match self {
            Wide::Utf16Le | Wide::Utf32Le => u32::from_le_bytes(bytes),
            Wide::Utf16Be | Wide::Utf32Be => u32::from_be_bytes(bytes),
        }
    }
}

/// Whether the bytes contain UTF-8 characters beyond ASCII, and few invalid ones.
pub(super) fn is_nearly_utf_8(sample: &[u8]) -> bool {
    let mut wide = 0usize;
    let mut wrong = 0usize;
    for chunk in sample.utf8_chunks() {
        let characters = chunk.valid().chars();
        wide += characters.filter(|character| !character.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    wide > 0 && wrong <= wide / 10
}

/// The number of control characters that are unusual in text.
///
/// Every text is searched for them, so both loops over a piece have no branches and become vector
/// instructions. Most pieces have no control characters at all, which the first one sees.
fn controls(sample: &[u8]) -> usize {
    let below = |byte: u8| (byte < b' ') | (byte == b'\x7f');
    let has_any = |piece: &&[u8]| piece.iter().fold(false, |any, &byte| any | below(byte));
    let count = |piece: &[u8]| -> u8 { piece.iter().map(|&byte| u8::from(is_control(byte))).sum() };
    let pieces = sample.chunks(PIECE_BYTES).filter(has_any);
    pieces.map(|piece| usize::from(count(piece))).sum()
}

/// Whether `byte` is a control character that is unusual in text.
fn is_control(byte: u8) -> bool {
    let is_layout =
        (byte == b'\t') | (byte == b'\n') | (byte == b'\x0c') | (byte == b'\r') | (byte == b'\x1b');
    ((byte < b' ') | (byte == b'\x7f')) & !is_layout
}

/// Whether `byte` is a control character that is usual in text.
fn is_layout(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b'\x1b')
}

/// Whether a character is rare in texts; `None` if it never occurs in texts.
fn is_rare(character: char) -> Option<bool> {
    let value = u32::from(character);
    let is_impossible = value == 0 || value & 0xfffe == 0xfffe || matches!(value, 0xfdd0..=0xfdef);
    let is_layout = u8::try_from(value).is_ok_and(is_layout);
    let is_private = matches!(value, 0xe000..=0xf8ff | 0x3_0000..);
    (!is_impossible).then_some(is_private || (character.is_control() && !is_layout))
}

/// Whether few of the characters are rare in texts, and all can occur.
fn are_text(characters: impl Iterator<Item = Option<char>>) -> bool {
    let (mut count, mut rare) = (0, 0);
    for character in characters {
        let Some(is_rare_character) = character.and_then(is_rare) else {
            return false;
        };
        count += 1;
        rare += usize::from(is_rare_character);
    }
    rare * RARE_SHARE <= count
}

fn utf_32(sample: &[u8]) -> Option<Wide> {
    let (units, _) = sample.as_chunks::<4>();
    let is_one = |wide: &Wide| {
        let unit = |&unit: &[u8; 4]| char::from_u32(wide.unit_of_four(unit));
        units.len() >= MIN_UNITS_OF_FOUR && are_text(units.iter().map(unit))
    };
    [Wide::Utf32Le, Wide::Utf32Be].into_iter().find(is_one)
}

/// UTF-16 recognised by NUL bytes: markup and spaces are ASCII, so every other byte is often NUL, and
/// the bytes between them never are.
fn utf_16_by_nul(sample: &[u8]) -> Option<Wide> {
    let (pairs, _) = sample[..sample.len().min(NUL_SAMPLE_BYTES)].as_chunks::<2>();
    let nul = |at: usize| pairs.iter().filter(|pair| pair[at] == 0).count();
    if pairs.len() < 2 {
        return None;
    }
    match (nul(0), nul(1)) {
        (0, low) if low * 4 >= pairs.len() => Some(Wide::Utf16Le),
        (high, 0) if high * 4 >= pairs.len() => Some(Wide::Utf16Be),
        _ => None,
    }
}

/// UTF-16 recognised by the distribution of bytes. A script has few high bytes and many low bytes, so
/// bytes at high positions are equal more often. In single-byte character sets there is no difference.
fn utf_16(sample: &[u8]) -> Option<Wide> {
    let (pairs, _) = sample.as_chunks::<2>();
    let equal = |at: usize| {
        let mut counts = [0u64; 256];
        pairs
            .iter()
            .for_each(|pair| counts[usize::from(pair[at])] += 1);
        counts
            .iter()
            .map(|count| count * count.saturating_sub(1))
            .sum::<u64>()
    };
    let (first, second) = (equal(0), equal(1));
    let (wide, read): (Wide, fn([u8; 2]) -> u16) = if 2 * second > 3 * first {
        (Wide::Utf16Le, u16::from_le_bytes)
    } else if 2 * first > 3 * second {
        (Wide::Utf16Be, u16::from_be_bytes)
    } else {
        return None;
    };
    // The sample may end within a surrogate pair.
    let is_cut = |&&pair: &&[u8; 2]| matches!(read(pair), 0xd800..=0xdbff);
    let end = pairs.len() - usize::from(pairs.last().filter(is_cut).is_some());
    let units = pairs[..end].iter().map(|&pair| read(pair));
    are_text(char::decode_utf16(units).map(Result::ok)).then_some(wide)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXTS: [&str; 9] = [
        "近重复文本检测的目标是在大规模网页中找出内容几乎相同的页面，然后只保留其中的一个。一般来说，先计算指纹，再比较距离。",
        "これは文字コードの判定を確かめるための日本語の文章です。一つの頁に、多くの文字があります。",
        "이 글은 문자 집합을 알아내는지 시험하려고 쓴 한국어 문장이며, 조금 더 길어야 한다. 그래서 한 줄을 더 쓴다.",
        "Поиск почти одинаковых текстов в больших собраниях страниц.",
        "Αναζήτηση σχεδόν όμοιων κειμένων σε μεγάλες συλλογές σελίδων.",
        "חיפוש טקסטים כמעט זהים באוספים גדולים של דפים מן הרשת.",
        "البحث عن النصوص المتشابهة في مجموعات كبيرة من الصفحات.",
        "การค้นหาข้อความที่คล้ายกันมาก ในชุดหน้าเว็บขนาดใหญ่ครับ",
        "Plain words, größer, 😀 and so on.",
    ];

    fn encoded(text: &str, wide: Wide) -> Vec<u8> {
        let units = || text.encode_utf16();
        let values = || text.chars().map(u32::from);
        match wide {
            Wide::Utf16Le => units().flat_map(u16::to_le_bytes).collect(),
            Wide::Utf16Be => units().flat_map(u16::to_be_bytes).collect(),
            Wide::Utf32Le => values().flat_map(u32::to_le_bytes).collect(),
            Wide::Utf32Be => values().flat_map(u32::to_be_bytes).collect(),
        }
    }

    const ALL: [Wide; 4] = [Wide::Utf16Le, Wide::Utf16Be, Wide::Utf32Le, Wide::Utf32Be];

    #[test]
    fn texts_of_many_scripts_are_recognised() {
        for text in TEXTS {
            for wide in ALL {
                for text in [text.to_owned(), text.repeat(100)] {
                    assert_eq!(
                        Wide::of(&encoded(&text, wide)),
                        Some(wide),
                        "{wide:?} {text}"
                    );
                    let marked = encoded(&format!("\u{feff}{text}"), wide);
                    assert_eq!(Wide::of(&marked), Some(wide), "{wide:?} {text}");
                    assert_eq!(Wide::marked(&marked).map(|(wide, _)| wide), Some(wide));
                }
            }
        }
    }

    /// Promise (Deduplication): HTML gives the same text in …
    #[test]
    fn texts_of_other_character_sets_are_not_wide() {
        use encoding_rs::{BIG5, EUC_JP, EUC_KR, GB18030, GBK, SHIFT_JIS};
        use encoding_rs::{ISO_8859_7, KOI8_R, UTF_8, WINDOWS_874, WINDOWS_1251, WINDOWS_1252};
        let all = [
            BIG5,
            EUC_JP,
            EUC_KR,
            GB18030,
            GBK,
            SHIFT_JIS,
            ISO_8859_7,
            KOI8_R,
            UTF_8,
            WINDOWS_874,
            WINDOWS_1251,
            WINDOWS_1252,
        ];
        for text in TEXTS {
            for encoding in all {
                let (bytes, _, _) = encoding.encode(text);
                let mut noisy = bytes.to_vec();
                assert_eq!(Wide::of(&noisy), None, "{} {text}", encoding.name());
                noisy.insert(noisy.len() / 2, 0);
                assert_eq!(Wide::of(&noisy), None, "{} {text}", encoding.name());
            }
        }
    }

    #[test]
    fn unusual_control_characters_are_those_that_are_no_layout() {
        for byte in 0..=u8::MAX {
            let expected = byte.is_ascii_control() && !is_layout(byte);
            assert_eq!(is_control(byte), expected, "{byte}");
        }
        let all: Vec<u8> = (0..=u8::MAX).collect();
        let expected = all.iter().filter(|byte| is_control(**byte)).count();
        assert_eq!(controls(&all.repeat(9)), 9 * expected);
    }

    #[test]
    fn numbers_and_noise_are_not_text() {
        let noise = |number: u32| number.wrapping_mul(2_654_435_761);
        let bytes: Vec<u8> = (0..2000)
            .map(|number| (noise(number) >> 13) as u8)
            .collect();
        let counts: Vec<u8> = (0..1000u32).flat_map(u32::to_le_bytes).collect();
        let large: Vec<u8> = (0..1000)
            .flat_map(|number| noise(number).to_be_bytes())
            .collect();
        let sound: Vec<u8> = (0..2000u32)
            .map(|number| ((f64::from(number) / 9.0).sin() * 900.0) as i16)
            .flat_map(i16::to_le_bytes)
            .collect();
        for bytes in [bytes, counts, large, sound, vec![0; 4096], vec![1; 4096]] {
            assert_eq!(Wide::of(&bytes), None);
        }
    }

    #[test]
    fn damaged_units_become_replacement_characters() {
        let mut text = String::from("before");
        for wide in [Wide::Utf32Le, Wide::Utf32Be] {
            let mut bytes = encoded("a汉😀", wide);
            assert!(!wide.decode_utf_32(&bytes, &mut text));
            assert_eq!(text, "a汉😀");
            bytes.extend([0xd8; 5]);
            assert!(wide.decode_utf_32(&bytes, &mut text));
            assert_eq!(text, "a汉😀\u{fffd}\u{fffd}");
        }
    }

    proptest! {
        #[test]
        fn control_characters_are_counted(bytes in prop::collection::vec(0..140u8, 0..700)) {
            let expected = bytes.iter().filter(|byte| is_control(**byte)).count();
            prop_assert_eq!(controls(&bytes), expected);
        }
    }

    proptest! {
        #[test]
        fn utf_32_is_decoded(text in "\\PC{4,60}") {
            for wide in [Wide::Utf32Le, Wide::Utf32Be] {
                let bytes = encoded(&text, wide);
                let mut decoded = String::new();
                prop_assert!(!wide.decode_utf_32(&bytes, &mut decoded));
                prop_assert_eq!(&decoded, &text);
            }
        }

        #[test]
        fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(wide) = Wide::of(&bytes) {
                prop_assert!(wide.decode_utf_32(&bytes, &mut String::new()) || !bytes.is_empty());
            }
        }
    }
}
