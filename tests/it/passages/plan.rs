//! Plans of searches for passages.

use std::process::Command;

use serde_json::Value;

/// The event `plan` that a command prints.
pub fn plan(mut command: Command) -> Value {
    let output = command
        .args(["--dry-run", "--log", "json"])
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{messages}");
    let line = messages.lines().last().unwrap();
    let plan: Value = serde_json::from_str(line).unwrap();
    assert_eq!(plan["event"], "plan");
    plan
}
