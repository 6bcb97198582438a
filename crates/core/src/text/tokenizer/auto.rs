//! Words of any script: runs of letters and digits, and single characters.

use super::characters::{FOLDED, Fold};
use super::folding::Folder;
use super::hyphenation::hyphenation;
use super::script::Role;
use super::sink::Sink;

/// Passes the words of `text` to `sink`.
pub(super) fn words(text: &str, folder: &mut Folder, sink: &mut Sink<'_>) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let folded = FOLDED.of(first);
        if folded.role == Role::Separator && matches!(folded.fold, Fold::Same | Fold::Changed(_)) {
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let bytes = match unchanged(rest) {
            Some(bytes) => {
                let word = &rest.as_bytes()[..bytes];
                sink.at(word);
                sink.word(word);
                bytes
            }
            None => folded_words(rest, folder, sink),
        };
        rest = &rest[bytes..];
    }
}

/// The length of the word that `text` begins with; `None` if folding may change the word.
#[inline]
fn unchanged(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    let (_, first) = characters.next()?;
    let begin = FOLDED.of(first);
    let is_word = begin.role == Role::Letter;
    if begin.fold != Fold::Same || !(is_word || begin.role == Role::Single) {
        return None;
    }
    let mut order = 0;
    for (place, character) in characters {
        let next = FOLDED.of(character);
        match (next.fold, next.role) {
            (Fold::Same, Role::Letter) if is_word => order = 0,
            (Fold::Mark(class), _) if class >= order || class == 0 => order = class,
            (Fold::Mark(_) | Fold::Joining, _) | (_, Role::Mark) => return None,
            (_, Role::Letter) if is_word => return None,
            _ => {
                return hyphenation(&text[..place], &text[place..])
                    .is_none()
                    .then_some(place);
            }
        }
    }
    Some(text.len())
}

/// Passes the words of the first clusters of `text` to `sink`, until no word is open; returns the
/// length of these clusters.
fn folded_words(text: &str, folder: &mut Folder, sink: &mut Sink<'_>) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut begin, mut end) = (0, 0, 0);
    let mut open = None;
    loop {
        let start = at;
        at += folder.cluster(&text[at..]);
        for &character in folder.characters() {
            let role = FOLDED.of(character).role;
            let continues = match role {
                Role::Mark => true,
                Role::Letter => open == Some(Role::Letter),
                Role::Separator | Role::Single => false,
            };
            if !continues && open.take().is_some() {
                sink.at(&bytes[begin..end]);
                sink.end();
            }
            if !continues && role != Role::Separator {
                open = Some(role);
                begin = start;
            }
            if open.is_some() {
                sink.push(character);
                end = at;
            }
        }
        let next = text[at..].chars().next().map(|next| FOLDED.of(next));
        match (open, next.map(|next| next.role)) {
            (Some(_), Some(Role::Mark)) | (Some(Role::Letter), Some(Role::Letter)) => continue,
            (Some(_), _) => {
                sink.at(&bytes[begin..end]);
                sink.end();
            }
            (None, _) => {}
        }
        return at;
    }
}
