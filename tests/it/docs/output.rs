//! Whether the output that a page shows is that of its commands.

/// What stands for any text: within a line, or as a line of its own for any lines.
const ANYTHING: char = '…';

/// Whether `shown` is a part of `real`: whole lines, one after the other.
pub fn is_part(shown: &str, real: &str) -> bool {
    let shown: Vec<&str> = shown.trim_end().lines().map(str::trim_end).collect();
    let real: Vec<&str> = real.lines().map(str::trim_end).collect();
    (0..=real.len()).any(|start| begins(&shown, &real[start..]))
}

fn begins(shown: &[&str], real: &[&str]) -> bool {
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
