//! The files that inputs stand for, and a word on those that are left out.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use simtool::Result;
use simtool::corpus::{Discovery, LeftOut, LeftOutReason, Reading, Source};

use super::message;

/// The sources of inputs and lists of inputs; standard error tells of files that are left out.
///
/// # Errors
/// Those of [`Discovery::of`].
pub fn discover(inputs: &[PathBuf], lists: &[PathBuf], reading: &Reading) -> Result<Vec<Source>> {
    Ok(discover_all(inputs, lists, reading, false)?.sources)
}

/// The same, with the files that are left out. If it is to be `quiet`, they are not told of.
///
/// # Errors
/// Those of [`Discovery::of`].
pub fn discover_all(
    inputs: &[PathBuf],
    lists: &[PathBuf],
    reading: &Reading,
    quiet: bool,
) -> Result<Discovery> {
    let found = Discovery::of(inputs, lists, reading)?;
    if !quiet {
        left_out(&found.left_out)
            .iter()
            .for_each(|line| message::say(line));
    }
    Ok(found)
}

/// A line for each reason that files are left out for, the most frequent one first.
fn left_out(files: &[LeftOut]) -> Vec<String> {
    let mut counts: BTreeMap<_, (usize, &LeftOut)> = BTreeMap::new();
    for file in files {
        // Formats have an advice each; what is said for other reasons may name other files.
        let format = (file.reason == LeftOutReason::Format).then_some(&file.why);
        counts.entry((file.reason, format)).or_insert((0, file)).0 += 1;
    }
    let mut counts: Vec<_> = counts.into_values().collect();
    counts.sort_by_key(|&(count, _)| Reverse(count));
    let line = |(count, file): (usize, &LeftOut)| {
        let what = match file.reason {
            LeftOutReason::Empty => "directories",
            LeftOutReason::Hidden => "files or directories",
            _ => "files",
        };
        let many = match count {
            1 => String::new(),
            more => format!("{more} {what}, such as "),
        };
        format!("not read: {many}{} ({})", file.path.display(), file.why)
    };
    counts.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_told_once_and_frequent_ones_come_first() {
        let file = |number: usize, reason, why: &str| LeftOut {
            path: format!("f{number}").into(),
            reason,
            why: why.to_owned(),
        };
        let format = LeftOutReason::Format;
        let mut files = vec![file(0, format, "a GIF image")];
        assert_eq!(left_out(&files), ["not read: f0 (a GIF image)"]);
        let same = |number| {
            let why = format!("the same file as g{number}");
            file(number, LeftOutReason::SameFile, &why)
        };
        files.extend((1..4).map(same));
        files.extend((4..2210).map(|number| file(number, format, "JSON (use jq)")));
        assert_eq!(
            left_out(&files),
            [
                "not read: 2206 files, such as f4 (JSON (use jq))",
                "not read: 3 files, such as f1 (the same file as g1)",
                "not read: f0 (a GIF image)",
            ]
        );
    }
}
