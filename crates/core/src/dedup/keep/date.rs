//! Parsing of dates.

/// Parses a date to nanoseconds since 1970 in UTC. Accepts calendar dates of ISO 8601 and RFC 3339
/// (`2024-01`, `2024-01-02T03:04:05.678+01:00`), and 8, 12 or 14 digits (`20240102030405`). A
/// missing day is the first; missing parts of the time are zero; a missing offset is UTC.
pub(super) fn moment(date: &[u8]) -> Option<i128> {
    let mut rest = DateReader(date.trim_ascii());
    let year = rest.number(4)?;
    let dashed = rest.take(b"-");
    let month = rest.number(2)?;
    let day = match dashed {
        true if !rest.take(b"-") => 1,
        _ => rest.number(2)?,
    };
    let days = days_since_1970(year, month, day)?;
    let mut seconds = days * 86_400;
    let mut nanoseconds = 0;
    let timed = rest.take(b"Tt ");
    if timed || (!dashed && !rest.0.is_empty()) {
        let hour = rest.number(2).filter(|hour| *hour <= 24)?;
        let colons = rest.take(b":");
        let minute = rest.number(2).filter(|minute| *minute < 60)?;
        let has_seconds = if colons {
            rest.take(b":")
        } else {
            rest.has_digit()
        };
        // 60 is a leap second.
        let second = if has_seconds {
            rest.number(2).filter(|second| *second <= 60)?
        } else {
            0
        };
        if has_seconds && rest.take(b".,") {
            nanoseconds = rest.fraction()?;
        }
        seconds += hour * 3600 + minute * 60 + second - rest.offset()?;
    }
    rest.0
        .is_empty()
        .then_some(i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds))
}

/// Days from 1970-01-01 to a date; `None` if it does not exist in the Gregorian calendar.
///
/// Source: Richards, Mapping Time, 1998. Years start in March, so that the leap day is the last of
/// a year.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let (year, month) = if month < 3 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468)
}

/// The remaining input.
struct DateReader<'a>(&'a [u8]);

impl DateReader<'_> {
    /// Reads exactly `digits` digits.
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        self.0 = rest;
        number.iter().try_fold(0, |sum, byte| {
            let digit = byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
            Some(sum * 10 + digit?)
        })
    }

    /// Skips the next byte if it is one of `any`; returns whether it was.
    fn take(&mut self, any: &[u8]) -> bool {
        let found = self.0.first().is_some_and(|byte| any.contains(byte));
        self.0 = &self.0[usize::from(found)..];
        found
    }

    fn has_digit(&self) -> bool {
        self.0.first().is_some_and(u8::is_ascii_digit)
    }

    /// Reads the digits after the decimal point, at least one, as nanoseconds; further digits are
    /// ignored.
    fn fraction(&mut self) -> Option<i64> {
        let digits = self
            .0
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (fraction, rest) = self.0.split_at(digits);
        self.0 = rest;
        let places = fraction.iter().chain(std::iter::repeat(&b'0')).take(9);
        let nanoseconds = places.fold(0, |sum, byte| sum * 10 + i64::from(byte - b'0'));
        (digits > 0).then_some(nanoseconds)
    }

    /// Reads the offset from UTC in seconds, positive to the east.
    fn offset(&mut self) -> Option<i64> {
        if self.take(b"Zz") || self.0.is_empty() {
            return Some(0);
        }
        let sign = if self.take(b"+") {
            1
        } else if self.take(b"-") {
            -1
        } else {
            return None;
        };
        let hours = self.number(2).filter(|hours| *hours < 24)?;
        self.take(b":");
        let minutes = if self.has_digit() {
            self.number(2).filter(|minutes| *minutes < 60)?
        } else {
            0
        };
        Some(sign * (hours * 3600 + minutes * 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(date: &str) -> Option<f64> {
        moment(date.as_bytes()).map(|moment| moment as f64 / 1e9)
    }

    #[test]
    fn dates_are_read() {
        for (date, expected) in [
            ("1970-01-01", 0.0),
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T12:00", 951_825_600.0),
            ("2024-01-02T03:04:05Z", 1_704_164_645.0),
            ("20240102030405", 1_704_164_645.0),
            ("20240102", 1_704_153_600.0),
            (" 2024-01-02 03:04:05.5 ", 1_704_164_645.5),
            ("2024-01-02t03:04:05+01:00", 1_704_161_045.0),
            ("2024-01-02T03:04:05-0130", 1_704_170_045.0),
            ("20240102T030405+01", 1_704_161_045.0),
            ("2024-01", 1_704_067_200.0),
            ("1969-12-31T23:59:59Z", -1.0),
            ("0000-03-01", -62_162_035_200.0),
        ] {
            assert_eq!(seconds(date), Some(expected), "{date}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for date in [
            "",
            "2024",
            "2023-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-01-00",
            "2024-1-2",
            "2024-01-02T25:00:00Z",
            "2024-01-02T03:60",
            "2024-01-02T03:04:05.",
            "yesterday",
            "2024-01-02T",
            "2024-01-02T03:04:05Zulu",
            "Tue, 02 Jan 2024",
            "2024-01-02T03:04+",
            "2024010203",
            "1900-02-29",
            "-001-01-01",
        ] {
            assert_eq!(seconds(date), None, "{date}");
        }
    }
}
