//! Shards in a bucket.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::uploads::crashes::killed_at;
use crate::uploads::{inputs, is_like, is_refused, local_outputs, succeeds, to_bucket};
use simtool_testing::bucket::{Bucket, Fault};

/// The flags of `dedup` with shards of a size, without the output.
fn flags(write: &str, format: &str, bytes: usize) -> String {
    format!(
        "dedup in --threads 2 --memory 1G --no-page --write {write} --write-format {format} \
         --shard-size {bytes}"
    )
}

/// The number of objects whose name begins with `start`.
fn objects(bucket: &Bucket, start: &str) -> usize {
    let objects = bucket.objects();
    objects.keys().filter(|key| key.starts_with(start)).count()
}

/// Promise (Outputs in object stores): The objects are the files of a run …
#[test]
fn shards_are_those_of_a_directory() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    for (write, format, bytes) in [
        ("kept,removed", "jsonl", 9000),
        ("kept,removed", "jsonl.gz", 9000),
        ("kept", "jsonl.zst", 1),
        ("removed", "jsonl.zst", 9000),
        ("text,removed", "parquet", 20_000),
    ] {
        let flags = flags(write, format, bytes);
        let local = local_outputs(&sandbox, &bucket, &flags);
        std::fs::remove_dir_all(sandbox.path("local")).unwrap();
        let shards = local.keys().filter(|name| name.contains("part-")).count();
        assert!(shards > 3, "{shards}");
        succeeds(&sandbox, &bucket, &to_bucket(&flags));
        is_like(&sandbox, &bucket, &local);
        let again = succeeds(&sandbox, &bucket, &to_bucket(&flags));
        assert!(again.contains("already complete: s3://bucket/clean"));
        bucket.objects().keys().for_each(|key| bucket.remove(key));
    }
}

/// Promise (Outputs in object stores): A run that is killed at … (with shards)
#[test]
fn a_run_that_is_killed_while_it_sends_shards_goes_on() {
    let sandbox = inputs();
    let flags = flags("kept,removed", "jsonl.zst", 5000);
    let local = local_outputs(&sandbox, &Bucket::start(), &flags);
    let line = to_bucket(&flags);
    let mut kills = 0;
    for number in 0.. {
        let (bucket, is_done) = (Bucket::start(), number % 2 == 0);
        if !killed_at(&sandbox, &bucket, &line, number, is_done) {
            break;
        }
        kills += 1;
        // The next run is killed too, a little later.
        killed_at(&sandbox, &bucket, &line, number / 2 % 5, !is_done);
        let sent = objects(&bucket, "clean/kept/");
        let said = succeeds(&sandbox, &bucket, &line);
        is_like(&sandbox, &bucket, &local);
        // Complete shards stay.
        let is_continued = said.contains("shards of kept/ written");
        let is_complete = said.contains("already complete");
        assert!(sent == 0 || is_continued || is_complete, "{said}");
    }
    assert!(kills > 20, "{kills}");
}

/// Promise (Outputs in object stores): A run that is killed at … (with shards)
#[test]
fn complete_shards_are_not_sent_again() {
    let (sandbox, bucket) = (inputs(), Arc::new(Bucket::start()));
    let flags = flags("kept", "jsonl", 5000);
    let local = local_outputs(&sandbox, &bucket, &flags);
    bucket.set_faults(|request| {
        let is_meant = request.is_change() && request.key().ends_with("part-00002.jsonl");
        is_meant.then_some(Fault::Status(403))
    });
    let words = ["kept/part-00002.jsonl", "403"];
    is_refused(&sandbox, &bucket, &to_bucket(&flags), &words);
    let sent = Arc::new(AtomicBool::new(false));
    let own = Arc::clone(&sent);
    bucket.set_faults(move |request| {
        let is_earlier = ["part-00000.jsonl", "part-00001.jsonl"]
            .iter()
            .any(|name| request.key().ends_with(name));
        own.fetch_or(request.is_change() && is_earlier, Ordering::Relaxed);
        None
    });
    let said = succeeds(&sandbox, &bucket, &to_bucket(&flags));
    // The third one was complete in the local directory, and is sent first of all.
    assert!(said.contains("3 shards of kept/ written"), "{said}");
    assert!(!sent.load(Ordering::Relaxed));
    is_like(&sandbox, &bucket, &local);
}

/// As in a directory, all names of shards are the run's.
/// Promise (Outputs in object stores): Objects of others are neither replaced nor removed, also if
/// they appear during the run; no object of others has the name of a shard
#[test]
fn shards_of_others_are_refused() {
    refuses_shards_of_others(&flags("kept", "jsonl", 5000));
    let flags = "--action drop-document:0.9 --write-format jsonl --shard-size 5000";
    refuses_shards_of_others(&format!("lines in --threads 2 --no-page {flags}"));
}

fn refuses_shards_of_others(flags: &str) {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    for name in ["kept/part-00000.jsonl", "kept/part-00017.jsonl"] {
        let key = format!("clean/{name}");
        bucket.add(&key, b"notes");
        is_refused(&sandbox, &bucket, &to_bucket(flags), &[&key]);
        let objects = bucket.objects();
        assert_eq!(objects.keys().collect::<Vec<_>>(), [&key]);
        assert_eq!(*objects[&key].bytes, b"notes");
        bucket.remove(&key);
    }
    bucket.add("clean/kept/part-17.jsonl", b"notes");
    succeeds(&sandbox, &bucket, &to_bucket(flags));
    assert_eq!(
        *bucket.objects()["clean/kept/part-17.jsonl"].bytes,
        b"notes"
    );
}

/// Shards of one run are the inputs of another, in the same bucket.
#[test]
fn shards_are_read_from_the_bucket() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    let flags = flags("kept", "jsonl.zst", 5000);
    succeeds(&sandbox, &bucket, &to_bucket(&flags));
    let line = "dedup s3://bucket/clean/kept/ -o again --memory 1G --threads 2 --no-page";
    succeeds(&sandbox, &bucket, line);
    let count = |summary: &[u8], name: &str| {
        let summary: Value = serde_json::from_slice(summary).unwrap();
        summary[name].as_u64().unwrap()
    };
    let first = &bucket.objects()["clean/summary.json"].bytes;
    let second = std::fs::read(sandbox.path("again/summary.json")).unwrap();
    let [seen, kept] = ["seen", "kept"].map(|name| count(&second, name));
    assert_eq!([seen, kept], [count(first, "kept"); 2]);
}
