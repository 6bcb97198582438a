//! Which methods are there?
//!
//! A method is asked for as `NAME`, or as `NAME:parameter=value,parameter=value`; several of them,
//! joined by `and` or `or`, make a combined one.

mod parameter;
mod spec;

use super::{
    Method, characters, content_seen, exact, feature_code, hashed, i_match, lexicon_simhash,
    minhash, mirror, shingle_sets, spot_signatures, structure, super_shingles, text_profile,
};
use crate::Result;
use crate::kernel::Level;
use crate::text::{Choice, WordSet};
use crate::vocabulary::Frequencies;

pub use parameter::{Domain, Parameter, SHARE_DENOMINATOR, Values};
pub use spec::Spec;

/// Every method.
pub const METHODS: &[&Entry] = &[
    &hashed::ENTRY,
    &minhash::ENTRY,
    &characters::DICTIONARY,
    &characters::CODES,
    &mirror::ONE,
    &mirror::TWO,
    &mirror::THREE,
    &mirror::FOUR,
    &mirror::FIVE,
    &structure::ENTRY,
    &feature_code::ENTRY,
    &hashed::SHINGLE_ENTRY,
    &exact::ENTRY,
    &exact::NORMALIZED_ENTRY,
    &content_seen::ENTRY,
    &text_profile::ENTRY,
    &i_match::ENTRY,
    &i_match::RANDOM_ENTRY,
    &lexicon_simhash::ENTRY,
    &lexicon_simhash::FUSION_ENTRY,
    &super_shingles::ENTRY,
    &shingle_sets::ENTRY,
    &spot_signatures::ENTRY,
];

/// What is known of a method before it is made.
#[derive(Debug)]
pub struct Entry {
    /// The name by which it is asked for: small letters, digits and hyphens.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// How it works, what it costs, what it cannot do, and where it comes from: a few paragraphs.
    pub description: &'static str,
    /// What it cost `examples/method_costs.rs`, in processor time, on 100 000 generated English
    /// documents of 3.5 KB, and how a join of a collection with itself grows.
    pub measured: &'static str,
    /// What people may set.
    pub parameters: &'static [Parameter],
    /// What it has to know of the whole collection.
    pub ahead: fn(&Values) -> Ahead,
    /// Makes the method.
    pub build: fn(&Values, &Setting<'_>) -> Result<Box<dyn Method>>,
}

/// What a method has to know of the whole collection before it makes a sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// Nothing.
    Nothing,
    /// The most frequent features and their counts.
    Count(Count),
}

/// Of what features are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// The words of the collection's tokenizer.
    #[default]
    Words,
    /// The words of [`Choice::Chars`], whatever the collection's tokenizer: folded characters.
    Characters,
}

/// What is counted ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// What a word is.
    pub unit: Unit,
    /// How many of the most frequent are kept; of equally frequent ones those of smaller hash.
    pub most: usize,
    /// A feature is so many words in a row.
    pub shingle: usize,
    /// Whether stop words are left out before.
    pub skip_stop_words: bool,
    /// Whether a document counts once for each feature, however often it has it.
    pub documents: bool,
}

/// What is around a method.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// How fast it is, nothing else.
    pub level: Level,
    /// What a word is.
    pub tokenizer: Choice,
    /// The words that are left out by methods that leave out stop words.
    pub stop_words: &'a WordSet,
    /// What was counted ahead, if the method asked for it; [`Spec::build`] sees to that.
    pub frequencies: Option<&'a Frequencies>,
}

impl Setting<'_> {
    /// The stop words, or none.
    pub(super) fn stop_words(&self, skip: bool) -> WordSet {
        match skip {
            true => self.stop_words.clone(),
            false => WordSet::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use std::collections::BTreeSet;

    /// Every method can be made with its defaults, and reads back what it is called.
    #[test]
    fn methods_are_as_they_say() {
        let names: BTreeSet<&str> = METHODS.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), METHODS.len());
        let stop_words = WordSet::default();
        let setting = Setting {
            level: Level::best(),
            tokenizer: Choice::Auto,
            stop_words: &stop_words,
            frequencies: None,
        };
        for &entry in METHODS {
            let spec = Spec::parse(entry.name).unwrap();
            let text = spec.to_string();
            assert_eq!(Spec::parse(&text).unwrap().to_string(), text);
            let nothing = vec![Frequencies::default(); spec.ahead().len()];
            let method = spec.build(&setting, &nothing).unwrap();
            assert_eq!(method.name(), entry.name);
            assert!(!entry.summary.ends_with('.') && entry.summary.len() <= 80);
            assert!(entry.description.len() > 100, "{}", entry.name);
        }
    }

    #[test]
    fn several_methods() {
        let spec = Spec::parse(
            " mirror-5:weights=tf-idf , keywords=3  and minhash or\tsimhash:weights=top",
        )
        .unwrap();
        assert_eq!(spec.name(), "mirror-5 and minhash or simhash");
        let text = spec.to_string();
        assert!(text.starts_with("mirror-5:keywords=3,weights=tf-idf and minhash:similarity=0.8,"));
        assert_eq!(Spec::parse(&text).unwrap().to_string(), text);
        let list = spec.list();
        assert!(list.contains(&("1.keywords".to_owned(), "3".to_owned())));
        assert!(list.contains(&("3.weights".to_owned(), "top".to_owned())));
        assert_eq!(spec.ahead().len(), 2);
        assert_eq!(spec.summary().lines().count(), 3);
        let twice = Spec::parse("mirror-5:weights=tf-idf or mirror-2:weights=tf-idf").unwrap();
        assert_eq!(twice.ahead().len(), 1);
        for text in [
            "",
            "and",
            "minhash and",
            "or minhash",
            "minhash and or simhash",
            "minhash simhash",
        ] {
            let error = Spec::parse(text).unwrap_err().to_string();
            assert!(error.contains("expected one of"), "{error}");
        }
        let many = vec!["exact"; 17].join(" or ");
        assert_eq!(
            Spec::parse(&many).unwrap_err().to_string(),
            "17 methods: at most 16"
        );
        assert!(Spec::parse(&vec!["exact"; 16].join(" and ")).is_ok());
    }

    /// Each method gets what was counted for it.
    #[test]
    fn frequencies_go_to_their_methods() {
        let stop_words = WordSet::default();
        let setting = Setting {
            level: Level::best(),
            tokenizer: Choice::Auto,
            stop_words: &stop_words,
            frequencies: None,
        };
        let spec = "mirror-5 and mirror-2:weights=tf-idf or characters:weights=tf-idf or mirror-3:weights=tf-idf";
        let spec = Spec::parse(spec).unwrap();
        assert_eq!(
            spec.ahead()
                .iter()
                .map(|count| count.unit)
                .collect::<Vec<_>>(),
            [Unit::Words, Unit::Characters]
        );
        let counted = [7, 9].map(|documents| Frequencies::new(documents, []));
        let text = format!("{:?}", spec.build(&setting, &counted).unwrap().parameters());
        let places = |documents: u64| text.matches(&format!("0 of {documents} documents")).count();
        assert_eq!([places(7), places(9)], [2, 1], "{text}");
    }

    #[test]
    fn unknown_methods_are_refused() {
        let error = Spec::parse("simhush:bits=64").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parameter);
        let message = error.to_string();
        assert!(message.starts_with("method \"simhush\": expected one of simhash,"));
    }
}
