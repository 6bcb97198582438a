//! Which occurrence of a repeated passage is kept.

/// Which occurrence of a repeated passage is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum KeptOccurrence {
    /// The first one (of lines, in each group)
    #[default]
    First,
    /// None
    None,
}

impl KeptOccurrence {
    /// The name that flags and reports use.
    pub fn name(self) -> &'static str {
        match self {
            KeptOccurrence::First => "first",
            KeptOccurrence::None => "none",
        }
    }
}
