//! `simtool generate`, and the main job on what it made.

use std::process::Stdio;

use crate::sandbox::{Sandbox, stderr};
use simtool_testing::wait::wait_until;

/// Promise (Correct answers): Planted near-duplicates are found
#[test]
fn planted_repetitions_are_found() {
    let sandbox = Sandbox::new();
    let line = "generate --dir made --documents 300 --vocabulary 20000";
    let stderr = stderr(&sandbox.run(line).success().stdout(""));
    assert!(
        stderr.starts_with("simtool: made: 300 articles "),
        "{stderr}"
    );
    sandbox
        .run("1000 64 --dir made --log none")
        .success()
        .stderr("");
    let result = sandbox.read("made/result.txt");
    let truth = sandbox.read("made/truth.tsv");
    let exact: Vec<Vec<&str>> = truth
        .lines()
        .map(|row| row.split('\t').collect::<Vec<_>>())
        .filter(|row| row[0].starts_with("sample-") && row[2] == "exact")
        .collect();
    assert!(!exact.is_empty());
    for row in exact {
        let block = result.split(&format!("{}\n", row[0])).nth(1).unwrap();
        let nearest = block.lines().next().unwrap();
        assert!(
            nearest.starts_with("0:") && nearest.contains(row[1]),
            "{row:?}: {block}"
        );
    }
}

#[test]
fn parameters_are_named_by_their_flags() {
    let sandbox = Sandbox::new();
    sandbox.refuse(
        "generate --dir made --duplicates 0.7",
        &["--duplicates 0.7: expected 0 to 0.5"],
    );
    sandbox.refuse("generate", &["--dir <DIR>"]);
    sandbox.refuse(
        "generate --dir made --size 1X",
        &["--size 1X: expected a number of bytes"],
    );
}

#[test]
fn files_that_were_not_generated_are_not_replaced() {
    let sandbox = Sandbox::new();
    let line = "generate --dir made --documents 30";
    std::fs::create_dir(sandbox.path("made")).unwrap();
    for name in ["truth.tsv", "article.txt", "sample.txt"] {
        sandbox.write(&format!("made/{name}"), "mine");
        sandbox.refuse(line, &["exists and was not generated"]);
        assert_eq!(
            std::fs::read(sandbox.path("made").join(name)).unwrap(),
            b"mine"
        );
    }
    std::fs::remove_dir_all(sandbox.path("made")).unwrap();
    sandbox.stdout(line);
    sandbox.stdout(line);
}

#[test]
fn interrupted_generation_leaves_no_file() {
    let sandbox = Sandbox::new();
    let run = sandbox.start(
        &["generate", "--dir", "made", "--size", "1T"],
        Stdio::null(),
    );
    let names = || std::fs::read_dir(sandbox.path("made")).map_or(0, Iterator::count);
    // Temporary files have no names, where the file system can do that.
    let open = || {
        let files = std::fs::read_dir(format!("/proc/{}/fd", run.id()));
        let links = files.into_iter().flatten().flatten();
        let targets = links.filter_map(|link| std::fs::read_link(link.path()).ok());
        targets
            .filter(|file| file.starts_with(sandbox.path("made")))
            .count()
    };
    wait_until("the temporary files", || open() == 5);
    crate::cli::faults::signal(&run, "INT");
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stderr.starts_with(b"simtool: interrupted"));
    assert_eq!(names(), 0);
}
