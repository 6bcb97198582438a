//! Sizes in bytes with units.

/// Parses `4096`, `64K`, `200M`, `1G` or `2T`. The letters are powers of 1024, in either case.
///
/// # Errors
/// A message for clap, which adds the flag and the value.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let expected = || "expected a number of bytes such as 4096, 64K, 200M or 1G".to_owned();
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 30),
        Some(b'T' | b't') => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(expected());
    }
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(1 << shift))
        .ok_or_else(|| format!("at most {} bytes", u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn letters_are_powers_of_1024() {
        for (text, bytes) in [
            ("0", 0),
            ("17", 17),
            ("3k", 3 << 10),
            ("200M", 200 << 20),
            ("1G", 1 << 30),
            ("2t", 2 << 40),
        ] {
            assert_eq!(parse_size(text), Ok(bytes));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "M", "-1", "1.5G", "1GB", "1 G", "+1", "1é", "é"] {
            assert!(
                parse_size(text).unwrap_err().starts_with("expected"),
                "{text}"
            );
        }
        assert!(
            parse_size("18446744073709551616")
                .unwrap_err()
                .starts_with("at most")
        );
        assert!(parse_size("16777216T").unwrap_err().starts_with("at most"));
    }
}
