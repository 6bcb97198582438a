//! How URLs decide, before texts are compared.

/// How URLs decide, before texts are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UrlRule {
    /// They decide nothing.
    #[default]
    Ignored,
    /// Of the documents with the same URL the newest stays, and the method compares those that stay.
    First,
    /// Of the documents with the same URL the newest stays, and no texts are compared: the method
    /// has no effect.
    Only,
}

/// The name of the rule, as flags and reports have it.
pub const URL: &str = "url";
