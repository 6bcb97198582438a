//! Lines on standard error.

use std::io::{self, Write};

use simtool::corpus::Source;
use simtool::run::doubts::Doubts;

use super::visible::visible;

/// Writes `simtool: TEXT`; what could control a terminal is made visible.
pub fn say(text: &str) {
    write(&format!("simtool: {}\n", visible(text.as_bytes())));
}

/// Writes a warning.
pub fn warn(text: &str) {
    say(&format!("warning: {text}"));
}

/// Warns of documents of `sources` whose characters may be wrong.
pub fn warn_of_doubts(doubts: &Doubts, sources: &[Source]) {
    for (_, text) in doubts.messages(sources) {
        warn(&text);
    }
}

/// Writes a text of our own making as it is.
pub fn write(text: &str) {
    // Where nobody listens, there is nobody to tell.
    let _ = io::stderr().write_all(text.as_bytes());
}
