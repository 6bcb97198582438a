//! A value for each character.

use std::sync::OnceLock;

const PAGE: usize = 256;
const PAGES: usize = (char::MAX as usize + 1) / PAGE;

/// Values that are worked out page by page, 256 characters at a time, when one of the page is asked
/// for first: texts use few of the pages.
pub(super) struct PerCharacter<T: 'static> {
    value: fn(char) -> T,
    pages: [OnceLock<Box<[T; PAGE]>>; PAGES],
}

impl<T: Copy> PerCharacter<T> {
    /// No value is worked out yet.
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
        Box::new(std::array::from_fn(|place| {
            let character = u32::try_from(page * PAGE + place)
                .ok()
                .and_then(char::from_u32);
            // Nobody asks for what is no character.
            (self.value)(character.unwrap_or(char::REPLACEMENT_CHARACTER))
        }))
    }
}
