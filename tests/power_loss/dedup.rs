//! Deduplication: a finished run is durable, and an unfinished run resumes to the same output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use simtool::engine::Progress;
use simtool::jobs::dedup::WriteMode;

use crate::disk::{Disk, Ignored};
use crate::documents::documents;
use crate::failures;
use crate::setup::{Form, contents, job, resources, run, write};

/// The outputs, without the work directory.
fn outputs(out: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = match out.exists() {
        true => contents(out),
        false => BTreeMap::new(),
    };
    files.retain(|name, _| !name.starts_with(".simtool"));
    files
}

fn scenario(every: u64, ignored: Ignored) -> Vec<String> {
    let inputs = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = ["a", "b"].map(|name| inputs.path().join(name)).into();
    let all = documents(3, 240);
    write(&paths[0], Form::Jsonl, &all[..120]);
    write(&paths[1], Form::JsonlGzip, &all[120..]);
    let mut job = job();
    job.write = WriteMode::Kept;
    let elsewhere = tempfile::tempdir().unwrap();
    let resources = resources(1, elsewhere.path());
    let run = |out: &Path| run(&job, &paths, &[], out, &resources, &Progress::new());

    let temporary = tempfile::tempdir().unwrap();
    let disk = Disk::new(temporary.path(), every, ignored);
    let out = temporary.path().join("out");
    run(&out).unwrap();
    disk.acknowledge();
    let expected = outputs(&out);
    failures(&disk, 3, |point, root| {
        let out = root.join("out");
        if point.under_way
            && let Err(error) = run(&out)
            // Everything was published before the power failed.
            && outputs(&out) != expected
        {
            return Err(error.to_string());
        }
        let found = outputs(&out);
        match found == expected {
            true => Ok(()),
            false => Err(format!("other bytes: {:?}", found.keys())),
        }
    })
}

#[test]
fn a_finished_run_is_complete_and_an_unfinished_one_resumes() {
    assert_eq!(scenario(3, |_| false), Vec::<String>::new());
}

#[test]
fn missing_syncs_are_noticed() {
    let ignored: [Ignored; 2] = [|path| path.is_dir(), |path| path.is_file()];
    for ignored in ignored {
        assert!(!scenario(1000, ignored).is_empty());
    }
}
