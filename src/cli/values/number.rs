//! Parsers of whole numbers in a range, for flags.

/// A parser of whole numbers from `least` to `most`. Its error names the range; clap adds the flag
/// and the value.
pub fn within(
    least: usize,
    most: usize,
) -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok();
        number
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| format!("expected a whole number from {least} to {most}"))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn bounds_are_inclusive_and_everything_else_is_refused() {
        let parse = crate::cli::values::number::within(1, 128);
        assert_eq!((parse("1"), parse("128")), (Ok(1), Ok(128)));
        let refused = Err("expected a whole number from 1 to 128".to_owned());
        for text in [
            "0",
            "129",
            "-1",
            "",
            "x",
            "1.0",
            "99999999999999999999999",
            "\u{661}",
        ] {
            assert_eq!(parse(text), refused, "{text}");
        }
    }
}
