//! The kinds of edits, and an edited copy.

/// The default strengths: percentages of a text's words.
pub const PERCENTS: [u32; 5] = [1, 5, 10, 20, 30];

/// The kind of edit by which a copy differs from its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Random words are replaced by words of another text.
    Substitute,
    /// Sentences are moved; the strength is the proportion of sentences.
    Move,
    /// A passage of another text is inserted between two sentences.
    Insert,
    /// The end is removed.
    Truncate,
    /// The navigation and legal text of a site surround it.
    Boilerplate,
    /// Random characters are replaced by others (three of five), removed or doubled, as by OCR; the
    /// strength is the proportion of characters.
    Characters,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 6] = [
        Kind::Substitute,
        Kind::Move,
        Kind::Insert,
        Kind::Truncate,
        Kind::Boilerplate,
        Kind::Characters,
    ];

    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Substitute => "substitute",
            Kind::Move => "move",
            Kind::Insert => "insert",
            Kind::Truncate => "truncate",
            Kind::Boilerplate => "boilerplate",
            Kind::Characters => "characters",
        }
    }

    /// The label of copies with `percent` percent of this edit: `substitute-05`.
    pub fn label(self, percent: u32) -> String {
        format!("{}-{percent:02}", self.name())
    }
}

/// A copy of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    /// The copy.
    pub text: Vec<u8>,
    /// The number of words or characters replaced, inserted or removed, or of sentences moved.
    pub edited: usize,
    /// The number of words, sentences or characters of the text.
    pub of: usize,
}
