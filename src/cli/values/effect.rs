//! Refusal of flags that have no effect with the requested methods.

use simtool::engine::methods::{Common, build_without_statistics};
use simtool::kernel::Level;
use simtool::sketch::registry::{FeatureUnit, Spec};
use simtool::sketch::{Method, Needs};
use simtool::text::{Choice, WordSet};
use simtool::{Error, ErrorKind, Result};

/// Which flags about words are given.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordFlags {
    /// `--tokenizer`.
    pub tokenizer: bool,
    /// `--stop-words`.
    pub stop_words: bool,
}

/// Refuses flags about words that none of `methods` uses.
///
/// # Errors
/// [`ErrorKind::Parameter`], naming the flag and the methods.
pub fn check_words(methods: &[Spec], given: WordFlags) -> Result<()> {
    if given.stop_words && !methods.iter().any(leaves_out_stop_words) {
        let why = "it leaves out no stop words";
        return Err(no_effect("--stop-words", &names(methods), why));
    }
    if given.tokenizer {
        for method in methods {
            if reads_words(method)? {
                return Ok(());
            }
        }
        return Err(no_effect(
            "--tokenizer",
            &names(methods),
            "it reads no words",
        ));
    }
    Ok(())
}

/// The error for a flag that the method `name` does not use.
pub fn no_effect(flag: &str, name: &str, why: &str) -> Error {
    let message = format!("{flag} has no effect with --method {name}: {why}");
    Error::new(ErrorKind::Parameter, message)
}

/// A method without corpus statistics.
///
/// # Errors
/// Errors of its parameters.
pub fn method_without_statistics(method: &Spec) -> Result<Box<dyn Method>> {
    let common = Common {
        tokenizer: Choice::default(),
        stop_words: &WordSet::default(),
        level: Level::Scalar,
    };
    build_without_statistics(method, common)
}

fn names(methods: &[Spec]) -> String {
    let mut names: Vec<String> = methods.iter().map(Spec::name).collect();
    names.dedup();
    names.join(" or ")
}

fn leaves_out_stop_words(method: &Spec) -> bool {
    let leaves_out = |(name, value): &(String, String)| {
        (name == "stop-words" || name.ends_with(".stop-words")) && value == "skip"
    };
    method.list().iter().any(leaves_out)
}

fn reads_words(method: &Spec) -> Result<bool> {
    let counts_words = method
        .required_counts()
        .iter()
        .any(|count| count.unit == FeatureUnit::Words);
    Ok(counts_words || method_without_statistics(method)?.needs() != Needs::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(methods: &[&str], tokenizer: bool, stop_words: bool) -> Option<String> {
        let methods: Vec<Spec> = methods
            .iter()
            .map(|text| Spec::parse(text).unwrap())
            .collect();
        let given = WordFlags {
            tokenizer,
            stop_words,
        };
        let checked = check_words(&methods, given);
        checked.err().map(|error| error.to_string())
    }

    /// Promise (Deduplication): An option that the method ignores is refused
    #[test]
    fn flags_without_effect_are_refused() {
        let idle = "it leaves out no stop words";
        for (method, name) in [
            ("minhash", "minhash"),
            ("simhash:stop-words=keep", "simhash"),
        ] {
            let message = format!("--stop-words has no effect with --method {name}: {idle}");
            assert_eq!(refusal(&[method], false, true), Some(message));
        }
        assert_eq!(
            refusal(&["exact", "characters"], true, false).unwrap(),
            "--tokenizer has no effect with --method exact or characters: it reads no words"
        );
        for methods in [
            &["simhash"][..],
            &["minhash", "simhash"],
            &["exact and simhash"],
        ] {
            assert_eq!(refusal(methods, true, true), None, "{methods:?}");
        }
        assert_eq!(refusal(&["exact"], false, false), None);
        assert_eq!(refusal(&["exact", "minhash"], true, false), None);
    }
}
