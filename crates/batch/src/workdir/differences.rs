//! Differences between two jobs.

use std::collections::HashMap;

use serde_json::Value;

/// The most differences that a message lists.
const MOST: usize = 5;

/// The differences, as `PATH was OLD, is NEW`; empty if the jobs are equal.
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

/// Whether a file that both jobs read has another size or time now, so that the older job cannot be
/// repeated.
pub fn has_changed_input(old: &Value, new: &Value) -> bool {
    let files = |job: &Value, name: &str| -> HashMap<String, Value> {
        let files = job.get(name).and_then(Value::as_array);
        let named = |file: &Value| Some((file.get("path")?.to_string(), file.clone()));
        files.into_iter().flatten().filter_map(named).collect()
    };
    ["inputs", "against"].iter().any(|name| {
        let now = files(new, name);
        files(old, name).iter().any(|(path, file)| {
            let differs = |other: &Value, field| other.get(field) != file.get(field);
            now.get(path)
                .is_some_and(|other| differs(other, "bytes") || differs(other, "modified"))
        })
    })
}

/// Appends the differences of two values, as `PATH was OLD, is NEW`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_file_of_both_jobs_has_changed() {
        let file = |path: &str, bytes: u64, modified: &str| json!({"path": path, "bytes": bytes, "modified": modified});
        let job = |files: &[Value]| json!({"inputs": files, "against": []});
        let old = job(&[file("a", 1, "5.0"), json!({"path": "-", "stream": true})]);
        for (new, has_changed) in [
            (old.clone(), false),
            (job(&[file("b", 1, "5.0")]), false),
            (job(&[]), false),
            (job(&[file("b", 1, "5.0"), file("a", 2, "5.0")]), true),
            (job(&[file("a", 1, "6.0")]), true),
        ] {
            assert_eq!(has_changed_input(&old, &new), has_changed, "{new}");
        }
        let against = json!({"inputs": [], "against": {"path": "index"}});
        assert!(!has_changed_input(&against, &against));
    }
}
