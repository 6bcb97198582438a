//! How a run finds the documents that have a near one, for its plan.

use simtool_core::search::join::SketchJoin;
use simtool_core::sketch::Method;

/// How the documents that have a near one are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchForm {
    /// By equal texts, words or URLs.
    #[default]
    Equality,
    /// By the index of known documents.
    KnownDocuments,
    /// By sorting all fingerprints or keys.
    Join,
    /// By sorting all keys; documents that share one are looked up in an index of these.
    JoinAndIndex,
    /// By an index of all sketches, in which each is looked up.
    Index,
}

impl SearchForm {
    /// The search of a run with `method`, or with none. `is_known` says whether the input is
    /// compared with an index of known documents.
    pub fn of(method: Option<&dyn Method>, is_known: bool) -> SearchForm {
        let Some(method) = method else {
            return SearchForm::Equality;
        };
        match SketchJoin::of(method) {
            _ if is_known => SearchForm::KnownDocuments,
            None => SearchForm::Index,
            Some(join) if join.decides() => SearchForm::Join,
            Some(_) => SearchForm::JoinAndIndex,
        }
    }

    /// The name in the plan as JSON.
    pub fn name(self) -> &'static str {
        match self {
            SearchForm::Equality => "equality",
            SearchForm::KnownDocuments => "known-documents",
            SearchForm::Join => "join",
            SearchForm::JoinAndIndex => "join-and-index",
            SearchForm::Index => "index",
        }
    }

    /// What it does and how its time grows, for the plan.
    pub fn describe(self) -> &'static str {
        match self {
            SearchForm::Equality => {
                "equal documents, by sorting; the time is nearly proportional to their number"
            }
            SearchForm::KnownDocuments => {
                "each document is looked up in the index of known documents"
            }
            SearchForm::Join => {
                "a join of all sketches, by sorting; the time is nearly proportional to their number"
            }
            SearchForm::JoinAndIndex => {
                "a join of all sketches, by sorting, then an index of those that share a key"
            }
            SearchForm::Index => {
                "an index of all sketches in which each is looked up; the time may grow with the square of their number"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_core::kernel::Level;
    use simtool_core::sketch::registry::Spec;
    use simtool_core::text::{Choice, WordSet};
    use simtool_engine::methods::{Common, build_without_statistics};

    #[test]
    fn the_search_follows_from_the_method() {
        assert_eq!(SearchForm::of(None, true), SearchForm::Equality);
        for (name, expected) in [
            ("simhash", SearchForm::Join),
            ("minhash", SearchForm::Join),
            ("minhash or simhash", SearchForm::Join),
            ("simhash and minhash", SearchForm::JoinAndIndex),
            ("mirror-5", SearchForm::JoinAndIndex),
            ("character-codes", SearchForm::Index),
        ] {
            let common = Common {
                tokenizer: Choice::default(),
                stop_words: &WordSet::default(),
                level: Level::Scalar,
            };
            let method = build_without_statistics(&Spec::parse(name).unwrap(), common).unwrap();
            let method = Some(&*method);
            assert_eq!(SearchForm::of(method, false), expected, "{name}");
            assert_eq!(SearchForm::of(method, true), SearchForm::KnownDocuments);
        }
    }
}
