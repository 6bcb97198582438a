//! The language of a document: as a field or header says, else as detected.

use super::language_codes::canonical;

/// The fields and headers that name a language, the preferred one first. Header names are those of
/// WET files and of HTTP.
pub const FIELDS: [&str; 4] = [
    "language",
    "lang",
    "WARC-Identified-Content-Language",
    "Content-Language",
];

/// The characters at the beginning of a text by which its language is detected, and the most bytes of
/// a character.
const DETECTED_CHARACTERS: usize = 1000;
const CHARACTER_BYTES: usize = 4;

/// The code of the language that a field names: the first of a list, without script and region. Codes of
/// ISO 639-1 and 639-2 become those of 639-3; other names are used as they are. `None` if it names
/// none, such as `und`.
pub fn written(value: &[u8]) -> Option<Vec<u8>> {
    let first = value
        .split(|byte| b",; ".contains(byte))
        .find(|part| !part.is_empty())?;
    let tag = first.split(|byte| b"-_".contains(byte)).next()?;
    let tag = tag.to_ascii_lowercase();
    match &tag[..] {
        b"" | b"und" | b"unk" | b"unknown" | b"mis" | b"mul" | b"zxx" | b"none" | b"null" => None,
        code => Some(canonical(code).to_vec()),
    }
}

/// The code of the language of a text, if its beginning shows it reliably.
pub fn detected(text: &[u8]) -> Option<Vec<u8>> {
    let beginning = &text[..text.len().min(CHARACTER_BYTES * DETECTED_CHARACTERS)];
    let beginning = String::from_utf8_lossy(beginning);
    let end = beginning.char_indices().nth(DETECTED_CHARACTERS);
    let beginning = &beginning[..end.map_or(beginning.len(), |(end, _)| end)];
    let found = whatlang::detect(beginning).filter(|found| found.is_reliable())?;
    Some(canonical(found.lang().code().as_bytes()).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_language_have_one_code() {
        let code = |name: &str| written(name.as_bytes());
        for (names, expected) in [
            (
                &["en", "eng", "EN", "en-US", "eng_Latn", "eng,deu", " en;q=1"][..],
                "eng",
            ),
            (&["zh", "zho", "chi", "zh-Hant", "cmn"], "cmn"),
            (&["no", "nb", "nor", "nob"], "nob"),
            (&["fa", "per", "fas", "pes"], "pes"),
            (&["de", "ger", "deu"], "deu"),
            (&["english", "English"], "english"),
            (&["xyz"], "xyz"),
        ] {
            for name in names {
                assert_eq!(code(name).as_deref(), Some(expected.as_bytes()), "{name}");
            }
        }
        for name in ["", "und", " , ", "-", "unknown", "mul"] {
            assert_eq!(code(name), None, "{name}");
        }
    }

    #[test]
    fn languages_are_detected_in_any_bytes() {
        let texts = [
            (
                "eng",
                "The quick brown fox jumps over the lazy dog, and then it goes home again to \
                     sleep until the next morning, when all of this will happen once more.",
            ),
            (
                "deu",
                "Der schnelle braune Fuchs springt \u{fc}ber den faulen Hund und l\u{e4}uft \
                     dann wieder nach Hause, wo er bis zum n\u{e4}chsten Morgen schl\u{e4}ft.",
            ),
            (
                "cmn",
                "\u{4e2d}\u{6587}\u{6587}\u{7ae0}\u{7684}\u{7b2c}\u{4e00}\u{53e5}\u{8bdd}\
                     \u{662f}\u{8fd9}\u{6837}\u{5199}\u{7684}\u{3002}",
            ),
        ];
        for (expected, text) in texts {
            let found = detected(text.as_bytes()).unwrap();
            assert_eq!(found, expected.as_bytes());
            // The limit of bytes may be within a character.
            let long = text.repeat(1 + DETECTED_CHARACTERS / text.chars().count());
            assert_eq!(detected(long.as_bytes()), Some(found));
        }
        for text in [&b""[..], b"1 2 3", b"\xff\xfe\xff", b"ok"] {
            assert_eq!(detected(text), None);
        }
    }
}
