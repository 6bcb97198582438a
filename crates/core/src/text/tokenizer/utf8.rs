//! The valid parts of a text.

use std::borrow::Cow;

/// The parts of `text` that are valid UTF-8.
pub(crate) fn valid_parts(text: &[u8]) -> impl Iterator<Item = &str> {
    let whole = valid_whole(text);
    let parts = if whole.is_some() { &[] } else { text };
    let parts = parts.utf8_chunks().map(|chunk| chunk.valid());
    whole.into_iter().chain(parts)
}

/// `text`, if it is valid UTF-8.
///
/// For text that is not ASCII, this check is several times as fast as that of the standard library.
pub(super) fn valid_whole(text: &[u8]) -> Option<&str> {
    match encoding_rs::UTF_8.decode_without_bom_handling_and_without_replacement(text)? {
        Cow::Borrowed(valid) => Some(valid),
        // Valid UTF-8 is never copied.
        Cow::Owned(_) => None,
    }
}
