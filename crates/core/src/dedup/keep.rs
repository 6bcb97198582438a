//! Keep order: the order of preference among copies.
//!
//! Each document has a key of 16 bytes; the smallest key is the best copy, and among equal keys
//! the first document in the input.

mod date;
mod order;
mod site;

pub use order::{KeepOrder, MAX_POLICIES};
pub use site::{host, site};

use crate::{Error, ErrorKind, Result};
use std::fmt;

/// The policy that decides which copy is best.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The first in the input.
    First,
    /// The one with the longest text in bytes.
    Longest,
    /// The one with the most different shingles.
    MostShingles,
    /// The one with the latest date; those without a valid date come last.
    Newest,
    /// The one with the fewest bytes of URL; those without one come last.
    ShortestUrl,
    /// The one with the greatest value of this field: numbers before strings, greater ones first;
    /// those without a value come last. Strings are compared by their first 15 bytes.
    Field(String),
    /// The one with the smallest value of this field: numbers before strings, smaller ones first;
    /// those without a value come last.
    Smallest(String),
}

/// The properties of a document that a policy uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// The length of the text in bytes.
    pub text_bytes: u64,
    /// The number of its different shingles.
    pub shingles: u64,
    /// The date when the document was created or fetched; empty if unknown. A calendar date of ISO
    /// 8601 or RFC 3339, or 8, 12 or 14 digits.
    pub date: &'a [u8],
    /// Its URL; empty if unknown.
    pub url: &'a [u8],
    /// The value of the field that the policy names.
    pub field: Option<Value<'a>>,
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number; NaN counts as missing.
    Number(f64),
    /// A string.
    Text(&'a [u8]),
}

/// The key of a missing value: sorts after every other key.
pub const LAST: [u8; 16] = [0xFF; 16];

impl Policy {
    /// Reads `first`, `longest`, `most-shingles`, `newest`, `shortest-url`, `field:NAME` or
    /// `smallest:NAME`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`] for anything else.
    pub fn parse(name: &str) -> Result<Policy> {
        match name {
            "first" => Ok(Policy::First),
            "longest" => Ok(Policy::Longest),
            "most-shingles" => Ok(Policy::MostShingles),
            "newest" => Ok(Policy::Newest),
            "shortest-url" => Ok(Policy::ShortestUrl),
            _ => match name.split_once(':') {
                Some(("field", field)) if !field.is_empty() => Ok(Policy::Field(field.to_owned())),
                Some(("smallest", field)) if !field.is_empty() => {
                    Ok(Policy::Smallest(field.to_owned()))
                }
                _ => {
                    let message = format!(
                        "keep policy {name:?}: expected first, longest, most-shingles, newest, \
                         shortest-url, field:NAME (its largest value stays) or smallest:NAME"
                    );
                    Err(Error::new(ErrorKind::Parameter, message))
                }
            },
        }
    }

    /// The field whose value it compares, if any.
    pub fn field(&self) -> Option<&str> {
        match self {
            Policy::Field(name) | Policy::Smallest(name) => Some(name),
            Policy::First
            | Policy::Longest
            | Policy::MostShingles
            | Policy::Newest
            | Policy::ShortestUrl => None,
        }
    }

    /// The sort key of a document: smaller is better.
    pub fn key(&self, facts: &Facts<'_>) -> [u8; 16] {
        match self {
            Policy::First => [0; 16],
            Policy::Longest => number(!facts.text_bytes),
            Policy::MostShingles => number(!facts.shingles),
            // A moment is far too small to make this negative, or as large as LAST.
            Policy::Newest => date::moment(facts.date)
                .map_or(LAST, |moment| (i128::MAX / 2 - moment).to_be_bytes()),
            Policy::ShortestUrl if facts.url.is_empty() => LAST,
            Policy::ShortestUrl => number(facts.url.len() as u64),
            Policy::Field(_) => facts.field.and_then(value).unwrap_or(LAST),
            Policy::Smallest(_) => facts.field.and_then(smallest).unwrap_or(LAST),
        }
    }
}

/// In the format of [`Policy::parse`].
impl fmt::Display for Policy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::First => out.write_str("first"),
            Policy::Longest => out.write_str("longest"),
            Policy::MostShingles => out.write_str("most-shingles"),
            Policy::Newest => out.write_str("newest"),
            Policy::ShortestUrl => out.write_str("shortest-url"),
            Policy::Field(name) => write!(out, "field:{name}"),
            Policy::Smallest(name) => write!(out, "smallest:{name}"),
        }
    }
}

/// The key of a number, in ascending order.
fn number(value: u64) -> [u8; 16] {
    u128::from(value).to_be_bytes()
}

/// Maps floating-point numbers to integers in the same order.
fn ordered(number: f64) -> u64 {
    // The bits of floats sort like integers, except for the sign; adding 0.0 turns -0.0 into 0.0.
    let bits = (number + 0.0).to_bits() as i64;
    (bits ^ ((bits >> 63) as u64 >> 1) as i64) as u64 ^ 1 << 63
}

/// The key of a field's value, in ascending order.
fn smallest(value: Value<'_>) -> Option<[u8; 16]> {
    match value {
        Value::Number(number) if number.is_nan() => None,
        Value::Number(number) => Some(self::number(ordered(number))),
        Value::Text(text) => {
            let mut key = [0; 16];
            key[0] = 1;
            for (byte, place) in text.iter().zip(&mut key[1..]) {
                *place = *byte;
            }
            Some(key)
        }
    }
}

/// The key of a field's value, in descending order.
fn value(value: Value<'_>) -> Option<[u8; 16]> {
    match value {
        Value::Number(number) if number.is_nan() => None,
        Value::Number(number) => Some(self::number(!ordered(number))),
        Value::Text(text) => {
            let mut key = [0xFF; 16];
            key[0] = 1;
            for (byte, place) in text.iter().zip(&mut key[1..]) {
                *place = !byte;
            }
            Some(key)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(policy: &Policy, facts: &[Facts<'_>]) -> Vec<usize> {
        let mut keys: Vec<_> = facts
            .iter()
            .map(|facts| policy.key(facts))
            .zip(0..)
            .collect();
        keys.sort();
        keys.into_iter().map(|key| key.1).collect()
    }

    #[test]
    fn policies_are_read() {
        let read = [
            "first",
            "longest",
            "newest",
            "shortest-url",
            "field:quality.score",
        ];
        let policies = read.map(|name| Policy::parse(name).unwrap());
        assert_eq!(policies[4], Policy::Field("quality.score".to_owned()));
        assert_eq!(policies[3], Policy::ShortestUrl);
        assert_eq!(
            Policy::parse("smallest:a:b").unwrap(),
            Policy::Smallest("a:b".to_owned())
        );
        for name in ["", "field:", "smallest:", "First", "last"] {
            let error = Policy::parse(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parameter);
            assert!(error.to_string().contains("expected first"), "{error}");
        }
    }

    #[test]
    fn best_copies_come_first_and_ties_by_number() {
        let facts = [
            (70, "2024-02-30", "http://b.example/long"),
            (7, "2023-05-06T07:08:09Z", ""),
            (700, "20240102030405", "http://b.example/"),
            (70, "", "http://a.example/"),
            (0, "1969-12-31", "x"),
        ];
        let facts = facts.map(|(text_bytes, date, url)| Facts {
            text_bytes,
            shingles: text_bytes % 7,
            date: date.as_bytes(),
            url: url.as_bytes(),
            field: None,
        });
        assert_eq!(order(&Policy::First, &facts), [0, 1, 2, 3, 4]);
        assert_eq!(order(&Policy::Longest, &facts), [2, 0, 3, 1, 4]);
        assert_eq!(order(&Policy::MostShingles, &facts), [0, 1, 2, 3, 4]);
        assert_eq!(order(&Policy::Newest, &facts), [2, 1, 4, 0, 3]);
        assert_eq!(order(&Policy::ShortestUrl, &facts), [4, 2, 3, 0, 1]);
        assert_eq!(
            order(&Policy::Field("x".to_owned()), &facts),
            [0, 1, 2, 3, 4]
        );
    }

    #[test]
    fn numbers_come_before_strings_and_missing_values_last() {
        use Value::{Number, Text};
        let values = [
            None,
            Some(Text(b"a")),
            Some(Number(-1.5)),
            Some(Number(f64::NAN)),
            Some(Text(b"ab")),
            Some(Number(f64::INFINITY)),
            Some(Text(b"")),
            Some(Number(f64::NEG_INFINITY)),
        ];
        let facts = values.map(|field| Facts {
            field,
            ..Facts::default()
        });
        let policy = Policy::Field("x".to_owned());
        assert_eq!(order(&policy, &facts), [5, 2, 7, 4, 1, 6, 0, 3]);
        let policy = Policy::Smallest("x".to_owned());
        assert_eq!(order(&policy, &facts), [7, 2, 5, 6, 1, 4, 0, 3]);
    }

    proptest! {
        #[test]
        fn greater_numbers_have_smaller_keys(a in any::<f64>(), b in any::<f64>()) {
            let key = |number| value(Value::Number(number)).unwrap();
            prop_assert_eq!(key(b).partial_cmp(&key(a)), a.partial_cmp(&b));
            prop_assert_eq!(key(0.0), key(-0.0));
        }

        #[test]
        fn any_bytes_have_a_key(date in prop::collection::vec(any::<u8>(), 0..40)) {
            let facts = Facts { date: &date, url: &date, field: Some(Value::Text(&date)), text_bytes: 1, shingles: 1 };
            for policy in ["first", "longest", "most-shingles", "newest", "shortest-url", "field:x"] {
                Policy::parse(policy).unwrap().key(&facts);
            }
        }
    }
}
