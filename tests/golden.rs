//! The public example of the main job, where it is present: it is not ours to redistribute.
//!
//! `SIMTOOL_GOLDEN_DIR` names its directory; without it, `../shared/golden` beside the package is
//! looked at.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use simtool::kernel::Level;

fn golden_directory() -> Option<PathBuf> {
    let named = std::env::var_os("SIMTOOL_GOLDEN_DIR").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden");
    named.or_else(|| beside.is_dir().then_some(beside))
}

#[test]
fn result_and_screen_are_those_of_the_public_example() {
    let Some(golden) = golden_directory() else {
        eprintln!("skipped: SIMTOOL_GOLDEN_DIR does not name the public example");
        return;
    };
    let expected = fs::read_to_string(golden.join("result.example.txt")).unwrap();
    let second = expected.find("Sample-2\n").unwrap();
    let made = tempfile::tempdir().unwrap();
    let result = made.path().join("result.txt");
    for threads in 1..=4 {
        for level in Level::available() {
            Command::new(env!("CARGO_BIN_EXE_simtool"))
                .args(["1000", "16", "--threads", &threads.to_string(), "--dir"])
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
