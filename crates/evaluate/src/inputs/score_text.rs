//! Parsing of scores in the formats of other tools.

use crate::sketch::Score;

/// The maximum number of decimal places; the rest is truncated.
const MAX_PLACES: i64 = 18;

/// A parsed number, before its kind is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParsedScore {
    /// An integer: a distance, unless other scores of the file are fractions.
    Whole(u64),
    /// A fraction or decimal number, as numerator and denominator.
    Fraction(u64, u64),
}

/// Parses a non-negative integer, fraction `n/d`, or decimal number with optional exponent.
pub(super) fn parse(text: &[u8]) -> Option<ParsedScore> {
    let text = std::str::from_utf8(text).ok()?.trim();
    if let Some((numerator, denominator)) = text.split_once('/') {
        let denominator = digits(denominator)?;
        return (denominator > 0).then_some(ParsedScore::Fraction(digits(numerator)?, denominator));
    }
    if let Some(whole) = digits(text) {
        return Some(ParsedScore::Whole(whole));
    }
    decimal(text)
}

fn digits(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

fn decimal(text: &str) -> Option<ParsedScore> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().ok()?),
        None => (text, 0),
    };
    let (whole, places) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, places].concat();
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // The value is 0.ALL * 10^point, where ALL are the digits of `all`.
    let point = whole.len() as i64 + i64::from(exponent);
    let significant = all.trim_start_matches('0');
    let point = point - (all.len() - significant.len()) as i64;
    let kept = (point + MAX_PLACES).clamp(0, significant.len() as i64);
    let mut numerator = match &significant[..kept as usize] {
        "" => 0,
        kept => kept.parse().ok()?,
    };
    let mut places = (kept - point).clamp(0, MAX_PLACES) as u32;
    for _ in kept..point {
        if numerator > 0 {
            numerator = u64::checked_mul(numerator, 10)?;
        }
    }
    while places > 0 && numerator % 10 == 0 {
        (numerator, places) = (numerator / 10, places - 1);
    }
    Some(ParsedScore::Fraction(numerator, 10_u64.pow(places)))
}

/// The scores of a file: distances if all are integers, else fractions. `None` for a distance that
/// does not fit 32 bits.
pub(super) fn as_scores(written: Vec<Option<ParsedScore>>) -> Option<Vec<Option<Score>>> {
    let shares = written
        .iter()
        .any(|score| matches!(score, Some(ParsedScore::Fraction(..))));
    let as_score = |written| match written {
        ParsedScore::Fraction(numerator, denominator) => {
            Some(Score::Fraction(numerator, denominator))
        }
        ParsedScore::Whole(whole) if shares => Some(Score::Fraction(whole, 1)),
        ParsedScore::Whole(whole) => u32::try_from(whole).ok().map(Score::Distance),
    };
    let scores = written.into_iter();
    scores
        .map(|score| score.map_or(Some(None), |score| as_score(score).map(Some)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_of_every_form() {
        for (text, expected) in [
            ("3", Some(ParsedScore::Whole(3))),
            ("2/4", Some(ParsedScore::Fraction(2, 4))),
            ("0.95", Some(ParsedScore::Fraction(95, 100))),
            (" 1.0 ", Some(ParsedScore::Fraction(1, 1))),
            (".5", Some(ParsedScore::Fraction(5, 10))),
            ("5.", Some(ParsedScore::Fraction(5, 1))),
            ("1e-05", Some(ParsedScore::Fraction(1, 100_000))),
            ("9.5E-1", Some(ParsedScore::Fraction(95, 100))),
            ("1.5e2", Some(ParsedScore::Fraction(150, 1))),
            ("0.00", Some(ParsedScore::Fraction(0, 1))),
            ("0e9999", Some(ParsedScore::Fraction(0, 1))),
            ("1e-300", Some(ParsedScore::Fraction(0, 1))),
            (
                "0.1234567890123456789",
                Some(ParsedScore::Fraction(
                    123_456_789_012_345_678,
                    10_u64.pow(18),
                )),
            ),
            ("1e30", None),
            ("1/0", None),
            ("-1", None),
            ("-0.5", None),
            ("+3", None),
            ("nan", None),
            ("", None),
            (".", None),
            ("1.2.3", None),
            ("99999999999999999999", None),
        ] {
            let found = parse(text.as_bytes());
            if text == "99999999999999999999" {
                assert_eq!(found, None, "{text}");
            } else {
                assert_eq!(found, expected, "{text}");
            }
        }
    }

    #[test]
    fn whole_numbers_among_fractions_are_fractions() {
        let both = as_scores(vec![
            Some(ParsedScore::Whole(1)),
            None,
            Some(ParsedScore::Fraction(1, 2)),
        ]);
        assert_eq!(
            both.unwrap(),
            [
                Some(Score::Fraction(1, 1)),
                None,
                Some(Score::Fraction(1, 2))
            ]
        );
        let whole = as_scores(vec![Some(ParsedScore::Whole(7))]);
        assert_eq!(whole.unwrap(), [Some(Score::Distance(7))]);
        assert_eq!(as_scores(vec![Some(ParsedScore::Whole(1 << 32))]), None);
    }

    proptest! {
        #[test]
        fn decimals_are_what_the_standard_library_reads(
            whole in 0u32..1000, places in "[0-9]{0,9}", exponent in -6i32..6,
        ) {
            let text = format!("{whole}.{places}e{exponent}");
            let expected: f64 = text.parse().unwrap();
            let Some(ParsedScore::Fraction(n, d)) = parse(text.as_bytes()) else {
                panic!("{text}");
            };
            let found = n as f64 / d as f64;
            prop_assert!((found - expected).abs() <= 1e-12 * expected.max(1.0), "{} {}", text, found);
        }

        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn odd_numbers_do_no_harm(text in "[0-9.eE/+-]{0,40}") {
            let _ = parse(text.as_bytes());
        }
    }
}
