//! Lines on standard error.

use std::io::{self, Write};
use std::sync::OnceLock;

use serde_json::json;
use simtool::corpus::Source;
use simtool::run::doubts::Doubts;

use super::log::event_object;
use super::visible::visible;

/// How the messages of this process are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Lines for people.
    #[default]
    Text,
    /// JSON objects, as of `--log json`.
    Json,
    /// Errors only, as lines for people.
    Errors,
}

static STYLE: OnceLock<Style> = OnceLock::new();

/// Sets the style of all messages that follow. The first call counts.
pub fn set_style(style: Style) {
    let _ = STYLE.set(style);
}

fn style() -> Style {
    STYLE.get().copied().unwrap_or_default()
}

/// Writes a message: `simtool: TEXT`, or an object with the event `message`. What could control a
/// terminal is made visible.
pub fn say(text: &str) {
    match style() {
        Style::Text => line(text),
        Style::Json => object("message", text),
        Style::Errors => {}
    }
}

/// Writes an error: `simtool: TEXT`, or an object with the event `error`.
pub fn error(text: &str) {
    match style() {
        Style::Json => object("error", text),
        Style::Text | Style::Errors => line(text),
    }
}

fn line(text: &str) {
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

fn object(event: &str, text: &str) {
    let fields = json!({ "message": visible(text.as_bytes()) });
    write(&format!("{}\n", event_object(event, &fields)));
}

/// Writes a text of our own making as it is.
pub fn write(text: &str) {
    // Where nobody listens, there is nobody to tell.
    let _ = io::stderr().write_all(text.as_bytes());
}
