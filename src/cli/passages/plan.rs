//! The plan of a run.

use serde_json::{Value, json};
use simtool::corpus::Source;
use simtool::engine::Resources;
use simtool::jobs::dedup::Invocation;
use simtool::jobs::passages::Search;

use crate::cli::amount::{counted, megabytes};

/// What a run would read and write.
pub fn plan<S: Search>(search: &S, invocation: &Invocation<'_>, resources: &Resources) -> Value {
    let describe = |sources: &[Source]| {
        json!({
            "files": sources.len(),
            "bytes": sources.iter().filter_map(|source| source.bytes).sum::<u64>(),
            "streams": sources.iter().filter(|source| source.is_stream()).count(),
        })
    };
    json!({
        "event": "plan",
        "settings": search.settings(),
        "input": describe(invocation.sources),
        "against": describe(invocation.against.documents()),
        "writes": search.common().action.directory(),
        "output": invocation.out.to_string_lossy(),
        "memory": resources.memory_bytes,
        "threads": resources.threads,
        "temporary": resources.temporary.to_string_lossy(),
    })
}

/// The plan for people, with the lines that say what is searched.
pub fn plan_text(plan: &Value, rule: &str) -> String {
    let settings = &plan["settings"];
    let input = |name: &str, value: &Value| {
        let files = value["files"].as_u64().unwrap_or_default();
        let bytes = value["bytes"].as_u64().unwrap_or_default();
        format!(
            "{name:<10}{}, {}\n",
            counted(files, "file"),
            megabytes(bytes)
        )
    };
    let against = match plan["against"]["files"].as_u64() {
        Some(1..) => input("against", &plan["against"]),
        _ => String::new(),
    };
    let written = match &plan["writes"] {
        Value::String(name) => format!("reports, and the inputs again in {name}/"),
        _ => "reports; no input is written again".to_owned(),
    };
    let resources = format!(
        "resources {} and {} of memory; temporary files in {}\n",
        counted(plan["threads"].as_u64().unwrap_or_default(), "thread"),
        megabytes(plan["memory"].as_u64().unwrap_or_default()),
        text_of(&plan["temporary"]),
    );
    [
        rule.to_owned(),
        format!("action    {}\n", text_of(&settings["action"])),
        input("input", &plan["input"]),
        against,
        format!("output    {written}\n"),
        resources,
    ]
    .concat()
}

/// A setting as text.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
