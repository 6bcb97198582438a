//! Requests and flags that the service refuses, with the status and the problem code of each.

use std::io::{BufReader, Read, Write};
use std::process::Command;

use serde_json::json;

use crate::serve::client::{Service, read_answer, words};
use simtool_testing::wait::wait_until;

/// Promise (The service): Bodies that are invalid, too large, too slow or too many are refused with
/// a reason
#[test]
fn invalid_bodies_are_refused() {
    let service = Service::start("--max-body 10000 --max-bodies 20000 --method simhash");
    let seen = |body: &[u8]| service.ask("POST", "/v1/seen", "", body);
    for body in [
        &b""[..],
        b"{",
        b"[]",
        b"null",
        b"{\"text\":1}",
        b"{\"txet\":\"a\"}",
        b"{\"text\":\"\\ud800\"}",
        b"{\"text\":\"a\"} {}",
    ] {
        seen(body).problem(400, "bad-json");
    }
    seen(b"{\"text\":\"\xff\"}").problem(400, "not-utf8");
    for (body, code) in [
        (json!({}), "bad-request"),
        (json!({"text": "a", "html": "b"}), "bad-request"),
        (json!({"text": "a", "limit": 0}), "bad-request"),
        (json!({"text": "a", "add": true}), "missing-id"),
        (json!({"text": "a", "id": ""}), "bad-id"),
        (json!({"text": "a", "id_base64": "?"}), "bad-id"),
        (json!({"fingerprint": "00"}), "bad-fingerprint"),
        (
            json!({"fingerprint": "+000000000000001"}),
            "bad-fingerprint",
        ),
        (
            json!({"fingerprint": "000000000000000g"}),
            "bad-fingerprint",
        ),
    ] {
        service.post("/v1/seen", &body).problem(400, code);
    }
    let disagreeing = service.post(
        "/v1/seen?add=true",
        &json!({"text": "a", "id": "a", "add": false}),
    );
    disagreeing.problem(400, "bad-request");
    service
        .post("/v1/seen?ad=true", &json!({"text": "a"}))
        .problem(400, "bad-request");
    service.get("/v1/documents/%f").problem(400, "bad-id");

    let large = json!({"text": words(1, 9000)});
    service.post("/v1/seen", &large).problem(413, "too-large");
    // A body of unknown length.
    let mut chunked =
        b"POST /v1/seen HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..5 {
        chunked.extend(format!("1000\r\n{}\r\n", "x".repeat(4096)).as_bytes());
    }
    service.raw(&chunked).problem(413, "too-large");
    let long = json!({"text": "ship", "id": "i".repeat(9000)});
    assert_eq!(service.seen(&long)["verdict"], "new");
}

/// Promise (The service): Bodies that are invalid, too large, too …
#[test]
fn unknown_routes_and_methods_are_refused() {
    let service = Service::start("");
    service.get("/v2/seen").problem(404, "unknown-route");
    service.get("/v1/documents/").problem(404, "unknown-route");
    let wrong = service.get("/v1/seen");
    wrong.problem(405, "wrong-method");
    assert_eq!(wrong.header("allow").as_deref(), Some("POST"));
    service
        .ask("PUT", "/v1/documents/a", "", b"")
        .problem(405, "wrong-method");
    service
        .ask("DELETE", "/v1/stats", "", b"")
        .problem(405, "wrong-method");
    // Not HTTP.
    let answer = service.raw(b"\x16\x03\x01\x00\xa5\x01\x00\x00\r\n\r\n");
    assert_eq!((answer.status, answer.text()), (400, String::new()));
    let long = format!("/v1/documents/{}", "a".repeat(66_000));
    assert_eq!(service.get(&long).status, 414);
}

/// Promise (The service): Requests without the token, and requests from pages of other sites, are
/// refused on every route, and change nothing
#[test]
fn requests_without_the_token_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let file = temporary.path().join("token");
    std::fs::write(&file, "0123456789abcdef\n").unwrap();
    let service = Service::start(&format!("--token-file {}", file.display()));
    let page = json!({"text": words(1, 60), "id": "a", "add": true}).to_string();
    let ask = |method: &str, path: &str, headers: &str| {
        let body = match (method, path) {
            ("POST", "/v1/copies") => "{\"name\":\"a\"}",
            ("POST", _) => &page,
            _ => "",
        };
        service.ask(method, path, headers, body.as_bytes())
    };
    let right = "Authorization: bearer 0123456789abcdef\r\n";
    assert_eq!(ask("POST", "/v1/seen", right).json()["added"], true);
    let documents = || ask("GET", "/v1/stats", right).json()["documents"].clone();
    assert_eq!(documents(), 1);
    // Every route of the program, and one that there is not.
    let api = service.get("/openapi.json").json();
    let mut routes = vec![("GET".to_owned(), "/v1/nothing".to_owned())];
    for (path, methods) in api["paths"].as_object().unwrap() {
        let operations = methods.as_object().unwrap();
        let methods = operations.keys().filter(|name| *name != "parameters");
        routes.extend(methods.map(|method| (method.to_uppercase(), path.replace("{id}", "a"))));
    }
    for headers in [
        "",
        "Authorization: Bearer\r\n",
        "Authorization: Bearer 0123456789abcdee\r\n",
        "Authorization: Bearer 0123456789abcdef0\r\n",
        "Authorization: Basic 0123456789abcdef\r\n",
    ] {
        let mut open = Vec::new();
        for (method, path) in &routes {
            let answer = ask(method, path, headers);
            if answer.status == 200 {
                open.push((method.as_str(), path.as_str()));
                continue;
            }
            answer.problem(401, "unauthorized");
            assert_eq!(answer.header("www-authenticate").as_deref(), Some("Bearer"));
        }
        let public = ["/", "/healthz", "/openapi.json"];
        assert_eq!(open, public.map(|path| ("GET", path)));
    }
    // Nothing was added or deleted.
    assert_eq!(documents(), 1);
    assert_eq!(ask("GET", "/v1/documents/a", right).status, 200);
    assert_eq!(ask("DELETE", "/v1/documents/a", right).status, 200);
}

/// Promise (The service): Requests without the token, and requests …
#[test]
fn cross_origin_requests_are_refused() {
    let service = Service::start("");
    let origin = "Origin: http://evil.example\r\n";
    let body = br#"{"text":"a","id":"a","add":true}"#;
    service
        .ask("POST", "/v1/seen", origin, body)
        .problem(403, "foreign-origin");
    service
        .ask("POST", "/v1/seen", "Origin: null\r\n", body)
        .problem(403, "foreign-origin");
    let own = "Origin: http://127.0.0.1\r\n";
    assert_eq!(service.ask("POST", "/v1/seen", own, body).status, 200);
    // A host name of another site, such as one that resolves to this machine (DNS rebinding).
    let named = b"GET /v1/stats HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    service.raw(named).problem(403, "foreign-origin");
    // A name that is not UTF-8.
    for host in [&b"\xe9vil.example"[..], b"\xff", b"127.0.0.1\x80"] {
        let head = [
            b"GET /v1/stats HTTP/1.1\r\nHost: ",
            host,
            b"\r\nConnection: close\r\n\r\n",
        ];
        service.raw(&head.concat()).problem(403, "foreign-origin");
    }
}

/// Requests of the web page as nginx forwards them, for a service with a token.
/// Promise (The service): Requests without the token, and requests …
#[test]
fn same_origin_requests_through_a_proxy_are_answered() {
    let temporary = tempfile::tempdir().unwrap();
    let file = temporary.path().join("token");
    std::fs::write(&file, "0123456789abcdef").unwrap();
    let service = Service::start(&format!("--token-file {}", file.display()));
    let ask = |host: &str, origin: &str| {
        let body = "{\"text\":\"a\"}";
        let request = format!(
            "POST /v1/seen HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nConnection: close\r\n\
             Authorization: Bearer 0123456789abcdef\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        service.raw(request.as_bytes())
    };
    assert_eq!(ask("seen.example", "https://seen.example").status, 200);
    let port = ask("seen.example:8443", "https://seen.example:8443");
    assert_eq!(port.status, 200);
    let other = ask("seen.example", "https://evil.example");
    other.problem(403, "foreign-origin");
    // The documented configuration has the directive on which this depends.
    let configuration = include_str!("../../../docs/how-to/service/nginx.conf");
    assert!(configuration.contains("proxy_set_header Host $http_host;"));
}

/// Promise (The service): Bodies that are invalid, too large, too …
#[test]
fn slow_clients_are_refused() {
    // A head that never ends.
    let service = Service::start("--header-timeout 1");
    let mut stream = service.connect();
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: ")
        .unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains(" 200 "));
    // A body that never ends.
    let service = Service::start("--request-timeout 1");
    let mut stream = service.connect();
    let head = b"POST /v1/seen HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{";
    stream.write_all(head).unwrap();
    read_answer(&mut BufReader::new(stream))
        .unwrap()
        .problem(408, "too-slow");
    // A batch that never ends.
    let mut stream = service.connect();
    let head = b"POST /v1/seen/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n{";
    stream.write_all(head).unwrap();
    let answer = read_answer(&mut BufReader::new(stream)).unwrap();
    assert_eq!(answer.json()["code"], "too-slow");
    assert_eq!(service.get("/healthz").status, 200);
}

/// Promise (The service): Bodies that are invalid, too large, too …
#[test]
fn requests_beyond_the_limit_are_refused() {
    let service = Service::start("--max-requests 1");
    let body = json!({"text": "a"}).to_string();
    let mut pending = service.hold_permit(body.len());
    let refused = service.get("/v1/stats");
    refused.problem(503, "busy");
    assert_eq!(refused.header("retry-after").as_deref(), Some("1"));
    assert_eq!(service.get("/healthz").status, 200);
    pending.get_mut().write_all(body.as_bytes()).unwrap();
    assert_eq!(read_answer(&mut pending).unwrap().status, 200);
    wait_until("a free permit", || service.get("/v1/stats").status == 200);
}

/// Batches, additions and removals hold at most half of the permits.
/// Promise (The service): Additions do not block queries; queued additions are bounded, and a
/// cancelled one adds nothing
#[test]
fn additions_leave_permits_for_queries() {
    let service = Service::start("--max-requests 4");
    let page = json!({"text": words(1, 60), "id": "a", "add": true});
    let batches = [(); 2].map(|()| service.hold_permit_of_addition());
    service.post("/v1/seen", &page).problem(503, "busy");
    let batch = service.ask("POST", "/v1/seen/batch", "", b"");
    batch.problem(503, "busy");
    assert_eq!(batch.header("retry-after").as_deref(), Some("1"));
    service
        .ask("DELETE", "/v1/documents/a", "", b"")
        .problem(503, "busy");
    assert_eq!(service.get("/v1/stats").status, 200);
    let query = json!({"text": words(1, 60)});
    assert_eq!(service.post("/v1/seen", &query).status, 200);
    drop(batches);
    wait_until("a free permit", || {
        service.post("/v1/seen", &page).status == 200
    });
}

/// Promise (The service): Requests without the token, and requests …
#[test]
fn invalid_flags_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let short = temporary.path().join("token");
    std::fs::write(&short, "short").unwrap();
    let refuse = |flags: &str, part: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_simtool"))
            .arg("serve")
            .arg(temporary.path().join("seen"))
            .args(flags.split_whitespace())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(part), "{part} in {message}");
    };
    refuse("--listen 0.0.0.0:0", "give a --token-file");
    refuse("--listen [::]:0", "--insecure");
    refuse(&format!("--token-file {}", short.display()), "at least 16");
    refuse("--token-file missing", "cannot be read");
    refuse("--method simhash:weights=tf-idf", "needs corpus statistics");
    refuse("--method nothing", "expected one of");
    refuse("--listen nowhere", "--listen");
    let service = Service::of(&temporary.path().join("seen"), "");
    refuse(
        "--listen 127.0.0.1:0",
        "another process has this index open",
    );
    refuse("--listen 192.0.2.1:0 --insecure", "no such address");
    let in_use = format!("--listen {}", service.address);
    let other = temporary.path().join("other");
    let output = Command::new(env!("CARGO_BIN_EXE_simtool"))
        .arg("serve")
        .arg(&other)
        .args(in_use.split_whitespace())
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains(&format!("{in_use}: cannot listen there")),
        "{message}"
    );
    assert!(message.contains("give another --listen"), "{message}");
    // Nothing was created.
    assert!(!other.exists());
    refuse("--copies missing", "create it first");
    drop(service);
    refuse("--method simhash", "was made with method minhash");
}

/// A killed `index build` leaves a directory with segments and without an index.
/// Promise (The index): A service never replaces the unfinished index of a killed `index build`,
/// `copy` or `rescue` with an empty one
#[test]
fn an_unfinished_index_is_not_replaced() {
    let temporary = tempfile::tempdir().unwrap();
    let index = temporary.path().join("index");
    let lines = temporary.path().join("lines.jsonl");
    let page = json!({"id": "a", "text": words(1, 60)});
    std::fs::write(&lines, format!("{page}\n")).unwrap();
    let build = Command::new(env!("CARGO_BIN_EXE_simtool"))
        .args(["index", "build"])
        .args([&index, &lines])
        .output()
        .unwrap();
    assert!(build.status.success());
    let compact = Command::new(env!("CARGO_BIN_EXE_simtool"))
        .args(["index", "compact"])
        .arg(&index)
        .output()
        .unwrap();
    assert!(compact.status.success());
    // The state of a build before its commit.
    for name in ["index.json", "index.redb"] {
        std::fs::remove_file(index.join(name)).unwrap();
    }
    let files = || -> Vec<_> {
        let listed = std::fs::read_dir(index.join("segments")).unwrap();
        listed.map(|entry| entry.unwrap().path()).collect()
    };
    let before = files();
    assert_eq!(before.len(), 1);
    // `timeout` kills a service that starts, and exits with another code.
    let served = Command::new("timeout")
        .args(["1800", env!("CARGO_BIN_EXE_simtool"), "serve"])
        .arg(&index)
        .args(["--listen", "127.0.0.1:0"])
        .output()
        .unwrap();
    let message = String::from_utf8(served.stderr).unwrap();
    assert_eq!(served.status.code(), Some(2), "{message}");
    assert!(
        message.contains("is no index of simtool, or an unfinished one (build it again)"),
        "{message}"
    );
    assert_eq!(files(), before);
    // An empty directory becomes an index.
    std::fs::remove_dir_all(&index).unwrap();
    std::fs::create_dir(&index).unwrap();
    let service = Service::of(&index, "");
    assert_eq!(service.seen(&page)["verdict"], "new");
}
