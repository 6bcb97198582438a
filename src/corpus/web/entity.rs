//! Characters written as `&name;` or `&#number;`.
//!
//! The names of HTML 4.01 and `apos`: what pages use. Rarer names of HTML 5 stay as written.

/// The character written at the start of `bytes`, which begin with `&`, and how many bytes it
/// takes; `None` if it is just an ampersand.
///
/// As in browsers, a number or one of the names of Latin-1 needs no semicolon, and the numbers
/// 128 to 159 mean windows-1252. O(1) time.
pub(super) fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes {
        [b'&', b'#', b'x' | b'X', digits @ ..] => number(digits, 16, 3),
        [b'&', b'#', digits @ ..] => number(digits, 10, 2),
        [b'&', rest @ ..] => named(rest),
        _ => None,
    }
}

/// More digits than any character has; longer numbers stay as written.
const MOST_DIGITS: usize = 16;

fn number(digits: &[u8], base: u32, prefix_bytes: usize) -> Option<(char, usize)> {
    let values = digits
        .iter()
        .take(MOST_DIGITS)
        .map_while(|&digit| char::from(digit).to_digit(base));
    let (count, code) = values.fold((0, 0u32), |(count, code), digit| {
        (count + 1, code.saturating_mul(base).saturating_add(digit))
    });
    if count == 0 || count == MOST_DIGITS {
        return None;
    }
    let character = match code {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9f => WINDOWS_1252[code as usize - 0x80],
        _ => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    let semicolon = usize::from(digits.get(count) == Some(&b';'));
    Some((character, prefix_bytes + count + semicolon))
}

fn named(rest: &[u8]) -> Option<(char, usize)> {
    let name_bytes = rest
        .iter()
        .take(LONGEST + 1)
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let name = &rest[..name_bytes];
    let found = NAMES
        .binary_search_by(|(known, _)| known.as_bytes().cmp(name))
        .ok()?;
    let character = NAMES[found].1;
    if rest.get(name_bytes) == Some(&b';') {
        return Some((character, name_bytes + 2));
    }
    let needs_none = character <= '\u{ff}' && name != b"apos";
    needs_none.then_some((character, name_bytes + 1))
}

/// What the numbers 128 to 159 mean.
#[rustfmt::skip]
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The length of the longest name.
const LONGEST: usize = 8;

/// In the order of their bytes.
const NAMES: [(&str, char); 253] = [
    ("AElig", 'Æ'),
    ("Aacute", 'Á'),
    ("Acirc", 'Â'),
    ("Agrave", 'À'),
    ("Alpha", 'Α'),
    ("Aring", 'Å'),
    ("Atilde", 'Ã'),
    ("Auml", 'Ä'),
    ("Beta", 'Β'),
    ("Ccedil", 'Ç'),
    ("Chi", 'Χ'),
    ("Dagger", '‡'),
    ("Delta", 'Δ'),
    ("ETH", 'Ð'),
    ("Eacute", 'É'),
    ("Ecirc", 'Ê'),
    ("Egrave", 'È'),
    ("Epsilon", 'Ε'),
    ("Eta", 'Η'),
    ("Euml", 'Ë'),
    ("Gamma", 'Γ'),
    ("Iacute", 'Í'),
    ("Icirc", 'Î'),
    ("Igrave", 'Ì'),
    ("Iota", 'Ι'),
    ("Iuml", 'Ï'),
    ("Kappa", 'Κ'),
    ("Lambda", 'Λ'),
    ("Mu", 'Μ'),
    ("Ntilde", 'Ñ'),
    ("Nu", 'Ν'),
    ("OElig", 'Œ'),
    ("Oacute", 'Ó'),
    ("Ocirc", 'Ô'),
    ("Ograve", 'Ò'),
    ("Omega", 'Ω'),
    ("Omicron", 'Ο'),
    ("Oslash", 'Ø'),
    ("Otilde", 'Õ'),
    ("Ouml", 'Ö'),
    ("Phi", 'Φ'),
    ("Pi", 'Π'),
    ("Prime", '″'),
    ("Psi", 'Ψ'),
    ("Rho", 'Ρ'),
    ("Scaron", 'Š'),
    ("Sigma", 'Σ'),
    ("THORN", 'Þ'),
    ("Tau", 'Τ'),
    ("Theta", 'Θ'),
    ("Uacute", 'Ú'),
    ("Ucirc", 'Û'),
    ("Ugrave", 'Ù'),
    ("Upsilon", 'Υ'),
    ("Uuml", 'Ü'),
    ("Xi", 'Ξ'),
    ("Yacute", 'Ý'),
    ("Yuml", 'Ÿ'),
    ("Zeta", 'Ζ'),
    ("aacute", 'á'),
    ("acirc", 'â'),
    ("acute", '´'),
    ("aelig", 'æ'),
    ("agrave", 'à'),
    ("alefsym", 'ℵ'),
    ("alpha", 'α'),
    ("amp", '&'),
    ("and", '∧'),
    ("ang", '∠'),
    ("apos", '\''),
    ("aring", 'å'),
    ("asymp", '≈'),
    ("atilde", 'ã'),
    ("auml", 'ä'),
    ("bdquo", '„'),
    ("beta", 'β'),
    ("brvbar", '¦'),
    ("bull", '•'),
    ("cap", '∩'),
    ("ccedil", 'ç'),
    ("cedil", '¸'),
    ("cent", '¢'),
    ("chi", 'χ'),
    ("circ", 'ˆ'),
    ("clubs", '♣'),
    ("cong", '≅'),
    ("copy", '©'),
    ("crarr", '↵'),
    ("cup", '∪'),
    ("curren", '¤'),
    ("dArr", '⇓'),
    ("dagger", '†'),
    ("darr", '↓'),
    ("deg", '°'),
    ("delta", 'δ'),
    ("diams", '♦'),
    ("divide", '÷'),
    ("eacute", 'é'),
    ("ecirc", 'ê'),
    ("egrave", 'è'),
    ("empty", '∅'),
    ("emsp", '\u{2003}'),
    ("ensp", '\u{2002}'),
    ("epsilon", 'ε'),
    ("equiv", '≡'),
    ("eta", 'η'),
    ("eth", 'ð'),
    ("euml", 'ë'),
    ("euro", '€'),
    ("exist", '∃'),
    ("fnof", 'ƒ'),
    ("forall", '∀'),
    ("frac12", '½'),
    ("frac14", '¼'),
    ("frac34", '¾'),
    ("frasl", '⁄'),
    ("gamma", 'γ'),
    ("ge", '≥'),
    ("gt", '>'),
    ("hArr", '⇔'),
    ("harr", '↔'),
    ("hearts", '♥'),
    ("hellip", '…'),
    ("iacute", 'í'),
    ("icirc", 'î'),
    ("iexcl", '¡'),
    ("igrave", 'ì'),
    ("image", 'ℑ'),
    ("infin", '∞'),
    ("int", '∫'),
    ("iota", 'ι'),
    ("iquest", '¿'),
    ("isin", '∈'),
    ("iuml", 'ï'),
    ("kappa", 'κ'),
    ("lArr", '⇐'),
    ("lambda", 'λ'),
    ("lang", '〈'),
    ("laquo", '«'),
    ("larr", '←'),
    ("lceil", '⌈'),
    ("ldquo", '“'),
    ("le", '≤'),
    ("lfloor", '⌊'),
    ("lowast", '∗'),
    ("loz", '◊'),
    ("lrm", '\u{200e}'),
    ("lsaquo", '‹'),
    ("lsquo", '‘'),
    ("lt", '<'),
    ("macr", '¯'),
    ("mdash", '—'),
    ("micro", 'µ'),
    ("middot", '·'),
    ("minus", '−'),
    ("mu", 'μ'),
    ("nabla", '∇'),
    ("nbsp", '\u{a0}'),
    ("ndash", '–'),
    ("ne", '≠'),
    ("ni", '∋'),
    ("not", '¬'),
    ("notin", '∉'),
    ("nsub", '⊄'),
    ("ntilde", 'ñ'),
    ("nu", 'ν'),
    ("oacute", 'ó'),
    ("ocirc", 'ô'),
    ("oelig", 'œ'),
    ("ograve", 'ò'),
    ("oline", '‾'),
    ("omega", 'ω'),
    ("omicron", 'ο'),
    ("oplus", '⊕'),
    ("or", '∨'),
    ("ordf", 'ª'),
    ("ordm", 'º'),
    ("oslash", 'ø'),
    ("otilde", 'õ'),
    ("otimes", '⊗'),
    ("ouml", 'ö'),
    ("para", '¶'),
    ("part", '∂'),
    ("permil", '‰'),
    ("perp", '⊥'),
    ("phi", 'φ'),
    ("pi", 'π'),
    ("piv", 'ϖ'),
    ("plusmn", '±'),
    ("pound", '£'),
    ("prime", '′'),
    ("prod", '∏'),
    ("prop", '∝'),
    ("psi", 'ψ'),
    ("quot", '"'),
    ("rArr", '⇒'),
    ("radic", '√'),
    ("rang", '〉'),
    ("raquo", '»'),
    ("rarr", '→'),
    ("rceil", '⌉'),
    ("rdquo", '”'),
    ("real", 'ℜ'),
    ("reg", '®'),
    ("rfloor", '⌋'),
    ("rho", 'ρ'),
    ("rlm", '\u{200f}'),
    ("rsaquo", '›'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("scaron", 'š'),
    ("sdot", '⋅'),
    ("sect", '§'),
    ("shy", '\u{ad}'),
    ("sigma", 'σ'),
    ("sigmaf", 'ς'),
    ("sim", '∼'),
    ("spades", '♠'),
    ("sub", '⊂'),
    ("sube", '⊆'),
    ("sum", '∑'),
    ("sup", '⊃'),
    ("sup1", '¹'),
    ("sup2", '²'),
    ("sup3", '³'),
    ("supe", '⊇'),
    ("szlig", 'ß'),
    ("tau", 'τ'),
    ("there4", '∴'),
    ("theta", 'θ'),
    ("thetasym", 'ϑ'),
    ("thinsp", '\u{2009}'),
    ("thorn", 'þ'),
    ("tilde", '˜'),
    ("times", '×'),
    ("trade", '™'),
    ("uArr", '⇑'),
    ("uacute", 'ú'),
    ("uarr", '↑'),
    ("ucirc", 'û'),
    ("ugrave", 'ù'),
    ("uml", '¨'),
    ("upsih", 'ϒ'),
    ("upsilon", 'υ'),
    ("uuml", 'ü'),
    ("weierp", '℘'),
    ("xi", 'ξ'),
    ("yacute", 'ý'),
    ("yen", '¥'),
    ("yuml", 'ÿ'),
    ("zeta", 'ζ'),
    ("zwj", '\u{200d}'),
    ("zwnj", '\u{200c}'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_all_are_found() {
        assert!(NAMES.is_sorted_by(|(a, _), (b, _)| a < b));
        for (name, character) in NAMES {
            assert!(name.len() <= LONGEST);
            let written = format!("&{name};x");
            assert_eq!(
                decode(written.as_bytes()),
                Some((character, name.len() + 2))
            );
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(decode(b"&#8364;"), Some(('€', 7)));
        assert_eq!(decode(b"&#X20aCz"), Some(('€', 7)));
        assert_eq!(decode(b"&#128;"), Some(('€', 6)));
        for no_character in [&b"&#0;"[..], b"&#xd800;", b"&#x110000;", b"&#99999999999;"] {
            let found = decode(no_character);
            assert_eq!(
                found,
                Some((char::REPLACEMENT_CHARACTER, no_character.len()))
            );
        }
        for text in [
            &b"&"[..],
            b"&#",
            b"&#;",
            b"&#x",
            b"&#xg",
            b"&#00000000000000000065;",
            b"x",
        ] {
            assert_eq!(decode(text), None);
        }
    }

    #[test]
    fn only_latin_1_needs_no_semicolon() {
        assert_eq!(decode(b"&copy 2020"), Some(('©', 5)));
        assert_eq!(decode(b"&alpha beta"), None);
        assert_eq!(decode(b"&copyright"), None);
    }
}
