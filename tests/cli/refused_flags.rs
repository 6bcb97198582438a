//! Flags out of their range are refused before anything is read: there are no files here.

use crate::workplace::{Workplace, assert_message};

fn refuse(line: &str, parts: &[&str]) {
    Workplace::empty().refuse(line, parts);
}

#[test]
fn numbers_out_of_range() {
    let features = "expected a whole number from 1 to 10000";
    for number in ["0", "-5", "10001", "1.5", "99999999999999999999"] {
        refuse(
            &format!("{number} 16"),
            &[&format!("simtool: N {number}: {features}\n")],
        );
    }
    let bits = "expected a whole number from 1 to 128";
    for number in ["0", "-16", "129", "sixteen"] {
        refuse(
            &format!("1000 {number}"),
            &[&format!("simtool: M {number}: {bits}\n")],
        );
    }
}

#[test]
fn options_out_of_range() {
    for (line, message) in [
        (
            "--threads 0",
            "--threads 0: expected a whole number from 1 to 1024\n",
        ),
        (
            "--threads -1",
            "--threads -1: expected a whole number from 1 to 1024\n",
        ),
        (
            "--distance 17",
            "--distance 17: expected at most M, which is 16\n",
        ),
        (
            "--distance -1",
            "--distance -1: expected a whole number from 0 to 128\n",
        ),
        (
            "--memory 1Q",
            "--memory 1Q: expected a number of bytes such as",
        ),
        (
            "--scaling=0",
            "--scaling 0: expected a whole number from 1 to 1000\n",
        ),
        ("--summary=xml", "invalid value 'xml' for '--summary"),
        (
            "--quiet --timings",
            "'--quiet' cannot be used with '--timings'",
        ),
        (
            "--scaling --output x",
            "'--scaling[=<RUNS>]' cannot be used with '--output",
        ),
        ("--bogus", "unexpected argument '--bogus' found"),
    ] {
        refuse(&format!("1000 16 {line}"), &[message]);
    }
}

#[test]
fn memory_too_small_for_the_threads() {
    let parts = ["--memory 20M: 8 threads need at least ", "fewer --threads"];
    refuse("1000 16 --threads 8 --memory 20M", &parts);
}

#[test]
fn numbers_are_needed() {
    refuse("1000", &["<M>", "--help"]);
    refuse("1000 16 7", &["the subcommand '7' cannot be used with"]);
    refuse("1000 16 generate", &["generate"]);
}

#[test]
fn instruction_sets_that_are_not_there() {
    let run = |level| {
        let mut command = Workplace::empty().command(crate::workplace::SIMTOOL);
        let command = command.current_dir(".").args(["1", "1"]);
        command.env("SIMTOOL_SIMD", level).assert().code(2)
    };
    assert_message(
        &run("sse"),
        &["SIMTOOL_SIMD=sse: expected scalar, avx2, avx512"],
    );
    let missing = simtool::kernel::Level::ALL
        .into_iter()
        .find(|level| !level.is_available());
    match missing {
        Some(level) => {
            let message = format!("SIMTOOL_SIMD={level}: this processor only has scalar");
            assert_message(&run(&level.to_string()), &[&message]);
        }
        None => crate::skipped::skipped("this processor has all instruction sets"),
    }
}
