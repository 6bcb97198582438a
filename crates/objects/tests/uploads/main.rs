//! Objects are written whole or not at all, whatever a server does.
//!
//! The settings come from the environment of the process, so all tests run in one with small parts.

#![cfg(feature = "client")]
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use simtool_core::{ErrorKind, Result};
use simtool_objects::{Client, Condition, Put, RemoteDirectory};

use simtool_testing::bucket::{Bucket, Fault, NAME, Request};

/// The size of a part.
const PART: usize = 10_000;

fn content(bytes: usize) -> Vec<u8> {
    (0..bytes as u64)
        .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8)
        .collect()
}

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// The directory `out` in the bucket of a server. All tests run one after another, as the settings come
/// from the environment of the process.
fn directory(bucket: &Bucket) -> Arc<dyn RemoteDirectory> {
    // SAFETY: the only test of this process that reads the environment has not done so yet.
    unsafe {
        for (name, value) in [
            ("AWS_ENDPOINT_URL", format!("http://{}", bucket.address)),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_ACCESS_KEY_ID", "key".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "hunter2".to_owned()),
            ("SIMTOOL_PART_BYTES", PART.to_string()),
        ] {
            std::env::set_var(name, value);
        }
    }
    Client::new()
        .open_directory(Path::new(&format!("s3://{NAME}/out/")))
        .unwrap()
}

fn put(out: &dyn RemoteDirectory, name: &str, bytes: &[u8]) -> Result<(Put, Vec<String>)> {
    let mut uploads = Vec::new();
    let put = out.put_file(
        Path::new(name),
        &file(bytes),
        Condition::New,
        &mut |upload| {
            uploads.push(upload.to_owned());
            Ok(())
        },
    )?;
    Ok((put, uploads))
}

/// Makes a fault of every second request that changes the bucket, for `most` of them.
fn often(most: usize, fault: Fault) -> impl Fn(&Request) -> Option<Fault> + Send + Sync {
    let count = AtomicUsize::new(0);
    move |request| {
        let number = count.fetch_add(usize::from(request.is_change()), Ordering::Relaxed);
        let is_meant = request.is_change() && number.is_multiple_of(2) && number < 2 * most;
        is_meant.then_some(fault)
    }
}

/// Promise (Outputs in object stores): Refused requests, broken connections and lost …
#[test]
fn objects_are_written_whole_or_not_at_all() {
    let bucket = Bucket::start();
    let out = &*directory(&bucket);
    small_files_are_sent_at_once(&bucket, out);
    large_files_are_sent_in_parts(&bucket, out);
    objects_have_content_types(&bucket, out);
    failed_requests_are_repeated(&bucket, out);
    failed_uploads_are_aborted(&bucket, out);
    objects_are_listed_read_and_removed(&bucket, out);
}

fn small_files_are_sent_at_once(bucket: &Bucket, out: &dyn RemoteDirectory) {
    for size in [0, 1, PART] {
        let name = format!("small {size}");
        let (put, uploads) = put(out, &name, &content(size)).unwrap();
        let Put::Stored(stored) = put else {
            panic!("{put:?}");
        };
        let object = bucket.objects().remove(&format!("out/{name}")).unwrap();
        assert_eq!(*object.bytes, content(size));
        assert_eq!(
            (stored.bytes, stored.etag),
            (size as u64, Some(object.etag))
        );
        assert!(uploads.is_empty());
    }
    // An object of others is not replaced.
    bucket.add("out/other", b"other");
    assert_eq!(put(out, "other", b"own").unwrap().0, Put::Exists);
    let replaced = out.put(Path::new("other"), b"own".to_vec(), Condition::Any);
    assert!(matches!(replaced.unwrap(), Put::Stored(_)));
    assert_eq!(**bucket.objects()["out/other"].bytes, *b"own");
}

fn objects_have_content_types(bucket: &Bucket, out: &dyn RemoteDirectory) {
    for (name, expected) in [
        ("a.jsonl", Some("application/jsonl")),
        ("b.jsonl.zst", Some("application/zstd")),
        ("c.warc.gz", Some("application/gzip")),
        ("d.parquet", Some("application/vnd.apache.parquet")),
        ("page.html", Some("text/html; charset=utf-8")),
        ("other", None),
    ] {
        for size in [PART, PART + 1] {
            let name = format!("types/{size} {name}");
            put(out, &name, &content(size)).unwrap();
            let object = bucket.objects().remove(&format!("out/{name}")).unwrap();
            assert_eq!(object.content_type.as_deref(), expected, "{name}");
        }
    }
}

fn large_files_are_sent_in_parts(bucket: &Bucket, out: &dyn RemoteDirectory) {
    for size in [PART + 1, 5 * PART, 17 * PART + 5] {
        let name = format!("large/{size}");
        let (put, uploads) = put(out, &name, &content(size)).unwrap();
        let Put::Stored(stored) = put else {
            panic!("{put:?}");
        };
        let object = bucket.objects().remove(&format!("out/{name}")).unwrap();
        assert_eq!(*object.bytes, content(size));
        assert_eq!(
            (stored.bytes, stored.etag),
            (size as u64, Some(object.etag))
        );
        assert_eq!(uploads.len(), 1);
    }
    assert!(bucket.uploads().is_empty());
}

fn failed_requests_are_repeated(bucket: &Bucket, out: &dyn RemoteDirectory) {
    let faults = [
        Fault::Status(503),
        Fault::Status(500),
        Fault::Refuse,
        Fault::LoseAnswer,
        Fault::ErrorInSuccess,
    ];
    for (number, fault) in faults.into_iter().enumerate() {
        for size in [100, 3 * PART] {
            let before = bucket.uploads().len();
            bucket.set_faults(often(4, fault));
            let name = format!("repeated/{number}/{size}");
            let is_lost = matches!(fault, Fault::LoseAnswer);
            match put(out, &name, &content(size)).unwrap().0 {
                Put::Stored(stored) => assert_eq!(stored.bytes, size as u64),
                // The first attempt wrote it.
                put => assert!(is_lost && put == Put::Exists, "{put:?} {fault:?}"),
            }
            bucket.end_faults();
            let object = bucket.objects().remove(&format!("out/{name}")).unwrap();
            assert_eq!(*object.bytes, content(size), "{fault:?}");
            // A beginning whose answer is lost is repeated; that upload has no parts.
            let left = bucket.uploads();
            assert!(left.iter().all(|(_, parts)| *parts == 0), "{left:?}");
            assert!(left.len() == before || is_lost, "{left:?}");
        }
    }
}

fn failed_uploads_are_aborted(bucket: &Bucket, out: &dyn RemoteDirectory) {
    let before = bucket.uploads();
    bucket.set_faults(|request| {
        let is_late = request.parameter("partNumber").as_deref() == Some("4");
        is_late.then_some(Fault::Status(400))
    });
    let error = put(out, "failed", &content(5 * PART)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Write);
    let text = error.to_string();
    for part in [
        "s3://bucket/out/failed",
        "attempt 1",
        "400",
        "a test",
        "AWS_",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("hunter2"));
    bucket.end_faults();
    let refused = |upload: &str| Err(simtool_core::Error::new(ErrorKind::Write, upload));
    let refused = out.put_file(
        Path::new("failed"),
        &file(&content(2 * PART)),
        Condition::New,
        &mut |upload| refused(upload),
    );
    assert!(refused.unwrap_err().to_string().contains("upload"));
    assert!(!bucket.objects().contains_key("out/failed"));
    assert_eq!(bucket.uploads(), before);
    // An upload that does not exist is no error.
    out.abort(Path::new("failed"), "none").unwrap();
}

fn objects_are_listed_read_and_removed(bucket: &Bucket, out: &dyn RemoteDirectory) {
    bucket.add("outer", b"in another directory");
    let listed = out.list(&|name| name.starts_with("large")).unwrap();
    let names: Vec<_> = listed.keys().map(|name| name.to_str().unwrap()).collect();
    assert_eq!(names, ["large/10001", "large/170005", "large/50000"]);
    let all = out.list(&|_| true).unwrap();
    assert_eq!(all.len(), bucket.objects().len() - 1);
    let name = Path::new("large/170005");
    let head = out.head(name).unwrap().unwrap();
    assert_eq!((head.bytes, &head.etag), (170_005, &listed[name].etag));
    let mut bytes = Vec::new();
    assert!(
        out.read(name, &mut |piece| bytes.extend_from_slice(piece))
            .unwrap()
    );
    assert_eq!(bytes, content(170_005));
    for _ in 0..2 {
        out.delete(name).unwrap();
        assert_eq!(out.head(name).unwrap(), None);
        assert!(!out.read(name, &mut |_| panic!("no bytes")).unwrap());
    }
}

/// Promise (Outputs in object stores): Web servers and the hub are refused as outputs
#[test]
fn only_object_stores_are_written_to() {
    for (url, word) in [
        ("https://h/x", "web server"),
        ("hf://datasets/o/n", "hf upload"),
        ("ftp://h/x", "unknown scheme"),
    ] {
        let error = Client::new().open_directory(Path::new(url)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Parameter);
        assert!(error.to_string().contains(word), "{error}");
    }
}
