//! Clients of one process share nothing: credentials, versions, caches, memory and interruption.
//!
//! Credentials come from the environment of the process, so one test has all of it.

#![cfg(feature = "client")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use simtool_core::{ErrorKind, Result};
use simtool_objects::{Client, Location, Object};

use simtool_testing::bucket::{Bucket, Fault, NAME};

/// A client with the credentials `key`, of a time at which these were in the environment.
fn client(bucket: &Bucket, key: &str) -> Client {
    // SAFETY: the only test of this process has no other thread that reads the environment.
    unsafe {
        for (name, value) in [
            ("AWS_ENDPOINT_URL", format!("http://{}", bucket.address)),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_ACCESS_KEY_ID", key.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ] {
            std::env::set_var(name, value);
        }
    }
    Client::new()
}

fn open(client: &Client, key: &str) -> Result<Arc<Object>> {
    let location = Location::parse(Path::new(&format!("s3://{NAME}/{key}")))?;
    client.open(&location)?.wait()
}

/// The number of threads of this process that make requests.
fn request_threads() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let names = threads.map(|thread| fs::read_to_string(thread.unwrap().path().join("comm")));
    // A thread may have ended meanwhile.
    let is_one =
        |name: &std::io::Result<String>| name.as_deref().is_ok_and(|name| name == "requests\n");
    names.filter(is_one).count()
}

/// Promise (Inputs on servers): Two runs in one process have their own credentials, versions of objects,
/// cache, memory to read ahead and interruption, and their threads end with them
#[test]
fn clients_share_nothing() {
    let bucket = Bucket::start();
    let bytes = vec![b'x'; 200_000];
    for name in ["a", "slow", "late"] {
        bucket.add(name, &bytes);
    }
    // The key of the object and the signature of each request.
    let requests = Arc::new(Mutex::new(Vec::new()));
    let taken = || std::mem::take(&mut *requests.lock().unwrap());
    let noted = Arc::clone(&requests);
    bucket.set_faults(move |request| {
        let signature = request.header("authorization").unwrap_or_default();
        let request = (request.key().to_owned(), signature.to_owned());
        let time = match request.0.as_str() {
            "slow" => Some(Duration::from_secs(600)),
            "late" => Some(Duration::from_secs(2)),
            _ => None,
        };
        noted.lock().unwrap().push(request);
        time.map(Fault::Delay)
    });
    let (one, other) = (client(&bucket, "one"), client(&bucket, "other"));
    client(&bucket, "later");

    // Credentials are those of the environment when the client was made.
    let place = tempfile::tempdir().unwrap();
    one.set_cache(Some((place.path(), 10 << 20)), |_| ())
        .unwrap();
    for (client, key) in [(&one, "one"), (&other, "other"), (&one.clone(), "one")] {
        assert_eq!(
            open(client, "a").unwrap().read_at(0..200_000).unwrap(),
            bytes
        );
        for (_, signature) in taken() {
            assert!(
                signature.contains(&format!("Credential={key}/")),
                "{signature}"
            );
        }
    }

    // Only one keeps what it reads: it asks for the identity alone.
    assert!(fs::read_dir(place.path()).unwrap().count() > 1);
    assert_eq!(
        (one.cache_bytes(), other.cache_bytes()),
        (Some(10 << 20), None)
    );

    // Each has the version that it opened.
    let old = open(&one, "a").unwrap();
    let new = vec![b'y'; 200_000];
    bucket.add("a", &new);
    assert_eq!(open(&other, "a").unwrap().read_at(0..200_000).unwrap(), new);
    assert_eq!(old.read_at(0..10).unwrap(), bytes[..10]);

    // Memory to read ahead is that of each.
    let before = other.requests(50 << 20, 1 << 20);
    assert_eq!(one.reserve(1 << 20), 256 << 10);
    assert_eq!(other.requests(50 << 20, 1 << 20), before);
    assert!(one.requests(50 << 20, 1 << 20) > before);

    // The end of the requests of one leaves those of others.
    taken();
    thread::scope(|scope| {
        let stopped = scope.spawn(|| open(&one, "slow").map(drop));
        let running = scope.spawn(|| open(&other, "late").map(drop));
        while requests.lock().unwrap().len() < 2 {
            thread::sleep(Duration::from_millis(5));
        }
        let begin = Instant::now();
        one.stop();
        assert_eq!(
            stopped.join().unwrap().unwrap_err().kind(),
            ErrorKind::Interrupted
        );
        assert!(begin.elapsed() < Duration::from_secs(300));
        running.join().unwrap().unwrap();
    });
    let (stopped, running) = (open(&one, "slow"), open(&other, "a"));
    assert_eq!(
        stopped.err().map(|error| error.kind()),
        Some(ErrorKind::Interrupted)
    );
    assert_eq!(running.unwrap().bytes(), 200_000);

    // The threads of a client end with it and its last object.
    let all = request_threads();
    drop(one);
    assert_eq!(old.bytes(), 200_000);
    drop(old);
    let begin = Instant::now();
    while request_threads() >= all {
        assert!(begin.elapsed() < Duration::from_secs(60), "{all} threads");
        thread::sleep(Duration::from_millis(10));
    }
    assert!(open(&other, "a").is_ok());
}
