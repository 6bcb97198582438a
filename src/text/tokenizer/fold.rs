//! Lower case, character by character.

/// Appends the lower case of `character`, which may be several characters.
///
/// The simple mapping knows no context: a capital sigma becomes σ at the end of a word too.
#[inline]
pub(in crate::text) fn push_folded(character: char, out: &mut Vec<u8>) {
    if character.is_ascii() {
        out.push(character.to_ascii_lowercase() as u8);
    } else {
        character.to_lowercase().for_each(|lower| push(lower, out));
    }
}

/// Appends `character` as it is.
#[inline]
pub(super) fn push(character: char, out: &mut Vec<u8>) {
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}
