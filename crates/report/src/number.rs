//! Numbers formatted for display.

use simtool_core::sketch::Score;
use simtool_evaluate::{Interval, Proportion};

/// The text for a missing number.
pub(super) const NONE: &str = "–";

/// Three decimal places.
pub(super) fn decimal(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| {
        // No negative zero.
        let shown = format!("{value:.3}");
        if shown == "-0.000" {
            "0.000".to_owned()
        } else {
            shown
        }
    })
}

/// A proportion as a decimal.
pub(super) fn share(share: Proportion) -> String {
    decimal(share.value())
}

/// The bounds of an interval.
pub(super) fn interval(interval: Option<Interval>) -> String {
    interval.map_or(String::new(), |Interval { low, high }| {
        format!("{low:.3}–{high:.3}")
    })
}

/// A threshold: `≤ 3`, or `≥ 0.8`.
pub(super) fn threshold(score: Score) -> String {
    match score {
        Score::Distance(bits) => format!("≤ {bits}"),
        Score::Fraction(..) => format!("≥ {}", self::score(score)),
    }
}

/// A score: `3`, or `0.8123`.
pub(super) fn score(score: Score) -> String {
    match score {
        Score::Distance(bits) => bits.to_string(),
        Score::Fraction(numerator, denominator) => {
            let shown = format!("{:.4}", numerator as f64 / denominator.max(1) as f64);
            shown.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

/// A p-value.
pub(super) fn p_value(p: f64) -> String {
    match p {
        p if p < 0.000_1 => "< 0.0001".to_owned(),
        p if p < 0.001 => format!("{p:.4}"),
        p => format!("{p:.3}"),
    }
}

/// A duration per document, in a suitable unit.
pub(super) fn seconds(seconds: Option<f64>) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    seconds.map_or(NONE.to_owned(), |seconds| {
        let fits = units.iter().find(|(unit, _)| seconds >= *unit);
        let (unit, name) = fits.unwrap_or(&(1e-9, "ns"));
        format!("{:.1} {name}", seconds / unit)
    })
}

/// Bytes per document.
pub(super) fn bytes(bytes: Option<f64>) -> String {
    bytes.map_or(NONE.to_owned(), |bytes| {
        let shown = format!("{bytes:.1}");
        shown.strip_suffix(".0").unwrap_or(&shown).to_owned()
    })
}

/// A count with narrow no-break spaces between thousands.
pub(super) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push('\u{202f}');
        }
        shown.push(digit);
    }
    shown
}

/// Bytes of text with a decimal unit and three digits.
pub(super) fn size(bytes: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let fits = units.iter().find(|(unit, _)| bytes as f64 >= *unit);
    let Some((unit, name)) = fits else {
        let plural = if bytes == 1 { "" } else { "s" };
        return format!("{bytes} byte{plural}");
    };
    match bytes as f64 / unit {
        number if number < 9.995 => format!("{number:.2} {name}"),
        number if number < 99.95 => format!("{number:.1} {name}"),
        number => format!("{number:.0} {name}"),
    }
}

/// A part of a whole in percent; empty if the whole is zero.
///
/// Shares that are neither 0 nor 1 are never rounded to these.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    let percent = 100.0 * part as f64 / whole as f64;
    match percent {
        _ if part == 0 || part == whole => format!("{percent:.0} %"),
        percent if percent < 0.05 => "< 0.1 %".to_owned(),
        percent if percent >= 99.95 => "> 99.9 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            (decimal(Some(-1e-9)), decimal(None)),
            ("0.000".into(), "–".into())
        );
        assert_eq!(threshold(Score::Distance(3)), "≤ 3");
        assert_eq!(threshold(Score::Fraction(4, 5)), "≥ 0.8");
        assert_eq!(
            (score(Score::Fraction(0, 0)), score(Score::Fraction(1, 1))),
            ("0".into(), "1".into())
        );
        assert_eq!(
            (p_value(1e-9), p_value(0.0005), p_value(1.0)),
            ("< 0.0001".into(), "0.0005".into(), "1.000".into())
        );
        assert_eq!(
            (seconds(Some(12.4e-6)), seconds(Some(2e-9))),
            ("12.4 µs".into(), "2.0 ns".into())
        );
        assert_eq!(
            (bytes(Some(8.0)), bytes(Some(0.5)), bytes(None)),
            ("8".into(), "0.5".into(), "–".into())
        );
        assert_eq!(
            (count(12), count(1_234_567)),
            ("12".into(), "1\u{202f}234\u{202f}567".into())
        );
        let sizes = [0, 1, 999, 1000, 12_345, 999_600, 1 << 40].map(size);
        let expected = [
            "0 bytes",
            "1 byte",
            "999 bytes",
            "1.00 kB",
            "12.3 kB",
            "1000 kB",
            "1.10 TB",
        ];
        assert_eq!(sizes, expected);
        let percents = [
            (0, 0),
            (0, 9),
            (1, 9),
            (9, 9),
            (1, 99_999),
            (99_998, 99_999),
        ];
        assert_eq!(
            percents.map(|(part, whole)| percent(part, whole)),
            ["", "0 %", "11.1 %", "100 %", "< 0.1 %", "> 99.9 %"]
        );
    }
}
