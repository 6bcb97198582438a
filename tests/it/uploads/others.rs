//! Objects and runs of others.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sandbox::Sandbox;
use crate::uploads::{DEDUP, inputs, is_like, is_refused, local_outputs, run, succeeds, to_bucket};
use simtool_testing::bucket::{Bucket, Fault, NAME};

/// A run that ends at its first report, and stays unfinished.
fn unfinished(sandbox: &Sandbox, bucket: &Bucket) {
    bucket.set_faults(|request| {
        let is_meant = request.is_change() && request.key().ends_with("clusters.jsonl");
        is_meant.then_some(Fault::Status(403))
    });
    assert!(!run(sandbox, bucket, &to_bucket(DEDUP)).status.success());
    bucket.end_faults();
}

/// Promise (Outputs in object stores): Two runs into one place are refused, also by stores without
/// conditional writes if one of them has begun
#[test]
fn two_runs_into_one_place_are_refused() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    let local = local_outputs(&sandbox, &bucket, DEDUP);
    unfinished(&sandbox, &bucket);
    let other = format!("{DEDUP} -o s3://{NAME}/clean/ --temp-dir other-temp");
    let words = [
        "clean/.simtool/lock",
        "another run",
        "host",
        "temp/simtool-",
    ];
    is_refused(&sandbox, &bucket, &other, &words);
    // A refused run leaves nothing, and the first one goes on.
    let left = std::fs::read_dir(sandbox.path("other-temp"))
        .unwrap()
        .count();
    assert_eq!(left, 0);
    succeeds(&sandbox, &bucket, &to_bucket(DEDUP));
    is_like(&sandbox, &bucket, &local);
    let said = succeeds(&sandbox, &bucket, &other);
    assert!(said.contains("already complete"), "{said}");
}

/// Promise (Outputs in object stores): Two runs into one place are …
#[test]
fn a_store_without_conditions_is_locked_too() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    bucket.ignore_conditions();
    unfinished(&sandbox, &bucket);
    let other = format!("{DEDUP} -o s3://{NAME}/clean --temp-dir other-temp");
    is_refused(&sandbox, &bucket, &other, &["another run"]);
    succeeds(&sandbox, &bucket, &to_bucket(DEDUP));
    // Another one says that it has no conditions.
    let bucket = Bucket::start();
    let is_first = AtomicBool::new(true);
    bucket.set_faults(move |request| {
        let is_lock = request.method == "PUT" && request.key().ends_with("lock");
        let is_meant = is_lock && is_first.swap(false, Ordering::Relaxed);
        is_meant.then_some(Fault::Status(501))
    });
    let said = succeeds(&sandbox, &bucket, &to_bucket(DEDUP));
    assert!(said.contains("do not start a second"), "{said}");
}

/// Promise (Outputs in object stores): Objects of others are neither replaced …
#[test]
fn objects_of_others_are_not_replaced() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    for name in [
        "clusters.jsonl",
        "kept/in/a.jsonl",
        "summary.json",
        "run.json",
    ] {
        let key = format!("clean/{name}");
        bucket.add(&key, b"notes");
        is_refused(
            &sandbox,
            &bucket,
            &to_bucket(DEDUP),
            &[&format!("s3://{NAME}/{key}")],
        );
        let objects = bucket.objects();
        assert_eq!(objects.keys().collect::<Vec<_>>(), [&key]);
        assert_eq!(*objects[&key].bytes, b"notes");
        bucket.remove(&key);
    }
}

/// Promise (Outputs in object stores): Objects of others are neither replaced …
#[test]
fn an_object_that_appears_during_the_run_is_not_replaced() {
    let (sandbox, bucket) = (inputs(), Arc::new(Bucket::start()));
    let local = local_outputs(&sandbox, &bucket, DEDUP);
    let (own, is_first) = (Arc::clone(&bucket), AtomicBool::new(true));
    let key = "clean/skipped.jsonl";
    bucket.set_faults(move |request| {
        let is_meant = request.key() == key && request.method == "PUT";
        if is_meant && is_first.swap(false, Ordering::Relaxed) {
            own.add(key, b"notes");
        }
        None
    });
    is_refused(&sandbox, &bucket, &to_bucket(DEDUP), &[key, "appeared"]);
    assert_eq!(*bucket.objects()[key].bytes, b"notes");
    is_refused(&sandbox, &bucket, &to_bucket(DEDUP), &[key]);
    bucket.remove(key);
    succeeds(&sandbox, &bucket, &to_bucket(DEDUP));
    is_like(&sandbox, &bucket, &local);
}

/// Promise (Outputs in object stores): Objects of others are neither replaced …
#[test]
fn outputs_of_a_lost_local_directory_are_not_replaced() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    unfinished(&sandbox, &bucket);
    let before: Vec<_> = bucket.objects().into_keys().collect();
    bucket.remove("clean/.simtool/lock");
    let other = format!("{DEDUP} -o s3://{NAME}/clean --temp-dir other-temp");
    is_refused(
        &sandbox,
        &bucket,
        &other,
        &["clean/duplicates.jsonl", "--temp-dir"],
    );
    let mut after: Vec<_> = bucket.objects().into_keys().collect();
    after.insert(0, "clean/.simtool/lock".to_owned());
    assert_eq!(after, before);
}

/// Promise (Outputs in object stores): The local directory of an upload is open to its user alone;
/// one of others is refused
#[test]
fn the_local_directory_is_private() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    let line = to_bucket(DEDUP);
    unfinished(&sandbox, &bucket);
    let mut found = fs::read_dir(sandbox.path("temp")).unwrap();
    let local = found.next().unwrap().unwrap().path();
    assert!(found.next().is_none());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&local), 0o700);
    // Others might have written there.
    fs::set_permissions(&local, fs::Permissions::from_mode(0o777)).unwrap();
    for line in [&line, &format!("{line} --dry-run")] {
        is_refused(&sandbox, &bucket, line, &["other users", "--temp-dir"]);
    }
    fs::set_permissions(&local, fs::Permissions::from_mode(0o700)).unwrap();
    succeeds(&sandbox, &bucket, &line);
}
