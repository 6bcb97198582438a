//! Finished outputs in a bucket.

use crate::uploads::{
    DEDUP, files, inputs, is_like, is_refused, local_outputs, run, said, succeeds, to_bucket,
};
use simtool_testing::bucket::{Bucket, NAME};

/// Promise (Outputs in object stores): A finished run is known on every machine, until an object is
/// changed or missing
#[test]
fn a_finished_run_is_known_on_every_machine() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    succeeds(&sandbox, &bucket, &to_bucket(DEDUP));
    let before: Vec<_> = bucket.objects().into_keys().collect();
    for temporary in ["temp", "other-temp"] {
        let line = format!("{DEDUP} -o s3://{NAME}/clean --temp-dir {temporary}");
        let again = succeeds(&sandbox, &bucket, &line);
        assert!(
            again.contains("already complete: s3://bucket/clean"),
            "{again}"
        );
        let output = run(&sandbox, &bucket, &format!("{line} --summary=json"));
        let summary = &bucket.objects()["clean/summary.json"].bytes;
        let shown = [&output.stdout[..], &output.stderr[..]].concat();
        assert!(shown == **summary, "{}", said(&output));
        assert!(files(&sandbox.path(temporary)).is_empty());
        let other = line.replace(" --refused", "");
        is_refused(
            &sandbox,
            &bucket,
            &other,
            &["another job", "s3://bucket/clean"],
        );
    }
    assert_eq!(bucket.objects().into_keys().collect::<Vec<_>>(), before);
    bucket.remove("clean/clusters.jsonl");
    is_refused(
        &sandbox,
        &bucket,
        &to_bucket(DEDUP),
        &["clusters.jsonl", "is missing"],
    );
    bucket.add("clean/clusters.jsonl", b"notes");
    is_refused(
        &sandbox,
        &bucket,
        &to_bucket(DEDUP),
        &["clusters.jsonl", "was changed"],
    );
}

/// Promise (Outputs in object stores): `--restart` removes only objects that a run recorded
#[test]
fn a_restart_replaces_only_own_objects() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    succeeds(&sandbox, &bucket, &to_bucket(DEDUP));
    bucket.add("clean/notes.txt", b"notes");
    bucket.add("clean/kept/notes.txt", b"notes");
    bucket.add("cleaner", b"notes");
    let line = DEDUP.replace("--write kept", "--write ids");
    // On another machine, without the local directory.
    let other = format!("{line} --restart -o s3://{NAME}/clean --temp-dir other-temp");
    succeeds(&sandbox, &bucket, &other);
    for key in ["clean/notes.txt", "clean/kept/notes.txt", "cleaner"] {
        assert_eq!(*bucket.objects()[key].bytes, b"notes");
        bucket.remove(key);
    }
    let local = local_outputs(&sandbox, &bucket, &line);
    is_like(&sandbox, &bucket, &local);
    // An output that was changed is kept.
    bucket.add("clean/kept.jsonl", b"notes");
    is_refused(
        &sandbox,
        &bucket,
        &format!("{} --restart", to_bucket(&line)),
        &["kept.jsonl"],
    );
    assert_eq!(*bucket.objects()["clean/kept.jsonl"].bytes, b"notes");
}
