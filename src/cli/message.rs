//! Lines on standard error.

use std::io::{self, Write};

use super::visible::visible;

/// Writes `simtool: TEXT`; what could control a terminal is made visible.
pub fn say(text: &str) {
    write(&format!("simtool: {}\n", visible(text.as_bytes())));
}

/// Writes a text of our own making as it is.
pub fn write(text: &str) {
    // Where nobody listens, there is nobody to tell.
    let _ = io::stderr().write_all(text.as_bytes());
}
