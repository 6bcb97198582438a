//! Deduplication: a finished run is durable, and an unfinished run resumes to the same output.

use std::fs;
use std::path::{Path, PathBuf};

use simtool::engine::Progress;
use simtool::jobs::dedup::WriteMode;

use crate::disk::{Deaf, Disk};
use crate::documents::documents;
use crate::failures;
use crate::setup::{Form, job, resources, run, write};

/// Names and bytes of all files but the one with times.
fn contents(out: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![out.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(out).unwrap();
            if path.is_dir() && !name.starts_with(".simtool") {
                folders.push(path);
            } else if path.is_file() && !name.ends_with("timings.json") {
                files.push((name.to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn scenario(every: u64, deaf: Deaf) -> Vec<String> {
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
    let disk = Disk::new(temporary.path(), every, deaf);
    let out = temporary.path().join("out");
    run(&out).unwrap();
    disk.acknowledge();
    let expected = contents(&out);
    failures(&disk, 3, |point, root| {
        let out = root.join("out");
        if point.under_way
            && let Err(error) = run(&out)
            // Everything was published before the power failed.
            && contents(&out) != expected
        {
            return Err(error.to_string());
        }
        let found = contents(&out);
        let names = |files: &[(PathBuf, Vec<u8>)]| {
            files
                .iter()
                .map(|(name, _)| name.clone())
                .collect::<Vec<_>>()
        };
        match found == expected {
            true => Ok(()),
            false => Err(format!("other bytes: {:?}", names(&found))),
        }
    })
}

#[test]
fn a_finished_run_is_there_and_another_one_goes_on() {
    assert_eq!(scenario(3, |_| false), Vec::<String>::new());
}

#[test]
fn syncs_that_do_nothing_are_noticed() {
    let mute: [Deaf; 2] = [|path| path.is_dir(), |path| path.is_file()];
    for deaf in mute {
        assert!(!scenario(1000, deaf).is_empty());
    }
}
