//! Feature codes: the text around each full stop.

use xxhash_rust::xxh3::xxh3_64;

/// A full stop, by its position among the letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// 。
    Chinese(usize),
    /// A period before white space or the end.
    Period(usize),
}

/// Calls `visit` with the hash of each code, in text order.
///
/// A code is the letters and digits before the stop, the stop, and those after it: `length`
/// characters on each side, or `length` words separated by spaces. Words are separated by white
/// space. Invalid UTF-8 is skipped. Adjacent stops of one kind have one code. O(length of the text)
/// for a fixed `length`; `letters` is a buffer.
pub(super) fn for_each_code(
    text: &[u8],
    length: usize,
    letters: &mut String,
    mut visit: impl FnMut(u64),
) {
    let stops = strip(text, letters);
    if letters.is_empty() {
        return;
    }
    let mut code = String::new();
    for stop in stops {
        code.clear();
        match stop {
            Stop::Chinese(place) => characters_around(letters.split_at(place), length, &mut code),
            Stop::Period(place) => words_around(letters.split_at(place), length, &mut code),
        }
        visit(xxh3_64(code.as_bytes()));
    }
}

/// Replaces `letters` by the words of a text without punctuation, separated by spaces; returns the
/// positions of its stops.
fn strip(text: &[u8], letters: &mut String) -> Vec<Stop> {
    letters.clear();
    let mut stops = Vec::new();
    let (mut last_chinese, mut last_point) = (None, None);
    let mut space = false;
    let characters = text.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
    let mut characters = characters.peekable();
    while let Some(character) = characters.next() {
        let place = letters.len();
        let ends = |next: Option<&char>| next.is_none_or(|next| next.is_whitespace());
        match character {
            '。' if last_chinese.replace(place) != Some(place) => stops.push(Stop::Chinese(place)),
            '.' if ends(characters.peek()) && last_point.replace(place) != Some(place) => {
                stops.push(Stop::Period(place));
            }
            letter if letter.is_alphanumeric() => {
                if std::mem::take(&mut space) && place > 0 {
                    letters.push(' ');
                }
                letters.push(letter);
            }
            other => space |= other.is_whitespace(),
        }
    }
    stops
}

/// Appends the characters around a Chinese full stop, and the stop.
fn characters_around((before, behind): (&str, &str), length: usize, code: &mut String) {
    let is_letter = |character: &char| *character != ' ';
    let places = before.char_indices().rev();
    let places = places.filter(|(_, character)| is_letter(character));
    let start = places.take(length).last().map_or(0, |(place, _)| place);
    code.extend(before[start..].chars().filter(is_letter));
    code.push('。');
    code.extend(behind.chars().filter(is_letter).take(length));
}

/// Appends the words around a period, and the period.
fn words_around((before, behind): (&str, &str), length: usize, code: &mut String) {
    let space = before.rmatch_indices(' ').nth(length - 1);
    code.push_str(space.map_or(before, |(place, _)| &before[place + 1..]));
    code.push_str(". ");
    let behind = behind.trim_start_matches(' ');
    let space = behind.match_indices(' ').nth(length - 1);
    code.push_str(space.map_or(behind, |(place, _)| &behind[..place]));
}
