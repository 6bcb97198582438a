//! Whether the output that a page shows is that of its commands.

/// What stands for any text: within a line, or as a line of its own for any lines.
const ANYTHING: char = '…';

/// What follows a number that differs from run to run, or from machine to machine.
const UNITS: [&str; 6] = [
    "seconds",
    "s",
    "microseconds",
    "µs",
    "MB of text/s",
    "threads",
];

/// Whether `shown` is a part of `real`: whole lines, one after the other. Measured times and rates,
/// and the number of threads, do not count.
pub fn is_part(shown: &str, real: &str) -> bool {
    let shown: Vec<String> = shown.trim_end().lines().map(without_times).collect();
    let real: Vec<String> = real.lines().map(without_times).collect();
    (0..=real.len()).any(|start| begins(&shown, &real[start..]))
}

/// A line with `0` for each such number, and without the spaces that align it.
fn without_times(line: &str) -> String {
    let words: Vec<&str> = line.trim_end().split(' ').collect();
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let mut kept: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let rest = words[at + 1..].join(" ");
        let has_unit = UNITS.iter().any(|unit| {
            let after = rest.strip_prefix(unit);
            after.is_some_and(|after| {
                !after.starts_with(|next: char| next.is_alphanumeric() || next == '/')
            })
        });
        if has_unit && is_number(word) {
            while kept.pop_if(|before| before.is_empty()).is_some() {}
            kept.push("0");
        } else {
            kept.push(word);
        }
    }
    kept.join(" ")
}

fn begins(shown: &[String], real: &[String]) -> bool {
    match shown {
        [] => true,
        [line, rest @ ..] if line.trim() == "…" => {
            (0..=real.len()).any(|start| begins(rest, &real[start..]))
        }
        [line, rest @ ..] => {
            let first = real.first();
            first.is_some_and(|first| fits(line, first)) && begins(rest, &real[1..])
        }
    }
}

/// Whether a line is the shown one, with any text for each `…`.
fn fits(shown: &str, real: &str) -> bool {
    let Some((start, rest)) = shown.split_once(ANYTHING) else {
        return shown == real;
    };
    let Some(real) = real.strip_prefix(start) else {
        return false;
    };
    let mut ends = (0..=real.len()).filter(|&end| real.is_char_boundary(end));
    ends.any(|end| fits(rest, &real[end..]))
}

/// The same for JSON: line breaks and spaces do not count.
pub fn is_json_part(shown: &str, real: &str) -> bool {
    let pack = |text: &str| text.split_whitespace().collect::<String>();
    let (shown, real) = (pack(shown), pack(real));
    let mut pieces = shown.split(ANYTHING);
    let first = pieces.next().unwrap_or_default();
    let Some(start) = real.find(first) else {
        return false;
    };
    let mut rest = &real[start + first.len()..];
    pieces.all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

#[test]
fn measured_times_do_not_count() {
    let line =
        without_times("1 page; 0.4 seconds, 12 MB of text/s, 3 MB,   9.8 µs  7 steps 2.5 s.");
    assert_eq!(
        line,
        "1 page; 0 seconds, 0 MB of text/s, 3 MB, 0 µs  7 steps 0 s."
    );
    assert!(is_part("x    9.8 µs\n", "x   12.1 µs\n"));
}

#[test]
fn dots_are_any_text() {
    let real = "one\ntwo 2 s\nthree\nfour\n";
    for shown in [
        "two 2 s\n",
        "one\n…\nfour",
        "two … s\nthree",
        "…\nthree",
        "one\ntwo…",
    ] {
        assert!(is_part(shown, real), "{shown}");
    }
    for shown in ["two\n", "one\nthree", "two … s\nfour", "one\n…\nfive"] {
        assert!(!is_part(shown, real), "{shown}");
    }
    let real = "{\"a\":1,\"b\":[2,3],\"c\":{\"d\":4}}\n";
    for shown in ["{\"a\": 1,\n …,\n \"c\": …}", "\"b\": [2, 3]"] {
        assert!(is_json_part(shown, real), "{shown}");
    }
    assert!(!is_json_part("{\"a\": 1, \"c\": …}", real));
}
