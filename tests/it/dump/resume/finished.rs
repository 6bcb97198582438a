//! Finished runs: the same command does nothing, and only a restart replaces their outputs.

use std::fs;

use simtool::ErrorKind;
use simtool::io::Faults;

use super::{Case, create_user_files, remove_user_files};
use crate::dump::setup::{contents, job};

/// Promise (Deduplication): A repeated command whose run is …
/// Promise (Deduplication): `--restart` removes the files that the earlier run recorded, and no
/// others
#[test]
fn a_finished_run_is_not_repeated_and_only_a_restart_replaces_its_outputs() {
    let case = Case::with_statistics();
    let out = tempfile::tempdir().unwrap();
    let none = Faults::default();
    let (first, _) = case.run(out.path(), false, &none).unwrap();
    let complete = contents(out.path());
    let (second, was_complete) = case.run(out.path(), false, &none).unwrap();
    assert!(was_complete);
    assert_eq!(
        (
            second.seen(),
            second.kept(),
            second.dropped(),
            second.clusters(),
            second.refused
        ),
        (
            first.seen(),
            first.kept(),
            first.dropped(),
            first.clusters(),
            first.refused
        )
    );

    let mut other = Case { job: job(), ..case };
    let error = other.run(out.path(), false, &none).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed);
    let text = error.to_string();
    assert!(
        text.contains("settings.write was \"annotated\", is \"none\""),
        "{text}"
    );
    assert!(text.contains("--restart"), "{text}");
    assert_eq!(contents(out.path()), complete);

    // A restart removes all earlier outputs, and no other files.
    let user_files = create_user_files(out.path());
    other.run(out.path(), true, &none).unwrap();
    remove_user_files(&user_files, "restart");
    assert_eq!(contents(out.path()), other.expected());
    assert!(!out.path().join("duplicates.csv").exists());

    // With a missing output the run is not complete.
    fs::remove_file(out.path().join("clusters.jsonl")).unwrap();
    let error = other.run(out.path(), false, &none).unwrap_err();
    assert!(
        error.to_string().contains("clusters.jsonl: is missing"),
        "{error}"
    );
    other.run(out.path(), true, &none).unwrap();

    // Changed inputs are another job.
    other.job = job();
    let input = other.inputs.path().join("0");
    let bytes = fs::read(&input).unwrap();
    fs::write(&input, bytes).unwrap();
    let error = other.run(out.path(), false, &none).unwrap_err();
    assert!(
        error.to_string().contains("inputs[0].modified was"),
        "{error}"
    );
}

/// Promise (Deduplication): `--restart` removes the files that the earlier …
#[test]
fn a_restart_removes_what_an_unfinished_run_of_another_job_wrote() {
    let case = Case::with_statistics();
    let out = tempfile::tempdir().unwrap();
    case.stop_writing(out.path());
    assert!(out.path().join(case.written(0)).exists());
    let user_files = create_user_files(out.path());
    let other = Case { job: job(), ..case };
    other.run(out.path(), true, &Faults::default()).unwrap();
    remove_user_files(&user_files, "restart");
    assert_eq!(contents(out.path()), other.expected());
}

/// Promise (Deduplication): A repeated command whose run is …
#[test]
fn a_summary_of_another_job_is_an_error() {
    let case = Case::with_statistics();
    let out = tempfile::tempdir().unwrap();
    let none = Faults::default();
    case.run(out.path(), false, &none).unwrap();
    let summary = out.path().join("summary.json");
    let complete = fs::read_to_string(&summary).unwrap();
    for broken in [
        "",
        "{}",
        &complete[..complete.len() / 2],
        &complete.replace("\"seen\": 300", "\"seen\": 301"),
    ] {
        fs::write(&summary, broken).unwrap();
        let error = case.run(out.path(), false, &none).unwrap_err();
        let kind = match broken.len() == complete.len() {
            true => ErrorKind::Content,
            false => ErrorKind::Changed,
        };
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains("summary.json"), "{error}");
    }
    fs::write(&summary, &complete).unwrap();
    let run = out.path().join("run.json");
    let record = fs::read_to_string(&run).unwrap();
    // A name that is damaged is not removed by a restart.
    fs::write(&run, record.replace("duplicates.csv", "duplicates.txt")).unwrap();
    assert_eq!(
        case.run(out.path(), true, &none).unwrap_err().kind(),
        ErrorKind::Content
    );
    fs::remove_file(&run).unwrap();
    for restart in [false, true] {
        let error = case.run(out.path(), restart, &none).unwrap_err();
        assert!(error.to_string().contains("no run.json"), "{error}");
    }
    assert_eq!(fs::read_to_string(&summary).unwrap(), complete);
}
