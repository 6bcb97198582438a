//! The public example of the main job, where it is present: it is not ours to redistribute.
//!
//! `SIMTOOL_GOLDEN_DIR` names its directory.

use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;
use simtool::kernel::Level;
use simtool_testing::skipped::skipped;

/// Promise (Correct answers): The program writes `result.txt` and prints … (against an example of
/// others, where it is at hand)
#[test]
fn result_and_screen_are_those_of_the_public_example() {
    let Some(golden) = std::env::var_os("SIMTOOL_GOLDEN_DIR").map(PathBuf::from) else {
        skipped("SIMTOOL_GOLDEN_DIR does not name a directory");
        return;
    };
    let expected = fs::read_to_string(golden.join("result.example.txt")).unwrap();
    let second = expected.find("Sample-2\n").unwrap();
    let made = tempfile::tempdir().unwrap();
    let result = made.path().join("result.txt");
    for threads in 1..=4 {
        for level in Level::available() {
            Command::new(env!("CARGO_BIN_EXE_simtool"))
                .args(["1000", "16", "--log", "none"])
                .args(["--threads", &threads.to_string(), "--dir"])
                .arg(&golden)
                .arg("--output")
                .arg(&result)
                .env("SIMTOOL_SIMD", level.to_string())
                .assert()
                .success()
                .stdout(expected[..second].to_owned())
                .stderr("");
            let found = fs::read_to_string(&result).unwrap();
            assert!(found == expected, "{threads} threads, {level}");
        }
    }
}
