//! Lazily computed tables of a value for each character.

use std::sync::OnceLock;

const PAGE: usize = 256;
const PAGES: usize = (char::MAX as usize + 1) / PAGE;

/// A table whose pages of 256 characters are computed at first access: texts use few of the pages.
pub(super) struct PerCharacter<T: 'static> {
    value: fn(char) -> T,
    pages: [OnceLock<Box<[T; PAGE]>>; PAGES],
}

impl<T: Copy> PerCharacter<T> {
    /// An empty table of the values of `value`.
    pub(super) const fn new(value: fn(char) -> T) -> PerCharacter<T> {
        PerCharacter {
            value,
            pages: [const { OnceLock::new() }; PAGES],
        }
    }

    /// The value of `character`.
    #[inline]
    pub(super) fn of(&self, character: char) -> T {
        let code = character as usize;
        self.pages[code / PAGE].get_or_init(|| self.page(code / PAGE))[code % PAGE]
    }

    #[cold]
    fn page(&self, page: usize) -> Box<[T; PAGE]> {
        Box::new(std::array::from_fn(|index| {
            let character = u32::try_from(page * PAGE + index)
                .ok()
                .and_then(char::from_u32);
            // Surrogates have an entry that is never read.
            (self.value)(character.unwrap_or(char::REPLACEMENT_CHARACTER))
        }))
    }
}
