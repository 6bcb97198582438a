//! The README's quick start, done by the program as it is.

use assert_cmd::Command;

/// Promise (Correct answers): The program writes `result.txt` and prints …
#[test]
fn the_first_command_prints_what_the_readme_shows() {
    let readme = include_str!("../../README.md");
    let mut fences = readme.split("```").skip(1).step_by(2);
    let command = fences.find(|fence| fence.contains("cargo run")).unwrap();
    let shown = fences.next().unwrap().strip_prefix("text\n").unwrap();
    let line = command.lines().find(|line| line.contains("cargo run"));
    let (_, arguments) = line.unwrap().split_once(" -- ").unwrap();
    Command::new(env!("CARGO_BIN_EXE_simtool"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments.split_whitespace())
        .assert()
        .success()
        .stdout(shown.to_owned());
}
