//! `--max-skipped`: the largest part of the input that a complete run may have skipped.

use std::str::FromStr;

use crate::cli::process::exit::Finish;

/// A number of documents, or a share of those that were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxSkipped {
    /// This number of documents.
    Count(u64),
    /// Thousandths of a percent of all documents.
    Share(u32),
}

/// Thousandths of a percent in a whole.
const WHOLE: u32 = 100_000;

impl MaxSkipped {
    /// The result of a run with these pairs of skipped and seen documents. The limit applies to
    /// each pair.
    pub fn finish(self, counts: &[(u64, u64)]) -> Finish {
        let mut counts = counts.iter();
        match counts.all(|&(skipped, seen)| self.allows(skipped, seen)) {
            true => Finish::Complete,
            false => Finish::Skipped,
        }
    }

    fn allows(self, skipped: u64, seen: u64) -> bool {
        match self {
            MaxSkipped::Count(most) => skipped <= most,
            MaxSkipped::Share(share) => {
                u128::from(skipped) * u128::from(WHOLE) <= u128::from(share) * u128::from(seen)
            }
        }
    }
}

impl FromStr for MaxSkipped {
    type Err = String;

    fn from_str(text: &str) -> Result<MaxSkipped, String> {
        let expected = || "expected a number of documents, or a share such as 0.5%".to_owned();
        let Some(percent) = text.strip_suffix('%') else {
            return text.parse().map(MaxSkipped::Count).map_err(|_| expected());
        };
        let (whole, decimals) = percent.split_once('.').unwrap_or((percent, "0"));
        let is_number = |digits: &str, most: usize| {
            (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !is_number(whole, 3) || !is_number(decimals, 3) {
            return Err(expected());
        }
        let thousandths = format!("{whole}{decimals:0<3}");
        let share = thousandths.parse().ok().filter(|&share| share <= WHOLE);
        share.map(MaxSkipped::Share).ok_or_else(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_shares_are_read() {
        let read = |text: &str| text.parse::<MaxSkipped>();
        assert_eq!(read("0"), Ok(MaxSkipped::Count(0)));
        assert_eq!(read("12"), Ok(MaxSkipped::Count(12)));
        assert_eq!(read("0.5%"), Ok(MaxSkipped::Share(500)));
        assert_eq!(read("100%"), Ok(MaxSkipped::Share(100_000)));
        for refused in [
            "", "%", "-1", "1.5", ".5%", "1.%", "1.0001%", "100.1%", "x%", "1e2%",
        ] {
            assert!(read(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_run_is_complete_up_to_the_limit() {
        let ends =
            |limit: MaxSkipped, skipped, seen| limit.finish(&[(skipped, seen)]) == Finish::Complete;
        assert!(ends(MaxSkipped::Count(0), 0, 9) && !ends(MaxSkipped::Count(0), 1, 9));
        assert!(ends(MaxSkipped::Count(3), 3, 9) && !ends(MaxSkipped::Count(3), 4, 9));
        let percent = MaxSkipped::Share(1000);
        assert!(ends(percent, 1, 100) && !ends(percent, 2, 100) && !ends(percent, 1, 99));
        assert!(ends(percent, 0, 0));
        assert!(!ends(MaxSkipped::Share(99_999), u64::MAX, u64::MAX));
        // A pair without skipped documents does not compensate for another.
        let two = |first, second| percent.finish(&[first, second]);
        assert_eq!(two((1, 100), (1, 100)), Finish::Complete);
        assert_eq!(two((0, 1000), (2, 100)), Finish::Skipped);
        assert_eq!(two((2, 100), (0, 1000)), Finish::Skipped);
    }
}
