//! Codes of a text's full stops.

use xxhash_rust::xxh3::xxh3_64;

/// A full stop, by its place among the letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// 。
    Chinese(usize),
    /// A point before white space or the end.
    Point(usize),
}

/// Calls `visit` with the hash of each code, in text order.
///
/// A code is the letters and digits before the stop, the stop, and those behind: `length`
/// characters on each side, or `length` words with a space between two. A word is what stands
/// between white space. Bytes that are no UTF-8 are skipped. Stops of a kind with nothing between
/// them have one code. O(length of the text) for any one `length`; `letters` is a buffer.
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
            Stop::Point(place) => words_around(letters.split_at(place), length, &mut code),
        }
        visit(xxh3_64(code.as_bytes()));
    }
}

/// Replaces `letters` by the words of a text without punctuation, a space between two; returns where
/// its stops are.
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
                stops.push(Stop::Point(place));
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

/// Appends the characters next to a Chinese full stop, with it between them.
fn characters_around((before, behind): (&str, &str), length: usize, code: &mut String) {
    let is_letter = |character: &char| *character != ' ';
    let places = before.char_indices().rev();
    let places = places.filter(|(_, character)| is_letter(character));
    let start = places.take(length).last().map_or(0, |(place, _)| place);
    code.extend(before[start..].chars().filter(is_letter));
    code.push('。');
    code.extend(behind.chars().filter(is_letter).take(length));
}

/// Appends the words next to a point, with it between them.
fn words_around((before, behind): (&str, &str), length: usize, code: &mut String) {
    let space = before.rmatch_indices(' ').nth(length - 1);
    code.push_str(space.map_or(before, |(place, _)| &before[place + 1..]));
    code.push_str(". ");
    let behind = behind.trim_start_matches(' ');
    let space = behind.match_indices(' ').nth(length - 1);
    code.push_str(space.map_or(behind, |(place, _)| &behind[..place]));
}
