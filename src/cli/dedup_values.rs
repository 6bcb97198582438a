//! The values of the flags of `simtool dedup`, as people write them.

use simtool::Error;
use simtool::dedup::keep::Policy;
use simtool::run::dedup::Weights;
use simtool::text::Choice;

/// Parses the value of --keep; the message is for clap.
pub fn policy(text: &str) -> Result<Policy, String> {
    Policy::parse(text).map_err(|error| error.to_string())
}

/// Parses the value of --tokenizer; the message is for clap.
pub fn tokenizer(text: &str) -> Result<Choice, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

/// Parses the value of --bits; the message is for clap.
pub fn bits(text: &str) -> Result<u32, String> {
    match text {
        "64" => Ok(64),
        "128" => Ok(128),
        _ => Err("expected 64 or 128".to_owned()),
    }
}

/// Parses the value of --weights; the message is for clap.
pub fn weights(text: &str) -> Result<Weights, String> {
    let features = text.strip_prefix("top:").map(str::parse);
    match (text, features) {
        ("tf", _) => Ok(Weights::Frequency),
        ("log-tf", _) => Ok(Weights::LogFrequency),
        (_, Some(Ok(features))) if (1..=1_000_000).contains(&features) => {
            Ok(Weights::Top(features))
        }
        _ => Err("expected tf, log-tf or top:N with N from 1 to 1000000".to_owned()),
    }
}

/// Parses the value of --similarity; the message is for clap.
pub fn thousandths(text: &str) -> Result<u32, String> {
    let expected = "expected a share from 0.001 to 1 with at most three decimals";
    let share: f64 = text.parse().map_err(|_| expected.to_owned())?;
    let thousandths = (share * 1000.0).round();
    let exact = (thousandths - share * 1000.0).abs() < 1e-9;
    match exact && (1.0..=1000.0).contains(&thousandths) {
        true => Ok(thousandths as u32),
        false => Err(expected.to_owned()),
    }
}

/// Parses the value of --recall; the message is for clap.
pub fn recall(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.01..=0.9999).contains(&share) => Ok(share),
        _ => Err("expected a share from 0.01 to 0.9999".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact() {
        assert_eq!(thousandths("0.8"), Ok(800));
        assert_eq!(thousandths("1"), Ok(1000));
        assert_eq!(thousandths("0.001"), Ok(1));
        for refused in ["0", "1.001", "0.0005", "x", "nan", "-0.5"] {
            assert!(thousandths(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn weights_are_named() {
        assert_eq!(weights("top:1000"), Ok(Weights::Top(1000)));
        assert_eq!(weights("log-tf"), Ok(Weights::LogFrequency));
        for refused in ["top:0", "top:x", "idf"] {
            assert!(weights(refused).is_err(), "{refused}");
        }
    }
}
