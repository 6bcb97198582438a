//! Marks of text that only one of two documents has.

/// How a token relates to the other text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenStyle {
    /// The other text has it in the same place.
    Shared,
    /// The other text has it in another place.
    Elsewhere,
    /// The other text does not have it.
    Only(Side),
}

/// One of the two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The left one, A.
    A,
    /// The right one, B.
    B,
}

/// How styles are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// By the colours of a terminal.
    Colours,
    /// By brackets.
    Brackets,
}

impl Marks {
    /// Colours on a terminal with colours, unless the environment disables them.
    pub fn new(is_terminal: bool) -> Marks {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_none_or(|value| value == "dumb");
        match is_terminal && !unwanted && !is_dumb {
            true => Marks::Colours,
            false => Marks::Brackets,
        }
    }

    /// The marks before and after text of this style.
    pub fn around(self, style: TokenStyle) -> [&'static str; 2] {
        match (self, style) {
            (_, TokenStyle::Shared) => ["", ""],
            (Marks::Brackets, TokenStyle::Only(Side::A)) => ["[-", "-]"],
            (Marks::Brackets, TokenStyle::Only(Side::B)) => ["{+", "+}"],
            (Marks::Brackets, TokenStyle::Elsewhere) => ["<~", "~>"],
            (Marks::Colours, TokenStyle::Only(Side::A)) => ["\x1b[31m", "\x1b[0m"],
            (Marks::Colours, TokenStyle::Only(Side::B)) => ["\x1b[32m", "\x1b[0m"],
            (Marks::Colours, TokenStyle::Elsewhere) => ["\x1b[33m", "\x1b[0m"],
        }
    }

    /// The width of these marks.
    pub fn columns(self, style: TokenStyle) -> usize {
        match (self, style) {
            (Marks::Colours, _) | (_, TokenStyle::Shared) => 0,
            (Marks::Brackets, _) => 4,
        }
    }
}
