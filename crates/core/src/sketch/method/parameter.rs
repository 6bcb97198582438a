//! Parameters of methods: their domains, and parsing of their values.

use std::fmt;

use crate::{Error, ErrorKind, Result};

/// The denominator of proportions, which are multiples of one millionth.
pub const SHARE_DENOMINATOR: u64 = 1_000_000;

/// A parameter of a method.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name of the parameter.
    pub name: &'static str,
    /// Its meaning, in a phrase.
    pub meaning: &'static str,
    /// The default value.
    pub default: &'static str,
    /// The valid values.
    pub domain: Domain,
}

/// The parameter of methods that hash shingles of words.
pub(crate) const SHINGLE_PARAMETER: Parameter = Parameter {
    name: "shingle",
    meaning: "words in a shingle",
    default: "5",
    domain: Domain::Integer(1, 100),
};

/// The domain of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// An integer in an inclusive range.
    Integer(u64, u64),
    /// A proportion in (0, 1], with at most six decimals.
    Share,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl fmt::Display for Domain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Domain::Integer(least, most) => write!(out, "{least} to {most}"),
            Domain::Share => out.write_str("above 0, at most 1"),
            Domain::Word(words) => out.write_str(&words.join(", ")),
        }
    }
}

/// A value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParameterValue {
    Integer(u64),
    /// In millionths.
    Share(u64),
    Word(&'static str),
}

impl Domain {
    fn parse(&self, text: &str) -> Option<ParameterValue> {
        match *self {
            Domain::Integer(least, most) => {
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let number = text.parse().ok().filter(|_| digits)?;
                (least..=most)
                    .contains(&number)
                    .then_some(ParameterValue::Integer(number))
            }
            Domain::Share => parse_share(text).map(ParameterValue::Share),
            Domain::Word(words) => words
                .iter()
                .find(|word| **word == text)
                .map(|word| ParameterValue::Word(word)),
        }
    }
}

/// Parses a decimal number in (0, 1] to millionths.
fn parse_share(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 1 || decimals.len() > 6 {
        return None;
    }
    if !digits(whole) || !digits(decimals) {
        return None;
    }
    let millionths: u64 = format!("{whole}{decimals:0<6}").parse().ok()?;
    (1..=SHARE_DENOMINATOR)
        .contains(&millionths)
        .then_some(millionths)
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterValue::Integer(number) => write!(out, "{number}"),
            ParameterValue::Share(SHARE_DENOMINATOR) => out.write_str("1"),
            ParameterValue::Share(millionths) => {
                let decimals = format!("{millionths:06}");
                write!(out, "0.{}", decimals.trim_end_matches('0'))
            }
            ParameterValue::Word(word) => out.write_str(word),
        }
    }
}

/// A value for each parameter of a method.
#[derive(Clone, Debug)]
pub struct Values {
    method: &'static str,
    parameters: &'static [Parameter],
    values: Vec<ParameterValue>,
}

impl Values {
    /// The defaults, overridden by `settings` (`name=value`, separated by commas).
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for an unknown parameter, one set twice, or an invalid value. The
    /// message has the parameter; for an invalid value also the value and the domain.
    pub(crate) fn parse(
        method: &'static str,
        parameters: &'static [Parameter],
        settings: &str,
    ) -> Result<Values> {
        let refuse = |message: String| {
            let message = format!("method {method}: {message}");
            Err(Error::new(ErrorKind::Parameter, message))
        };
        let mut chosen: Vec<Option<ParameterValue>> = vec![None; parameters.len()];
        for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
            let (name, text) = setting.split_once('=').unwrap_or((setting, ""));
            let (name, text) = (name.trim(), text.trim());
            let Some(place) = parameters.iter().position(|known| known.name == name) else {
                let known: Vec<&str> = parameters.iter().map(|known| known.name).collect();
                return refuse(match known.is_empty() {
                    true => format!("no parameter {name:?}: it has none"),
                    false => format!("no parameter {name:?}: expected {}", known.join(", ")),
                });
            };
            let domain = parameters[place].domain;
            let Some(value) = domain.parse(text) else {
                return refuse(format!("{name} {text:?}: expected {domain}"));
            };
            if chosen[place].replace(value).is_some() {
                return refuse(format!("{name} is set twice"));
            }
        }
        let mut values = Vec::with_capacity(parameters.len());
        for (known, chosen) in parameters.iter().zip(chosen) {
            match chosen.or_else(|| known.domain.parse(known.default)) {
                Some(value) => values.push(value),
                None => return refuse(format!("{}: no default", known.name)),
            }
        }
        Ok(Values {
            method,
            parameters,
            values,
        })
    }

    fn get(&self, name: &str) -> ParameterValue {
        let place = self.parameters.iter().position(|known| known.name == name);
        match place {
            Some(place) => self.values[place],
            None => panic!("method {} has no parameter {name}", self.method),
        }
    }

    /// The integer value of parameter `name`.
    ///
    /// # Panics
    /// If the method has no integer parameter of that name.
    pub fn integer(&self, name: &str) -> u64 {
        match self.get(name) {
            ParameterValue::Integer(number) => number,
            other => panic!("{name} is no whole number: {other:?}"),
        }
    }

    /// The proportion value of parameter `name`: numerator and denominator.
    ///
    /// # Panics
    /// If the method has no proportion of that name.
    pub fn share(&self, name: &str) -> (u64, u64) {
        match self.get(name) {
            ParameterValue::Share(millionths) => (millionths, SHARE_DENOMINATOR),
            other => panic!("{name} is no share: {other:?}"),
        }
    }

    /// The word value of parameter `name`.
    ///
    /// # Panics
    /// If the method has no word parameter of that name.
    pub fn word(&self, name: &str) -> &'static str {
        match self.get(name) {
            ParameterValue::Word(word) => word,
            other => panic!("{name} is no word: {other:?}"),
        }
    }

    /// The name and value of each parameter, as text.
    pub fn list(&self) -> Vec<(&'static str, String)> {
        let names = self.parameters.iter().map(|known| known.name);
        names
            .zip(self.values.iter().map(ParameterValue::to_string))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        Parameter {
            name: "shingle",
            meaning: "words in a shingle",
            default: "5",
            domain: Domain::Integer(1, 100),
        },
        Parameter {
            name: "similarity",
            meaning: "least share in common",
            default: "0.8",
            domain: Domain::Share,
        },
        Parameter {
            name: "weights",
            meaning: "what a feature weighs",
            default: "tf",
            domain: Domain::Word(&["tf", "log-tf"]),
        },
    ];

    fn parse(settings: &str) -> Result<Values> {
        Values::parse("shingles", PARAMETERS, settings)
    }

    #[test]
    fn values_and_defaults() {
        let values = parse("similarity=0.95, weights=log-tf").unwrap();
        assert_eq!(values.integer("shingle"), 5);
        assert_eq!(values.share("similarity"), (950_000, SHARE_DENOMINATOR));
        assert_eq!(values.word("weights"), "log-tf");
        let listed: Vec<String> = values.list().into_iter().map(|(_, text)| text).collect();
        assert_eq!(listed, ["5", "0.95", "log-tf"]);
        assert_eq!(
            parse("similarity=1.000").unwrap().share("similarity").0,
            SHARE_DENOMINATOR
        );
        assert_eq!(
            parse("similarity=0.000001").unwrap().share("similarity").0,
            1
        );
    }

    #[test]
    fn refused_settings() {
        let message = |settings: &str| {
            let error = parse(settings).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            error.to_string()
        };
        assert_eq!(
            message("width=3"),
            "method shingles: no parameter \"width\": expected shingle, similarity, weights"
        );
        for text in ["0", "101", "-1", "+1", "1.0", "", "99999999999999999999"] {
            let expected = format!("method shingles: shingle {text:?}: expected 1 to 100");
            assert_eq!(message(&format!("shingle={text}")), expected);
        }
        for text in [
            "0",
            "0.0",
            "1.1",
            "2",
            "-0.5",
            ".5",
            "0.1234567",
            "NaN",
            "0.5x",
            "",
        ] {
            let expected =
                format!("method shingles: similarity {text:?}: expected above 0, at most 1");
            assert_eq!(message(&format!("similarity={text}")), expected);
        }
        assert_eq!(
            message("weights=idf"),
            "method shingles: weights \"idf\": expected tf, log-tf"
        );
        assert_eq!(
            message("shingle=3,shingle=3"),
            "method shingles: shingle is set twice"
        );
        let error = Values::parse("exact", &[], "x=1").unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("no parameter \"x\": it has none")
        );
    }
}
