//! What a terminal shows; `script` of util-linux provides the terminal.

use std::process::Command;

use crate::sandbox::{FIRST_BLOCK, RESULT, SIMTOOL, Sandbox};
use simtool_testing::skipped::skipped;
use simtool_testing::wait::wait_until;

/// What `line` shows on a terminal; `None` if `script` cannot be run.
fn on_terminal(sandbox: &Sandbox, line: &str) -> Option<String> {
    let shown = Command::new("script")
        .args(["-qefc", line, "/dev/null"])
        .current_dir(sandbox.path(""))
        .env("TERM", "xterm")
        // The slowest level, so that runs take long even with small inputs.
        .env("SIMTOOL_SIMD", "scalar")
        .output();
    match shown {
        Ok(shown) => Some(String::from_utf8_lossy(&shown.stdout).replace("\r\n", "\n")),
        Err(cause) => {
            skipped(&format!("script cannot be run: {cause}"));
            None
        }
    }
}

/// The same of a run without the progress and the summary of a run that takes a second. One that was
/// delayed for so long is repeated.
fn in_short_on_terminal(sandbox: &Sandbox, line: &str) -> Option<String> {
    let mut shown = None;
    wait_until("a run of less than a second", || {
        shown = on_terminal(sandbox, line);
        !shown.as_ref().is_some_and(|shown| shown.contains(" seen"))
    });
    shown
}

/// The same of a run that takes long enough to show its progress and a summary: `line` with articles.
fn at_length_on_terminal(sandbox: &Sandbox, line: &str) -> Option<String> {
    let mut repeats = 8;
    loop {
        let shown = on_terminal(sandbox, &format!("{line} {}", "large.txt ".repeat(repeats)))?;
        if shown.contains("ETA") && shown.contains("pages seen") {
            return Some(shown);
        }
        assert!(repeats < 1000, "{shown}");
        repeats *= 2;
    }
}

/// A line without its escape sequences.
fn visible(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    let behind = |part: &str| {
        let end = part.find(|letter: char| letter.is_ascii_alphabetic());
        end.map_or(String::new(), |end| part[end + 1..].to_owned())
    };
    first + &parts.map(behind).collect::<String>()
}

fn with_hostile_sample() -> Sandbox {
    let sandbox = Sandbox::example();
    sandbox.write("article.txt", "");
    sandbox.write(
        "sample.txt",
        b"evil\x1b[31m\x07 \xff \xc3\xa9\nno words 1 2 3",
    );
    sandbox
}

#[test]
fn plain_form_shows_the_block_alone() {
    let sandbox = Sandbox::example();
    if let Some(shown) = in_short_on_terminal(&sandbox, &format!("{SIMTOOL} 100 16")) {
        assert_eq!(shown, FIRST_BLOCK);
        assert_eq!(sandbox.read("result.txt"), RESULT);
    }
}

/// Promise (Errors and interruptions): IDs and file names cannot control a terminal; pipes get the
/// exact bytes
#[test]
fn ids_cannot_control_a_terminal() {
    let sandbox = with_hostile_sample();
    for flags in ["", "--output -"] {
        let line = format!("{SIMTOOL} 100 64 {flags}");
        if let Some(shown) = in_short_on_terminal(&sandbox, &line) {
            assert_eq!(shown, "evil\\x1b[31m\\x07 \\xff \u{e9}\n");
        }
    }
}

/// Promise (Errors and interruptions): IDs and file names cannot control …
#[test]
fn pipes_get_the_exact_bytes() {
    let sandbox = with_hostile_sample();
    sandbox
        .run("100 64")
        .success()
        .stdout(&b"evil\x1b[31m\x07 \xff \xc3\xa9\n"[..]);
}

/// The list of inputs ends only after the line was shown.
/// Promise (Deduplication): While inputs are listed, a terminal …
#[test]
fn progress_is_shown_while_inputs_are_listed() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "some text");
    let list = "until grep -q 'listing inputs' shown; do sleep 0.02; done; echo a.txt";
    let line = format!("touch shown; ({list}) | {SIMTOOL} dedup --files-from - -o out");
    let shown = Command::new("script")
        .args(["-qefc", &line, "shown"])
        .current_dir(sandbox.path(""))
        .env("TERM", "xterm")
        .output();
    match shown {
        Ok(shown) => assert!(shown.status.success(), "{shown:?}"),
        Err(cause) => skipped(&format!("script cannot be run: {cause}")),
    }
}

/// Promise (Deduplication): A long run reports its progress on a terminal of 50 columns, in a pipe
/// and to programs; the result comes at the end
#[test]
fn long_run_shows_progress_and_a_summary() {
    let sandbox = Sandbox::example();
    sandbox.write(
        "large.txt",
        crate::sandbox::example("article.txt").repeat(200),
    );
    let line = format!("{SIMTOOL} 100 64 --threads 1 --articles");
    if let Some(shown) = at_length_on_terminal(&sandbox, &line) {
        assert!(shown.contains("sample-000000\n"), "{shown}");
    }
    if let Some(shown) = at_length_on_terminal(&sandbox, &format!("stty rows 24 cols 50; {line}")) {
        let drawn: Vec<String> = shown.split(['\r', '\n']).map(visible).collect();
        let stages = drawn.iter().filter(|line| line.starts_with("stage "));
        assert!(stages.clone().count() > 0, "{shown}");
        for stage in stages {
            assert!(
                stage.contains(" of 5 ") && stage.chars().count() <= 50,
                "{stage:?}"
            );
        }
    }
    let quiet = format!(
        "{SIMTOOL} 100 64 --threads 1 --quiet --articles {}",
        "large.txt ".repeat(8)
    );
    if let Some(shown) = on_terminal(&sandbox, &quiet) {
        assert!(shown.starts_with("sample-000000\n"), "{shown}");
        assert!(!shown.contains("pages seen"), "{shown}");
    }
}
