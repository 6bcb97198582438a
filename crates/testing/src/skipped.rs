//! Tests that cannot test anything here say so.

use std::io::Write;

/// Says that the test which calls this is skipped. Unlike what `eprintln!` prints, which the test
/// harness keeps to itself, this is seen in every run.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
}
