//! Amounts for the user: counts, decimal megabytes, and times in the unit that suits them.

use std::time::Duration;

/// A number of things: "1 file", "2 files".
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Bytes in megabytes, with one decimal below 100 MB.
pub fn megabytes(bytes: u64) -> String {
    match bytes {
        0..100_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.0} MB", bytes as f64 / 1e6),
    }
}

/// Seconds, minutes or hours, in words.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match time.as_secs() {
        0..10 => format!("{seconds:.1} seconds"),
        10..100 => format!("{seconds:.0} seconds"),
        100..6000 => format!("{:.0} minutes", seconds / 60.0),
        _ => format!("{:.1} hours", seconds / 3600.0),
    }
}

/// Seconds, minutes, hours or days, in at most seven characters.
pub fn short_duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match time.as_secs() {
        0..100 => format!("{seconds:.0} s"),
        100..6000 => format!("{:.0} min", seconds / 60.0),
        6000..360_000 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.0} d", (seconds / 86400.0).min(9999.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fit() {
        assert_eq!(megabytes(1_234_567), "1.2 MB");
        assert_eq!(megabytes(1_234_567_890), "1235 MB");
        let times = [4.34, 42.0, 372.0, 20_000.0, 1e9].map(Duration::from_secs_f64);
        assert_eq!(
            times.map(duration),
            [
                "4.3 seconds",
                "42 seconds",
                "6 minutes",
                "5.6 hours",
                "277777.8 hours"
            ]
        );
        let short = times.map(short_duration);
        assert_eq!(short, ["4 s", "42 s", "6 min", "5.6 h", "9999 d"]);
        assert!(short.iter().all(|text| text.len() <= 6));
    }
}
