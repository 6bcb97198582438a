use std::fs;

use serde_json::{Value, json};

use super::*;
use crate::workdir::files::names::JOB;
use crate::{Error, ErrorKind};

fn open(out: &Path, job: &Value, restart: bool) -> Result<Opened> {
    let start = StartOptions {
        restart,
        has_stream: false,
        outputs: &[],
        reads: &[],
        remote: None,
    };
    Work::open(out, job, start, &Faults::default())
}

fn unfinished(out: &Path, job: &Value, restart: bool) -> Work {
    match open(out, job, restart).unwrap() {
        Opened::Unfinished(work) => work,
        Opened::Finished(_) => panic!("finished"),
    }
}

fn refusal(out: &Path, job: &Value, restart: bool) -> Error {
    open(out, job, restart).err().unwrap()
}

/// Promise (Deduplication): An interrupted run is not resumed …
#[test]
fn another_job_is_refused_with_the_difference() {
    let out = tempfile::tempdir().unwrap();
    let job = json!({"settings": {"distance": 3, "keep": "first"}, "inputs": [1, 2]});
    drop(unfinished(out.path(), &job, false));
    drop(unfinished(out.path(), &job, false));

    let other = json!({"settings": {"distance": 4, "keep": "first"}, "inputs": [1, 2, 3]});
    let error = refusal(out.path(), &other, false);
    assert_eq!(error.kind(), ErrorKind::Changed);
    let text = error.to_string();
    assert!(text.contains("settings.distance was 3, is 4"), "{text}");
    assert!(text.contains("inputs had 2 entries, has 3"), "{text}");

    unfinished(out.path(), &other, true).abandon().unwrap();
    assert!(fs::read_dir(out.path()).unwrap().next().is_none());
}

/// Promise (Deduplication): Two processes do not work in one directory, even if files are removed
/// from it. A finished run does not keep its directory locked, even while a child process is being
/// started
#[test]
fn only_one_process_works_in_an_output_directory() {
    let out = tempfile::tempdir().unwrap();
    let _work = unfinished(out.path(), &json!({}), false);
    for _ in 0..2 {
        let error = refusal(out.path(), &json!({}), false);
        assert!(error.to_string().contains("another simtool"), "{error}");
        fs::remove_dir_all(out.path().join(NAME)).unwrap_or_default();
    }
}

#[test]
fn a_damaged_job_is_an_error() {
    let out = tempfile::tempdir().unwrap();
    let job = json!({"a": 1});
    drop(unfinished(out.path(), &job, false));
    let path = out.path().join(NAME).join(JOB);
    let whole = fs::read_to_string(&path).unwrap();
    for damaged in ["", "{", &whole.replace('1', "2")] {
        fs::write(&path, damaged).unwrap();
        let error = refusal(out.path(), &job, false);
        assert_eq!(error.kind(), ErrorKind::Content);
        assert!(error.to_string().contains("--restart"), "{error}");
    }
    drop(unfinished(out.path(), &job, true));
    drop(unfinished(out.path(), &job, false));
}

/// Promise (Deduplication): `--restart` removes the files that the earlier …
#[test]
fn files_of_others_are_refused_only_if_their_names_are_needed() {
    let names = ["segments", "segment-index", "job.json", "outputs"];
    for (number, name) in names.into_iter().enumerate() {
        let out = tempfile::tempdir().unwrap();
        let directory = out.path().join(NAME);
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "mine").unwrap();
        fs::write(directory.join("notes.txt"), "mine").unwrap();
        for restart in [false, true] {
            let error = refusal(out.path(), &json!({}), restart);
            assert_eq!(error.file(), Some(&*path), "{number}: {error}");
            assert!(error.to_string().contains("move it away"), "{error}");
        }
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        fs::remove_file(&path).unwrap();
        unfinished(out.path(), &json!({}), false).abandon().unwrap();
        assert_eq!(fs::read(directory.join("notes.txt")).unwrap(), b"mine");
    }
}

/// Promise (Deduplication): `--restart` removes the files that the earlier … (a symbolic link is no
/// work directory)
#[test]
fn a_link_is_no_work_directory() {
    let (out, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let link = out.path().join(NAME);
    for target in [elsewhere.path(), Path::new("nowhere")] {
        std::os::unix::fs::symlink(target, &link).unwrap();
        let error = refusal(out.path(), &json!({}), true);
        assert_eq!(error.file(), Some(&*link));
        let text = error.to_string();
        assert!(
            text.contains("is a symbolic link to") && text.contains("remove the link"),
            "{text}"
        );
        fs::remove_file(&link).unwrap();
    }
}

/// Promise (Deduplication): If the record of outputs is …
#[test]
fn a_torn_last_line_of_the_record_is_ignored_and_damage_is_an_error() {
    let out = tempfile::tempdir().unwrap();
    let job = json!({});
    let paths = ["a", "b"].map(|name| out.path().join(name));
    let work = unfinished(out.path(), &job, false);
    for path in &paths {
        let mut file = work.outputs().create(path).unwrap();
        file.write_all(b"bytes").unwrap();
        file.publish().unwrap();
    }
    drop(work);
    let journal = out.path().join(NAME).join(OUTPUTS);
    let whole = fs::read(&journal).unwrap();
    let are_written = |bytes: &[u8]| {
        fs::write(&journal, bytes).unwrap();
        open(out.path(), &job, false).map(|opened| match opened {
            Opened::Unfinished(work) => {
                paths.each_ref().map(|path| work.outputs().is_written(path))
            }
            Opened::Finished(_) => panic!("finished"),
        })
    };
    assert_eq!(are_written(&whole).unwrap(), [true, true]);
    assert_eq!(
        are_written(&whole[..whole.len() - 1]).unwrap(),
        [true, false]
    );
    // The torn line is overwritten.
    assert_eq!(fs::read(&journal).unwrap().last(), Some(&b'\n'));
    let mut bytes = whole[..whole.len() - 1].iter();
    let last = bytes.rposition(|&byte| byte == b'\n').unwrap();
    for place in (0..whole.len()).step_by(3).chain([last]) {
        let mut damaged = whole.clone();
        damaged[place] ^= 1;
        match are_written(&damaged) {
            // Without the line feed between them, the last two lines are one torn line.
            Ok(written) if place == last => assert_eq!(written, [false, false]),
            Ok(written) => assert!(place > last && written == [true, false], "{place}"),
            Err(error) => assert!(
                place <= last && error.kind() == ErrorKind::Content,
                "{error}"
            ),
        }
    }
    fs::write(&journal, &whole).unwrap();
    fs::write(&paths[0], b"other").unwrap();
    assert_eq!(are_written(&whole).unwrap(), [false, true]);
}
