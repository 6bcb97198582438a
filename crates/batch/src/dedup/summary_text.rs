//! The text of `summary.json`.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use simtool_corpus::Source;

const INPUTS: &str = "inputs";

/// The text of a summary with these fields, and with `inputs` described one after another: there may
/// be millions, and all descriptions together take a kilobyte for each.
pub fn summary_text(fields: Value, inputs: impl Iterator<Item = Value> + Clone) -> String {
    let Value::Object(mut fields) = fields else {
        return String::new();
    };
    fields.insert(INPUTS.to_owned(), Value::Null);
    // JSON values have text.
    let text = serde_json::to_string_pretty(&SummaryText { fields, inputs });
    text.unwrap_or_default() + "\n"
}

/// What is said of an input with this digest, whatever was found in it.
pub fn described_source((source, digest): (&Source, &u128)) -> Value {
    json!({
        "file": source.path.to_string_lossy(),
        "bytes": source.bytes,
        "format": source.format.name(),
        "compression": source.compression.name(),
        "xxh3_128": format!("{digest:032x}"),
    })
}

struct SummaryText<I> {
    fields: Map<String, Value>,
    inputs: I,
}

impl<I: Iterator<Item = Value> + Clone> Serialize for SummaryText<I> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.fields.len()))?;
        for (name, value) in &self.fields {
            match name.as_str() {
                INPUTS => map.serialize_entry(name, &Inputs(self.inputs.clone()))?,
                _ => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

struct Inputs<I>(I);

impl<I: Iterator<Item = Value> + Clone> Serialize for Inputs<I> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.clone())
    }
}
