//! Flags out of their range are refused before anything is read: there are no files here.

use crate::sandbox::{Sandbox, assert_message};

fn refuse(line: &str, parts: &[&str]) {
    Sandbox::new().refuse(line, parts);
}

/// Promise (Errors and interruptions): Flags out of range are refused before anything is read, in
/// one line that names flag, value and bounds
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
fn a_missing_truth_is_named_in_all_its_forms() {
    for command in ["evaluate", "tune"] {
        let line = format!("{command} a.jsonl");
        refuse(&line, &["--pairs <FILE>", "--clusters <FILE>", "--planted"]);
        refuse(
            &format!("{line} --pairs a --clusters b"),
            &["cannot be used with"],
        );
    }
}

/// Promise (Errors and interruptions): Flags out of range are refused …
#[test]
fn options_out_of_range() {
    Sandbox::new().refuse_each(
        "1000 16",
        "--threads 0 => --threads 0: expected a whole number from 1 to 1024
        --threads -1 => --threads -1: expected a whole number from 1 to 1024
        --distance 17 => --distance 17: expected at most M, which is 16
        --distance -1 => --distance -1: expected a whole number from 0 to 128
        --memory 1Q => --memory 1Q: expected a number of bytes such as
        --scaling=0 => --scaling 0: expected a whole number from 1 to 1000
        --summary=xml => invalid value 'xml' for '--summary
        --quiet --timings => '--quiet' cannot be used with '--timings'
        --scaling --output x => '--scaling[=<RUNS>]' cannot be used with '--output
        --bogus => unexpected argument '--bogus' found",
    );
}

/// Promise (Bounded memory): A memory bound that is too small is refused before anything is read,
/// with both numbers
#[test]
fn memory_too_small_for_the_threads() {
    let parts = ["--memory 20M: 8 threads need at least ", "fewer --threads"];
    refuse("1000 16 --threads 8 --memory 20M", &parts);
    let parts = [
        "--memory 20M: with --threads 8 and --max-document ",
        "M with one thread; a smaller --max-document needs less)",
    ];
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "words");
    sandbox.refuse("dedup a.txt -o out --threads 8 --memory 20M", &parts);
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
        let mut command = Sandbox::new().command(crate::sandbox::SIMTOOL);
        let command = command.current_dir(".").args(["1", "1"]);
        command.env("SIMTOOL_SIMD", level).assert().code(2)
    };
    assert_message(
        &run("sse"),
        &["SIMTOOL_SIMD=sse: expected scalar, neon, avx2, avx512"],
    );
    let missing = simtool::kernel::Level::ALL
        .into_iter()
        .find(|level| !level.is_available());
    let level = missing.expect("no processor has all instruction sets");
    let message = format!("SIMTOOL_SIMD={level}: this processor only has scalar");
    assert_message(&run(&level.to_string()), &[&message]);
}

/// Promise (Deduplication): An option that the method ignores … (by every command that takes
/// methods)
#[test]
fn flags_without_effect_on_the_method() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", "{\"id\":\"1\",\"text\":\"one two three\"}\n");
    sandbox.write("words", "the");
    sandbox.write("pairs.tsv", "a\tb\tlabel\n");
    sandbox.refuse_each(
        "",
        "dedup a.jsonl -o out --method exact --tokenizer chars => --tokenizer has no effect with --method
        dedup a.jsonl -o out --method exact --cluster components => --cluster has no effect with --method exact: it drops equal documents only
        dedup a.jsonl -o out --method normalized --cluster star => --cluster has no effect with --method normalized
        match --articles a.jsonl --samples a.jsonl --method characters --tokenizer ascii => --tokenizer has no effect with --method
        match --articles a.jsonl --samples a.jsonl --method minhash --stop-words words => --stop-words has no effect with --method
        evaluate a.jsonl --planted --method exact --method characters --tokenizer ascii => --method exact or characters: it reads no words
        evaluate a.jsonl --planted --method minhash --stop-words words => --stop-words has no effect with --method
        evaluate a.jsonl --pairs pairs.tsv --copied 9 => cannot be used with '--copied
        tune a.jsonl --planted --for match --method exact --tokenizer ascii => --tokenizer has no effect with --method
        tune a.jsonl --planted --method simhash => --method simhash: dedup compares shingles
        tune a.jsonl --pairs pairs.tsv --listed-only => unexpected argument '--listed-only'
        tune a.jsonl --planted --aligned 2 => expected a share above 0, at most 1",
    );
    if cfg!(feature = "index") {
        sandbox.refuse_each(
            "",
            "index build new a.jsonl --method exact --tokenizer ascii => --tokenizer has no effect with --method
            index build new a.jsonl --method minhash --stop-words words => --stop-words has no effect with --method
            index build new a.jsonl --method shingles --layout compact => --layout has no effect with --method shingles: it makes no fingerprints
            match --against seen --samples a.jsonl --timings => cannot be used with '--timings'",
        );
    }
    for line in [
        "dedup a.jsonl -o out --method characters --tokenizer ascii --cluster star",
        "dedup a.jsonl -o out2 --method normalized --tokenizer ascii",
        "match --articles a.jsonl --samples a.jsonl --stop-words words --tokenizer ascii",
    ] {
        sandbox.run(line).success();
    }
}

/// The name of an extractor of earlier builds.
#[test]
fn a_part_of_html_that_is_gone_names_what_replaces_it() {
    let sandbox = Sandbox::new();
    sandbox.write("a.html", "<html><p>text");
    let parts = ["--html article", "use main"];
    for line in [
        "dedup a.html -o out --html article",
        "lines a.html -o out --html article",
    ] {
        sandbox.refuse(line, &parts);
    }
}
