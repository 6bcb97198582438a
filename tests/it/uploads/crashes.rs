//! Processes that are killed, and servers that fail.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::sandbox::Sandbox;
use crate::uploads::{
    DEDUP, command, inputs, is_like, is_refused, local_outputs, said, succeeds, to_bucket,
};
use simtool_testing::bucket::{Bucket, Fault};
use simtool_testing::wait::wait_until;

/// Runs `line` until the request with the number `number` that changes the bucket, and kills it then,
/// before that request is done or before it is answered. Whether the run got that far.
pub fn killed_at(
    sandbox: &Sandbox,
    bucket: &Bucket,
    line: &str,
    number: usize,
    is_done: bool,
) -> bool {
    let (process, count) = (Arc::new(AtomicI32::new(0)), AtomicUsize::new(0));
    let own = Arc::clone(&process);
    // The process is known before any request is answered.
    let started = Arc::new(Mutex::new(()));
    let starting = started.lock().unwrap();
    let wait = Arc::clone(&started);
    bucket.set_faults(move |request| {
        drop(wait.lock());
        let is_meant = request.is_change() && count.fetch_add(1, Ordering::Relaxed) == number;
        is_meant.then(|| {
            // SAFETY: the process is a child that has not been waited for.
            unsafe { libc::kill(own.load(Ordering::Relaxed), libc::SIGKILL) };
            match is_done {
                true => Fault::LoseAnswer,
                false => Fault::Refuse,
            }
        })
    });
    let mut child = command(sandbox, bucket, line).spawn().unwrap();
    process.store(child.id() as i32, Ordering::Relaxed);
    drop(starting);
    let status = child.wait().unwrap();
    bucket.end_faults();
    assert!(status.success() || status.code().is_none(), "{status}");
    !status.success()
}

/// Promise (Outputs in object stores): A run that is killed at any request, before it is done or
/// before its answer arrives, resumes to the same objects, and leaves no upload with parts, no lock
/// and no local file
#[test]
fn a_run_that_is_killed_at_any_request_goes_on() {
    let sandbox = inputs();
    let local = local_outputs(&sandbox, &Bucket::start(), DEDUP);
    let line = to_bucket(DEDUP);
    let mut kills = 0;
    for number in 0.. {
        let (bucket, is_done) = (Bucket::start(), number % 2 == 0);
        if !killed_at(&sandbox, &bucket, &line, number, is_done) {
            break;
        }
        kills += 1;
        // The next run is killed too, a little later.
        killed_at(&sandbox, &bucket, &line, number / 2 % 5, !is_done);
        succeeds(&sandbox, &bucket, &line);
        is_like(&sandbox, &bucket, &local);
    }
    assert!(kills > 15, "{kills}");
}

/// Promise (Outputs in object stores): Refused requests, broken connections and lost answers do not
/// change the objects
#[test]
fn failed_requests_are_repeated() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    let local = local_outputs(&sandbox, &bucket, DEDUP);
    let count = AtomicUsize::new(0);
    bucket.set_faults(move |_| match count.fetch_add(1, Ordering::Relaxed) {
        2 | 9 | 10 => Some(Fault::Status(503)),
        5 | 17 => Some(Fault::Refuse),
        13 | 21 | 26 => Some(Fault::LoseAnswer),
        _ => None,
    });
    succeeds(&sandbox, &bucket, &to_bucket(DEDUP));
    is_like(&sandbox, &bucket, &local);
}

/// Promise (Outputs in object stores): An upload that is refused for good is aborted, the error
/// names the object, the attempt and the answer, and the run can go on; a run that is interrupted
/// waits for no answer
#[test]
fn a_refused_upload_ends_the_run_which_can_go_on() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    let local = local_outputs(&sandbox, &bucket, DEDUP);
    bucket.set_faults(|request| {
        let is_part = request.parameter("partNumber").as_deref() == Some("2");
        is_part
            .then_some(Fault::Status(403))
            .filter(|_| request.key().contains("kept/"))
    });
    let words = [
        "s3://bucket/clean/kept/",
        "cannot be written",
        "attempt ",
        "403",
        "AWS_",
    ];
    is_refused(&sandbox, &bucket, &to_bucket(DEDUP), &words);
    bucket.end_faults();
    assert!(bucket.uploads().is_empty(), "{:?}", bucket.uploads());
    assert!(!bucket.objects().contains_key("clean/summary.json"));
    let said = succeeds(&sandbox, &bucket, &to_bucket(DEDUP));
    assert!(said.contains("continuing an interrupted run"), "{said}");
    is_like(&sandbox, &bucket, &local);
}

/// Promise (Outputs in object stores): An upload that is refused for …
#[test]
fn an_interrupted_run_waits_for_no_answer_and_goes_on() {
    let (sandbox, bucket) = (inputs(), Bucket::start());
    let local = local_outputs(&sandbox, &bucket, DEDUP);
    bucket.set_faults(|request| {
        let is_late = request.key().ends_with("clusters.jsonl") && request.is_change();
        is_late.then_some(Fault::Delay(Duration::from_secs(600)))
    });
    let mut run = command(&sandbox, &bucket, &to_bucket(DEDUP));
    run.stderr(std::process::Stdio::piped());
    let child = run.spawn().unwrap();
    let process = child.id() as i32;
    wait_until("a first object", || {
        bucket.objects().contains_key("clean/duplicates.jsonl")
    });
    // Not SIGINT, which commands ignore that a shell started in the background.
    // SAFETY: the process is a child that has not been waited for.
    unsafe { libc::kill(process, libc::SIGTERM) };
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    // It did not wait for the answers that come after ten minutes.
    assert!(!bucket.objects().contains_key("clean/clusters.jsonl"));
    bucket.end_faults();
    succeeds(&sandbox, &bucket, &to_bucket(DEDUP));
    is_like(&sandbox, &bucket, &local);
}
