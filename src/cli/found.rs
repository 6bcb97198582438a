//! The files that inputs stand for, and a word on those that are left out.

use std::path::PathBuf;

use simtool::Result;
use simtool::corpus::{Discovery, LeftOut, Reading, Source};

use super::message;

/// How many files that are left out are named.
const MOST_NAMED: usize = 5;

/// The sources of inputs and lists of inputs; standard error names the files that are left out.
///
/// # Errors
/// Those of [`Discovery::of`].
pub fn discover(inputs: &[PathBuf], lists: &[PathBuf], reading: &Reading) -> Result<Vec<Source>> {
    Ok(discover_all(inputs, lists, reading, false)?.sources)
}

/// The same, with the files that are left out. If it is to be `quiet`, they are not named.
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
    if !quiet && !found.left_out.is_empty() {
        message::say(&left_out(&found.left_out));
    }
    Ok(found)
}

fn left_out(files: &[LeftOut]) -> String {
    let named = files.iter().take(MOST_NAMED);
    let named: Vec<_> = named
        .map(|file| format!("{} ({})", file.path.display(), file.why))
        .collect();
    let more = match files.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("not read: {}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool::corpus::LeftOutReason;

    #[test]
    fn some_are_named_and_all_are_counted() {
        let file = |number: usize| LeftOut {
            path: format!("f{number}").into(),
            reason: LeftOutReason::Format,
            why: "a GIF image".to_owned(),
        };
        let files: Vec<_> = (0..7).map(file).collect();
        assert_eq!(left_out(&files[..1]), "not read: f0 (a GIF image)");
        let all = left_out(&files);
        assert!(all.contains("f4") && !all.contains("f5"), "{all}");
        assert!(all.ends_with(", and 2 more"), "{all}");
    }
}
