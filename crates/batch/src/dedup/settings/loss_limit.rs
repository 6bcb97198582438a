//! The largest share of a source that a run may drop.

use std::fmt;
use std::str::FromStr;

use crate::{Error, ErrorKind, Result};

/// The largest share of the documents of a source that a run may drop, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LossLimit(u32);

/// Millionths in a whole.
const WHOLE: u32 = 1_000_000;

impl LossLimit {
    /// Whether dropping `dropped` of `read` documents exceeds it.
    pub fn is_exceeded_by(self, dropped: u64, read: u64) -> bool {
        u128::from(dropped) * u128::from(WHOLE) > u128::from(self.0) * u128::from(read)
    }
}

/// Reads a share below 1, such as `0.5`, or a percentage below 100, such as `50%`.
impl FromStr for LossLimit {
    type Err = Error;

    fn from_str(text: &str) -> Result<LossLimit> {
        let refuse = |message: String| Error::new(ErrorKind::Parameter, message);
        let expected = || {
            refuse(format!(
                "{text:?}: expected a share of the documents of a source, such as 0.5 or 50%"
            ))
        };
        let (number, shift) = match text.strip_suffix('%') {
            Some(percent) => (percent, 4),
            None => (text, 6),
        };
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_valid = whole.len() <= 3 && decimals.len() <= shift;
        if !is_valid || whole.is_empty() || !is_number(whole) || !is_number(decimals) {
            return Err(expected());
        }
        let millionths: u32 = format!("{whole}{decimals:0<shift$}")
            .parse()
            .map_err(|_| expected())?;
        match millionths {
            0..WHOLE => Ok(LossLimit(millionths)),
            _ => Err(refuse(format!(
                "{text:?}: no run drops more than all documents of a source (expected a share below \
                 1, such as 0.5 or 50%)"
            ))),
        }
    }
}

/// As a percentage.
impl fmt::Display for LossLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000, self.0 % 10_000);
        let decimals = format!("{rest:04}");
        match decimals.trim_end_matches('0') {
            "" => write!(out, "{whole}%"),
            decimals => write!(out, "{whole}.{decimals}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_exact() {
        let limit = |text: &str| text.parse::<LossLimit>();
        for (text, shown) in [
            ("0.5", "50%"),
            ("50%", "50%"),
            ("0", "0%"),
            ("0.333333", "33.3333%"),
            ("99.9999%", "99.9999%"),
            ("0.05%", "0.05%"),
        ] {
            assert_eq!(limit(text).unwrap().to_string(), shown, "{text}");
        }
        for text in [
            "",
            "x",
            "-1",
            ".5",
            "0.5.5",
            "1",
            "1.0",
            "100%",
            "150%",
            "0.1234567",
            "1e-1",
        ] {
            assert!(limit(text).is_err(), "{text}");
        }
        let half = limit("0.5").unwrap();
        assert!(half.is_exceeded_by(51, 100) && !half.is_exceeded_by(50, 100));
        assert!(!half.is_exceeded_by(0, 0));
        assert!(limit("0").unwrap().is_exceeded_by(1, u64::MAX));
        assert!(half.is_exceeded_by(u64::MAX, u64::MAX));
    }
}
