//! Which methods are there?
//!
//! A method is asked for as `NAME`, or as `NAME:parameter=value,parameter=value`.

mod parameter;

use std::fmt;

use super::{
    Method, characters, content_seen, exact, hashed, i_match, lexicon_simhash, minhash, mirror,
    shingle_sets, spot_signatures, super_shingles, text_profile,
};
use crate::kernel::Level;
use crate::text::{Choice, WordSet};
use crate::vocabulary::Frequencies;
use crate::{Error, ErrorKind, Result};

pub use parameter::{Domain, Parameter, SHARE_DENOMINATOR, Values};

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
    /// What was counted ahead, if the method asked for it.
    pub frequencies: Option<&'a Frequencies>,
}

impl Setting<'_> {
    /// What was counted ahead for `method`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] if nothing was.
    pub(super) fn counted(&self, method: &str) -> Result<&Frequencies> {
        self.frequencies.ok_or_else(|| {
            let message = format!("method {method}: nothing was counted ahead for its weights");
            Error::new(ErrorKind::Parameter, message)
        })
    }

    /// The stop words, or none.
    pub(super) fn stop_words(&self, skip: bool) -> WordSet {
        match skip {
            true => self.stop_words.clone(),
            false => WordSet::default(),
        }
    }
}

/// A method with its parameters.
#[derive(Clone, Debug)]
pub struct Spec {
    entry: &'static Entry,
    values: Values,
}

impl Spec {
    /// Reads `NAME` or `NAME:parameter=value,…`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for a method or parameter that there is not, or a value outside
    /// its bounds; the message says what there is.
    pub fn parse(text: &str) -> Result<Spec> {
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        let name = name.trim();
        let Some(entry) = METHODS.iter().copied().find(|entry| entry.name == name) else {
            let names: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
            let message = format!("method {name:?}: expected one of {}", names.join(", "));
            return Err(Error::new(ErrorKind::Parameter, message));
        };
        let values = Values::parse(entry.name, entry.parameters, settings)?;
        Ok(Spec { entry, values })
    }

    /// The method's name.
    pub fn name(&self) -> String {
        self.entry.name.to_owned()
    }

    /// What it is, in a line.
    pub fn summary(&self) -> String {
        self.entry.summary.to_owned()
    }

    /// Every parameter with its value.
    pub fn list(&self) -> Vec<(String, String)> {
        let list = self.values.list().into_iter();
        list.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// What is known of the method.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Its parameters.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// What has to be counted before it can be built.
    pub fn ahead(&self) -> Ahead {
        (self.entry.ahead)(&self.values)
    }

    /// Makes the method.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for parameters that do not go together.
    pub fn build(&self, setting: &Setting<'_>) -> Result<Box<dyn Method>> {
        (self.entry.build)(&self.values, setting)
    }
}

impl fmt::Display for Spec {
    /// As [`parse`](Spec::parse) reads it, with every parameter.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.entry.name)?;
        for (number, (name, value)) in self.values.list().into_iter().enumerate() {
            let mark = if number == 0 { ':' } else { ',' };
            write!(out, "{mark}{name}={value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every method can be made with its defaults, and reads back what it is called.
    #[test]
    fn methods_are_as_they_say() {
        let names: BTreeSet<&str> = METHODS.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), METHODS.len());
        let frequencies = Frequencies::new(1, []);
        let stop_words = WordSet::default();
        let setting = Setting {
            level: Level::best(),
            tokenizer: Choice::Auto,
            stop_words: &stop_words,
            frequencies: Some(&frequencies),
        };
        for &entry in METHODS {
            let spec = Spec::parse(entry.name).unwrap();
            let text = spec.to_string();
            assert_eq!(Spec::parse(&text).unwrap().to_string(), text);
            let method = spec.build(&setting).unwrap();
            assert_eq!(method.name(), entry.name);
            assert!(!entry.summary.ends_with('.') && entry.summary.len() <= 80);
            assert!(entry.description.len() > 100, "{}", entry.name);
        }
    }

    #[test]
    fn unknown_methods_are_refused() {
        let error = Spec::parse("simhush:bits=64").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parameter);
        let message = error.to_string();
        assert!(message.starts_with("method \"simhush\": expected one of simhash,"));
    }
}
