//! Marks of text that only one of two documents has.

/// How a token relates to the other text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
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
    pub fn around(self, style: Style) -> [&'static str; 2] {
        match (self, style) {
            (_, Style::Shared) => ["", ""],
            (Marks::Brackets, Style::Only(Side::A)) => ["[-", "-]"],
            (Marks::Brackets, Style::Only(Side::B)) => ["{+", "+}"],
            (Marks::Brackets, Style::Elsewhere) => ["<~", "~>"],
            (Marks::Colours, Style::Only(Side::A)) => ["\x1b[31m", "\x1b[0m"],
            (Marks::Colours, Style::Only(Side::B)) => ["\x1b[32m", "\x1b[0m"],
            (Marks::Colours, Style::Elsewhere) => ["\x1b[33m", "\x1b[0m"],
        }
    }

    /// The width of these marks.
    pub fn columns(self, style: Style) -> usize {
        match (self, style) {
            (Marks::Colours, _) | (_, Style::Shared) => 0,
            (Marks::Brackets, _) => 4,
        }
    }
}
