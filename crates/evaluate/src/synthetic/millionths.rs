//! Decimal parameters without floating point numbers.

use std::fmt;
use std::str::FromStr;

/// A decimal number with at most six decimals, stored as an integer number of millionths.
///
/// Shares and exponents determine bytes of the corpus, so they are never binary fractions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millionths(pub u32);

impl Millionths {
    /// The number 1.
    pub const ONE: Millionths = Millionths(1_000_000);

    /// This proportion of `whole`, rounded down.
    pub(super) fn of(self, whole: u64) -> u64 {
        (u128::from(whole) * u128::from(self.0) / 1_000_000) as u64
    }
}

impl fmt::Display for Millionths {
    /// Writes the shortest decimal: `0.05`, `1`, `1.1`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000);
        out.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl FromStr for Millionths {
    type Err = crate::Error;

    /// Parses digits with at most one point among them: `0.05`, `.5`, `1`.
    ///
    /// # Errors
    /// [`ErrorKind::Parameter`](crate::ErrorKind::Parameter) for anything else, and for more than
    /// three digits before the point or six after it.
    fn from_str(text: &str) -> crate::Result<Millionths> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let fits = whole.len() <= 3 && part.len() <= 6 && whole.len() + part.len() > 0;
        if !fits || !digits(whole) || !digits(part) {
            let message = format!(
                "{text:?}: expected a number from 0 to 999.999999 such as 0.05, \
                 with at most 6 digits after the point"
            );
            return Err(crate::Error::new(crate::ErrorKind::Parameter, message));
        }
        let padded = format!("{whole}{part:0<6}");
        let count = padded
            .bytes()
            .fold(0, |count, byte| count * 10 + u32::from(byte - b'0'));
        Ok(Millionths(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsing_inverts_display() {
        for (text, count) in [
            ("0", 0),
            ("0.05", 50_000),
            ("1", 1_000_000),
            ("1.1", 1_100_000),
            ("0.000001", 1),
        ] {
            assert_eq!(text.parse::<Millionths>().unwrap(), Millionths(count));
            assert_eq!(Millionths(count).to_string(), text);
        }
        assert_eq!(".5".parse::<Millionths>().unwrap(), Millionths(500_000));
        assert_eq!(
            "999.999999".parse::<Millionths>().unwrap(),
            Millionths(999_999_999)
        );
    }

    #[test]
    fn other_notations_are_refused() {
        for text in [
            "",
            ".",
            "-1",
            "1e3",
            "0.0000001",
            "1000",
            "1,5",
            "0.5%",
            " 1",
            "1.2.3",
            "１",
        ] {
            let error = text.parse::<Millionths>().unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Parameter, "{text}");
        }
    }
}
