//! How often documents are read, as planned and in fact.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::passages::json_of;
use crate::passages::plan::plan;

/// Checks the plan of a `command`, which gets an output in `directory` and a memory bound in MiB.
/// With `few`, the documents are read twice; with the memory that the plan proposes, they are read
/// once, and so say the plans and the runs.
pub fn assert_readings_are_as_planned(
    directory: &Path,
    few: u64,
    command: impl Fn(&str, u64) -> Command,
) {
    let names = |value: &Value| -> Vec<String> {
        let stages = value["stages"].as_array().unwrap().iter();
        let names = stages.map(|stage| stage["stage"].as_str().unwrap().to_owned());
        names.collect()
    };
    let first = plan(command("twice", few));
    assert_eq!(first["readings"], 2, "{first}");
    let kept = &first["kept_places"];
    assert!(
        kept["bytes"].as_u64() > kept["most_bytes"].as_u64(),
        "{first}"
    );
    let enough = kept["enough_memory"].as_u64().unwrap().div_ceil(1 << 20);
    let second = plan(command("once", enough));
    assert_eq!(second["readings"], 1, "{second}");
    for (out, memory, plan) in [("twice", few, first), ("once", enough, second)] {
        assert!(command(out, memory).output().unwrap().status.success());
        let timings = json_of(&directory.join(out).join("timings.json"));
        // The first stage, the listing of inputs, is in plans only.
        assert_eq!(names(&timings), names(&plan)[1..], "{plan}");
        let summary = json_of(&directory.join(out).join("summary.json"));
        let ratio =
            |name: &str, taken: &Value| plan[name].as_f64().unwrap() / taken.as_f64().unwrap();
        for ratio in [
            ratio("documents", &summary["seen"]),
            ratio("text_bytes", &summary["bytes"]["seen"]),
        ] {
            assert!((0.9..1.1).contains(&ratio), "{ratio}: {plan}");
        }
    }
}
