//! Deduplication: a finished run is durable, and an unfinished run resumes to the same output.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use simtool::engine::Progress;
use simtool::jobs::dedup::WriteMode;

use crate::dump::documents::documents;
use crate::dump::setup::{Form, contents, job, resources, run, write};
use crate::power_loss::disk::{Disk, Ignored};
use crate::power_loss::failures;

/// The outputs, without the work directory.
fn outputs(out: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = match out.exists() {
        true => contents(out),
        false => BTreeMap::new(),
    };
    files.retain(|name, _| !name.starts_with(".simtool"));
    files
}

/// Two files of many documents.
fn large_files(inputs: &Path) -> Vec<PathBuf> {
    let paths = ["a", "b"].map(|name| inputs.join(name));
    let all = documents(3, 240);
    write(&paths[0], Form::Jsonl, &all[..120]);
    write(&paths[1], Form::JsonlGzip, &all[120..]);
    paths.into()
}

/// Many files of one document, in directories that the run makes.
fn small_files(inputs: &Path) -> Vec<PathBuf> {
    for (number, document) in documents(3, 30).iter().enumerate() {
        let directory = inputs.join(format!("{}/{}", number % 2, number % 3));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("{number}.txt")), &document.text).unwrap();
    }
    vec![inputs.to_owned()]
}

fn scenario(make: fn(&Path) -> Vec<PathBuf>, every: u64, ignored: Ignored) -> Vec<String> {
    let inputs = tempfile::tempdir().unwrap();
    let paths = make(inputs.path());
    let mut job = job();
    job.write = WriteMode::Kept;
    job.removed = true;
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

/// Promise (Deduplication): After a power loss, a finished run is complete, and an unfinished one
/// resumes to the same bytes
#[test]
fn a_finished_run_is_complete_and_an_unfinished_one_resumes() {
    assert_eq!(scenario(large_files, 3, |_| false), Vec::<String>::new());
}

/// Promise (Deduplication): Small files are published in groups …
#[test]
fn many_files_are_complete_or_written_again() {
    assert_eq!(scenario(small_files, 2, |_| false), Vec::<String>::new());
}

/// Promise (Deduplication): After a power loss, a finished …
#[test]
fn missing_syncs_are_noticed() {
    let ignored: [Ignored; 2] = [|path| path.is_dir(), |path| path.is_file()];
    for ignored in ignored {
        assert!(!scenario(large_files, 1000, ignored).is_empty());
        assert!(!scenario(small_files, 1000, ignored).is_empty());
    }
}
