//! Case folding, character by character.

use super::per_character::PerCharacter;

/// The lower case of each character if that is one character, else NUL.
static LOWER: PerCharacter<char> = PerCharacter::new(|character| {
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(only), None) => only,
        _ => '\0',
    }
});

/// Appends the lower case of `character`, which may be several characters.
///
/// The mapping is independent of context: a capital sigma becomes σ even at the end of a word.
#[inline]
pub(in crate::text) fn push_folded(character: char, out: &mut Vec<u8>) {
    if character.is_ascii() {
        out.push(character.to_ascii_lowercase() as u8);
        return;
    }
    match LOWER.of(character) {
        '\0' => character.to_lowercase().for_each(|lower| push(lower, out)),
        lower => push(lower, out),
    }
}

/// Appends `character` unchanged.
#[inline]
pub(super) fn push(character: char, out: &mut Vec<u8>) {
    let mut bytes = [0; 4];
    // Constant lengths are copied without a function call.
    match character.encode_utf8(&mut bytes).len() {
        1 => out.push(bytes[0]),
        2 => out.extend_from_slice(&bytes[..2]),
        3 => out.extend_from_slice(&bytes[..3]),
        _ => out.extend_from_slice(&bytes),
    }
}
