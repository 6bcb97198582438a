//! Parsers that suggest usual values to shells and accept others too.

pub mod effect;
pub mod number;
pub mod size;

use std::ops::Range;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Command};
use simtool::sketch::registry::METHODS;

/// A parser whose usual values are known to shells.
#[derive(Clone)]
pub struct Suggested<P> {
    parser: P,
    known: fn() -> Vec<PossibleValue>,
}

impl<P: TypedValueParser> TypedValueParser for Suggested<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<P::Value, Error> {
        self.parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.known)().into_iter()))
    }
}

/// The numbers from A to before B, written `A..B`.
pub fn range(text: &str) -> Result<Range<u64>, String> {
    let parsed = text.split_once("..").and_then(|(first, end)| {
        let first = if first.is_empty() {
            0
        } else {
            first.parse().ok()?
        };
        let end = if end.is_empty() {
            u64::MAX
        } else {
            end.parse().ok()?
        };
        Some(first..end)
    });
    let range = parsed.ok_or("expected two numbers such as 0..100")?;
    match range.is_empty() {
        true => Err("has no numbers: the first has to be less than the second".to_owned()),
        false => Ok(range),
    }
}

/// A value of a flag: its name, its help text (or none, if empty), and what it stands for.
pub type Named<T> = (&'static str, &'static str, T);

/// A parser of the names in `values`.
pub fn named<T: Copy + Send + Sync>(
    values: &'static [Named<T>],
) -> impl TypedValueParser<Value = T> {
    let possible = values.iter().map(|(name, help, _)| {
        let help = (!help.is_empty()).then_some(*help);
        PossibleValue::new(*name).help(help)
    });
    PossibleValuesParser::new(possible).try_map(|text| {
        let value = values.iter().find(|(name, ..)| *name == text);
        value.map(|(.., value)| *value).ok_or("unknown value")
    })
}

/// Names of methods, which parameters may follow.
pub fn method() -> Suggested<StringValueParser> {
    let known = || {
        let name = |entry: &&simtool::sketch::registry::Entry| {
            PossibleValue::new(entry.name).help(entry.summary)
        };
        METHODS.iter().map(name).collect()
    };
    Suggested {
        parser: StringValueParser::new(),
        known,
    }
}

/// The values of `parser`, with the policies of --keep known.
pub fn policy<P: TypedValueParser>(parser: P) -> Suggested<P> {
    let known = || {
        names(&[
            "first",
            "longest",
            "most-shingles",
            "newest",
            "shortest-url",
            "field:",
            "none",
        ])
    };
    Suggested { parser, known }
}

/// The values of `parser`, with the scopes of --within known.
pub fn scope<P: TypedValueParser>(parser: P) -> Suggested<P> {
    let known = || {
        names(&[
            "global",
            "site",
            "source",
            "language",
            "extension",
            "field:",
        ])
    };
    Suggested { parser, known }
}

/// The values of `parser`, with those of --write known.
pub fn write<P: TypedValueParser>(parser: P) -> Suggested<P> {
    let known = || {
        names(&[
            "none",
            "ids",
            "kept",
            "annotated",
            "text",
            "removed",
            "kept,removed",
        ])
    };
    Suggested { parser, known }
}

/// The values of `parser`, with the kinds of --tokenizer known.
pub fn tokenizer<P: TypedValueParser>(parser: P) -> Suggested<P> {
    let known = || {
        names(&[
            "auto",
            "ascii",
            "unicode",
            "chars",
            "code",
            "code-and-comments",
        ])
    };
    Suggested { parser, known }
}

/// The values of `parser`, with the units of --unit known.
pub fn units<P: TypedValueParser>(parser: P) -> Suggested<P> {
    let known = || names(&["run:", "line", "paragraph", "sentences:"]);
    Suggested { parser, known }
}

/// The values of `parser`, with the normal forms of --normalize known.
pub fn normal<P: TypedValueParser>(parser: P) -> Suggested<P> {
    let known = || {
        names(&[
            "form,spaces",
            "form,case,spaces",
            "form,case,digits,spaces",
            "none",
        ])
    };
    Suggested { parser, known }
}

/// The values of `parser`, with the scopes of --within of `simtool lines` known.
pub fn per<P: TypedValueParser>(parser: P) -> Suggested<P> {
    let known = || names(&["global", "source", "site"]);
    Suggested { parser, known }
}

/// The values of `parser`, with usual values of --min known.
pub fn least<P: TypedValueParser>(parser: P) -> Suggested<P> {
    let known = || names(&["50w", "500b"]);
    Suggested { parser, known }
}

/// The values of `parser`, with the actions of --action known.
pub fn action<P: TypedValueParser>(parser: P) -> Suggested<P> {
    let known = || names(&["mark", "cut", "mask", "drop-document:"]);
    Suggested { parser, known }
}

/// Weights of features.
pub fn weights() -> Suggested<StringValueParser> {
    Suggested {
        parser: StringValueParser::new(),
        known: || names(&["tf", "log-tf", "tf-idf", "once", "top:"]),
    }
}

/// Widths of fingerprints.
pub fn bits() -> Suggested<StringValueParser> {
    Suggested {
        parser: StringValueParser::new(),
        known: || names(&["32", "64", "128", "256"]),
    }
}

fn names(names: &[&'static str]) -> Vec<PossibleValue> {
    names.iter().copied().map(PossibleValue::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool::dedup::keep::Policy;
    use simtool::jobs::dedup::Scope;
    use simtool::jobs::passages::Action;
    use simtool::jobs::passages::lines::Per;
    use simtool::jobs::passages::spans::Least;
    use simtool::text::Choice;
    use simtool::text::units::{Normal, UnitKind};

    fn known<P: TypedValueParser>(parser: &Suggested<P>) -> Vec<String> {
        let values = parser.possible_values().into_iter().flatten();
        values.map(|value| value.get_name().to_owned()).collect()
    }

    #[test]
    fn every_known_value_is_one() {
        let any = StringValueParser::new;
        for name in known(&policy(any()))
            .into_iter()
            .filter(|name| name != "none")
        {
            let name = name.replace("field:", "field:score");
            assert!(Policy::parse(&name).is_ok(), "{name}");
        }
        for name in known(&scope(any())) {
            let name = name.replace("field:", "field:dump");
            assert!(Scope::parse(&name).is_ok(), "{name}");
        }
        for name in known(&tokenizer(any())) {
            assert!(name.parse::<Choice>().is_ok(), "{name}");
        }
        for name in known(&units(any())) {
            let name = name.replace(':', ":3");
            assert!(UnitKind::parse(&name).is_ok(), "{name}");
        }
        for name in known(&normal(any())) {
            assert!(Normal::parse(&name).is_ok(), "{name}");
        }
        for name in known(&per(any())) {
            assert!(Per::parse(&name).is_ok(), "{name}");
        }
        for name in known(&least(any())) {
            assert!(Least::parse(&name).is_ok(), "{name}");
        }
        for name in known(&action(any())) {
            let name = name.replace("document:", "document:0.5");
            assert!(Action::parse(&name).is_ok(), "{name}");
        }
        for name in known(&method()) {
            assert!(
                simtool::sketch::registry::Spec::parse(&name).is_ok(),
                "{name}"
            );
        }
        for (parameter, names) in [("weights", known(&weights())), ("bits", known(&bits()))] {
            for name in names {
                let name = name.replace("top:", "top");
                let spec = format!("simhash:{parameter}={name}");
                assert!(
                    simtool::sketch::registry::Spec::parse(&spec).is_ok(),
                    "{spec}"
                );
            }
        }
    }
}
