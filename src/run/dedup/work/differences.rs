//! Where two jobs differ.

use serde_json::Value;

/// The most differences that a message lists.
const MOST: usize = 5;

/// Where two jobs differ, as `PATH was OLD, is NEW`; empty if they are equal.
pub fn list(old: &Value, new: &Value) -> String {
    let mut differences = Vec::new();
    differ("", old, new, &mut differences);
    let more = differences.len().saturating_sub(MOST);
    differences.truncate(MOST);
    let mut text = differences.join("; ");
    if more > 0 {
        text += &format!("; and {more} more");
    }
    text
}

/// Lists where two values differ, as `PATH was OLD, is NEW`.
fn differ(path: &str, old: &Value, new: &Value, out: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let names: std::collections::BTreeSet<_> = old.keys().chain(new.keys()).collect();
            for name in names {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                let value = |object: &serde_json::Map<_, _>| {
                    object.get(name).cloned().unwrap_or(Value::Null)
                };
                differ(&path, &value(old), &value(new), out);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (number, (old, new)) in old.iter().zip(new).enumerate() {
                differ(&format!("{path}[{number}]"), old, new, out);
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            out.push(format!(
                "{path} had {} entries, has {}",
                old.len(),
                new.len()
            ));
        }
        _ if old != new => out.push(format!("{path} was {old}, is {new}")),
        _ => {}
    }
}
