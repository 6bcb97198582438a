//! Killed commands of `simtool index`.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::line;
use crate::sandbox::Sandbox;

/// Documents in several commits.
fn documents() -> String {
    let text = |number: u64| {
        let family = number % 30_000;
        let last = if number.is_multiple_of(7) {
            "end"
        } else {
            "last"
        };
        format!(
            "a{family} b{family} c{family} d{family} e{family} f{family} g{family} h{family} {last}"
        )
    };
    (0..140_000)
        .map(|number| line(&format!("n{number}"), &text(number)))
        .collect()
}

/// Promise (The index): After an `index add` that was killed at any moment, the same command gives
/// the index of one that was not
#[test]
fn a_killed_addition_goes_on_with_the_same_command() {
    let sandbox = Sandbox::new();
    sandbox.write("first.jsonl", line("first", "a b c d e f g h i j"));
    sandbox.write("many.jsonl", documents());
    let add = |index: &str| format!("index add {index} many.jsonl --dump 2 --memory 256M");
    sandbox.stdout("index build whole first.jsonl --dump 1");
    let begin = Instant::now();
    sandbox.stdout(&add("whole"));
    let took = begin.elapsed();
    let expected = sandbox.stdout("index export whole");
    assert_eq!(expected.lines().count(), 140_001);
    // The moments matter for what is tested, not for the result.
    for part in [1, 3, 5, 7, 9] {
        let index = format!("killed{part}");
        sandbox.stdout(&format!("index build {index} first.jsonl --dump 1"));
        let mut command = sandbox.std_command(&add(&index));
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(took.as_millis() as u64 * part / 10));
        child.kill().unwrap();
        child.wait().unwrap();
        sandbox.stdout(&format!("index check {index}"));
        sandbox.stdout(&add(&index));
        assert!(sandbox.stdout(&format!("index export {index}")) == expected);
        sandbox.stdout(&format!("index check {index}"));
    }
}
