//! Objects are read whole and unchanged, or not at all, whatever a server does.
//!
//! Bursts of refusals, broken, slow and short answers, ignored ranges, redirects and changed objects.
//! The settings come from the environment of the process, so waits are those of users; tests have
//! few failures each.

#![cfg(feature = "client")]
#![allow(clippy::unwrap_used)]

mod latency;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use simtool_core::{ErrorKind, Result};
use simtool_objects::{Client, Location, Object, Prefetch};

use simtool_testing::server::{Content, Fault, Request, Server};

fn content(bytes: usize) -> Vec<u8> {
    (0..bytes as u64)
        .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8)
        .collect()
}

fn opened(server: &Server, path: &str) -> Result<Arc<Object>> {
    open(&Client::new(), &server.url(path))
}

fn open(client: &Client, url: &str) -> Result<Arc<Object>> {
    client.open(&Location::parse(Path::new(url))?)?.wait()
}

/// All bytes of an object, read in pieces.
fn all(object: &Arc<Object>, piece: usize) -> Result<Vec<u8>> {
    let mut reader = Prefetch::new(Arc::clone(object), None);
    let mut out = Vec::new();
    while reader.read(out.len() as u64, piece, &mut out)? > 0 {}
    Ok(out)
}

/// Makes a fault of the first `most` requests that are not for the first bytes.
fn first_requests(most: usize, fault: Fault) -> impl Fn(&Request) -> Option<Fault> + Send + Sync {
    let count = AtomicUsize::new(0);
    move |request| {
        let is_first = request.range().is_some_and(|(start, _)| start == 0);
        let is_meant = !is_first && count.fetch_add(1, Ordering::Relaxed) < most;
        is_meant.then(|| fault.clone())
    }
}

/// Promise (Inputs on servers): The reports and written inputs are …
#[test]
fn objects_are_read_whole_despite_failures() {
    let bytes = content(3_000_000);
    let faults = [
        Fault::status(500),
        Fault::status(429),
        Fault::Status(503, Some(("Retry-After", "1".into())), "slow down".into()),
        Fault::Truncate(100_000),
        Fault::HalfClose(1),
        Fault::Short(5000),
        Fault::Close,
        Fault::Slow(Duration::from_millis(1)),
        Fault::Redirect("/other".into()),
    ];
    for fault in faults {
        let server = Server::start();
        server.add("file", &bytes);
        server.add("other", &bytes);
        let object = opened(&server, "file").unwrap();
        assert_eq!(object.bytes(), bytes.len() as u64);
        server.set_faults(first_requests(2, fault.clone()));
        assert!(all(&object, 700_000).unwrap() == bytes, "{fault:?}");
    }
}

/// Promise (Inputs on servers): A transfer that breaks goes on at the byte where it stopped
#[test]
fn a_broken_transfer_goes_on_where_it_stopped() {
    let server = Server::start();
    let bytes = content(200_000);
    server.add("file", &bytes);
    let object = opened(&server, "file").unwrap();
    server.take_requests();
    server.set_faults(|request| (request.number == 0).then_some(Fault::Truncate(120_000)));
    assert_eq!(object.read_at(10_000..200_000).unwrap(), bytes[10_000..]);
    let requests = server.take_requests();
    let (start, end) = requests[1].range().unwrap();
    assert!(
        start > 10_000 && start <= 130_000 && end == 200_000,
        "{start}"
    );
    assert_eq!(requests.len(), 2);
}

/// Promise (Inputs on servers): Bytes of two versions of an object are never mixed: a changed
/// object is an error
#[test]
fn a_changed_object_is_an_error_and_never_a_mixture() {
    let bytes = content(2_000_000);
    for is_tagged in [true, false] {
        let server = Server::start();
        let add = |path: &str, bytes: &[u8], modified: &str| match is_tagged {
            true => server.add(path, bytes),
            false => {
                let content = Content::Bytes(Arc::new(bytes.to_vec()));
                server.add_with(path, content, None, Some(modified.to_owned()));
            }
        };
        add("file", &bytes, "Sun, 06 Nov 1994 08:49:37 GMT");
        let object = opened(&server, "file").unwrap();
        assert_eq!(object.read_at(0..100).unwrap(), bytes[..100]);
        let mut other = bytes.clone();
        other[1_000_000] ^= 1;
        add("file", &other, "Sun, 06 Nov 1994 08:49:38 GMT");
        let error = all(&object, 1 << 20).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
        assert!(error.to_string().contains("file: changed"), "{error}");
    }
    // A server that ignores If-Match.
    let server = Server::start();
    server.add("file", &bytes);
    let object = opened(&server, "file").unwrap();
    server.set_faults(|_| Some(Fault::Changed));
    assert_eq!(
        all(&object, 1 << 20).unwrap_err().kind(),
        ErrorKind::Changed
    );
    // Shorter ones, without any tag.
    let server = Server::start();
    let lines = |bytes| Content::Lines(bytes);
    server.add_with("file", lines(500_000), None, None);
    let object = opened(&server, "file").unwrap();
    server.add_with("file", lines(400_000), None, None);
    let error = all(&object, 1 << 20).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
    assert!(
        error
            .to_string()
            .contains("expected 500000 bytes, found 400000"),
        "{error}"
    );
}

#[test]
fn the_identity_is_sent_with_each_request() {
    let server = Server::start();
    server.add("file", &content(1_000_000));
    let object = opened(&server, "file").unwrap();
    let tag = object.identity().etag.clone().unwrap();
    assert_eq!(server.take_requests()[0].header("if-match"), None);
    all(&object, 1 << 20).unwrap();
    for request in server.take_requests() {
        assert_eq!(request.header("if-match"), Some(tag.as_str()));
        let agent = request.header("user-agent").unwrap();
        assert!(agent.starts_with("simtool/"), "{agent}");
    }
}

#[test]
fn ignored_ranges_are_an_error_beyond_the_first_bytes() {
    let server = Server::start();
    let bytes = content(3_000_000);
    server.add("file", &bytes);
    server.set_faults(|_| Some(Fault::IgnoreRange));
    let object = opened(&server, "file").unwrap();
    assert_eq!(object.read_at(1000..2000).unwrap(), bytes[1000..2000]);
    let error = object.read_at(2_500_000..2_600_000).unwrap_err();
    assert!(error.to_string().contains("ignores ranges"), "{error}");
}

#[test]
fn an_empty_object_has_no_bytes() {
    let server = Server::start();
    server.add("empty", b"");
    let object = opened(&server, "empty").unwrap();
    assert_eq!(object.bytes(), 0);
    assert!(object.read_at(0..10).unwrap().is_empty());
    assert!(all(&object, 10).unwrap().is_empty());
}

/// Promise (Inputs on servers): An object is empty only if the server says so: a refused range
/// alone does not mean it
#[test]
fn a_refused_range_is_empty_only_if_the_server_says_so() {
    let server = Server::start();
    let bytes = content(100_000);
    server.add("file", &bytes);
    server.add("empty", b"");
    for range in [
        None,
        Some(("Content-Range", "bytes */*".to_owned())),
        Some(("Content-Range", "bytes */100000".to_owned())),
    ] {
        let refused = Fault::Status(416, range.clone(), String::new());
        let own = refused.clone();
        server.set_faults(move |request| request.range().map(|_| own.clone()));
        let name = |name: &str| format!("{name}?{range:?}").replace([' ', '"', '*', ','], "");
        server.take_requests();
        let object = opened(&server, &name("file")).unwrap();
        assert_eq!(object.bytes(), 100_000, "{range:?}");
        assert_eq!(object.read_at(0..70_000).unwrap(), bytes[..70_000]);
        // Each is asked for once more, without a range.
        assert_eq!(server.take_requests().len(), 4);
        assert_eq!(opened(&server, &name("empty")).unwrap().bytes(), 0);
        let error = object.read_at(70_000..70_001).unwrap_err().to_string();
        assert!(
            error.contains("416") && error.contains("refuses this range"),
            "{error}"
        );
        server.set_faults(move |_| Some(refused.clone()));
        let error = opened(&server, &name("other")).err().unwrap().to_string();
        assert!(error.contains("416"), "{error}");
    }
}

/// Promise (Inputs on servers): Failures that another attempt would not change are errors at once,
/// with their reasons
#[test]
fn permanent_failures_are_errors_at_once_with_their_reasons() {
    let bytes = content(300_000);
    let raw = |header: &str| {
        let head = "HTTP/1.1 206 X\r\nContent-Length: 4\r\nContent-Range: bytes 0-3/4\r\n";
        Fault::Raw(format!("{head}{header}\r\n\r\ntext"))
    };
    let range = |range: &'static str| {
        Fault::Status(
            206,
            Some(("Content-Range", range.to_owned())),
            "text".to_owned(),
        )
    };
    for (fault, reason, requests) in [
        (
            Fault::Redirect("/file".into()),
            "more than 10 redirects",
            11,
        ),
        (raw("a b: c"), "no valid HTTP", 1),
        (raw("ETag: \"a\u{1}b\""), "no valid HTTP", 1),
        (Fault::Raw("gopher\r\n\r\n".into()), "no valid HTTP", 1),
        (
            Fault::Status(206, None, "text".into()),
            "invalid Content-Range",
            1,
        ),
        (range("bytes x-y/4"), "invalid Content-Range", 1),
        (range("bytes 50-99/100"), "another range", 1),
        (range("bytes 0-3/*"), "does not tell the size", 1),
        (Fault::status(400), "400 Bad Request", 1),
        (Fault::status(401), "401 Unauthorized", 1),
        (Fault::status(304), "304 Not Modified", 1),
    ] {
        let server = Server::start();
        server.add("file", &bytes);
        server.set_faults(move |_| Some(fault.clone()));
        let error = opened(&server, "file").err().unwrap().to_string();
        assert!(
            error.contains(reason) && error.contains("(attempt 1,"),
            "{error}"
        );
        assert_eq!(server.take_requests().len(), requests, "{reason}");
    }
    // In the middle of an object.
    let server = Server::start();
    server.add("file", &bytes);
    let object = opened(&server, "file").unwrap();
    server.take_requests();
    server.set_faults(|_| Some(Fault::WrongRange));
    let error = object.read_at(100_000..200_000).unwrap_err().to_string();
    assert!(error.contains("another range"), "{error}");
    assert_eq!(server.take_requests().len(), 1);
}

/// Invalid and weak entity tags are not sent.
#[test]
fn unusual_entity_tags_do_no_harm() {
    let bytes = content(200_000);
    for tag in ["", "\"é\"", "a\"b", "W/\"a\"", "a b"] {
        let server = Server::start();
        let content = Content::Bytes(Arc::new(bytes.clone()));
        server.add_with("file", content, Some(tag.to_owned()), None);
        let object = opened(&server, "file").unwrap();
        assert!(all(&object, 1 << 20).unwrap() == bytes, "{tag}");
        let requests = server.take_requests();
        assert!(
            requests
                .iter()
                .all(|request| request.header("if-match").is_none())
        );
    }
}

/// Headers of requests that follow a redirect to another server (another port).
/// Promise (Inputs on servers): No credential crosses to another host …
#[test]
fn redirects_take_no_credentials_to_other_servers() {
    let (server, other) = (Server::start(), Server::start());
    let bytes = content(100_000);
    server.add("file", &bytes);
    other.add("file", &bytes);
    let target = other.url("file?token=own");
    server.set_faults(move |_| Some(Fault::Redirect(target.clone())));
    let object = opened(&server, "file?X-Amz-Signature=hunter2&token=hunter3").unwrap();
    assert!(all(&object, 1 << 20).unwrap() == bytes);
    for request in other.take_requests() {
        assert_eq!(request.query, "token=own");
        let usual = [
            "accept",
            "accept-encoding",
            "host",
            "if-match",
            "range",
            "user-agent",
        ];
        for name in request.header_names() {
            assert!(usual.contains(&name), "{name}");
        }
    }
    for (query, word) in [("sig=hunter2", "signature of the URL"), ("a=hunter2", "")] {
        // Another object: the names that are shown have no signatures.
        let name = format!("{}.x", &query[..1]);
        server.add(&name, &bytes);
        let target = other.url(&format!("file?b=1&{query}"));
        server.set_faults(move |_| Some(Fault::Redirect(target.clone())));
        let opened = opened(&server, &format!("{name}?{query}"));
        match word {
            "" => assert_eq!(opened.unwrap().bytes(), 100_000),
            word => {
                let error = opened.err().unwrap().to_string();
                assert!(
                    error.contains(word) && !error.contains("hunter2"),
                    "{error}"
                );
                assert!(other.take_requests().is_empty());
            }
        }
    }
}

/// Promise (Inputs on servers): Errors name the URL, the attempt and the answer; a server that is
/// not there is an error after four attempts
#[test]
fn errors_name_the_url_the_attempt_and_the_answer() {
    let server = Server::start();
    let error = opened(&server, "missing").err().unwrap();
    let message = error.to_string();
    assert!(message.contains(&server.url("missing")), "{message}");
    assert!(
        message.contains("does not exist: 404 Not Found: NoSuchKey"),
        "{message}"
    );
    assert_eq!(error.kind(), ErrorKind::Read);
    server.add("file", b"text");
    server.set_faults(|_| Some(Fault::Status(403, None, "Access <b>denied</b>".into())));
    let error = opened(&server, "file?X-Amz-Signature=hunter2")
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("attempt 3") && error.contains("403 Forbidden"),
        "{error}"
    );
    assert!(!error.contains("hunter2"), "{error}");
    assert_eq!(server.take_requests().len(), 4);
    server.set_faults(|_| {
        Some(Fault::Status(
            503,
            Some(("Retry-After", "9000".into())),
            String::new(),
        ))
    });
    let error = opened(&server, "file").err().unwrap().to_string();
    assert!(error.contains("asks to wait 9000 s"), "{error}");
    assert_eq!(server.take_requests().len(), 1);
}

/// Promise (Inputs on servers): Errors name the URL, the attempt …
#[test]
fn a_host_that_is_not_there_is_an_error_after_few_attempts() {
    // The port of a client: nothing listens there, and no other program can.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let address = client.local_addr().unwrap();
    let error = open(&Client::new(), &format!("http://{address}/x"))
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("attempt 4") && error.contains("check the name"),
        "{error}"
    );
}

/// Promise (Inputs on servers): While a host asks for fewer requests, it gets none; two at a time
/// go to data.commoncrawl.org
#[test]
fn all_requests_to_a_host_wait_while_it_asks_for_it() {
    let server = Server::start();
    let bytes = content(300_000);
    server.add("file", &bytes);
    let client = Client::new();
    let object = open(&client, &server.url("file")).unwrap();
    server.take_requests();
    // Requests are refused until the wait was seen, so that there is one to see.
    let (is_seen, refused) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let (stop, count) = (Arc::clone(&is_seen), Arc::clone(&refused));
    server.set_faults(move |_| {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        count.fetch_add(1, Ordering::Relaxed);
        let busy = Fault::Status(503, Some(("Retry-After", "2".into())), String::new());
        Some(busy)
    });
    let begin = Instant::now();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| object.read_at(0..1000).unwrap());
        let wait = loop {
            let mut found = client.waits().into_iter();
            if let Some(wait) = found.find(|wait| wait.contains(&server.address)) {
                break wait;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        is_seen.store(true, Ordering::Relaxed);
        assert!(wait.contains("503"), "{wait}");
        let second = scope.spawn(|| object.read_at(1000..2000).unwrap());
        assert_eq!(first.join().unwrap(), bytes[..1000]);
        assert_eq!(second.join().unwrap(), bytes[1000..2000]);
    });
    // Neither request was sent before the time was over.
    assert!(begin.elapsed() >= Duration::from_millis(1900));
    let requests = refused.load(Ordering::Relaxed) + 2;
    assert_eq!(server.take_requests().len(), requests);
}

#[test]
fn reading_on_takes_few_requests_and_a_jump_takes_one() {
    let server = Server::start();
    let bytes = content(20_000_000);
    server.add("file", &bytes);
    let client = Client::new();
    let object = open(&client, &server.url("file")).unwrap();
    server.take_requests();
    assert!(all(&object, 1 << 20).unwrap() == bytes);
    let requests = server.take_requests().len() as u64;
    assert_eq!(requests, client.requests(20_000_000, 1 << 20));
    assert_eq!(
        object.read_at(15_000_000..15_000_100).unwrap(),
        bytes[15_000_000..15_000_100]
    );
    assert_eq!(
        server.take_requests()[0].range(),
        Some((15_000_000, 15_000_100))
    );
    let mut reader = Prefetch::new(Arc::clone(&object), None);
    let mut out = Vec::new();
    assert_eq!(reader.read(5_000_000, 1000, &mut out).unwrap(), 1000);
    assert_eq!(reader.read(12_000_000, 1000, &mut out).unwrap(), 1000);
    let requests = server.take_requests();
    let ranges: Vec<_> = requests.iter().filter_map(Request::range).collect();
    assert_eq!(ranges, [(5_000_000, 5_065_536), (12_000_000, 12_065_536)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The reader gives the bytes of a slice, for all jumps and for random faults.
    /// Promise (Inputs on servers): The reports and written inputs are …
    #[test]
    fn the_reader_equals_a_slice(
        length in 0usize..1_500_000,
        reads in prop::collection::vec((0u64..1_500_000, 1usize..600_000, any::<bool>()), 1..12),
        fault in 0usize..6,
        period in 2usize..9,
    ) {
        let server = Server::start();
        let bytes = content(length);
        server.add("file", &bytes);
        let object = opened(&server, "file").unwrap();
        server.set_faults(move |request| {
            let faults = [
                None,
                Some(Fault::Truncate(70_000)),
                Some(Fault::HalfClose(40_000)),
                Some(Fault::Short(100)),
                Some(Fault::Slow(Duration::from_micros(300))),
                Some(Fault::Redirect("/file".into())),
            ];
            let is_due = request.number % period == 1;
            faults[fault].clone().filter(|_| is_due)
        });
        let mut reader = Prefetch::new(object, None);
        let mut next = 0;
        for (offset, want, goes_on) in reads {
            let offset = if goes_on { next } else { offset };
            let mut out = vec![1];
            let read = reader.read(offset, want, &mut out).unwrap();
            let start = (offset as usize).min(length);
            prop_assert_eq!(out.len(), read + 1);
            prop_assert!(out[1..] == bytes[start..][..read]);
            prop_assert_eq!(read == 0, offset as usize >= length);
            next = offset + read as u64;
        }
    }
}
