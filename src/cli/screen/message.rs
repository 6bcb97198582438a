//! Messages on standard error.

use std::io::{self, Write};
use std::sync::OnceLock;

use serde_json::{Value, json};
use simtool::corpus::Source;
use simtool::engine::doubts::Doubts;

use super::visible::visible;

/// The style of the messages of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Lines of text.
    #[default]
    Text,
    /// JSON objects, as with `--log json`.
    Json,
    /// Errors only, as lines of text.
    Errors,
    /// Nothing.
    Silent,
}

static STYLE: OnceLock<Style> = OnceLock::new();

/// Sets the style of all later messages. Only the first call has an effect.
pub fn set_style(style: Style) {
    let _ = STYLE.set(style);
}

fn style() -> Style {
    STYLE.get().copied().unwrap_or_default()
}

/// Writes a message: `simtool: TEXT`, or an object with the event `message`. Control characters are
/// made visible. Writes nothing in the styles [`Style::Errors`] and [`Style::Silent`].
pub fn say(text: &str) {
    match style() {
        Style::Text => line(text),
        Style::Json => object("message", text),
        Style::Errors | Style::Silent => {}
    }
}

/// Writes a message as [`say`] does, and in the style [`Style::Errors`] too.
pub fn notify(text: &str) {
    match style() {
        Style::Json => object("message", text),
        Style::Text | Style::Errors => line(text),
        Style::Silent => {}
    }
}

/// Writes an error: `simtool: TEXT`, or an object with the event `error`.
pub fn error(text: &str) {
    match style() {
        Style::Json => object("error", text),
        Style::Text | Style::Errors => line(text),
        Style::Silent => {}
    }
}

fn line(text: &str) {
    write(&format!("simtool: {}\n", visible(text.as_bytes())));
}

/// Writes a warning, as [`say`] does.
pub fn warn(text: &str) {
    say(&format!("warning: {text}"));
}

/// Warns about documents in `sources` that may have been decoded incorrectly.
pub fn warn_of_decoding_problems(doubts: &Doubts, sources: &[Source]) {
    for (_, text) in doubts.messages(sources) {
        warn(&text);
    }
}

fn object(event: &str, text: &str) {
    let fields = json!({ "message": visible(text.as_bytes()) });
    write(&format!("{}\n", event_object(event, &fields)));
}

/// An object with `event` and `fields`.
pub fn event_object(event: &str, fields: &Value) -> Value {
    let mut object = json!({ "event": event });
    if let (Some(object), Some(fields)) = (object.as_object_mut(), fields.as_object()) {
        object.extend(
            fields
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
    }
    object
}

/// Writes trusted text unchanged, unless the style is [`Style::Silent`].
pub fn write(text: &str) {
    if style() == Style::Silent {
        return;
    }
    // A failure to write to standard error cannot be reported anywhere.
    let _ = io::stderr().write_all(text.as_bytes());
}
